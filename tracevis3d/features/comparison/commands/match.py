"""``tracevis3d match``: what two traces have in common."""

from __future__ import annotations

import argparse
from typing import Any

from ....command_line.arguments import load, print_json, reading
from ....command_line.terminal import Bar, table
from ..matching.defaults import IDENTITY, MEASURE, MEASURES, TAU, TAU_SENTENCE

#: Shown by --help.
EXAMPLES = ("tracevis3d match old.json.gz new.json.gz --tau 0.3",)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("a", metavar="A")
    parser.add_argument("b", metavar="B")
    comparing(parser)
    parser.add_argument(
        "--renamed", metavar="R.json", help='pairs of names, as --json prints them: [{"a": ..., "b": ...}]'
    )
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    reading(parser)


def comparing(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide when calls match."""
    parser.add_argument(
        "--tau",
        default=str(TAU),
        help=f"{TAU_SENTENCE[0].lower()}{TAU_SENTENCE[1:]}, 0 to 1 (default {TAU:g})",
    )
    parser.add_argument(
        "--identity",
        default=IDENTITY,
        help=f"of functions: exact, name (no path and line) or auto (default {IDENTITY})",
    )
    parser.add_argument("--measure", default=MEASURE, help=f"{', '.join(MEASURES)} (default {MEASURE})")
    parser.add_argument(
        "--rewrite",
        metavar=("PATTERN", "REPLACEMENT"),
        nargs=2,
        action="append",
        default=[],
        help="a regular expression, applied to the recorded names before they are compared",
    )
    parser.add_argument(
        "--fuzzy", metavar="SCORE", type=float, help="pair names with at least this similarity, up to 100"
    )


def match_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the checked values of the options of :func:`comparing` and of ``--renamed``.

    Parameters
    ----------
    args : Namespace
        As the parser read them.

    Returns
    -------
    dict of str to Any
        Keyword arguments of :func:`..matching.match.compare`.
    """
    from ..matching.identity import read_renamed
    from ..matching.match import check_settings

    check_settings(args.tau, args.identity, args.measure, args.rewrite)
    return {
        "tau": args.tau,
        "identity": args.identity,
        "measure": args.measure,
        "rewrite": args.rewrite,
        "renamed": read_renamed(args.renamed) if args.renamed else [],
        "fuzzy": args.fuzzy,
    }


def run(args: argparse.Namespace) -> None:
    """Compare two traces and print the results."""
    from ..matching.match import compare
    from ..matching.summary import sentences, summary

    settings = match_settings(args)
    with Bar(args.quiet) as bar:
        a, b = (load(path, args, bar) for path in (args.a, args.b))
        facts = summary(compare(a, b, **settings, cache=not args.no_cache, progress=bar))
    if args.json:
        print_json(facts)
    else:
        print(table(sentences(facts, (a, b))))
