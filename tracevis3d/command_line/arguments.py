"""Shared by several commands: arguments, reading a trace, printing facts."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TraceVisError, UsageError
from ..machine import memory as memory_limit
from ..parameters import shown as shown_value
from ..units import read_byte_size
from .terminal import JSON_ESCAPES, Bar, in_one_line

if TYPE_CHECKING:
    from ..trace.model import Trace


#: A file name that means standard input.
STANDARD_INPUT = "-"
#: What it is called then.
SHOWN_INPUT = "standard input"


def reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that reads traces."""
    parser.add_argument("--no-cache", action="store_true", help="read the file itself, without the cache")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.add_argument(
        "--max-memory",
        metavar="SIZE",
        help="how much memory reading may take, such as 2GB (default: "
        f"{memory_limit.SHARE:.0%}% of what is free)",
    )


def completed_by(action: argparse.Action, names: Callable[[], Iterable[str]]) -> None:
    """Let the shell complete an argument by names, which are looked up when it asks.

    Parameters
    ----------
    action : argparse.Action
        What ``add_argument`` has returned.
    names : callable
        Returns what the argument can be.
    """
    action.completer = lambda **_: list(names())  # type: ignore[attr-defined]


def load(path: str, args: argparse.Namespace, bar: Bar) -> Trace:
    """Read a trace, ``-`` from standard input; report on standard error what was repaired or left out.

    Parameters
    ----------
    path : str
        The file, or ``-``.
    args : argparse.Namespace
        What :func:`reading` has declared.
    bar : Bar
        Shows how far reading has come.

    Returns
    -------
    Trace
    """
    from ..formats import files

    most = args.max_memory
    memory_limit.choose(None if most is None else read_byte_size("--max-memory", most))
    shown = SHOWN_INPUT if path == STANDARD_INPUT else path
    given = _given(path)
    with memory_limit.enforced():
        try:
            trace = files.load(given, cache=not args.no_cache, progress=bar)
        except TraceVisError as error:
            error.args = (str(error).replace(given, shown),)
            raise
    bar.close()
    for sentence in trace.problems.sentences():
        complain(f"{shown}: {sentence}")
    return trace


def _given(path: str) -> str:
    """Return the file to read: for ``-`` one with what comes in on standard input, kept until the end."""
    if path != STANDARD_INPUT:
        return path
    import atexit
    import shutil
    import tempfile

    if sys.stdin.isatty():
        raise UsageError("standard input is a terminal: name a file, or pipe a recording into the command")
    folder = Path(tempfile.mkdtemp(prefix="tracevis3d-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with open(folder / "standard-input", "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(folder / "standard-input")


def check_apart(trace: str, output: str) -> None:
    """Raise :class:`~tracevis3d.errors.UsageError` if a command would write over the trace that it reads.

    Parameters
    ----------
    trace, output : str
        The file that is read, and the one to be written.

    Raises
    ------
    UsageError
        If they are the same file.
    """
    if os.path.exists(trace) and os.path.exists(output) and os.path.samefile(trace, output):
        raise UsageError(f"{output}: is the trace that is read: name another file to write")


def complain(sentence: str) -> None:
    """Print one sentence, in one line, on standard error."""
    print(in_one_line(sentence), file=sys.stderr)


def print_json(facts: object) -> None:
    """Print facts as JSON on standard output."""
    print(json.dumps(facts, indent=2, ensure_ascii=False, default=str).translate(JSON_ESCAPES))


def shown(value: object) -> str:
    """Return a default as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shown_value(value)
