"""``tracevis3d batch``: many commands from a file, on all cores or on many machines."""

from __future__ import annotations

import argparse
import os
from typing import Any, NoReturn

from ..command_line.arguments import complain
from ..command_line.terminal import Bar
from ..errors import InputError, UsageError

#: Shown by --help.
EXAMPLES = (
    "tracevis3d batch pairs.txt",
    "tracevis3d batch pairs.txt --scheduler tcp://host:8786 --new",
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a command on each line, such as: render compare old.json new.json -o difference.png",
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="workers (default: one for each core)")
    parser.add_argument(
        "--scheduler",
        default="local",
        metavar="ADDRESS",
        help="of Dask, such as tcp://host:8786; default: a local one",
    )
    parser.add_argument("--new", action="store_true", help="leave out lines whose output is already there")
    parser.add_argument("--lines", metavar="FROM..TO", default="", help="only these lines of the file")
    parser.add_argument("--report", metavar="R.json", help="write what became of each line")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(args: argparse.Namespace) -> None:
    """Check all lines, then run them.

    Parameters
    ----------
    args : argparse.Namespace
        What :func:`add` has declared.

    Raises
    ------
    UsageError
        If a line is no command.
    InputError
        If a command failed; all others are run.
    """
    from .. import api
    from ..stories import batch
    from ..stories.hands import checked

    hands = checked(args.jobs, args.scheduler)
    lines = batch.read(args.file)
    for line in lines:
        _check(line, args.file)
    batch.check(lines, hands.scheduler)
    low, high = _range(args.lines)
    lines = [line for line in lines if low <= line.number <= high]
    left = [line for line in lines if not (args.new and line.output and os.path.exists(line.output))]
    rows: list[dict[str, Any]] = []

    def finished(line: batch.Line, done: batch.Done) -> None:
        row = {"line": line.number, "command": list(line.words), "code": done.code}
        rows.append({**row, "output": done.said, "error": done.error})

    if left:
        with Bar(args.quiet) as bar:
            batch.run(left, hands.scheduler, hands.jobs, finished, bar)
    rows.sort(key=lambda row: int(row["line"]))
    if args.report:
        api.write_report({"lines": rows, "skipped": len(lines) - len(left)}, args.report)
    failed = [row for row in rows if row["code"]]
    for row in failed:
        said = row["error"].strip().splitlines() or [f"exit code {row['code']}"]
        # Without the name of the program.
        complain(f"line {row['line']}: {said[-1].partition(': ')[2] or said[-1]}")
    if failed:
        raise InputError(
            f"{args.file}: {len(failed)} of {len(left)} commands failed: correct them, then run it again"
        )


def _check(line: Any, file: str) -> None:
    """Raise unless a line is a command with arguments that it takes."""
    from . import all_commands

    name, *words = line.words
    where = f"{file}, line {line.number}"
    command = all_commands().get(name)
    if command is None:
        raise UsageError(f"{where}: {name!r} is not a command; 'render' is one")
    parser = _Parser(prog=name, add_help=False)
    command.add(parser)
    try:
        parser.parse_args(words)
    except UsageError as error:
        raise UsageError(f"{where}: {name}: {error}") from None


def _range(words: str) -> tuple[int, int]:
    if not words:
        return 1, 2**62
    low, dots, high = words.partition("..")
    if not (low.strip().isdigit() and (not dots or high.strip().isdigit())):
        raise UsageError(f"--lines {words}: FROM..TO is expected, such as 1..20")
    return int(low), int(high) if dots else int(low)
