"""``tracevis3d live``: keys for feeds between machines."""

from __future__ import annotations

import argparse

#: Shown by --help.
EXAMPLES = ("tracevis3d live keygen keys laptop",)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("action", choices=("keygen",))
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("name", metavar="NAME", help="of the machine or person")


def run(args: argparse.Namespace) -> None:
    """Write a pair of key files."""
    from ...live.endpoint import make_keys

    public, secret = make_keys(args.folder, args.name)
    print(f"{public}: public, for the other side\n{secret}: secret, keep it to yourself")
