"""``tracevis3d phases``: what a program does one after another."""

from __future__ import annotations

import argparse

from ....command_line.arguments import load, print_json, reading
from ....command_line.terminal import Bar, table
from ....errors import UsageError
from ....units import duration, percentage

#: Shown by --help.
EXAMPLES = ("tracevis3d phases run.json.gz",)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument(
        "--least",
        metavar="SHARE",
        type=float,
        default=None,
        help="of the variation that each cut has to explain (default 0.008; less finds more phases)",
    )
    elements(parser)
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    reading(parser)


def elements(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the elements of the hierarchy."""
    parser.add_argument(
        "--level", default="auto", choices=("auto", "function", "class", "module"), help="of the elements"
    )
    parser.add_argument(
        "--by", default="auto", choices=("auto", "packages", "folders", "threads"), help="what contains them"
    )


def run(args: argparse.Namespace) -> None:
    """Find the phases of a trace and print them.

    Parameters
    ----------
    args : Namespace
        As the parser read them.

    Raises
    ------
    UsageError
        If ``--least`` is not between 0 and 1.
    """
    from ..patterns import phase_facts
    from ..phases import LEAST

    if args.least is not None and not 0 < args.least <= 1:
        raise UsageError(f"--least {args.least:g} is not above 0 and at most 1")
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        least = LEAST if args.least is None else args.least
        facts = phase_facts(trace, args.level, args.by, least, progress=bar)
    if args.json:
        print_json(facts)
        return
    print(
        f"{len(facts['phases'])} phases of {facts['kinds']} kinds, by {facts['elements']} elements "
        f"({facts['level']}), explain {percentage(facts['explained'])} of the variation"
    )
    print(
        table(
            [
                (
                    " ".join(filter(None, (phase["kind"], phase["does"], duration(phase["start_ns"])))),
                    f"{phase['calls']:,} calls in {phase['within'] or 'several calls'}: "
                    + ", ".join(phase["main"]),
                )
                for phase in facts["phases"]
            ]
        )
    )
    for again in facts["runs"]:
        print(f"recurring: {again['times']} x {' '.join(again['kinds'])}, from phase {again['first'] + 1} on")
    for rounds in facts["rounds"]:
        first, last = rounds["start_ns"][0], rounds["end_ns"]
        each = f"{min(rounds['calls']):,} to {max(rounds['calls']):,} calls each"
        print(f"rounds: {rounds['times']} x, {each}, from {duration(first)} to {duration(last)}")
    for rare in facts["outliers"]:
        print(
            f"rare: {rare['caller']} -> {rare['callee']}, {rare['calls']} x, at {duration(rare['time_ns'])}"
        )
    for up in facts["against_layers"]:
        print(f"against the layers: {up['caller']} -> {up['callee']}, {up['calls']:,} x")
