"""``tracevis3d library``: patterns and utilities for all traces."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ....command_line.arguments import load, print_json, reading
from ....command_line.terminal import Bar, table
from ....errors import UsageError

if TYPE_CHECKING:
    from ....trace.model import Trace


#: Shown by --help.
EXAMPLES = (
    "tracevis3d library patterns.json run.json.gz --pattern parse --name parsing",
    "tracevis3d library patterns.json other.json.gz",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("library", metavar="LIBRARY.json")
    parser.add_argument("trace", metavar="TRACE", nargs="?", help="trace to promote from, or to search")
    parser.add_argument(
        "--pattern", metavar="CALL", help="promote the subtree of this call: a number, or part of a name"
    )
    parser.add_argument("--name", default="", help="name of the pattern (default: that of its function)")
    parser.add_argument(
        "--criterion", default="exact", help="when two subtrees are alike; see 'filters patterns'"
    )
    parser.add_argument(
        "--utility", metavar="FUNCTION", action="append", default=[], help="promote a function as a utility"
    )
    parser.add_argument(
        "--remove", metavar="NAME", action="append", default=[], help="of a pattern or utility"
    )
    parser.add_argument("--json", action="store_true", help="print its contents, or the results, as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Change the library if requested; show it, or its entries that occur in a trace.

    Parameters
    ----------
    args : Namespace
        As the parser read them.

    Raises
    ------
    UsageError
        If the words don't go together, or name what there is not.
    """
    from ....analysis import pattern_library
    from ....filters.facts import Facts

    known = pattern_library.load(args.library)
    if args.remove:
        known = pattern_library.without(known, args.remove)
    if (args.pattern or args.utility) and not args.trace:
        raise UsageError("--pattern and --utility need the TRACE to promote from")
    found: list[pattern_library.Found] = []
    if args.trace:
        with Bar(args.quiet) as bar:
            trace = load(args.trace, args, bar)
        facts = Facts(trace)
        if args.pattern:
            call = _call(trace, args.pattern)
            pattern = pattern_library.promote(trace, facts.graph, call, args.name, args.criterion)
            known = pattern_library.with_pattern(known, pattern)
        for name in args.utility:
            if name not in set(trace.functions.label):
                raise UsageError(f"--utility {name}: there is no function of this short name in the trace")
        known = pattern_library.with_utilities(known, args.utility)
        found = pattern_library.find(known.patterns, trace, facts.graph)
    if args.remove or args.pattern or args.utility:
        pattern_library.save(known, args.library)
    rows = [
        {
            "pattern": p.name,
            "criterion": p.criterion,
            "nodes": len(p.node),
            **({"subtrees": len(f.nodes), "calls": f.calls} if args.trace else {}),
        }
        for p, f in zip(known.patterns, found or map(pattern_library.Found, known.patterns), strict=True)
    ]
    if args.json:
        print_json({"library": args.library, "patterns": rows, "utilities": list(known.utilities)})
        return
    lines = [
        (
            str(row["pattern"]),
            f"{row['nodes']:,} different calls, {row['criterion']}"
            + (f": {row['calls']:,} occurrences here" if "calls" in row else ""),
        )
        for row in rows
    ]
    lines += [(name, "utility") for name in known.utilities]
    print(table(lines) if lines else "the library is empty")


def _call(trace: Trace, text: str) -> int:
    """Return the call with this number, or the first of a function whose name holds the text."""
    import numpy as np

    from ....analysis.search import Query, matching_functions

    if text.isdecimal():
        return int(text)
    named = matching_functions(trace.functions, Query(text))
    hits = np.flatnonzero(np.isin(trace.calls.function, named))
    if not len(hits):
        raise UsageError(f"--pattern {text}: no function name matches")
    return int(hits[0])
