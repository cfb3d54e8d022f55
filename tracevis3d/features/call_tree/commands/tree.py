"""``tracevis3d tree``: a window of rows of the call tree, whatever its size."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ....command_line.arguments import load, print_json, reading
from ....command_line.terminal import Bar, in_one_line
from ....errors import UsageError

if TYPE_CHECKING:
    from ....trace.model import Trace
    from ..partial_tree import PartialTree


#: Shown by --help.
EXAMPLES = (
    "tracevis3d tree run.json.gz --levels 3",
    "tracevis3d tree run.json.gz --call 1200 --count 40",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument(
        "--levels", type=int, default=2, metavar="N", help="levels that are expanded (default 2; -1: all)"
    )
    parser.add_argument(
        "--open", action="append", default=[], metavar="PATH",
        help="expand the row of this path, such as 0.3.1; with a + after it, all rows below it",
    )  # fmt: skip
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--row", type=int, metavar="N", help="begin at this row, from 1 (default 1)")
    start.add_argument(
        "--call", type=int, metavar="N", help="expand all rows on the way to this call, and begin there"
    )
    start.add_argument("--path", metavar="PATH", help="begin at the row of this path")
    parser.add_argument(
        "--offset", type=int, default=0, metavar="N", help="move this many rows on; negative: back"
    )
    parser.add_argument(
        "--count", type=int, default=20, metavar="N", help="number of rows listed (default 20)"
    )
    parser.add_argument(
        "--filters", default="", metavar="STACK", help="hide the calls that these filters hide"
    )
    parser.add_argument(
        "--filtered-too",
        action="store_true",
        help="also list the calls that filters hide, with # before their names",
    )
    parser.add_argument(
        "--fold", action="store_true",
        help="list a repeated sequence of callees as one row, which can be expanded",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Print the rows of the window, and the callers that link them to the root.

    Parameters
    ----------
    args : Namespace
        As the parser read them.

    Raises
    ------
    UsageError
        If a number is out of range, or there is no such row, call or path.
    """
    from ....filters.facts import Facts
    from ....filters.listed import listed
    from ....filters.stack import apply, parse
    from ..navigation import text_of
    from ..partial_tree import ALL, PartialTree

    if args.count < 0 or args.levels < ALL:
        raise UsageError("--count and --levels: 0 is the minimum (--levels -1: all)")
    stack = parse(args.filters)
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        facts = Facts(trace)
        found = listed(stack, facts, apply(stack, facts), args.filtered_too)
        if args.fold:
            found.graph.find_grammar(bar)
        tree = PartialTree(
            found.graph, levels=args.levels, filtered=found.marked, show_filtered=args.filtered_too,
            folded=args.fold, calls=found.calls, places=found.places,
        )  # fmt: skip
        start, offset = _start(tree, args)
        page = tree.construct(start, offset, args.count)
    hidden = found.hidden(0, len(trace.calls))
    linking = [{"path": text_of(path), "function": _label(trace, tree, path)} for path in page.linking]
    rows: list[dict[str, Any]] = []
    for row in page.rows:
        call, sequence = tree.call(row.path), tree.is_sequence(row.node)
        last = tree.last_callee(row.path) if sequence else call
        # A sequence is not a call itself: all its calls are below it.
        low, end = call + (not sequence), last + int(trace.calls.extent[last])
        rows.append(
            {
                "row": row.number + 1,
                "path": text_of(row.path),
                "function": _label(trace, tree, row.path),
                "sequence": sequence,
                "state": row.state,
                "depth": row.depth,
                "call": call,
                "times": row.iterations,
                "filtered": row.filtered,
                "calls_below": end - low,
                "hidden_below": found.hidden(low, end),
            }
        )
    if args.json:
        head = {"file": args.trace, "calls": len(trace.calls), "hidden_calls": hidden, "size": tree.size}
        print_json({**head, "linking": linking, "rows": rows})
        return
    print(f"{tree.size:,} rows for {len(trace.calls):,} calls, {hidden:,} of them hidden")
    if linking:
        print(in_one_line("in " + " > ".join(link["function"] for link in linking)))
    wide = len(str(rows[-1]["row"])) if rows else 1
    for one in rows:
        times = f" ×{one['times']:,}" if one["times"] > 1 else ""
        left = one["calls_below"] - one["hidden_below"]
        below = f"{left:,} of {one['calls_below']:,}" if one["hidden_below"] else f"{left:,}"
        mark = "# " if one["filtered"] else ""
        line = f"{one['row']:>{wide}}  {'  ' * (one['depth'] - 1)}{one['state'] or ' '} "
        below = f"  ({below} below)" if one["calls_below"] else ""
        print(in_one_line(f"{line}{mark}{one['function']}{times}{below}"))


def _start(tree: PartialTree, args: argparse.Namespace) -> tuple[tuple[int, ...] | None, int]:
    """Open the requested rows; return the path that the window starts from, and the offset in rows."""
    from ..navigation import numbered
    from ..partial_tree import ALL

    for text in args.open:
        tree.expand(_path(text.removesuffix("+")), ALL if text.endswith("+") else 1)
    if args.call is not None:
        path = tree.path_of(args.call)[0]
        tree.expand_to(path)
        return path, args.offset
    if args.path is not None:
        return _path(args.path), args.offset
    if args.row is not None:
        return numbered(tree, args.row), args.offset
    return None, args.offset


def _path(text: str) -> tuple[int, ...]:
    from ..navigation import path_of

    found = path_of(text)
    if found is None:
        raise UsageError(
            f"{text!r} is not a path of the tree: numbers separated by . are expected, such as 0.3.1"
        )
    return found


def _label(trace: Trace, tree: PartialTree, path: tuple[int, ...]) -> str:
    node = tree.node(path)
    if tree.is_sequence(node):
        from ....analysis.sequences import words

        return f"({words(tree.graph, node, trace.functions.label)})"
    return trace.functions.label[int(tree.graph.subtrees.function[node])]
