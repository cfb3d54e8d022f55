"""The path: two series against each other, time as the third axis; from the front a phase portrait."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import BASE, GRID, PALETTES
from ....drawing.primitives import Axis, Camera, Legend, Marks, Meaning, Tubes, Vector
from ....drawing.shorthand import boxes, lines, texts
from ....errors import UsageError
from ....layout import ticks
from ....layout.ticks import time_ticks
from ....views.time_window import WIDTH
from ..findings import together
from ..series import Floats
from ..tracks import Track
from .layout import SHARE, Layout, direction

#: Length of the time axis towards the back, in scene units.
_DEPTH = 8.0
_RADIUS, _HAIR = 0.055, 0.02
_RAMP = 128
#: The path is seen this many times more from the side than the wall.
_ASIDE = 1.8
_STRONG = 0.5
#: Default tracks of a path, the best first.
_TELLING = ("counters", "memory", "running", "calls", "io", "depth", "allocations")


def pair_of(picture: Layout) -> tuple[Track, Track]:
    """Return the two tracks of a path: the first two that were requested.

    Of all tracks those two are taken whose relation is least known beforehand: threads that run and threads
    that wait add up in any case, and modules are no single number.

    Parameters
    ----------
    picture : Layout

    Returns
    -------
    (Track, Track)

    Raises
    ------
    UsageError
        If there is only one.
    """
    tracks = picture.tracks
    if picture.parameters.tracks.strip() in ("", "auto", "all"):
        telling = [track for track in tracks if track.key in _TELLING]
        telling.sort(key=lambda track: _TELLING.index(track.key))
        tracks = tuple(telling) if len(telling) >= 2 else tracks
    if len(tracks) < 2:
        names = ", ".join(track.name for track in tracks)
        raise UsageError(f"form=path takes two tracks, such as tracks=running,waits; this draws only {names}")
    return tracks[0], tracks[1]


def draw(drawing: DrawingBuilder, picture: Layout) -> tuple[Camera, str]:
    """Draw the path.

    Parameters
    ----------
    drawing : DrawingBuilder
        What it is added to.
    picture : Layout

    Returns
    -------
    (Camera, str)
        And what is to be seen, in a sentence.

    Raises
    ------
    UsageError
        If there is only one track.
    """
    p, u = picture.parameters, picture.open
    across, up = pair_of(picture)
    first, second = (
        np.sum([b.series.cells(picture.edges).mean for b in one.bands], axis=0) for one in (across, up)
    )
    tall = (WIDTH + 3) * picture.frame.height * SHARE[1] / (picture.frame.width * SHARE[0]) - 4 * picture.text
    wide = WIDTH * (1 - 0.2 * u)
    scale = _Scale.over(first, wide), _Scale.over(second, tall * (1 - 0.35 * u))
    x, z = scale[0].place(first), scale[1].place(second)
    n = len(x)
    share = (np.arange(n) + 0.5) / n
    deep = u * _DEPTH
    point = np.column_stack([x, deep * share, z])

    ramp = drawing.color(PALETTES[p.palette].ramp(_RAMP))
    hair, base = drawing.color(GRID), drawing.color(BASE)
    color = ramp + np.rint(share * (_RAMP - 1)).astype(np.int32)
    pairs = np.stack([point[:-1], point[1:]], axis=1).reshape(-1, 3).astype(np.float32)
    m = n - 1
    drawing.add(
        Tubes(
            "path", pairs, np.full((2 * m, 2), _RADIUS, np.float32), 2 * np.arange(m + 1),
            color[:-1].astype(np.int32), np.arange(m), end_color=color[1:].astype(np.int32),
            time=share[:-1].astype(np.float32),
        )
    )  # fmt: skip
    edges = picture.edges
    drawing.meaning["path"] = Meaning(
        texts=(
            ("from", tuple(units.exact_duration(int(t)) for t in edges[:m]), np.arange(m)),
            (across.title, tuple(across.write(v) for v in first[:m].tolist()), np.arange(m)),
            (up.title, tuple(up.write(v) for v in second[:m].tolist()), np.arange(m)),
        )
    )
    _ends(drawing, picture, point, color)
    high = scale[1].length
    if deep > 0:
        _shadows(drawing, point, hair, deep)
        drawing.add(boxes("floor", (0.0, 0.0, -0.03), (wide, deep, 0.02), base))
    drawing.measure(
        _ruler(across, scale[0], (0.0, 0.0, -0.05), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0), picture.text),
        _ruler(up, scale[1], (-0.05, 0.0, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), picture.text),
        _time_ruler(picture, wide, deep) if deep > 1.0 else None,
    )
    at, texts = _times(picture)
    drawing.explain(Legend("Time", ramp=(ramp, ramp + _RAMP - 1), ramp_tick=at, ramp_text=texts))
    camera = Camera(
        direction=direction(p, _ASIDE * p.turn, p.tilt),
        low=(-4.0 * picture.text, 0.0, -3.0 * picture.text),
        high=(wide + u * 4 * picture.text + 0.3, max(deep, 0.1), high + picture.text),
        projection="orthographic" if p.opening == 0 else "perspective", lens=80.0,
    )  # fmt: skip
    return camera, _sentence(across, up, together(first, second))


def _sentence(across: Track, up: Track, found: float) -> str:
    first, second = (track.title.partition(", of ")[0] for track in (across, up))
    names = f"{first} and {second[:1].lower()}{second[1:]}"
    said = f"(correlation {found:.2f})"
    if found >= _STRONG:
        return f"{names} rise and fall together {said}"
    if found <= -_STRONG:
        return f"{names}: when one rises the other falls {said}"
    return f"{names} hardly depend on each other {said}"


@dataclass(frozen=True)
class _Scale:
    """Values along a ruler, from 0 or below it to the highest."""

    low: float
    high: float
    length: float

    @classmethod
    def over(cls, value: Floats, length: float) -> _Scale:
        low, high = min(float(value.min()), 0.0), max(float(value.max()), 0.0)
        return cls(low, high if high > low else low + 1.0, length)

    def place(self, value: Floats | float) -> Floats:
        """Return where values lie, in scene units."""
        return np.asarray(self.length * (np.asarray(value) - self.low) / (self.high - self.low), np.float64)


def _ruler(track: Track, scale: _Scale, origin: Vector, along: Vector, outward: Vector, text: float) -> Axis:
    low, high = scale.low, scale.high
    write = track.tick or track.write
    at = ticks.rounds(low, high, 5)
    if track.write(1024.0).endswith("iB"):
        at = [low, (low + high) / 2, high]
    return Axis(
        origin, along, scale.length, tuple(float(scale.place(v)) for v in at), tuple(write(v) for v in at),
        title=track.title, outward=outward, height=text,
    )  # fmt: skip


def _times(picture: Layout) -> tuple[tuple[float, ...], tuple[str, ...]]:
    low, high = picture.window
    if not picture.trace.has_times:
        return (0.0, 1.0), (units.count(low), units.count(high))
    return (0.0, 1.0), ("0" if not low else units.duration(low), units.duration(high))


def _time_ruler(picture: Layout, wide: float, deep: float) -> Axis | None:
    if not picture.trace.has_times:
        return None
    low, high = picture.window
    found = time_ticks(low, high, 7)
    return Axis(
        (wide + 0.05, 0.0, 0.0), (0.0, 1.0, 0.0), deep,
        tuple((t - low) / (high - low) * deep for t in found.at), found.text,
        title=found.titled(), outward=(1.0, 0.0, 0.0), height=picture.text, window=picture.window,
    )  # fmt: skip


def _ends(drawing: DrawingBuilder, picture: Layout, point: Floats, color: Floats) -> None:
    """Mark the beginning and the end."""
    ends = point[[0, -1]].astype(np.float32)
    size = np.full(2, 5 * _RADIUS, np.float32)
    drawing.add(Marks("end", "sphere", ends, size, color[[0, -1]].astype(np.int32), np.arange(2)))
    above = ends + np.array([0.0, 0.0, 0.9 * picture.text], np.float32)
    drawing.write(texts("end", ("begin", "end"), above, 0.9 * picture.text, rank=1e9))


def _shadows(drawing: DrawingBuilder, point: Floats, hair: int, deep: float) -> None:
    """Add the path's shadows: on the floor the first series over time, on the left wall the second."""
    for axis, kind in ((2, "first series"), (0, "second series")):
        shadow = point.copy()
        shadow[:, axis] = 0.0
        drawing.add(lines(kind, shadow[None], _HAIR, hair))
