"""``tracevis3d views``: the views and their parameters."""

from __future__ import annotations

import argparse

from ..command_line.arguments import Subcommands, command, print_json, shown
from ..command_line.terminal import table


def add(commands: Subcommands) -> None:
    """Add the command to the parser."""
    parser = command(commands, "views", run, "list the views, or the parameters of one")
    parser.add_argument("view", metavar="VIEW", nargs="?")
    parser.add_argument("--json", action="store_true")


def run(words: argparse.Namespace) -> None:
    """List them, or describe one."""
    from ..parameters import declared
    from ..views import registry

    chosen = [registry.find(words.view)] if words.view else registry.loadable()
    if words.json:
        print_json(
            [
                {
                    "name": view.name,
                    "sentence": view.sentence,
                    "traces": list(view.traces),
                    "parameters": [vars(p) for p in declared(view.parameters)],
                }
                for view in chosen
            ]
        )
        return
    if not words.view:
        print(table([(view.name, view.sentence) for view in chosen]))
        return
    view = chosen[0]
    print(f"{view.name}: {view.sentence}\n")
    print(table([(f"{p.name}={shown(p.default)}", p.described()) for p in declared(view.parameters)]))
