"""``tracevis3d patterns``: what recurs in a run."""

from __future__ import annotations

import argparse

from ....command_line.arguments import load, print_json, reading
from ....command_line.terminal import Bar, in_one_line
from ....errors import UsageError
from ....units import duration, percentage, read_time
from .phases import elements

#: Shown by --help.
EXAMPLES = (
    "tracevis3d patterns run.json.gz",
    "tracevis3d patterns run.json.gz --start 1s --end 1.2s",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument(
        "--start", metavar="TIME", help="of a stretch whose repeats are expected, such as 1.5s or 20ms"
    )
    parser.add_argument("--end", metavar="TIME", help="of the stretch")
    parser.add_argument(
        "--similarity", metavar="S", type=float, default=0.8,
        help="share of the calls that a repeat of the stretch has in common with it (default 0.8)",
    )  # fmt: skip
    elements(parser)
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Find what recurs in a trace and print it.

    Parameters
    ----------
    args : Namespace
        As the parser read them.

    Raises
    ------
    UsageError
        If a stretch has one end alone, or a number is out of range.
    """
    from ..patterns import pattern_facts

    if (args.start is None) != (args.end is None):
        raise UsageError("--start and --end go together: they mark a stretch")
    if not 0 < args.similarity <= 1:
        raise UsageError(f"--similarity {args.similarity:g} is not above 0 and at most 1")
    start = end = None
    if args.start is not None:
        start, end = (read_time("--start", args.start), read_time("--end", args.end))
        if end <= start:
            raise UsageError(f"--end {args.end}: the end must be after the start, {args.start}")
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        facts = pattern_facts(trace, start, end, args.level, args.by, args.similarity, progress=bar)
    if args.json:
        print_json(facts)
        return
    print(f"{len(trace):,} calls are {facts['distinct_subtrees']:,} distinct subtrees")
    for subtree in facts["repeated"]:
        each = f"with {subtree['calls_each']:,} calls each, {duration(subtree['time_ns'])} together"
        print(in_one_line(f"{subtree['occurrences']:,} x {subtree['function']} {each}"))
    for name in ("loops", "alike"):
        for loop in facts[name]:
            body = ", ".join(loop["calls"][:5]) + (", …" if len(loop["calls"]) > 5 else "")
            what = "loop" if name == "loops" else "similar"
            found = f"{what} in {loop['within']}: {loop['times']:,} x {body} (happens {loop['happens']:,} x)"
            print(in_one_line(found))
    for row in facts["sequences"]:
        where = ", ".join(row["called_by"]) + (", …" if row["callers"] > len(row["called_by"]) else "")
        found = f"sequence in {where or 'the root calls'}: {row['occurrences']:,} x {row['sequence']}"
        print(in_one_line(f"{found} with {row['calls_each']:,} calls each"))
    if facts["stretch"]:
        again = facts["stretch"]["repeats"]
        print(f"the stretch has {facts['stretch']['calls']:,} calls and {len(again)} repeats")
        for repeat in again:
            how = "exactly" if repeat["exact"] else percentage(repeat["similarity"])
            print(f"  {duration(repeat['start_ns'])} to {duration(repeat['end_ns'])}: {how}")
