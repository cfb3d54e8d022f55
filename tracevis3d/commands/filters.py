"""``tracevis3d filters``: the filters and their parameters."""

from __future__ import annotations

import argparse

from ..command_line.arguments import completed_by, print_json, shown
from ..command_line.terminal import table
from ..filters import registry
from ..parameters import declared

#: Shown by --help.
EXAMPLES = ("tracevis3d filters name",)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    completed_by(parser.add_argument("filter", metavar="FILTER", nargs="?"), registry.names)
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> None:
    """List them, or describe one."""
    from ..filters.stack import EFFECTS, WHAT

    chosen = [registry.find(args.filter)] if args.filter else registry.loadable()
    if args.json:
        print_json(
            [
                {
                    "name": f.name,
                    "sentence": f.sentence,
                    "category": f.category,
                    "parameters": [vars(p) for p in declared(f.parameters)],
                }
                for f in chosen
            ]
        )
        return
    if not args.filter:
        print(table([(f.name, f"{f.sentence} ({f.category})") for f in chosen]))
        return
    one = chosen[0]
    print(f"{one.name}: {one.sentence}\n")
    rows = [(f"{p.name}={shown(p.default)}", p.described()) for p in declared(one.parameters)]
    rows += [
        ("effect=hide", f"What happens to the marked calls: one of {', '.join(EFFECTS)}"),
        ("what=subtree", "What is meant. " + "; ".join(f"{name}: {args}" for name, args in WHAT.items())),
        ("within=-1", "The call whose subtree it applies to; -1: the whole trace"),
    ]
    print(table(rows))
