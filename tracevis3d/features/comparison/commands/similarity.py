"""``tracevis3d similarity``: how similar whole traces are, pair by pair."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ....command_line.arguments import load, print_json, reading
from ....command_line.terminal import Bar, table
from ....errors import UsageError
from .match import comparing

#: Shown by --help.
EXAMPLES = ("tracevis3d similarity run1.json.gz run2.json.gz run3.json.gz",)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("traces", metavar="TRACE", nargs="+")
    comparing(parser)
    parser.add_argument(
        "--cells",
        default="best",
        help="the measure used for the table, the order and the clusters: best, time or functions",
    )
    parser.add_argument(
        "--cut", type=float, default=0.5, help="the least similarity within a cluster, 0 to 1 (default 0.5)"
    )
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Compare the traces pair by pair and print the results.

    Parameters
    ----------
    args : Namespace
        As the parser read them.

    Raises
    ------
    UsageError
        If a setting is off.
    """
    from ..matching.many_traces import CELLS, facts, similarities
    from ..matching.match import check_settings

    check_settings(args.tau, args.identity, args.measure, args.rewrite)
    if args.cells not in CELLS:
        raise UsageError(f"--cells {args.cells}: one of {', '.join(CELLS)} is expected")
    if not 0 <= args.cut <= 1:
        raise UsageError(f"--cut {args.cut:g}: a number from 0 to 1 is expected")
    if len(args.traces) < 2:
        raise UsageError("there is only one trace: give two or more")
    with Bar(args.quiet) as bar:
        traces = [load(path, args, bar) for path in args.traces]
        found = similarities(
            traces,
            tau=args.tau,
            identity=args.identity,
            measure=args.measure,
            rewrite=args.rewrite,
            fuzzy=args.fuzzy,
            cache=not args.no_cache,
            progress=bar,
        )
        report = facts(traces, found, args.cells, args.cut)
    if args.json:
        print_json(report)
        return
    for line in lines(report):
        print(line)


def lines(report: Mapping[str, Any]) -> list[str]:
    """Return the facts of :func:`..matching.many_traces.facts` as lines for people."""
    from ..matching.many_traces import letter_of

    order = report["order"]
    letter = {i: letter_of(i) for i in order}
    cells = report[report["cells"]]
    out = ["   " + "".join(f"{letter[j]:>7}" for j in order)]
    out += [
        f"{letter[i]:<3}" + "".join("      –" if i == j else f"{cells[i][j]:7.3f}" for j in order)
        for i in order
    ]
    named = [(letter[i], report["traces"][i]["file"]) for i in order]
    named += [("cluster", " ".join(letter[i] for i in order if i in c)) for c in report["clusters"]]
    return [*out, "", table(named)]
