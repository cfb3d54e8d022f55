"""``tracevis3d convert``: a trace into another format."""

from __future__ import annotations

import argparse

from ..command_line.arguments import check_apart, complain, load, reading
from ..command_line.terminal import Bar

#: Shown by --help.
EXAMPLES = ("tracevis3d convert run.json.gz run.tv3",)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="IN")
    parser.add_argument("output", metavar="OUT", help="see 'formats'")
    parser.add_argument(
        "--packed", action="store_true", help="for .tv3: a smaller file that loads more slowly"
    )
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Read one trace, write it in the other format."""
    from .. import api

    api.check_writable(args.output, args.packed)
    check_apart(args.trace, args.output)
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        for sentence in api.save(trace, args.output, packed=args.packed, progress=bar):
            bar.close()
            complain(f"{args.output}: {sentence}")
