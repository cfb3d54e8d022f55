"""Shared by several commands: arguments, reading a trace, printing facts."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING

from ..errors import UsageError
from .terminal import JSON_ESCAPES, Bar, in_one_line

if TYPE_CHECKING:
    from ..trace.model import Trace


def reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that reads traces."""
    parser.add_argument(
        "--no-cache", action="store_true", help="read the file itself, and don't keep the result"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def load(path: str, words: argparse.Namespace, bar: Bar) -> Trace:
    """Read a trace, and report on standard error what had to be repaired or left out."""
    from ..formats import files

    trace = files.load(path, cache=not words.no_cache, progress=bar)
    bar.close()
    for sentence in trace.problems.sentences():
        complain(f"{path}: {sentence}")
    return trace


def check_apart(trace: str, output: str) -> None:
    """Raise :class:`~tracevis3d.errors.UsageError` if a command would write over the trace that it reads."""
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
    return f"{value:g}" if isinstance(value, float) else str(value)
