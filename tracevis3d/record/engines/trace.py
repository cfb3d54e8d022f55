"""Calls by the trace hook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..state import local
from .engine import PythonEngine


class Trace(PythonEngine):
    """``sys.settrace`` in each thread: where the profile hook is taken."""

    name = "trace"

    def __init__(self, c_functions: bool) -> None:
        self._off: list[bool] = []

    def _hook(self) -> Callable[[FrameType, str, Any], Any]:
        """Return a hook for the running thread: its buffer is looked up once."""
        track, now, off = local.track, time.perf_counter_ns, self._off

        def inside(frame: FrameType, event: str, _: Any) -> Any:
            if event == "return" and not off:
                track.call((None, now()))
            return inside

        def hook(frame: FrameType, event: str, _: Any) -> Any:
            if off:
                sys.settrace(None)
                return None
            frame.f_trace_lines = False
            track.call((frame.f_code, now()))
            return inside

        return hook

    def start(self) -> None:
        import threading

        def first(frame: FrameType, event: str, arg: Any) -> Any:
            hook = self._hook()
            sys.settrace(hook)
            return hook(frame, event, arg)

        self._off = []
        threading.settrace(first)
        sys.settrace(self._hook())

    def stop(self) -> None:
        import threading

        # Other threads take their hook off themselves.
        self._off.append(True)
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type,unused-ignore]

    def abandon(self) -> None:
        self.stop()
