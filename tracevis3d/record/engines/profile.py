"""Calls by the profile hook, which the program may use as well."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from .. import state
from ..patches import Patches
from ..state import local
from .engine import Hooks, PythonEngine, in_each_thread

Hook = Callable[[FrameType, str, Any], None]


class Profile(PythonEngine):
    """``sys.setprofile`` in each thread; the program's own hook is called from this one."""

    name = "profile"

    def __init__(self, c_functions: bool) -> None:
        # Kept, since the program's are replaced.
        self._set, self._get = sys.setprofile, sys.getprofile
        self._off: list[bool] = []

    def _hook(self) -> Hook:
        """Return a hook for the running thread: its buffer is looked up once."""
        track, now, off, unset = local.track, time.perf_counter_ns, self._off, self._set

        def hook(frame: FrameType, event: str, _: Any) -> None:
            if off:
                unset(None)
            elif event == "call":
                track.call((frame.f_code, now()))
            elif event == "return":
                track.call((None, now()))

        return hook

    def _both(self, theirs: Hook) -> Hook:
        """Return a hook that calls the program's as well, except for the wrappers below."""
        ours, off, set_hook = self._hook(), self._off, self._set

        def hook(frame: FrameType, event: str, arg: Any) -> None:
            if off:
                set_hook(theirs)
            else:
                ours(frame, event, arg)
            if frame.f_globals is here:
                return
            try:
                theirs(frame, event, arg)
            except BaseException:
                # The interpreter removes this hook with it.
                local.track.theirs = None
                state.report("not recorded", "the program's own profile hook has raised an exception")
                raise

        here = globals()
        return hook

    def patch(self, patches: Patches) -> Hooks:
        set_hook = self._set

        def setprofile(function: Any, /) -> None:
            before, local.track.theirs = local.track.theirs, function
            if before is not None:
                # It receives the call that removes it.
                set_hook(None)
                before(sys._getframe(1), "c_call", sys.setprofile)
            set_hook(self._hook() if function is None else self._both(function))

        def getprofile() -> Any:
            theirs = local.track.theirs
            if theirs is not None:
                set_hook(None)
                for event in ("c_call", "c_return"):
                    theirs(sys._getframe(1), event, sys.getprofile)
                set_hook(self._both(theirs))
            return theirs

        in_each_thread(patches, lambda: set_hook(self._hook()))
        patches.wrap(sys, "setprofile", lambda _: setprofile)
        patches.wrap(sys, "getprofile", lambda _: getprofile)
        if sys.version_info >= (3, 12):
            return {}  # cProfile uses sys.monitoring
        return {"cProfile": lambda module: self._around_profiler(patches, module)}

    def _around_profiler(self, patches: Patches, module: Any) -> None:
        """Say that nothing is recorded while ``cProfile`` has the hook, and take it back."""

        def enabling(original: Any) -> Any:
            def enable(*args: Any, **kwargs: Any) -> None:
                if not local.track.gap:
                    _begin_gap("cProfile")
                    local.call((state.GAP, time.perf_counter_ns()))
                original(*args, **kwargs)

            return enable

        def disabling(original: Any) -> Any:
            def disable(*args: Any, **kwargs: Any) -> None:
                original(*args, **kwargs)
                if self._off:
                    return
                if local.track.gap:
                    local.track.gap = False
                    _begin_again(sys._getframe())
                # It has also removed a hook that was not its own.
                self._set(self._hook())

            return disable

        patches.wrap(module.Profile, "enable", enabling)
        patches.wrap(module.Profile, "disable", disabling)

    def start(self) -> None:
        self._off = []
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(state.FOLDER):
            frame = frame.f_back
        local.track.below = id(frame)
        local.track.gap = False
        theirs: Any = self._get()
        if theirs is not None and not callable(theirs):
            # A profiler in C has the hook, which can't be called from here.
            _begin_gap(type(theirs).__module__)
            return
        local.track.theirs = theirs
        self._set(self._both(theirs) if theirs is not None else self._hook())

    def stop(self) -> None:
        # Other threads take their hook off themselves.
        self._off.append(True)
        if not local.track.gap:
            self._set(local.track.theirs)

    def abandon(self) -> None:
        self.stop()


def _begin_gap(profiler: str) -> None:
    """Note that another profiler has the hook of this thread."""
    local.track.gap = True
    state.report("not recorded", f"{profiler} used the hook for some time")


def _begin_again(frame: FrameType | None) -> None:
    """Begin the calls that run: a gap has ended them."""
    now, stack = time.perf_counter_ns(), []
    while frame is not None and id(frame) != local.track.below:
        stack.append(frame.f_code)
        frame = frame.f_back
    for code in reversed(stack):
        local.call((code, now))
