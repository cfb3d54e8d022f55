"""The thread that hands buffers on, every so often."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from . import state
from .buffers import BufferWriter


class Flusher:
    """Flushes buffers in a thread of its own, which is not recorded.

    Parameters
    ----------
    buffers : BufferWriter
    flushes : (float, float)
        Seconds between two flushes, at first and at most.
    after : callable
        Called after each flush.
    """

    def __init__(
        self, buffers: BufferWriter, flushes: tuple[float, float], after: Callable[[], None]
    ) -> None:
        self._buffers, self._flushes, self._after = buffers, flushes, after
        # Those of Python itself: recording replaces them.
        self._pause = time.sleep
        self._tid = 0
        self.renew()

    def renew(self) -> None:
        """Forget the thread: a forked process has none."""
        self._started = _thread.allocate_lock()
        self._stopping = _thread.allocate_lock()
        self._stopped = _thread.allocate_lock()

    def start(self) -> None:
        """Start the thread, and wait until it is under way."""
        self._stopping.acquire()
        self._stopped.acquire()
        self._started.acquire()
        # The thread inherits that: all signals are for the program's own threads.
        mask = _block_signals()
        try:
            _thread.start_new_thread(self._run, ())
        except RuntimeError:
            # The interpreter is ending: what is left is written at the end.
            self._started.release()
            self._stopped.release()
        _unblock_signals(mask)
        # It must be under way before calls are recorded: VizTracer makes a dummy of a thread that begins.
        self._started.acquire()
        self._started.release()

    def stop(self) -> None:
        """End the thread, and wait until it has ended."""
        self._stopping.release()
        self._stopped.acquire()
        self._stopped.release()

    def wait_until_gone(self) -> None:
        """Wait until the system has cleared the thread away: it reports its end a moment before."""
        for _ in range(200):
            if not os.path.exists(f"/proc/self/task/{self._tid}"):
                break
            self._pause(0.0005)

    def _run(self) -> None:
        try:
            self._begin()
            wait, most = self._flushes
            while not self._stopping.acquire(timeout=wait):
                wait = min(2 * wait, most)
                _leave_no_dummy()
                self._buffers.flush()
                self._after()
            self._stopping.release()
        finally:
            self._stopped.release()

    def _begin(self) -> None:
        """Keep this thread out of what is recorded; whatever happens, the program goes on."""
        try:
            state.hide_thread()
            self._tid = state.local.log.tid
            _leave_no_dummy()
            if self._buffers.tracking is not None:
                self._buffers.tracking.start()
                # At once, so that memray's records of this thread are known to be ours.
                self._buffers.mark()
        finally:
            self._started.release()


def _leave_no_dummy() -> None:
    """Take this thread out of ``threading``'s list, into which VizTracer puts every thread that it meets."""
    active = getattr(sys.modules.get("threading"), "_active", {})
    active.pop(_thread.get_ident(), None)


def _block_signals() -> Any:
    """Block all signals in this thread; return what was blocked before."""
    if not hasattr(signal, "pthread_sigmask"):
        return None
    return signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def _unblock_signals(mask: Any) -> None:
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
