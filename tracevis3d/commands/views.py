"""``tracevis3d views``: the views and their parameters."""

from __future__ import annotations

import argparse

from ..command_line.arguments import completed_by, print_json, shown
from ..command_line.terminal import table
from ..parameters import declared
from ..views import own

#: Shown by --help.
EXAMPLES = (
    "tracevis3d views",
    "tracevis3d views icicle",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    completed_by(parser.add_argument("view", metavar="VIEW", nargs="?"), lambda: own.OWN)
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> None:
    """List them, or describe one."""
    from ..views import registry

    chosen = [registry.find(args.view)] if args.view else registry.loadable()
    if args.json:
        print_json(
            [
                {
                    "name": view.name,
                    "sentence": view.sentence,
                    "traces": list(view.traces),
                    "commands": [command.name for command in view.commands],
                    "parameters": [vars(p) for p in declared(view.parameters)],
                }
                for view in chosen
            ]
        )
        return
    if not args.view:
        print(table([(view.name, view.sentence) for view in chosen]))
        return
    view = chosen[0]
    print(f"{view.name}: {view.sentence}\n")
    print(table([(f"{p.name}={shown(p.default)}", p.described()) for p in declared(view.parameters)]))
    if view.commands:
        print("\nCommands:\n" + table([(command.name, command.sentence) for command in view.commands]))
