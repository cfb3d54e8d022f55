"""The program that writes the file: reads the spool as it grows, and ends it when the recorded one ends."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from ..subprocesses.children import Children, Section
from .encode import Encoder
from .helper import RUNNING
from .json_file import JsonFile
from .process import Process
from .reader import Reader

#: Seconds between two checks of the spool.
_EVERY = 0.05


def follow(folder: str, alive: int, pid: int) -> Iterator[list[tuple[bytes, int, bytes]]]:
    """Yield the sections of a process's spool as they are written, until the program has ended.

    Parameters
    ----------
    folder : str
    alive : int
        Descriptor of the end of a pipe that the recorded program holds open at its other end. A program
        that closes it may continue: then the process is checked instead.
    pid : int
        The program's.

    Yields
    ------
    list of (bytes, int, bytes)
        Kind, number and data of each section.
    """
    reader, process = Reader(folder), Process(pid)
    marker = os.path.join(folder, RUNNING)
    held, running = True, True
    while running:
        if held:
            held = not select.select([alive], [], [], _EVERY)[0]
        else:
            time.sleep(_EVERY)
        running = held or (process.lives() and os.path.exists(marker))
        yield from reader.read()
        running = running and (held or not reader.closed)
    yield reader.rest()
    reader.close()
    process.close()


class Sink(Protocol):
    """A sink for the sections of all processes of a recording."""

    def take(self, folder: str, sections: list[Section] | None) -> None:
        """Take sections of a process.

        Parameters
        ----------
        folder : str
            The process's.
        sections : list of (bytes, int, bytes), or None
            Kind, number and data of each; None: the process has ended.
        """

    def flush(self) -> None:
        """Make available to others what was taken."""

    def close(self) -> None:
        """Finish: all processes have ended."""

    def sentence(self) -> str:
        """Return what was taken so far, as a sentence."""


class File:
    """A recording's file.

    Parameters
    ----------
    folder : str
        The recording's.
    path : str
        The file.
    """

    def __init__(self, folder: str, path: str) -> None:
        self._path, self._output = path, JsonFile(path)
        self._first = Encoder(folder)
        self._encoders = {folder: self._first}

    def take(self, folder: str, sections: list[Section] | None) -> None:
        """Take sections of a process.

        Parameters
        ----------
        folder : str
            The process's.
        sections : list of (bytes, int, bytes), or None
            Kind, number and data of each; None: the process has ended.
        """
        encoder = self._encoders.get(folder)
        if encoder is None:
            encoder = self._encoders[folder] = Encoder(folder, self._first)
        if sections is None:
            self._output.add(encoder.guarded(encoder.finish()))
        for section in sections or ():
            self._output.add(encoder.guarded(encoder.lines(*section)))

    def flush(self) -> None:
        """Write out what was taken, so that others can read it."""
        self._output.flush()

    def close(self) -> None:
        """End the file."""
        self._output.close()

    def sentence(self) -> str:
        """Return what was written of all processes, as a sentence."""
        self._output.flush()
        if self._output.failed:
            return f"{self._path}: the recording ends early: {self._output.failed}"
        encoders = list(self._encoders.values())
        calls, waits, releases, transfers, allocations, lost = (
            sum(getattr(encoder, name) for encoder in encoders)
            for name in ("calls", "waits", "releases", "transfers", "allocations", "lost")
        )
        processes = f", {len(encoders):,} processes" if len(encoders) > 1 else ""
        blocks = f", {allocations:,} allocations" if allocations else ""
        if any(encoder.has_snapshots for encoder in encoders):
            blocks += " (without blocks freed between two snapshots)"
        said = (
            f"{self._path}: {calls:,} calls, {waits:,} waits, {releases:,} releases, "
            f"{transfers:,} transfers{blocks}{processes}; {self._output.size / 1e6:.1f} MB"
        )
        return said + (", and VizTracer's buffer was full for a while" if lost else "")


def serve(folder: str, alive: int, pid: int, sinks: Sequence[Sink], say: Callable[[str], None]) -> None:
    """Pass on the sections of all processes of a recording until the last one has ended.

    Parameters
    ----------
    folder : str
        The recording's.
    alive, pid : int
        The first process's, as for :func:`follow`.
    sinks : sequence of Sink
    say : callable
        Called once, with a sentence, when the first process has ended; that process waits for it.
    """
    children = Children(folder)

    def hand_on_children() -> bool:
        came = False
        for name, sections in children.take():
            came = True
            for sink in sinks:
                sink.take(name, sections)
        return came

    for came in follow(folder, alive, pid):
        for sink in sinks:
            sink.take(folder, came)
        hand_on_children()
        for sink in sinks:
            sink.flush()
    for sink in sinks:
        sink.take(folder, None)
    # Twice: what was new the first time is read the second.
    hand_on_children()
    hand_on_children()
    said = False
    while running := children.running():
        if not said:
            others = "one process that it started still runs and is"
            if running > 1:
                others = f"{running:,} processes that it started still run and are"
            say("; ".join([*(sink.sentence() for sink in sinks), f"{others} added to it"]))
            said = True
        time.sleep(_EVERY)
        if hand_on_children():
            for sink in sinks:
                sink.flush()
    for sink in sinks:
        sink.close()
    if not said:
        say("; ".join(sink.sentence() for sink in sinks))


def run_in_background() -> None:
    """Leave the recorded program's session, and lower the priority, so that the program runs first."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):  # the shell has done so
            os.setsid()
        os.nice(10)


def reporter(answer: int) -> Callable[[str], None]:
    """Return a function that sends the first process one sentence, through a pipe given by its descriptor."""

    def say(said: str) -> None:
        with contextlib.suppress(OSError):  # there is no reader left
            os.write(answer, said.encode())
            os.close(answer)

    return say


def main(words: list[str]) -> None:
    """Run as a process of its own.

    Parameters
    ----------
    words : list of str
        Folder, output, descriptors of two pipes, the program's id.
    """
    folder, path, alive, answer, pid = words[0], words[1], int(words[2]), int(words[3]), int(words[4])
    run_in_background()

    say = reporter(answer)
    try:
        serve(folder, alive, pid, [File(folder, path)], say)
    except OSError as error:
        say(f"{path}: the recording ends early: {error.strerror or error}")
    except Exception as error:
        say(f"{path}: the recording is incomplete: {type(error).__name__}: {error}")
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0)
