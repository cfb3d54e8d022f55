"""``tracevis3d formats``: the formats."""

from __future__ import annotations

import argparse

from ..command_line.arguments import print_json
from ..command_line.terminal import table


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its words."""
    parser.add_argument("--json", action="store_true")


def run(words: argparse.Namespace) -> None:
    """List them."""
    from ..formats import registry

    formats = registry.readable()
    if words.json:
        print_json(
            [
                {
                    "name": f.name,
                    "title": f.title,
                    "suffixes": list(f.suffixes),
                    "writes": f.write is not None,
                }
                for f in formats
            ]
        )
        return
    print(
        table(
            [
                (f.name, f"{f.title}  {' '.join(f.suffixes)}{'  (also written)' if f.write else ''}")
                for f in formats
            ]
        )
    )
