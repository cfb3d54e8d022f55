"""``tracevis3d replay``: a recorded trace as a live feed."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from ...command_line.arguments import load, reading
from ...command_line.terminal import Bar
from ...errors import InputError, UsageError
from ...units import read_time
from .arguments import feed, read_keys

#: Shown by --help.
EXAMPLES = ("tracevis3d replay run.json.gz --live tcp://127.0.0.1:5570 --speed 0.5",)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="FILE")
    feed(parser, "--live")
    parser.add_argument(
        "--speed",
        default="1",
        metavar="FACTOR",
        help="speed relative to the recorded run (default 1); max: as fast as possible",
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="the file is still being written: publish what is appended to it (Chrome JSON, compressed "
        "or not; "
        "a folder that uftrace is writing)",
    )
    parser.add_argument(
        "--lag",
        metavar="TIME",
        help="with --follow: delay calls by this long, because outer calls are written last (default 1s)",
    )
    parser.add_argument(
        "--idle",
        type=float,
        metavar="SECONDS",
        help="with --follow: stop when the file has not grown for this long (default 60)",
    )
    parser.add_argument(
        "--wait",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how long to wait for the first viewer (default 60)",
    )
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Bind, wait for a viewer, publish, say that it is over.

    Parameters
    ----------
    args : argparse.Namespace
        What :func:`add` has declared.

    Raises
    ------
    UsageError
        If options contradict each other, the speed is no number above 0, or no viewer comes in time.
    """
    from ...live.endpoint import zmq

    # Before a large trace is read.
    zmq()
    if args.follow:
        _follow(args)
        return
    if args.lag is not None or args.idle is not None:
        raise UsageError("--lag and --idle go with --follow")
    from ...live.publisher import Publisher
    from ...live.replay import replay

    try:
        speed = math.inf if args.speed == "max" else float(args.speed)
        if not speed > 0:
            raise ValueError
    except ValueError:
        raise UsageError(f"--speed {args.speed}: a number above 0 is expected, or max") from None
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        with Publisher(args.endpoint, Path(args.trace).name, keys=read_keys(args), patient=True) as publisher:
            bar(0.0, f"waiting for a viewer at {publisher.endpoint}")
            if not publisher.wait_for_viewer(args.wait):
                raise UsageError(f"no viewer connected to {publisher.endpoint} within {args.wait:g} s")
            rows = replay(trace, publisher, speed, report=lambda share: bar(share, "publishing"))
            publisher.close(30.0)
    if not args.quiet:
        print(f"{rows:,} rows published, {publisher.dropped:,} dropped by the publisher")


def _follow(args: argparse.Namespace) -> None:
    """Bind at once, and publish what the file gets."""
    from ...live.follow_recording import Follower
    from ...live.publisher import Publisher

    if args.speed != "1":
        raise UsageError("--speed can't be used with --follow: publishing is as fast as the file grows")
    lag = read_time("--lag", args.lag) if args.lag is not None else 1_000_000_000
    path = Path(args.trace)
    _check_follows(path)
    if path.is_dir() and args.lag is not None:
        raise UsageError("--lag is for files: uftrace writes a call when it begins")
    idle = 60.0 if args.idle is None else args.idle
    with Bar(args.quiet) as bar, Publisher(args.endpoint, path.name, keys=read_keys(args)) as publisher:
        bar(0.0, f"publishing at {publisher.endpoint}")
        if path.is_dir():
            from ...live.follow_uftrace import UftraceFollower
            from ...native.elf import uftrace_symbols

            follower: Follower = UftraceFollower(path, publisher, uftrace_symbols)
        else:
            follower = Follower(path, publisher, lag)
        if args.wait and not publisher.wait_for_viewer(args.wait):
            raise UsageError(f"no viewer connected to {publisher.endpoint} within {args.wait:g} s")
        follower.run(idle, lambda rows: bar(0.0, f"publishing at {publisher.endpoint}: {rows:,} rows"))
    if not args.quiet:
        long = f", {follower.left_out:,} calls longer than --lag left out" if follower.left_out else ""
        print(f"{follower.rows:,} rows published, {publisher.dropped:,} dropped by the publisher{long}")


def _check_follows(path: Path) -> None:
    """Raise InputError if what lies at ``path`` grows in a way that can't be followed."""
    from ...formats import registry

    try:
        if path.is_dir():
            entries = [entry.name for entry in path.iterdir()]
            # The files that uftrace makes when it starts.
            if not entries or {"task.txt", "default.opts", ".channel"}.intersection(entries):
                return
        else:
            path.open("rb").close()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}") from error
    try:
        form = registry.recognise(path)
    except InputError:
        if path.is_dir():
            raise
        return  # there is too little data yet
    if form.name != ("uftrace" if path.is_dir() else "chrome"):
        raise InputError(
            f"{path}: a {form.name} trace can't be followed while it grows, only files of Chrome's trace "
            "events and uftrace's folders can: replay it without --follow when it is whole"
        )
