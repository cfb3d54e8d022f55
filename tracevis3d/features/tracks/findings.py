"""What is to be seen in tracks: peaks, lopsided load, series that move together; each in one sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import units
from .series import Floats, Ints, Steps, steps_of
from .tracks import Track

#: A series that stays within this share of its highest value does not vary.
_FLAT = 0.02
#: Share of a module's time within its stretch.
_MOST_OF_IT = 0.9
#: Such a stretch is reported if it is shorter than this share of the window.
_SHORT = 0.5


@dataclass(frozen=True)
class Finding:
    """Something to be seen.

    Attributes
    ----------
    sentence : str
        In plain words, with the numbers.
    short : str
        The same in a few words, for a mark in the picture.
    track : int
        Which of the tracks.
    band : int
        Which of its bands it is about; -1: all of them.
    time : int
        Where it is, in nanoseconds.
    value : float
        The value there.
    weight : float
        Importance, 0 to 1.
    """

    sentence: str
    short: str
    track: int
    band: int
    time: int
    value: float
    weight: float


def findings(tracks: tuple[Track, ...], window: tuple[int, int], edges: Ints) -> tuple[Finding, ...]:
    """Return what is to be seen, the most important first.

    Parameters
    ----------
    tracks : tuple of Track
    window : (int, int)
        Nanoseconds; the end lies behind the start.
    edges : int64 (n + 1,)
        Of the cells that are drawn: rates have no values of their own.

    Returns
    -------
    tuple of Finding
        At most one for each track.
    """
    found = [_of_track(i, track, window, edges) for i, track in enumerate(tracks)]
    return tuple(sorted((one for one in found if one is not None), key=lambda one: -one.weight))


def _of_track(i: int, track: Track, window: tuple[int, int], edges: Ints) -> Finding | None:
    if track.key == "running":
        return _few_run(i, track, window, edges)
    if track.key == "waits":
        return _many_wait(i, track, window, edges)
    if track.key == "modules":
        return _main_module(i, track, window, edges)
    return _peak(i, track, window, edges)


def total(track: Track) -> Steps | None:
    """Return the sum of a track's bands as one series; None if they are rates."""
    steps = [band.series for band in track.bands if isinstance(band.series, Steps)]
    if len(steps) != len(track.bands):
        return None
    if len(steps) == 1:
        return steps[0]
    time = np.concatenate([one.time for one in steps])
    return steps_of(time, np.concatenate([np.diff(one.value, prepend=0.0) for one in steps]))


def highest(track: Track, window: tuple[int, int], edges: Ints) -> tuple[int, float]:
    """Return when a track is the highest, and how high it is: exactly, rates as in the cells.

    Parameters
    ----------
    track : Track
    window : (int, int)
        Nanoseconds.
    edges : int64 (n + 1,)

    Returns
    -------
    (int, float)
    """
    series = total(track)
    if series is not None:
        return series.peak(window)
    value = np.sum([band.series.cells(edges).mean for band in track.bands], axis=0)
    at = int(value.argmax())
    return int(edges[at] + edges[at + 1]) // 2, float(value[at])


def _peak(i: int, track: Track, window: tuple[int, int], edges: Ints) -> Finding | None:
    time, value = highest(track, window, edges)
    mean = np.sum([band.series.cells(edges).mean for band in track.bands], axis=0)
    usual = float(np.median(mean))
    span = max(abs(value), abs(float(mean.min())), 1e-300)
    varies = (value - min(usual, value)) / span
    if value == 0.0 or varies < _FLAT:
        return None
    what = {
        "memory": "Live memory", "calls": "The rate of calls", "depth": "The stack",
        "allocations": "Allocation",
    }.get(track.key, track.title)  # fmt: skip
    verb = "peaks at" if track.key != "depth" else "is deepest with"
    said = f"{track.tick(value)} calls" if track.key == "depth" and track.tick else track.write(value)
    sentence = f"{what} {verb} {said} at {_moment(time, window)}"
    times = value / usual if usual > 0 else 0.0
    if track.key in ("calls", "allocations") and times >= 2:
        sentence += f", {units.count(float(f'{times:.2g}'))} times the median"
    weight = {"counters": 0.95, "memory": 0.9, "io": 0.3, "calls": 0.35, "depth": 0.1}.get(track.key, 0.3)
    return Finding(sentence, said, i, -1, time, value, weight * varies)


def _moment(time: int, window: tuple[int, int]) -> str:
    """Return a time with the digits that tell it within its window."""
    span = max(window[1] - window[0], 1)
    digits = min(max(3, 1 + len(str(abs(time))) - len(str(span // 100))), 9)
    return units.duration(time, digits)


def _few_run(i: int, track: Track, window: tuple[int, int], edges: Ints) -> Finding | None:
    """Say for how long at most one thread runs where there are several."""
    (band,) = track.bands
    series, threads = band.series, int(track.ceiling)
    if threads < 2 or not isinstance(series, Steps):
        return None
    edge = np.unique(np.concatenate([np.clip(series.time, *window), np.array(window)]))
    value, length = series.cells(edge).mean, np.diff(edge)
    alone = float(length[np.rint(value) == 1].sum() / length.sum())
    mean = float((value * length).sum() / length.sum())
    time, most = series.peak(window)
    # Without recorded waits nobody knows who runs.
    verb = ("runs", "run") if "that run" in track.title else ("is within a call", "are within a call")
    if most <= 1:
        sentence = f"Never more than one of {threads:,} threads {verb[0]} at a time"
    elif alone >= 0.3:
        sentence = f"Only one of {threads:,} threads {verb[0]} for {units.percentage(alone)} of the time"
    else:
        sentence = f"On average {units.count(round(mean, 2))} of {threads:,} threads {verb[1]}"
        sentence += _when(series.cells(edges).mean * np.diff(edges), window, edges)
    return Finding(
        sentence, f"{units.count(most)} {verb[1]}", i, 0, time, most, 0.75 * max(alone, 1.0 - mean / threads)
    )


def _many_wait(i: int, track: Track, window: tuple[int, int], edges: Ints) -> Finding | None:
    series = total(track)
    if series is None:
        return None
    time, most = series.peak(window)
    if most < 1:
        return None
    length = np.diff(edges)
    sums = np.array([float((band.series.cells(edges).mean * length).sum()) for band in track.bands])
    top = int(np.argmax(sums))
    mean, share = float(sums.sum() / length.sum()), float(sums[top] / sums.sum())
    sentence = f"On average {units.count(round(mean, 2))} of {track.ceiling:.0f} threads wait"
    if name := track.bands[top].name:
        sentence += f", {units.percentage(share)} of it in {name}"
    return Finding(
        sentence, f"{units.count(most)} wait", i, -1, time, most, 0.9 * min(mean / track.ceiling, 1)
    )


def _main_module(i: int, track: Track, window: tuple[int, int], edges: Ints) -> Finding | None:
    """Say which module takes most time, and when, if that is a part of the window."""
    means = np.array([band.series.cells(edges).mean for band in track.bands])
    time_of = means * np.diff(edges)
    sums = time_of.sum(axis=1)
    named = [b for b, band in enumerate(track.bands) if band.color >= 0]
    if not named or not sums.sum() > 0:
        return None
    top = max(named, key=lambda b: float(sums[b]))
    share = float(sums[top] / sums.sum())
    name = track.bands[top].name
    sentence = f"{name} takes {units.percentage(share)} of the time"
    sentence += _when(time_of[top], window, edges)
    at = int(means[top].argmax())
    middle = int(edges[at] + edges[at + 1]) // 2
    return Finding(
        sentence,
        f"{name} {units.percentage(share)}",
        i,
        top,
        middle,
        float(means[top][at]),
        0.5 * share + 0.2,
    )


def _when(time: Floats, window: tuple[int, int], edges: Ints) -> str:
    """Say when most of a time is spent, if that is a short part of the window; else nothing."""
    if not time.sum() > 0:
        return ""
    first, stop = _stretch(time)
    if edges[stop] - edges[first] >= _SHORT * (window[1] - window[0]):
        return ""
    when = f"{_moment(int(edges[first]), window)} to {_moment(int(edges[stop]), window)}"
    return f", {units.percentage(_MOST_OF_IT)} of it from {when}"


def _stretch(value: Floats) -> tuple[int, int]:
    """Return the shortest run of cells that holds most of a series: its first cell, and the one behind it.

    Both ends move forward only, so it is linear.
    """
    sums = np.concatenate([[0.0], np.cumsum(value)])
    wanted = _MOST_OF_IT * sums[-1]
    stop = np.searchsorted(sums, sums[:-1] + wanted - 1e-9 * sums[-1], "left")
    fits = stop <= len(value)
    first = np.flatnonzero(fits)
    best = int(first[np.argmin(stop[fits] - first)])
    return best, int(stop[best])


def together(first: Floats, second: Floats) -> float:
    """Return Pearson's correlation of two series.

    Parameters
    ----------
    first, second : float64 (n,)
        Their values in the same cells.

    Returns
    -------
    float
        -1 to 1; 0 if one of them does not vary.

    Examples
    --------
    >>> import numpy as np
    >>> together(np.array([0.0, 1.0, 2.0]), np.array([3.0, 2.0, 1.0]))
    -1.0
    """
    a, b = first - first.mean(), second - second.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum() / size) if size > 0 else 0.0
