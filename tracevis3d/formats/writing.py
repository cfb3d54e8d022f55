"""Shared by writers of text formats: packed output that appears only when it is whole, and calls as text."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from ..atomic import replacing
from ..errors import MissingDependency
from ..kernels.formats.format_calls import WRITTEN, format_calls

if TYPE_CHECKING:
    from ..trace.model import Trace

_CHUNK = 1 << 22


@contextmanager
def output(path: Path) -> Iterator[IO[bytes]]:
    """Open ``path`` for writing, packed as its last suffix says; it is put in place when all is written."""
    with replacing(path) as partial, open(partial, "wb") as file:
        if path.suffix.lower() == ".gz":
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                yield cast(IO[bytes], packed)
        elif path.suffix.lower() in (".zst", ".zstd"):
            with _zstd(file) as packed:
                yield packed
        else:
            yield file


def _zstd(file: IO[bytes]) -> IO[bytes]:
    try:
        import zstandard
    except ImportError as error:
        raise MissingDependency(
            "writing zstd needs a library for it: install it with 'pip install zstandard', or write .gz"
        ) from error
    return zstandard.ZstdCompressor(level=6).stream_writer(file, closefd=False)


def write_calls(
    trace: Trace, thread: int, texts: Sequence[bytes], names: Sequence[bytes], file: IO[bytes], skip: int = 0
) -> None:
    """Write begins and ends of a thread's calls, each as ``texts[0 or 1] name texts[2] time texts[3]``.

    Parameters
    ----------
    trace : Trace
    thread : int
        Its number.
    texts : four byte strings
        Before the name of a call that begins, that ends, behind the name, behind the time.
    names : byte strings
        One per function.
    file : IO
        Open for writing bytes.
    skip : int
        How many bytes at the very start are not written.
    """
    low = int(trace.threads.first[thread])
    count = int(trace.threads.count[thread])
    calls = trace.calls
    part = slice(low, low + count)
    if not count:
        return
    text, text_first = _joined(texts)
    name, name_first = _joined(names)
    room = max(_CHUNK, 2 * (len(text) + max(map(len, names), default=0)) + 64)
    out = np.empty(room, np.uint8)
    stack = np.empty(int(calls.depth[part].max()), np.int64)
    state = np.zeros(3, np.int64)
    function = np.ascontiguousarray(calls.function[part], np.int32)
    start, end, extent = (
        np.ascontiguousarray(column[part], np.int64) for column in (calls.start, calls.end, calls.extent)
    )
    done = False
    while not done:
        state[WRITTEN] = 0
        done = format_calls(
            function, start, end, extent, count, trace.origin_ns,
            text, text_first, name, name_first, stack, state, out,
        )  # fmt: skip
        file.write(out.data[skip : int(state[WRITTEN])])
        skip = 0


def _joined(parts: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    first = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(piece) for piece in parts], out=first[1:])
    return np.frombuffer(b"".join(parts) or b"\0", np.uint8), first


def one_line(text: str) -> str:
    """Return ``text`` without line ends and other control characters."""
    return "".join(character if character.isprintable() else " " for character in text).strip() or "(unnamed)"
