"""The program that writes the file: reads the spool as it grows, and ends it when the recorded one ends."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from .encode import Encoder
from .spool import NEXT, file_name, sections

#: Seconds between two looks at the spool.
_EVERY = 0.05
#: Bytes that are read from the spool at once.
_PIECE = 1 << 24


class Output:
    """A JSON file in the making, packed or not; at every moment it can be read up to the last flush."""

    def __init__(self, path: str) -> None:
        self._file: BinaryIO = open(path, "wb")  # noqa: SIM115 (closed by close)
        self._pack: Any = zlib.compressobj(1, zlib.DEFLATED, 31) if path.endswith(".gz") else None
        self._first = True
        self._put(b'{"displayTimeUnit":"ns","traceEvents":[\n')

    def add(self, lines: list[bytes]) -> None:
        """Append events."""
        if lines:
            self._put((b"" if self._first else b",\n") + b",\n".join(lines))
            self._first = False

    def flush(self) -> None:
        """Let everything be read that was added."""
        if self._pack is not None:
            self._file.write(self._pack.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """End the file."""
        self._put(b"\n]}\n")
        if self._pack is not None:
            self._file.write(self._pack.flush())
        self._file.close()

    def _put(self, data: bytes) -> None:
        self._file.write(self._pack.compress(data) if self._pack is not None else data)


def follow(folder: str, alive: int) -> Iterator[list[tuple[bytes, int, bytes]]]:
    """Yield the sections that the spool holds and will hold, piece by piece, until ``alive`` ends.

    Parameters
    ----------
    folder : str
    alive : int
        The end of a pipe that the recorded program holds open at its other end.
    """
    number, rest, running = 1, b"", True
    file = open(file_name(folder, number), "rb")  # noqa: SIM115 (closed where the next one begins)
    while running:
        ready, _, _ = select.select([alive], [], [], _EVERY)
        running = not ready
        while piece := file.read(_PIECE):
            rest += piece
            came, end, full = [], 0, False
            for kind, thread, data, end in sections(rest):  # noqa: B007
                full = full or kind == NEXT
                came.append((kind, thread, data))
            rest = rest[end:]
            yield came
            if full:
                file.close()
                os.unlink(file_name(folder, number))
                number += 1
                file = open(file_name(folder, number), "rb")  # noqa: SIM115
    file.close()


def write(folder: str, path: str, alive: int) -> str:
    """Write what the spool in ``folder`` holds and will hold, until ``alive`` ends; return one sentence."""
    encoder, output = Encoder(folder), Output(path)
    for came in follow(folder, alive):
        for section in came:
            output.add(list(encoder.lines(*section)))
        output.flush()
    return end_file(encoder, output, path)


def end_file(encoder: Encoder, output: Output, path: str) -> str:
    """Write what had not ended, close the file, and return one sentence about it."""
    output.add(list(encoder.finish()))
    output.close()
    size = os.path.getsize(path)
    blocks = f", {encoder.allocations:,} allocations" if encoder.allocations else ""
    said = (
        f"{path}: {encoder.calls:,} calls, {encoder.waits:,} waits, {encoder.releases:,} releases, "
        f"{encoder.transfers:,} transfers{blocks}; {size / 1e6:.1f} MB"
    )
    return said + (", and VizTracer's buffer was full for a while" if encoder.lost else "")


def stand_aside() -> None:
    """Leave the recorded program's session, and let it go first where there are few cores."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):  # the shell has done so
            os.setsid()
        os.nice(10)


def main(words: list[str]) -> None:
    """Run as a process of its own: the folder, the output, and the two pipes' descriptors."""
    folder, path, alive, answer = words[0], words[1], int(words[2]), int(words[3])
    stand_aside()
    try:
        said = write(folder, path, alive)
    except OSError as error:
        said = f"{path}: can't be written: {error.strerror or error}"
    except Exception as error:
        said = f"{path}: the recording is incomplete: {type(error).__name__}: {error}"
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # nobody is left to be told
        os.write(answer, said.encode())
    sys.exit(0)
