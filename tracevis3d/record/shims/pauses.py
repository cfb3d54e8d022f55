"""Sleeping, and waiting for another process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from .. import state
from ..operations import CALL, WAIT, operation
from ..output.spool import CONTENDED, FAILED
from ..patches import Patches
from ..state import local

_SLEEP = operation("time.sleep", CALL)
_WNOHANG = getattr(os, "WNOHANG", 0)


def _sleep(original: Any) -> Any:
    def sleep(seconds: Any, /) -> None:
        start, pending = state.clock(), local.pending
        pending.append((_SLEEP, 0, start, 0))
        try:
            original(seconds)
        finally:
            pending.pop()
            if state.recording:
                local.add((_SLEEP, 0, start, state.clock(), 0, 0))

    return sleep


def _wait_for_process(name: str) -> Callable[[Any], Any]:
    number = operation(f"os.{name}", WAIT)

    def make(original: Any) -> Any:
        def wait(*args: Any) -> Any:
            if not state.recording or (len(args) > 1 and args[1] == _WNOHANG and _WNOHANG):
                return original(*args)
            what = state.named_object(f"process:{args[0]}" if args else "process:any")
            start, flags, pending = state.clock(), CONTENDED, local.pending
            pending.append((number, what, start, 0))
            try:
                return original(*args)
            except BaseException:
                flags |= FAILED
                raise
            finally:
                pending.pop()
                local.add((number, what, start, state.clock(), flags, 0))

        return wait

    return make


def patch_pauses(patches: Patches) -> None:
    """Record sleeps as calls, and waits for child processes."""
    patches.wrap(time, "sleep", _sleep)
    for name in ("waitpid", "wait"):
        patches.wrap(os, name, _wait_for_process(name))
