"""Greenlets: each is a track of its own, since its calls continue where they were when it runs again."""

from __future__ import annotations

import weakref
from types import ModuleType
from typing import Any

from .. import state
from ..patches import Patches

_logs: dict[int, tuple[weakref.ref[Any], state.ThreadLog]] = {}


def _log(greenlet: Any) -> state.ThreadLog:
    """Return the buffer of a greenlet; the thread's for the one that the thread itself is."""
    if greenlet.parent is None:
        return state.local.thread
    key = id(greenlet)
    known = _logs.get(key)
    if known is not None and known[0]() is greenlet:
        return known[1]
    log = state.new_track("greenlet")
    log.name = f"greenlet-{log.number}"

    def gone(_: object) -> None:
        log.ended = True
        _logs.pop(key, None)

    _logs[key] = weakref.ref(greenlet, gone), log
    return log


def patch_greenlets(patches: Patches, module: ModuleType, follows: bool) -> None:
    """Follow where threads switch between greenlets; the program may do so as well.

    Parameters
    ----------
    patches : Patches
    module : module
        ``greenlet``.
    follows : bool
        Whether the engine does, too.
    """
    set_tracer = module.settrace

    def switched(event: str, args: Any) -> None:
        if not state.recording:
            set_tracer(state.local.track.switched)
            return
        if event in ("switch", "throw"):
            state.local.enter(_log(args[1]))
        theirs = state.local.track.switched
        if theirs is not None:
            theirs(event, args)

    def settrace(callback: Any, /) -> Any:
        before, state.local.track.switched = state.local.track.switched, callback
        return before

    def gettrace() -> Any:
        return state.local.track.switched

    if not follows:
        state.report("not recorded", "greenlets: VizTracer does not follow them")
        return
    patches.wrap(module, "settrace", lambda _: settrace)
    patches.wrap(module, "gettrace", lambda _: gettrace)
    state.thread_begun.append(lambda _: set_tracer(switched))
    set_tracer(switched)
