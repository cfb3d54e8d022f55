"""What records the calls: VizTracer where it is installed, ``sys.monitoring``, or Python's older hooks."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Protocol

from . import state
from .state import local

#: So many calls may be under way in VizTracer's buffer between two flushes.
_ENTRIES = 2_000_000


class Engine(Protocol):
    """Records calls from :meth:`start` to :meth:`stop`."""

    #: What it is called on the command line.
    name: str
    #: Whether times are float64 microseconds, and not int64 nanoseconds.
    microseconds: bool
    clock: Callable[[], float]

    def start(self) -> None:
        """Record the calls of this thread and of those that begin from now on."""

    def stop(self) -> None:
        """Record no more calls; those that still run end now."""

    def dump(self, path: str) -> bool:
        """Write the calls that ended since the last time to ``path``, if the engine keeps them itself."""

    def abandon(self) -> None:
        """Record nothing in a process that was forked."""


class VizTracer:
    """The C part of VizTracer: its ring buffer is emptied before it is full."""

    name = "viztracer"
    microseconds = True

    def __init__(self, c_functions: bool) -> None:
        from viztracer.snaptrace import Tracer

        self._tracer: Any = Tracer(_ENTRIES)
        self._tracer.ignore_c_function = not c_functions
        # What lies in this folder is not recorded, nor what that calls.
        self._tracer.lib_file_path = os.path.join(state.FOLDER, "shims")
        self._tracer.process_name = "MainProcess"
        self.clock: Callable[[], float] = self._tracer.getts
        # The first use calibrates its clock.
        self.clock()

    def start(self) -> None:
        self._tracer.start()

    def stop(self) -> None:
        self._tracer.stop("flush_as_finish")

    def dump(self, path: str) -> bool:
        self._tracer.dump(path)
        return True

    def abandon(self) -> None:
        self._tracer.stop(None)
        self._tracer.clear()


class Monitoring:
    """``sys.monitoring``, from Python 3.12 on: one callback for what begins and one for what ends."""

    name = "monitoring"
    microseconds = False
    clock: Callable[[], float] = staticmethod(time.perf_counter_ns)

    def __init__(self, c_functions: bool) -> None:
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self._tool = 0

    def start(self) -> None:
        m = self._monitoring
        for tool in (m.PROFILER_ID, *range(6)):
            try:
                m.use_tool_id(tool, "tracevis3d")
            except ValueError:
                continue
            self._tool = tool
            break
        else:
            raise RuntimeError("all tools of sys.monitoring are taken")
        now = time.perf_counter_ns

        def begin(code: CodeType, _: int) -> None:
            local.call((code, now()))

        def throw(code: CodeType, _: int, __: object) -> None:
            local.call((code, now()))

        def end(_: CodeType, __: int, ___: object) -> None:
            local.call((None, now()))

        e = m.events
        callbacks = {
            e.PY_START: begin,
            e.PY_RESUME: begin,
            e.PY_THROW: throw,
            e.PY_RETURN: end,
            e.PY_YIELD: end,
            e.PY_UNWIND: end,
        }
        for event, callback in callbacks.items():
            m.register_callback(self._tool, event, callback)
        m.set_events(self._tool, sum(callbacks))

    def stop(self) -> None:
        m = self._monitoring
        m.set_events(self._tool, 0)
        m.free_tool_id(self._tool)

    def dump(self, path: str) -> bool:
        return False

    def abandon(self) -> None:
        self.stop()


class Profile:
    """``sys.setprofile`` in each thread."""

    name = "profile"
    microseconds = False
    clock: Callable[[], float] = staticmethod(time.perf_counter_ns)

    def __init__(self, c_functions: bool) -> None:
        self._off: list[bool] = []

    def _hook(self) -> Callable[[FrameType, str, Any], None]:
        """Return a hook for the running thread: its buffer is looked up once."""
        add, now, off = local.call, time.perf_counter_ns, self._off

        def hook(frame: FrameType, event: str, _: Any) -> None:
            if off:
                sys.setprofile(None)
            elif event == "call":
                add((frame.f_code, now()))
            elif event == "return":
                add((None, now()))

        return hook

    def start(self) -> None:
        import threading

        def first(frame: FrameType, event: str, arg: Any) -> None:
            hook = self._hook()
            sys.setprofile(hook)
            hook(frame, event, arg)

        self._off = []
        threading.setprofile(first)
        sys.setprofile(self._hook())

    def stop(self) -> None:
        import threading

        # Other threads take their hook off themselves.
        self._off.append(True)
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type,unused-ignore]

    def dump(self, path: str) -> bool:
        return False

    def abandon(self) -> None:
        self.stop()


class Trace:
    """``sys.settrace`` in each thread: where the profile hook is taken."""

    name = "trace"
    microseconds = False
    clock: Callable[[], float] = staticmethod(time.perf_counter_ns)

    def __init__(self, c_functions: bool) -> None:
        self._off: list[bool] = []

    def _hook(self) -> Callable[[FrameType, str, Any], Any]:
        """Return a hook for the running thread: its buffer is looked up once."""
        add, now, off = local.call, time.perf_counter_ns, self._off

        def inside(frame: FrameType, event: str, _: Any) -> Any:
            if event == "return" and not off:
                add((None, now()))
            return inside

        def hook(frame: FrameType, event: str, _: Any) -> Any:
            if off:
                sys.settrace(None)
                return None
            frame.f_trace_lines = False
            add((frame.f_code, now()))
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

    def dump(self, path: str) -> bool:
        return False

    def abandon(self) -> None:
        self.stop()


_ENGINES: dict[str, Callable[[bool], Engine]] = {
    "viztracer": VizTracer,
    "monitoring": Monitoring,
    "profile": Profile,
    "trace": Trace,
}
NAMES = ("auto", *_ENGINES)


def choose(name: str, c_functions: bool, live: bool = False, beside_memray: bool = False) -> Engine:
    """Return the engine ``name``, or the best that there is for ``auto``.

    VizTracer reports a call when it ends, so that a running call would not be seen: a feed uses another
    engine.
    memray has the profile hook for itself.

    Raises
    ------
    ValueError
        If it is not to be had here: the sentence says why.
    """
    if name == "auto":
        able = ("monitoring", "trace") if beside_memray else ("viztracer", "monitoring", "profile")[live:]
        name = next(candidate for candidate in able if _is_there(candidate))
    if live and name == "viztracer":
        raise ValueError("VizTracer reports calls when they end, too late for a feed: use another engine")
    if beside_memray and name in ("viztracer", "profile"):
        raise ValueError(f"memray takes the hook that the engine {name!r} needs: leave --engine out")
    if c_functions and name != "viztracer":
        raise ValueError("functions written in C are recorded with VizTracer alone: 'pip install viztracer'")
    if not _is_there(name):
        raise ValueError(
            "the engine 'viztracer' is not installed: 'pip install viztracer'"
            if name == "viztracer"
            else f"the engine {name!r} needs Python 3.12 or later: use 'profile'"
        )
    return _ENGINES[name](c_functions)


def _is_there(name: str) -> bool:
    if name == "viztracer":
        try:
            import viztracer.snaptrace  # noqa: F401
        except ImportError:
            return False
    return name != "monitoring" or hasattr(sys, "monitoring")
