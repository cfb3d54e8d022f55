"""Files that record what is read and written, where it reaches the operating system.

What a buffer answers without asking the system is no I/O: it costs nothing and is not recorded.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

from .. import state
from ..operations import IO, operation
from ..patches import Patches
from ..spool import FAILED
from ..state import local

_OPEN = operation("open", IO)
_READ, _WRITE = operation("FileIO.read", IO), operation("FileIO.write", IO)
_original_open = io.open
_Raw = io.FileIO
_readinto, _read, _readall, _write = _Raw.readinto, _Raw.read, _Raw.readall, _Raw.write
#: Calls of ``os`` that work on a descriptor, which is their first argument.
_CALLS = (
    *("read", "write", "pread", "pwrite", "readv", "writev", "preadv", "pwritev", "sendfile"),
    *("fsync", "fdatasync", "copy_file_range", "splice"),
)


class FileIO(_Raw):
    """The innermost layer of an open file."""

    _tracevis3d_number = 0

    def readinto(self, buffer: Any) -> Any:
        start = state.clock()
        result = _readinto(self, buffer)
        if state.recording:
            local.add((_READ, self._tracevis3d_number, start, state.clock(), 0, result or 0))
        return result

    def read(self, size: Any = -1) -> Any:
        start = state.clock()
        result = _read(self, size)
        if state.recording:
            local.add((_READ, self._tracevis3d_number, start, state.clock(), 0, len(result or b"")))
        return result

    def readall(self) -> Any:
        start = state.clock()
        result = _readall(self)
        if state.recording:
            local.add((_READ, self._tracevis3d_number, start, state.clock(), 0, len(result or b"")))
        return result

    def write(self, data: Any) -> Any:
        start = state.clock()
        result = _write(self, data)
        if state.recording:
            local.add((_WRITE, self._tracevis3d_number, start, state.clock(), 0, result or 0))
        return result


FileIO.__qualname__ = FileIO.__name__ = "FileIO"
FileIO.__module__ = _Raw.__module__


def label_of(file: Any) -> str:
    """Return what a file is called in the recording."""
    if isinstance(file, int):
        return f"fd:{file}"
    try:
        return f"file:{os.fsdecode(file)}"
    except TypeError:
        return "file:?"


def _open(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Any = None,
) -> Any:
    """Stand for ``open``: the same layers, with a recorded one inside."""
    if not state.recording or not _is_usual(mode, buffering, encoding, errors, newline):
        return _original_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    binary, flags = "b" in mode, FAILED
    number, start = state.named_object(label_of(file)), state.clock()
    try:
        raw = FileIO(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        flags = 0
    finally:
        local.add((_OPEN, number, start, state.clock(), flags, 0))
    raw._tracevis3d_number = number
    result: Any = raw
    try:
        lines = False
        if buffering == 1 or (buffering < 0 and raw.isatty()):
            buffering, lines = -1, True
        if buffering < 0:
            block = getattr(raw, "_blksize", 0)
            buffering = block if block > 1 else io.DEFAULT_BUFFER_SIZE
        if buffering == 0:
            return raw
        if "+" in mode:
            result = io.BufferedRandom(raw, buffering)
        elif "r" in mode:
            result = io.BufferedReader(raw, buffering)
        else:
            result = io.BufferedWriter(raw, buffering)
        if binary:
            return result
        result = io.TextIOWrapper(result, encoding, errors, newline, lines)
        result.mode = mode
        return result
    except BaseException:
        result.close()
        raise


def _is_usual(mode: Any, buffering: Any, encoding: Any, errors: Any, newline: Any) -> bool:
    """Return whether the arguments are such as ``open`` does not complain of."""
    if type(mode) is not str or type(buffering) is not int:
        return False
    letters = set(mode)
    if len(letters) != len(mode) or not letters <= set("rwaxbt+") or len(letters & set("rwax")) != 1:
        return False
    if "b" in letters:
        return "t" not in letters and encoding is errors is newline is None and buffering != 1
    return buffering != 0


def _descriptor(name: str) -> Callable[[Any], Any]:
    number = operation(f"os.{name}", IO)

    def make(original: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            start = state.clock()
            result = original(*args, **kwargs)
            if state.recording:
                moved = len(result) if type(result) is bytes else result if type(result) is int else 0
                what = state.named_object(label_of(args[0])) if args else 0
                local.add((number, what, start, state.clock(), 0, moved))
            return result

        return call

    return make


def patch_files(patches: Patches) -> None:
    """Record files that are opened from now on, and what is read and written by descriptor."""
    import builtins

    from ..patches import like

    replacement = like(_original_open, _open)
    patches.set(builtins, "open", replacement)
    patches.set(io, "open", replacement)
    for name in _CALLS:
        patches.wrap(os, name, _descriptor(name))
