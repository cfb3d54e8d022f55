"""Files that record what is read and written, where it reaches the operating system.

What a buffer answers without asking the system is no I/O: it costs nothing and is not recorded.
"""

from __future__ import annotations

import io
import os
import weakref
from collections.abc import Callable
from typing import Any

from .. import state
from ..operations import IO, operation
from ..output.spool import FAILED
from ..patches import Patches
from ..state import local

_OPEN = operation("open", IO)
_READ, _WRITE = operation("FileIO.read", IO), operation("FileIO.write", IO)
_original_open = io.open
_Raw = io.FileIO
_readinto: Any = _Raw.readinto
_read: Any = _Raw.read
_readall: Any = _Raw.readall
_write: Any = _Raw.write
#: Calls of ``os`` that work on a descriptor, which is their first argument.
_CALLS = (
    *("read", "write", "pread", "pwrite", "readv", "writev", "preadv", "pwritev", "sendfile"),
    *("fsync", "fdatasync", "copy_file_range", "splice"),
)


class _Transfers:
    """Wrappers of the methods of an open file's innermost layer, as attributes of it.

    The layer stays what it is: buffers take shortcuts for no other. It is not held from here, so that a file
    is still closed when it is no longer referenced.
    """

    __slots__ = ("_layer", "_number")

    def __init__(self, layer: Any, number: int) -> None:
        self._layer = weakref.ref(layer)
        self._number = number
        layer.readinto, layer.read = self.readinto, self.read
        layer.readall, layer.write = self.readall, self.write

    def readinto(self, buffer: Any) -> Any:
        start = state.clock()
        result = _readinto(self._layer(), buffer)
        if state.recording:
            local.add((_READ, self._number, start, state.clock(), 0, result or 0))
        return result

    def read(self, size: Any = -1) -> Any:
        start = state.clock()
        result = _read(self._layer(), size)
        if state.recording:
            local.add((_READ, self._number, start, state.clock(), 0, len(result or b"")))
        return result

    def readall(self) -> Any:
        start = state.clock()
        result = _readall(self._layer())
        if state.recording:
            local.add((_READ, self._number, start, state.clock(), 0, len(result or b"")))
        return result

    def write(self, data: Any) -> Any:
        start = state.clock()
        result = _write(self._layer(), data)
        if state.recording:
            local.add((_WRITE, self._number, start, state.clock(), 0, result or 0))
        return result


class _Unbuffered(_Raw):
    """An innermost layer that nothing lies around: a program may call it when nothing else holds it."""

    _number = 0

    def readinto(self, buffer: Any) -> Any:
        start = state.clock()
        return self._moved(_READ, start, _readinto(self, buffer))

    def read(self, size: Any = -1) -> Any:
        start = state.clock()
        return self._moved(_READ, start, _read(self, size))

    def readall(self) -> Any:
        start = state.clock()
        return self._moved(_READ, start, _readall(self))

    def write(self, data: Any) -> Any:
        start = state.clock()
        return self._moved(_WRITE, start, _write(self, data))

    def __repr__(self) -> str:
        return _Raw.__repr__(self).replace("<FileIO", "<_io.FileIO", 1)

    def _moved(self, what: int, start: float, result: Any) -> Any:
        if state.recording:
            count = len(result) if type(result) is bytes else result or 0
            local.add((what, self._number, start, state.clock(), 0, count))
        return result


_Unbuffered.__qualname__ = _Unbuffered.__name__ = _Raw.__name__
_Unbuffered.__module__ = _Raw.__module__


def label_of(file: Any) -> str:
    """Return what a file is called in the recording."""
    if isinstance(file, int):
        return f"fd:{file}"
    try:
        return f"file:{os.fsdecode(file)}"
    except TypeError:
        return "file:?"


def _open(file: Any, *args: Any, **kwargs: Any) -> Any:
    """Replace ``open``."""
    if not state.recording:
        return _original_open(file, *args, **kwargs)
    number, start, flags = state.named_object(label_of(file)), state.clock(), FAILED
    try:
        raw_mode = _unbuffered_mode(*args, **kwargs)
        if raw_mode:
            more = {key: kwargs[key] for key in ("closefd", "opener") if key in kwargs}
            opened = _Unbuffered(file, raw_mode, *args[5:], **more)
            opened._number = number
        else:
            opened = _original_open(file, *args, **kwargs)
        flags = 0
    finally:
        local.add((_OPEN, number, start, state.clock(), flags, 0))
    layer: Any = getattr(opened, "buffer", opened)
    layer = getattr(layer, "raw", layer)
    if type(layer) is _Raw:
        _Transfers(layer, number)
    return opened


def _unbuffered_mode(mode: Any = "r", buffering: Any = -1, *args: Any, **kwargs: Any) -> str:
    """Return the mode of the innermost layer, where that is all that is asked for; empty otherwise."""
    if buffering != 0 or type(mode) is not str or any(value is not None for value in args[:3]):
        return ""
    letters = set(mode)
    usual = "b" in letters and letters <= set("rwaxb+") and len(letters & set("rwax")) == 1
    if not usual or len(letters) != len(mode) or set(kwargs) - {"closefd", "opener"}:
        return ""
    return mode.replace("b", "")


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
