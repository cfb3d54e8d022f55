"""Loads: what many threads, modules or causes do along the same time, each as a share of what it could."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import units
from ...errors import UsageError
from ...layout.cut import busy_time
from ...trace.model import Trace
from ...trace.names import lane_title
from .activity import within_calls
from .series import Floats, Ints, Occurrences, Series, Steps, steps_of
from .tracks import Track, tracks_of

#: Maximum number of corners of a polygon.
MOST = 24
#: Loads are even if the highest is at most this multiple of the lowest.
_EVEN = 1.5
#: Minimum number of threads for a polygon.
FEWEST = 3


@dataclass(frozen=True, eq=False)
class Load:
    """One of the loads.

    Attributes
    ----------
    name : str
    series : Series
    full : float
        The value that counts as a full load.
    color : int
        As :attr:`.tracks.Band.color`.
    occurrences : Occurrences or None
    """

    name: str
    series: Series
    full: float
    color: int
    occurrences: Occurrences | None


def loads_of(
    trace: Trace, tracks: tuple[Track, ...], of: str, window: tuple[int, int], palette: str
) -> tuple[str, tuple[Load, ...]]:
    """Return loads side by side, in an order that is the same for every window.

    Parameters
    ----------
    trace : Trace
    tracks : tuple of Track
        Those that are drawn.
    of : str
        ``threads``, ``modules``, ``waits``, ``tracks`` or ``auto``.
    window : (int, int)
        Nanoseconds: the busiest threads in it are taken.
    palette : str

    Returns
    -------
    (str, tuple of Load)
        What each is the load of, and at least one.

    Raises
    ------
    UsageError
        If the trace has none of them.
    """
    known = {track.key: track for track in tracks_of(trace, palette)}
    if of == "auto":
        busy = int(np.count_nonzero(busy_time(trace, window)))
        of = "threads" if busy >= FEWEST else "modules" if "modules" in known else "tracks"
    if of == "threads":
        return "Share of time in which each thread runs", _threads(trace, window)
    if of == "tracks":
        return "Each track, as a share of its highest value", _whole(tracks)
    if of not in known:
        raise UsageError(f"spokes={of}: the trace records no {of}")
    track = known[of]
    full = max(track.ceiling, 1.0)
    made = [Load(b.name or track.title, b.series, full, b.color, b.occurrences) for b in track.bands]
    said = f"{track.title}, as a share of {units.counted(int(full), 'thread')}"
    return said, tuple(made[:MOST])


def _threads(trace: Trace, window: tuple[int, int]) -> tuple[Load, ...]:
    busy = busy_time(trace, window)
    busiest = np.argsort(-busy, kind="stable")[: min(MOST, int(np.count_nonzero(busy)))]
    if not len(busiest):
        raise UsageError("spokes=threads: no thread runs in this window")
    calls = trace.calls
    roots = np.flatnonzero(calls.depth == 1)
    made = []
    for k, thread in enumerate(np.sort(busiest).tolist()):
        series = steps_of(*within_calls(trace, thread))
        mine = roots[calls.thread[roots] == thread]
        own = Occurrences(calls.start[mine], calls.end[mine], mine)
        series = Steps(series.time, np.maximum(series.value, 0.0))
        made.append(Load(lane_title(trace, thread, 24), series, 1.0, k, own))
    return tuple(made)


def _whole(tracks: tuple[Track, ...]) -> tuple[Load, ...]:
    made = []
    for k, track in enumerate(tracks):
        for band in track.bands:
            values = band.series.value if isinstance(band.series, Steps) else np.empty(0)
            name = " ".join(filter(None, [track.title, band.name]))
            made.append(Load(name, band.series, float(values.max(initial=0.0)), k, band.occurrences))
    return tuple(made[:MOST])


def shares(loads: tuple[Load, ...], edges: Ints) -> Floats:
    """Return loads in cells of time, as shares of a full one.

    Parameters
    ----------
    loads : tuple of Load
    edges : int64 (n + 1,)

    Returns
    -------
    float64 (loads, n)
        0 to 1.
    """
    made = np.array([load.series.cells(edges).mean for load in loads])
    full = np.array(
        [load.full or max(float(row.max()), 1e-300) for load, row in zip(loads, made, strict=True)]
    )
    return np.asarray(np.clip(made / full[:, None], 0.0, 1.0))


def describe_balance(share: Floats, names: list[str]) -> str:
    """Return in one sentence how evenly loads are spread, over the whole time.

    Parameters
    ----------
    share : float64 (loads, cells)
    names : list of str

    Returns
    -------
    str
    """
    mean = share.mean(axis=1)
    if not mean.sum() > 0:
        return "Nothing runs"
    top = int(mean.argmax())
    of_all, even = float(mean[top] / mean.sum()), 1.0 / len(mean)
    if of_all > 1.6 * even:
        return (
            f"{names[top]} carries {units.percentage(of_all)} of the load; "
            f"an even share of {len(mean):,} would be {units.percentage(even)}"
        )
    low = int(mean.argmin())
    least, most = units.percentage(float(mean[low])), units.percentage(float(mean[top]))
    if mean[top] > _EVEN * mean[low]:
        return f"{names[top]} runs most, {most} of the time, {names[low]} least, {least}"
    return f"The load is even: each of {len(mean):,} runs {least} to {most} of the time"
