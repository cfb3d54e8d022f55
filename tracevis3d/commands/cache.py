"""``tracevis3d cache``: the cache of loaded traces."""

from __future__ import annotations

import argparse

from ..places import cache_root

#: Shown by --help.
EXAMPLES = (
    "tracevis3d cache",
    "tracevis3d cache clear",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("action", choices=("show", "clear"), nargs="?", default="show")


def run(args: argparse.Namespace) -> None:
    """Show its size, or clear it."""
    from ..trace.storage import cache

    if args.action == "clear":
        print(f"{cache.clear():,} bytes freed in {cache_root()}")
    else:
        print(f"{cache.size():,} bytes in {cache_root()}")
