"""A recording in the making: its begin and end, and what happens when the program forks or leaves."""

from __future__ import annotations

import _thread
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from . import state
from .buffers import BufferWriter, number, to_json
from .engines.choice import choose
from .engines.engine import PythonEngine
from .flusher import Flusher
from .operations import RELEASE, operation
from .options import Options
from .output import spool
from .output.descriptor import around_ours
from .output.helper import INCOMPLETE, Feed, Helper
from .patches import Patches
from .patching import patch
from .state import local
from .subprocesses.child import Child, prepared

_FORK = operation("os.fork", RELEASE)


class Session:
    """One recording of the running program.

    Parameters
    ----------
    options : Options
    keep : bool
        Whether the program may make another recording later.
    child : Child, optional
        The place of a process that a recorded one has spawned.

    Raises
    ------
    ValueError
        If the engine is not to be had here.
    OSError
        If the output can't be written.
    """

    def __init__(self, options: Options, keep: bool = True, child: Child | None = None) -> None:
        self._options = options
        by_memray = options.memory == "memray"
        if by_memray and options.live:
            raise ValueError(
                "memray's recording can be read only when the program has ended, so it can't be published: "
                "leave --memory-engine out for a feed"
            )
        self._engine = choose(options.engine, options.c_functions, bool(options.live), by_memray)
        said = (options.live, options.key, options.peers, options.suggestions, options.wait)
        feed = Feed(*said) if options.live else None
        #: Called with what a viewer suggests; it alone decides what to do about it.
        self.on_suggestion: Callable[[dict[str, Any]], None] = _print_suggestion
        self._helper: Helper | Child
        if child is None:
            program = os.path.basename(sys.argv[0] or "python")
            # memray may lie where only the program's own environment leads.
            helper = Helper(options.path, feed, program, not by_memray)
            self._helper, to = helper, helper.spool
        else:
            self._helper, to = child, child.open()
        self._is_forked = False
        self._next: Child | None = None
        self._patches = Patches()
        self._imports: Any = None
        self._buffers = BufferWriter(
            options, self._engine, to, self._helper.part, keep, is_child=child is not None
        )
        self._flusher = Flusher(self._buffers, self._pace(), self._hear)
        self._running = False
        #: Whether not all was written; what :meth:`stop` returns says why.
        self.failed = False
        self._pid = os.getpid()
        self._forking = _thread.allocate_lock()
        if by_memray:
            from .memory.with_memray import Tracking

            try:
                self._buffers.tracking = Tracking(self._helper.folder, options.native)
            except BaseException:
                to.end()
                self._helper.finish()
                raise

    def _pace(self) -> tuple[float, float]:
        """Return how often buffers are flushed: viewers, and looks at memory, want it often."""
        first, most = self._engine.flushes
        often = self._options.live or self._options.memory
        return first, min(most, PythonEngine.flushes[1]) if often else most

    @property
    def endpoint(self) -> str:
        """Where the recording is published; empty if it isn't."""
        return self._helper.endpoint

    def wait_for_viewer(self) -> None:
        """Return when the feed has a viewer, if the recording's options say so.

        Raises
        ------
        ValueError
            If the process that publishes the feed ends before.
        """
        if isinstance(self._helper, Helper):
            self._helper.wait_for_viewer()

    # -- begin and end -------------------------------------------------------------------------

    def start(self) -> None:
        """Begin: everything is patched, then calls are recorded from here on.

        Raises
        ------
        ValueError
            If memray is at work already.
        OSError
            If there is no room for what is recorded.
        """
        state.forget()
        state.clock = self._engine.clock
        try:
            self._engine.open(os.path.dirname(self._helper.part(0)))
            self._write_begin()
        except OSError:
            self._engine.close()
            self._buffers.spool.end()
            self._helper.finish()
            raise
        if self._options.memory:
            self._watch_memory()
        self._imports = patch(
            self._patches, self._options, self._engine, self._helper.folder, self._buffers.write_names
        )
        self._buffers.write_names()
        self._guard_exits()
        state.recording = True
        self._running = True
        self._flusher.start()
        tracking = self._buffers.tracking
        if tracking is not None:
            if tracking.failed:
                self._buffers.tracking = None
                self.stop()
                raise ValueError(tracking.failed)
            tracking.follow_threads()
        self._engine.start()

    def _watch_memory(self) -> None:
        from .memory.sampled import Allocations, samples

        self._buffers.samples = samples
        if self._buffers.tracking is None:
            # What it tells sooner is for those who watch.
            self._buffers.allocations = Allocations(self._options.frames, bool(self._options.live))
        # Before the program runs: the flusher's first look may come late.
        self._buffers.write_samples()

    def _write_begin(self) -> None:
        begin = {
            "pid": self._pid,
            "forked": self._is_forked,
            "microseconds": self._engine.microseconds,
            "start": state.clock(),
            "epoch": time.time_ns(),
            "engine": self._engine.name,
            "argv": sys.argv,
            "options": asdict(self._options),
            "ours": state.FOLDER,
            "none": number(None) if state.fast is None else 0,
            "gap": number(state.GAP) if state.fast is None else -1,
        }
        self._buffers.spool.add(spool.BEGIN, 0, to_json(begin))

    def stop(self) -> str:
        """End the recording, wait until it is written, and return one sentence about it."""
        if not self._running or os.getpid() != self._pid:
            return ""
        self._running = False
        self._flusher.stop()
        state.recording = False
        # Before the engine ends the calls that still run: waits end within their callers.
        # Calls of json's would be taken for the program's.
        self._buffers.add(spool.END, 0, b'{"end":%r}' % state.clock())
        self._engine.stop()
        if self._imports is not None:
            self._imports.remove()
        self._patches.undo()
        from .waits import audit

        audit.watch(False)
        self._buffers.flush(last=True)
        if self._buffers.allocations is not None:
            self._buffers.allocations.stop()
        if self._buffers.tracking is not None:
            self._buffers.tracking.stop()
        self._engine.close()
        self._buffers.spool.end()
        said = self._helper.finish()
        if self._buffers.failed:
            said = f"{self._options.path or self._options.live}: {self._buffers.failed}"
        self.failed = INCOMPLETE in said
        return said

    def flush(self) -> None:
        """Write everything; for a program about to end without notice."""
        if self._running and os.getpid() == self._pid:
            self._buffers.flush()

    # -- exits and forks -----------------------------------------------------------------------

    def _guard_exits(self) -> None:
        """Write everything before the program is replaced or ends at once; leave forked ones alone."""

        def guarded(original: Any) -> Any:
            def leave(*args: Any, **kwargs: Any) -> Any:
                self.flush()
                if original is not abort and self._running and os.getpid() == self._pid:
                    self._buffers.add(spool.CLOSED, 0, b"")
                return original(*args, **kwargs)

            return leave

        abort = os.abort

        def exiting(original: Any) -> Any:
            def _exit(*args: Any, **kwargs: Any) -> Any:
                self.stop()
                return original(*args, **kwargs)

            return _exit

        self._patches.wrap(os, "_exit", exiting)
        self._patches.wrap(os, "closerange", lambda original: around_ours(original, self._buffers.idle))
        for name in ("execv", "execve", "abort"):
            self._patches.wrap(os, name, guarded)
        for name in ("fork", "forkpty"):
            self._patches.wrap(os, name, self._around_fork)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_child)

    def _around_fork(self, original: Any) -> Any:
        """Make a program of one thread look like one to what forks it: Python warns of others."""

        def fork() -> Any:
            if not self._running:
                return original()
            with self._forking:
                self._flusher.stop()
                self._flusher.wait_until_gone()
                child = self._next = prepared(self._helper.folder)
                at, answer = state.clock(), None
                try:
                    answer = original()
                finally:
                    self._next = None
                    # Not by a hook: Python 3.13 counts the threads after these.
                    if self._running:
                        self._flusher.start()
                    if child is not None and child is not self._helper:
                        child.abandon() if answer else child.discard()
                pid = answer[0] if isinstance(answer, tuple) else answer
                if pid and self._options.threads:
                    local.add((_FORK, state.named_object(f"process:{pid}"), at, at, 0, 0))
                return answer

        return fork

    def _in_child(self) -> None:
        if not self._running:
            return
        self._running = False
        state.recording = False
        self._engine.abandon()
        if self._buffers.allocations is not None:
            self._buffers.allocations.stop()
            self._buffers.allocations = None
        # memray leaves forked processes alone.
        self._buffers.tracking = None
        state.thread_begun.clear()
        self._buffers.spool.close()
        self._helper.abandon()
        if self._next is not None:
            self._go_on(self._next)
            return
        # A fork without notice: another program takes its place soon.
        state.forget()
        self._patches.undo()
        if self._imports is not None:
            self._imports.remove()

    def _go_on(self, child: Child) -> None:
        """Record a forked process, in place of the one that it was forked from."""
        state.enter_child()
        try:
            to = child.open()
        except OSError:
            return
        self._helper, self._pid, self._is_forked = child, os.getpid(), True
        self._buffers.enter_child(to, child.part)
        self._flusher.renew()
        try:
            self._engine.open(os.path.dirname(child.part(0)))
        except OSError:
            to.end()
            child.abandon()
            return
        self._write_begin()
        if self._options.memory == "tracemalloc":
            self._watch_memory()
        else:
            self._buffers.samples = None
        state.recording = True
        self._running = True
        self._engine.start()

    def _hear(self) -> None:
        """Pass on what viewers suggest."""
        if not self._options.suggestions or not isinstance(self._helper, Helper):
            return
        for suggestion in self._helper.suggestions():
            try:
                self.on_suggestion(suggestion)
            except Exception as error:  # the program's own code must not end its recording
                said = f"{type(error).__name__}: {error}"
                sys.stderr.write(f"tracevis3d: a suggestion could not be handled: {said}\n")


def _print_suggestion(suggestion: dict[str, Any]) -> None:
    sys.stderr.write(f"tracevis3d: {suggestion['sentence']}\n")
    sys.stderr.flush()
