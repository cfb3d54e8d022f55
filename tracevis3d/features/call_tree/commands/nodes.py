"""``tracevis3d nodes``: the functions of a trace, its patterns, or the sequences of callees that recur."""

from __future__ import annotations

import argparse
from typing import Any

from ....command_line.arguments import load, print_json, reading
from ....command_line.terminal import Bar, paragraph, table
from ....errors import UsageError
from ....units import counted, duration

#: Shown by --help.
EXAMPLES = (
    "tracevis3d nodes run.json.gz --sort duration",
    "tracevis3d nodes run.json.gz --sequences",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument(
        "--sort", metavar="ORDER",
        help="occurrences (default), calls, duration, subtrees or name; of patterns and sequences calls "
        "(default), occurrences, size or name",
    )  # fmt: skip
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--subtrees", metavar="FUNCTION", help="list the distinct subtrees of one function")
    which.add_argument(
        "--below",
        type=int,
        metavar="CALL",
        help="list the functions called in a call's subtree, its own included",
    )
    which.add_argument(
        "--utilities", action="store_true", help="list functions by how much of a utility they are"
    )
    which.add_argument(
        "--patterns", nargs="?", const="exact", metavar="CRITERION",
        help="list the subtrees that occur more than once; see 'filters patterns' (default: exact)",
    )  # fmt: skip
    which.add_argument(
        "--sequences", action="store_true",
        help="list the repeated sequences of callees: rules of the compact trace's grammar",
    )  # fmt: skip
    parser.add_argument("--contains", default="", metavar="TEXT", help="only rows with this in their names")
    parser.add_argument("--filters", default="", metavar="STACK", help="filters; hidden calls are counted")
    parser.add_argument(
        "--limit", type=int, default=50, metavar="N", help="the maximum number of rows (default 50)"
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Print the list, with the trace's statistics above it.

    Parameters
    ----------
    args : Namespace
        As the parser read them.

    Raises
    ------
    UsageError
        If there is no such order, or the words don't go together.
    """
    from ....analysis.search import Query, matching_functions
    from ....filters.facts import Facts
    from ....filters.patterns import Parameters
    from ....filters.sequence_list import sequences
    from ....filters.stack import apply, parse
    from .. import lists, nodes

    if args.limit < 1:
        raise UsageError(f"--limit {args.limit}: 1 is the minimum")
    stack = parse(args.filters)
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        facts = Facts(trace)
        rules = facts.graph.find_grammar(bar).rules
        if args.subtrees:
            named = matching_functions(trace.functions, Query(args.subtrees))
            if not len(named):
                raise UsageError(f"--subtrees {args.subtrees}: no function name matches")
            rows = [row for f in named.tolist() for row in nodes.subtree_rows(facts, f, args.limit)]
            rows = sorted(rows, key=lambda row: -int(row["occurrences"]))[: args.limit]
        elif args.below is not None:
            rows = nodes.functions_below(trace, args.below)
        elif args.utilities:
            rows = lists.utilities(facts, args.contains).rows(0, args.limit)
        else:
            filtered = apply(stack, facts) if stack else None
            if args.sequences:
                listing = sequences(facts, args.sort or "calls", args.contains, filtered)
            elif args.patterns:
                p = Parameters(criterion=args.patterns)
                listing = lists.repeated(facts, p, args.sort or "calls", args.contains, filtered)
            else:
                listing = lists.model(facts, filtered, args.sort or "occurrences", args.contains)
            rows = listing.rows(0, args.limit)
        sizes = nodes.list_sizes(facts.graph)
    head = {
        "file": args.trace,
        "calls": len(trace.calls),
        "functions": len(trace.functions),
        "distinct_subtrees": len(facts.graph),
        "callee_lists": sizes,
        "sequences": rules,
    }
    if args.json:
        print_json({**head, "rows": rows})
        return
    print(
        f"{head['calls']:,} calls of {head['functions']:,} functions, "
        f"{head['distinct_subtrees']:,} distinct subtrees"
    )
    print(
        f"their lists of callees: {sizes['callees']:,}, with iterations {sizes['with_iterations']:,}, "
        f"with repeated blocks {sizes['with_blocks']:,}, in a grammar {sizes['with_rules']:,} "
        f"with {rules:,} rules"
    )
    if args.sequences:
        print("\n".join(f"{paragraph(str(row['sequence']))}\n    {_sequence(row)}" for row in rows))
        return
    print(table([(str(row["name" if "calls_each" in row else "function"]), _facts_of(row)) for row in rows]))


def _sequence(row: dict[str, Any]) -> str:
    more = (
        f", … {row['callers'] - len(row['called_by']):,} more"
        if row["callers"] > len(row["called_by"])
        else ""
    )
    where = f"in {', '.join(row['called_by'])}{more}" if row["callers"] else "among the root calls"
    hidden = f", {row['hidden']:,} hidden" if row["hidden"] else ""
    return (
        f"{row['occurrences']:,} times {where}{hidden}: {row['callees']:,} callees, with "
        f"{row['calls_each']:,} calls, first {row['first_call']:,}"
    )


def _facts_of(row: dict[str, object]) -> str:
    if "calls_each" in row:
        shapes = f", {row['shapes']:,} shapes" if row["shapes"] != 1 else ""
        hidden = f", {row['hidden']:,} hidden" if row["hidden"] else ""
        return f"{row['occurrences']:,} x {row['calls_each']:,} calls{shapes}{hidden}: {row['shape']}"
    if "shape" in row:
        functions = row["functions"]
        assert isinstance(functions, list)
        return (
            f"{row['occurrences']:,} x {row['calls']:,} calls, first {row['first_call']:,}, "
            f"{counted(len(functions), 'function')}: {row['shape']}"
        )
    if "occurrences" not in row:
        return f"{row['calls']:,} calls, {duration(int(str(row['duration_ns'])))} in all"
    if "utilityhood" in row:
        return (
            f"utilityhood {row['utilityhood']:.4f}, {row['callers']:,} callers in {row['modules']:,} "
            f"modules, {row['callees']:,} callees, {row['occurrences']:,} calls"
        )
    hidden = f", {row['hidden']:,} hidden" if row["hidden"] else ""
    return (
        f"{row['occurrences']:,} calls{hidden}, {row['subtrees']:,} distinct subtrees of "
        f"{row['calls']:,} calls in all, {row['callers']:,} callers, {row['callees']:,} callees"
    )
