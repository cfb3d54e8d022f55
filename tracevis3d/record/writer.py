"""The program that writes the file: reads the spool as it grows, and ends it when the recorded one ends."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from .children import Children
from .encode import Encoder
from .spool import Reader

#: Seconds between two looks at the spool.
_EVERY = 0.05


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
    reader, running = Reader(folder), True
    while running:
        ready, _, _ = select.select([alive], [], [], _EVERY)
        running = not ready
        yield from reader.read()
    reader.close()


def write(folder: str, path: str, alive: int, say: Callable[[str], None]) -> None:
    """Write what the spools in ``folder`` hold and will hold, until all processes have ended.

    ``say`` gets one sentence when ``alive`` ends: the first process waits for it, and for no other process.
    """
    encoder, output = Encoder(folder), Output(path)
    children = Children(folder, encoder)
    for came in follow(folder, alive):
        for section in came:
            output.add(list(encoder.lines(*section)))
        output.add(children.take())
        output.flush()
    output.add(list(encoder.finish()))
    # Twice: what was new the first time is read the second.
    output.add(children.take())
    output.add(children.take())
    said = False
    while running := children.running():
        if not said:
            output.flush()
            others = "one process that it started still runs and is"
            if running > 1:
                others = f"{running:,} processes that it started still run and are"
            say(f"{_sentence(path, [encoder, *children.encoders])}; {others} added to it")
            said = True
        time.sleep(_EVERY)
        if lines := children.take():
            output.add(lines)
            output.flush()
    output.close()
    if not said:
        say(_sentence(path, [encoder, *children.encoders]))


def end_file(encoder: Encoder, output: Output, path: str) -> str:
    """Write what had not ended, close the file, and return one sentence about it."""
    output.add(list(encoder.finish()))
    output.close()
    return _sentence(path, [encoder])


def _sentence(path: str, encoders: list[Encoder]) -> str:
    """Say what was written of all processes."""
    calls, waits, releases, transfers, allocations, lost = (
        sum(getattr(encoder, name) for encoder in encoders)
        for name in ("calls", "waits", "releases", "transfers", "allocations", "lost")
    )
    processes = f", {len(encoders):,} processes" if len(encoders) > 1 else ""
    blocks = f", {allocations:,} allocations" if allocations else ""
    said = (
        f"{path}: {calls:,} calls, {waits:,} waits, {releases:,} releases, "
        f"{transfers:,} transfers{blocks}{processes}; {os.path.getsize(path) / 1e6:.1f} MB"
    )
    return said + (", and VizTracer's buffer was full for a while" if lost else "")


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

    def say(said: str) -> None:
        with contextlib.suppress(OSError):  # nobody is left to be told
            os.write(answer, said.encode())
            os.close(answer)

    try:
        write(folder, path, alive, say)
    except OSError as error:
        say(f"{path}: can't be written: {error.strerror or error}")
    except Exception as error:
        say(f"{path}: the recording is incomplete: {type(error).__name__}: {error}")
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0)
