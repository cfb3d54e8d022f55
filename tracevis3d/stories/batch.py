"""Many commands at once, each a task of Dask: what they read is sent, what they write comes back."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..atomic import replacing
from ..errors import InputError, UsageError
from ..machine.bounds import check_written
from ..progress import Progress
from . import cluster

#: Those that read more files than their words name, or wait for somebody.
_AT_HOME = ("panels", "film", "again", "record", "replay", "watch", "live", "batch", "cache", "bookmarks")
_OUTPUT = ("-o", "--output")


@dataclass(frozen=True)
class Line:
    """A command of a batch.

    Attributes
    ----------
    number : int
        Of its line in the file, from 1.
    words : tuple of str
        Those after ``tracevis3d``.
    """

    number: int
    words: tuple[str, ...]

    @property
    def output(self) -> str:
        """What it writes to, as it says; empty: nothing."""
        for before, word in zip(self.words, self.words[1:]):
            if before in _OUTPUT:
                return word
        found = (word.partition("=")[2] for word in self.words if word.startswith("--output="))
        return next(found, "")

    @property
    def files(self) -> list[str]:
        """The files that it reads, as they are named."""
        return [word for word in self.words if not word.startswith("-") and os.path.isfile(word)
                and word != self.output]  # fmt: skip


@dataclass(frozen=True)
class Done:
    """What became of a line.

    Attributes
    ----------
    code : int
        The exit code of its command.
    said : str
        On standard output.
    error : str
        On standard error.
    files : mapping of str to bytes
        What it has written on a machine that does not share our disk, by where it belongs.
    """

    code: int
    said: str
    error: str
    files: Mapping[str, bytes]


def read(path: str | os.PathLike[str]) -> list[Line]:
    """Return the commands in a file: one a line, without the name of the program; ``#`` begins a comment.

    Parameters
    ----------
    path : path

    Returns
    -------
    list of Line

    Raises
    ------
    InputError
        If the file can't be read, is too large, or holds no command.
    UsageError
        If quotes of a line are not closed.
    """
    check_written(Path(path), "a batch", "write fewer commands into it, and the others into another file")
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(f"{path}: {reason}") from None
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: {str(error).lower()}") from None
        if words[:1] == ["tracevis3d"]:
            words = words[1:]
        if words:
            lines.append(Line(number, tuple(words)))
    if not lines:
        raise InputError(
            f"{path}: no command is in it: write one on each line, such as 'render city a.json -o a.png'"
        )
    return lines


def check(lines: Sequence[Line], scheduler: str) -> None:
    """Raise if two lines write the same file, or one can't be done on another machine.

    Parameters
    ----------
    lines : sequence of Line
    scheduler : str

    Raises
    ------
    UsageError
    InputError
        If a folder is missing that is written to.
    """
    taken: dict[str, int] = {}
    for line in lines:
        if scheduler != cluster.LOCAL and line.words[0] in _AT_HOME:
            raise UsageError(f"line {line.number}: {line.words[0]!r} is done on this machine alone")
        if line.output:
            other = taken.setdefault(os.path.abspath(line.output), line.number)
            if other != line.number:
                raise UsageError(f"lines {other} and {line.number} both write {line.output}")
            folder = Path(os.path.abspath(line.output)).parent
            if not folder.is_dir():
                raise InputError(f"line {line.number}: {line.output}: there is no folder {folder}: make it")


def run(
    lines: Sequence[Line],
    scheduler: str,
    jobs: int,
    finished: Callable[[Line, Done], None],
    progress: Progress,
) -> None:
    """Do all lines, in any order.

    Parameters
    ----------
    lines : sequence of Line
    scheduler : str
        ``local`` or an address.
    jobs : int
        Workers of a local one.
    finished : callable
        ``finished(line, done)`` for each that has ended, well or not.
    progress : Progress

    Raises
    ------
    InputError
        If no scheduler answers, a file can't be read or written, or a line ended several workers.
    """
    home = os.getcwd()
    named = {name: os.path.abspath(name) for line in lines for name in line.files}
    with cluster.connected(scheduler, jobs) as client:
        sent = cluster.contents_of(list(dict.fromkeys(named.values())), client, scheduler)
        tasks = {}
        for line in lines:
            files = {named[name]: sent[named[name]] for name in line.files}
            tasks[line] = client.submit(
                words_of, line.words, home, files, scheduler != cluster.LOCAL, cluster.version(), pure=False
            )

        def store(line: Line, done: Done) -> None:
            for place, content in done.files.items():
                Path(place).parent.mkdir(parents=True, exist_ok=True)
                with replacing(place) as partial:
                    partial.write_bytes(content)
            finished(line, done)

        try:
            cluster.gather(client, tasks, store, progress, "command")
        finally:
            cluster.cancel(client, tasks.values())


def words_of(
    words: Sequence[str], home: str, files: Mapping[str, bytes | None], apart: bool, version: str
) -> Done:
    """Run a command; done by a worker.

    Parameters
    ----------
    words : sequence of str
        Those after ``tracevis3d``.
    home : str
        The folder it is run in.
    files : mapping of str to bytes or None
        What it reads, by its place; None: it is there.
    apart : bool
        The worker does not share our disk: all lies in a folder of its own, in the same places below it, so
        that pictures name their traces as they do at home.
    version : str
        Of the program at home.

    Returns
    -------
    Done

    Raises
    ------
    InputError
        If the worker has another version.
    """
    import tempfile

    cluster.check_version(version)
    if not apart:
        code, said, error = _run(words, home)
        return Done(code, said, error, {})
    with tempfile.TemporaryDirectory(prefix="tracevis3d-") as root:
        there = {_below(root, place): content for place, content in files.items()}
        for place, content in there.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content or b"")
        folder = _below(root, home)
        folder.mkdir(parents=True, exist_ok=True)
        own = [_moved(word, root) for word in words]
        for word in own:
            # Folders that are written to are there at home.
            (folder / word).parent.mkdir(parents=True, exist_ok=True)
        code, said, error = _run(own, str(folder))
        written = {}
        for path in sorted(Path(root).rglob("*")):
            if path.is_file() and path not in there:
                written[os.sep + str(path.relative_to(root))] = path.read_bytes()
        return Done(code, said, error.replace(root, ""), written)


def _below(root: str, place: str) -> Path:
    return Path(root) / Path(place).relative_to(Path(place).anchor)


def _moved(word: str, root: str) -> str:
    """Return a word whose absolute path is that below another root."""
    name, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{name}{equals}{_below(root, value)}" if os.path.isabs(value) else word


def _run(words: Sequence[str], folder: str) -> tuple[int, str, str]:
    program = __name__.partition(".")[0]
    done = subprocess.run(
        [sys.executable, "-m", program, *words], cwd=folder, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace",
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr
