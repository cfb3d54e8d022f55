"""``tracevis3d watch``: a live feed without a window."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...command_line.arguments import complain, print_json
from ...command_line.terminal import Bar
from ...drawing.frame import Frame
from ...errors import InputError, UsageError
from ...units import duration, read_time
from .arguments import feed, read_keys

if TYPE_CHECKING:
    from ...live.stream.alarms import Alarm
    from ...live.subscriber import Subscriber
    from ...trace.model import Trace

#: Shown by --help.
EXAMPLES = (
    "tracevis3d watch tcp://127.0.0.1:5570 -o live.tv3",
    "tracevis3d watch tcp://127.0.0.1:5570 -o pictures --every 5s",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    feed(parser, None)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="a trace file such as run.tv3, or a folder with --every",
    )
    parser.add_argument(
        "--every", metavar="TIME", help="render a picture at this interval, such as 1s, into the folder OUT"
    )
    parser.add_argument(
        "--view", default="icicle", help="what to render, see 'tracevis3d views' (default icicle)"
    )
    parser.add_argument("--window", default="10s", metavar="TIME", help="what a picture shows (default 10s)")
    parser.add_argument("--style", default="stage", help="stage (default), paper or flat")
    parser.add_argument("--size", default=None, help="1920x1080 (default), 180mmx100mm, 7inx4in")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="stop after this time; default: when the feed ends"
    )
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], dest="settings", help="a view's parameter"
    )
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress line")


def run(args: argparse.Namespace) -> None:
    """Receive data; store it, or draw it.

    Parameters
    ----------
    args : argparse.Namespace
        What :func:`add` has declared.

    Raises
    ------
    UsageError
        If the interval is no time above 0.
    InputError
        If the publisher refuses the connection, or no data arrives.
    """
    from ... import api
    from ...live.growing import load_kernels
    from ...live.losses import place
    from ...live.stream.alarms import AlarmWatch
    from ...live.subscriber import Subscriber
    from ...live.watch import watch
    from ...views.registry import watchers

    every = read_time("--every", args.every) / 1e9 if args.every else None
    if every is not None and every <= 0:
        raise UsageError(f"--every {args.every}: a time above 0 is expected")
    show = _pictures(args)
    if every is None:
        api.check_writable(args.output)
    load_kernels()
    with Bar(args.quiet) as bar, Subscriber(args.endpoint, keys=read_keys(args)) as subscriber:

        def report(s: Subscriber) -> None:
            text = f"{s.state}: {s.rows:,} rows, {s.rate:,.0f} a second, {s.lost:,} lost"
            bar(0.0, text)

        def alarm(found: Alarm) -> None:
            bar.close()
            # On the clock of the file that is written: from what came first.
            begins = subscriber.trace.begins or 0
            if found.over_at is None:
                complain(f"alarm at {duration(found.at - begins)}: {found.kind}: {found.sentence}")
            else:
                why = f": {found.why_over}" if found.why_over else ""
                at = duration(found.over_at - begins)
                complain(f"alarm over at {at}: {found.kind}: {found.about}{why}")

        alarms = AlarmWatch(lambda: watchers(subscriber.trace))
        watch(
            subscriber, seconds=args.seconds, every=every, show=show, report=report,
            alarms=alarms, alarm=alarm,
        )  # fmt: skip
        bar.close()
        _check_arrival(args.endpoint, subscriber)
        trace = subscriber.finish()
        if every is None:
            for sentence in api.save(trace, args.output, progress=bar):
                bar.close()
                complain(f"{args.output}: {sentence}")
    facts = _facts(args.endpoint, subscriber, trace, alarms.raised)
    if args.json:
        print_json(facts)
    elif not args.quiet:
        where = f": {place(subscriber.gaps, trace.origin_ns)}" if subscriber.gaps else ""
        lost = f"{facts['lost']:,} rows lost on the way{where}"
        parts = [f"{facts['rows']:,} rows, {facts['calls']:,} calls", lost, subscriber.trace.clock_words()]
        print("; ".join(part for part in parts if part))


def _pictures(args: argparse.Namespace) -> Callable[[Subscriber], None]:
    """Return what renders the window so far into a folder; without ``--every``, what does nothing."""
    from ... import api
    from ...live.watch import pictures
    from ..render import setting

    settings = dict(setting(text) for text in args.settings)
    if not args.every:
        return lambda subscriber: None
    figure = api.Figure(args.view, (), settings)
    frame = Frame.parse(args.size, None) if args.size else Frame()
    output = api.Output(style=args.style, engine="workbench", frame=frame)
    return pictures(
        Path(args.output),
        read_time("--window", args.window),
        figure.view.suits,
        lambda trace, path: figure.of(trace).render(path, output),
    )


def _check_arrival(endpoint: str, subscriber: Subscriber) -> None:
    """Raise InputError if the publisher refused the connection, or no data arrived."""
    if subscriber.state == "refused":
        raise InputError(f"{endpoint}: the publisher refuses the connection: {subscriber.why}")
    if subscriber.locked_out and not subscriber.rows:
        raise InputError(f"{endpoint}: {subscriber.locked_out}")
    if not subscriber.rows:
        raise InputError(
            f"{endpoint}: no data arrived: is a publisher running there, such as 'tracevis3d record --live'?"
        )


def _facts(endpoint: str, subscriber: Subscriber, trace: Trace, alarms: Iterable[Alarm]) -> dict[str, Any]:
    """Return what is printed as JSON."""
    back, farthest = subscriber.trace.went_back
    return {
        "endpoint": endpoint, "program": subscriber.program, "state": subscriber.state,
        "rows": subscriber.rows, "calls": len(trace.calls), "lost": subscriber.lost,
        "lost_batches": subscriber.lost_batches, "rows_again": subscriber.rows_again,
        "published": subscriber.published, "gaps": [gap.as_dict(trace.origin_ns) for gap in subscriber.gaps],
        "clock_went_back": {"count": back, "farthest_ns": farthest},
        "bad_messages": subscriber.bad, "sessions": subscriber.trace.sessions,
        "alarms": [
            {"kind": a.kind, "about": a.about, "sentence": a.sentence, "how": a.how,
             "at_ns": a.at - trace.origin_ns,
             "over_at_ns": None if a.over_at is None else a.over_at - trace.origin_ns}
            for a in alarms
        ],
    }  # fmt: skip
