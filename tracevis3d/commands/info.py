"""``tracevis3d info``: what is in a trace."""

from __future__ import annotations

import argparse

from ..command_line.arguments import SHOWN_INPUT, STANDARD_INPUT, load, print_json, reading
from ..command_line.terminal import Bar, table

#: Shown by --help.
EXAMPLES = (
    "tracevis3d info run.json.gz",
    "tracevis3d info run.json.gz --json",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Print the facts of one trace."""
    from .. import api
    from ..command_line import warm_up
    from ..trace import profile

    warm_up.begin()
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        facts = api.info(trace, bar)
    if args.trace == STANDARD_INPUT:
        facts["file"] = SHOWN_INPUT
    if args.json:
        print_json(facts)
        return
    words = {"calls": profile.calls_word(trace)}
    rows = [
        (words.get(name, name.replace("_", " ")), f"{value:,}" if isinstance(value, int) else str(value))
        for name, value in facts.items()
        if name not in ("problems", "samples")
    ]
    rows += [
        (profile.bare_kind(kind), profile.weighed(kind, total)) for kind, total in facts["samples"].items()
    ]
    rows.append(
        ("problems", str(sum(p.count for p in trace.problems.values())) if trace.problems else "none")
    )
    print(table(rows))
    if len(trace.samples):
        print(profile.MEANING if trace.samples.are_timed else profile.MEANING_UNTIMED)
