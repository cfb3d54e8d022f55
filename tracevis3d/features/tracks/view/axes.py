"""Rulers that the forms of tracks share."""

from __future__ import annotations

from .... import units
from ....drawing.primitives import Axis
from ....layout import ticks
from ....views.time_window import WIDTH
from .layout import Layout


def time_axis(picture: Layout, y: float, z: float = -0.05) -> Axis:
    """Return the ruler of time along x.

    Parameters
    ----------
    picture : Layout
    y, z : float
        Where it lies.

    Returns
    -------
    Axis
    """
    start, end = picture.window
    scale = WIDTH / (end - start)
    timed = picture.trace.has_times
    if timed:
        found = ticks.time_ticks(start, end, 11)
        at, text, minor = found.at, found.text, found.minor
        title = found.titled()
    else:
        at = tuple(ticks.rounds(start, end, 9))
        text, minor = tuple(units.count(a) for a in at), ()
        title = "records, in order (no times are recorded)"
    return Axis(
        (0.0, y, z), (1.0, 0.0, 0.0), WIDTH, tuple((t - start) * scale for t in at), text,
        minor=tuple((t - start) * scale for t in minor), title=title, outward=(0.0, 0.0, -1.0),
        height=picture.text, window=(start, end) if timed else None,
    )  # fmt: skip
