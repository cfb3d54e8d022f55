"""Keep what Blender itself prints away from the user's terminal."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import tempfile
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def captured_output() -> Iterator[Callable[[], str]]:
    """Send what C code writes to descriptors 1 and 2 to a file; Python's own streams still reach the user.

    Yields
    ------
    callable
        Returns what was written so far.
    """
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(tempfile.TemporaryFile())
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            stack.enter_context(_redirected(descriptor, name, log.fileno()))

        def written() -> str:
            log.flush()
            size = os.fstat(log.fileno()).st_size
            return os.pread(log.fileno(), size, 0).decode("utf-8", "replace") if hasattr(os, "pread") else ""

        yield written


@contextlib.contextmanager
def _redirected(descriptor: int, name: str, target: int) -> Iterator[None]:
    stream = getattr(sys, name)
    try:
        saved = os.dup(descriptor)
    except OSError:  # closed, as for a program without a console
        yield
        return
    with contextlib.suppress(AttributeError, OSError, ValueError):
        stream.flush()
    ours = None
    try:
        on_it = stream is not None and stream.fileno() == descriptor
    except (AttributeError, OSError, ValueError):
        on_it = False
    if on_it:
        ours = os.fdopen(os.dup(saved), "w", encoding=stream.encoding, errors="backslashreplace", buffering=1)
        setattr(sys, name, ours)
    _flush_c()
    os.dup2(target, descriptor)
    try:
        yield
    finally:
        _flush_c()
        os.dup2(saved, descriptor)
        os.close(saved)
        if ours is not None:
            setattr(sys, name, stream)
            ours.close()


def _flush_c() -> None:
    """Write out what C code has printed and its library still holds, while it goes where it belongs."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # no C library to be found by this name
        ctypes.CDLL(None).fflush(None)
