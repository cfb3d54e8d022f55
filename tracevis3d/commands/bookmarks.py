"""``tracevis3d bookmarks``: the places that a person marked in a saved .blend."""

from __future__ import annotations

import argparse
from typing import Any

from ..command_line.arguments import print_json
from ..command_line.terminal import table
from ..drawing.output import need_blender

#: Shown by --help.
EXAMPLES = ("tracevis3d bookmarks run.blend",)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("file", metavar="FILE.blend")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(args: argparse.Namespace) -> None:
    """Print them."""
    need_blender("reading a .blend")
    from ..scene.window.bookmarks import bookmarks_of

    found = bookmarks_of(args.file)
    if args.json:
        print_json({"file": args.file, "bookmarks": found})
        return
    print(table([(one["name"], _words(one)) for one in found]) if found else "there are no bookmarks")


def _words(one: dict[str, Any]) -> str:
    chosen = [
        f"call {said['active']}" if said.get("active", -1) >= 0 else f"calls {said.get('calls', '')}"
        for said in one["selections"].values()
        if isinstance(said, dict) and (said.get("active", -1) >= 0 or said.get("calls"))
    ]
    return f"{one['view'] or 'a view that was removed'}, frame {one['frame']:,}" + (
        f": {', '.join(chosen)}" if chosen else ""
    )
