"""``tracevis3d search``: the calls of functions whose names match."""

from __future__ import annotations

import argparse
from typing import Any

from ..command_line.arguments import load, print_json, reading
from ..command_line.terminal import Bar, table
from ..errors import UsageError
from ..units import duration, read_time

#: Shown by --help.
EXAMPLES = (
    "tracevis3d search run.json.gz parse",
    'tracevis3d search run.json.gz "read_*" --wildcard --start 1.5s',
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument("pattern", metavar="PATTERN", help="a part of the name")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--wildcard",
        dest="kind",
        action="store_const",
        const="wildcard",
        default="substring",
        help="PATTERN is the whole name, with * for any text and ? for any character",
    )
    kinds.add_argument(
        "--regex",
        dest="kind",
        action="store_const",
        const="regex",
        help="PATTERN is a regular expression that matches somewhere in the name",
    )
    parser.add_argument(
        "--full", action="store_true", help="search names as recorded, with arguments, path and line"
    )
    parser.add_argument("--case", action="store_true", help="distinguish capital letters from small ones")
    parser.add_argument(
        "--start", default="", metavar="TIME", help="only calls from this time on, such as 1.5s or 20ms"
    )
    parser.add_argument("--end", default="", metavar="TIME", help="only calls before this time")
    parser.add_argument(
        "--limit",
        type=int,
        default=20,
        metavar="N",
        help="the maximum number of functions and calls listed (default 20)",
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Print the functions and the first of their calls.

    Parameters
    ----------
    args : argparse.Namespace
        What :func:`add` has declared.

    Raises
    ------
    UsageError
        If the limit is below 0.
    """
    from ..analysis.search import Query, facts, search

    query = Query(args.pattern, args.kind, args.full, args.case)
    query.test()
    if args.limit < 0:
        raise UsageError(f"--limit {args.limit}: 0 is the minimum")
    start = read_time("--start", args.start) if args.start else None
    end = read_time("--end", args.end) if args.end else None
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        report = facts(trace, search(trace, query, start, end, cache=not args.no_cache), args.limit)
    if args.json:
        print_json(report)
    else:
        print(_page(report))


def _page(report: dict[str, Any]) -> str:
    functions, calls = report["functions"], report["first_calls"]
    lines = [f"{report['function_count']:,} functions, {report['calls']:,} calls"]
    if functions:
        lines += ["", table([(f"{f['calls']:,}", f["name"]) for f in functions])]
        if report["function_count"] > len(functions):
            lines.append(f"and {report['function_count'] - len(functions):,} more functions")
    if calls:
        rows = [
            (f"#{c['call']}", f"at {duration(c['start_ns'])}, {duration(c['duration_ns'])}  {c['function']}")
            for c in calls
        ]
        lines += ["", table(rows)]
        if report["calls"] > len(calls):
            lines.append(f"and {report['calls'] - len(calls):,} more calls")
    return "\n".join(lines)
