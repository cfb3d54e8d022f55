"""``tracevis3d replay``: a recorded trace as a live feed."""

from __future__ import annotations

import argparse
import math

from ..errors import UsageError
from ..terminal import Bar
from .parts import Subcommands, command, feed, load, read_keys, reading


def add(commands: Subcommands) -> None:
    """Add the command to the parser."""
    parser = command(commands, "replay", run, "publish a recorded trace as a live feed")
    parser.add_argument("trace", metavar="FILE")
    feed(parser, "--live")
    parser.add_argument(
        "--speed",
        default="1",
        metavar="FACTOR",
        help="how much faster than it ran (default 1); max: as fast as can be",
    )
    parser.add_argument(
        "--wait", type=float, default=60.0, metavar="SECONDS", help="for a first viewer (default 60)"
    )
    reading(parser)


def run(words: argparse.Namespace) -> None:
    """Bind, wait for a viewer, publish, say that it is over."""
    from pathlib import Path

    from ..live.publisher import Publisher
    from ..live.replay import replay

    try:
        speed = math.inf if words.speed == "max" else float(words.speed)
        if not speed > 0:
            raise ValueError
    except ValueError:
        raise UsageError(f"--speed {words.speed}: a number above 0 is wanted, or max") from None
    with Bar(words.quiet) as bar:
        trace = load(words.trace, words, bar)
        with Publisher(
            words.endpoint, Path(words.trace).name, keys=read_keys(words), patient=True
        ) as publisher:
            bar(0.0, f"waiting for a viewer at {publisher.endpoint}")
            if not publisher.wait_for_viewer(words.wait):
                raise UsageError(f"no viewer came to {publisher.endpoint} within {words.wait:g} s")
            rows = replay(trace, publisher, speed, told=lambda share: bar(share, "publishing"))
            publisher.close(30.0)
    if not words.quiet:
        print(f"{rows:,} rows published, {publisher.dropped:,} dropped here")
