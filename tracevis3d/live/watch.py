"""Watching a feed without a window: into a file, or as a picture every so often."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from .. import interrupts
from ..trace.model import Trace
from .stream.alarms import LOOK_S, Alarm, AlarmWatch
from .subscriber import Subscriber

#: Maximum duration of a check of the socket, in seconds.
_BITE_S = 0.05


def watch(
    subscriber: Subscriber,
    *,
    seconds: float | None = None,
    every: float | None = None,
    show: Callable[[Subscriber], None] = lambda subscriber: None,
    report: Callable[[Subscriber], None] = lambda subscriber: None,
    alarms: AlarmWatch | None = None,
    alarm: Callable[[Alarm], None] = lambda alarm: None,
) -> None:
    """Take what comes until the publisher ends, ``seconds`` are over, or Ctrl-C.

    Parameters
    ----------
    subscriber : Subscriber
    seconds : float, optional
    every : float, optional
        Call ``show`` so often, in seconds, once something has come, and at the end.
    show, report : callable
        ``report`` is called about ten times a second.
    alarms : AlarmWatch, optional
        What looks for trouble.
    alarm : callable
        Called with each new alarm, and once more when it is over (then ``over_at`` is set).
    """
    begun = shown = time.monotonic()
    last, drawn = 0.0, 0

    def look(now: int, clock: float) -> None:
        # Before it is connected there is nothing to look at.
        if alarms is not None and subscriber.state not in ("waiting", "refused"):
            for each in (*alarms.look(now, clock), *alarms.ended):
                alarm(each)

    try:
        while not (subscriber.over or subscriber.locked_out) and (
            seconds is None or time.monotonic() - begun < seconds
        ):
            subscriber.drain(_BITE_S, wait=0.02)
            now = time.monotonic()
            look(subscriber.clock(), now)
            if now - last > 0.1:
                last = now
                report(subscriber)
            if every is not None and now - shown >= every and subscriber.rows:
                shown, drawn = now, subscriber.rows
                show(subscriber)
    except KeyboardInterrupt:
        interrupts.forget()  # received data is kept: this is how to stop
    # What came last is looked at, too, however short the program was.
    look(subscriber.trace.now, time.monotonic() + LOOK_S)
    report(subscriber)
    if every is not None and subscriber.rows != drawn:
        # The last data is drawn too, however short the program was.
        show(subscriber)


def pictures(
    folder: Path, window_ns: int, suits: Callable[[Trace], float], render: Callable[[Trace, Path], object]
) -> Callable[[Subscriber], None]:
    """Return a function that renders the window so far into a folder, as 000001.png and so on.

    A window that the view does not suit (0) gives no picture.

    Parameters
    ----------
    folder : Path
        Made if there is none.
    window_ns : int
        Nanoseconds that a picture reaches back.
    suits : callable
        Returns how well the view suits a trace; 0: not at all.
    render : callable
        Called with a trace and the file to write.

    Returns
    -------
    callable
        For ``show`` of :func:`watch`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    number = 0

    def show(subscriber: Subscriber) -> None:
        nonlocal number
        trace = latest(subscriber, window_ns)
        if not suits(trace):
            return
        number += 1
        render(trace, folder / f"{number:06d}.png")

    return show


def latest(subscriber: Subscriber, window_ns: int) -> Trace:
    """Return the last part of a feed as a trace.

    Parameters
    ----------
    subscriber : Subscriber
    window_ns : int
        Nanoseconds that it reaches back from the newest event.

    Returns
    -------
    Trace
    """
    since = subscriber.trace.now - window_ns
    return subscriber.trace.trace(subscriber.source, subscriber.lost, since=since)
