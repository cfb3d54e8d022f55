"""The surroundings of the boxes of an icicle: terraces, rulers, grid lines and the threads' names."""

from __future__ import annotations

import math

import numpy as np

from .... import units
from ....drawing.primitives import Axis, Boxes, Labels, Lines, Vector
from ....layout import ticks
from ....layout.scales import Scale
from ....trace.names import lane_title
from ....views.calls.measures import Measure
from ....views.calls.ruler_ticks import ruler_ticks
from ....views.time_window import WIDTH
from .layout import Layout

#: Width of thin lines in scene units.
_HAIR = 0.012
_DEPTH_STEPS = [factor * 10**power for power in range(10) for factor in (1, 2, 5)]


def terraces(picture: Layout, color: int) -> list[Boxes]:
    """Return the steps that the lanes stand on, and the risers behind them.

    Parameters
    ----------
    picture : Layout
    color : int
        Index into the palette.

    Returns
    -------
    list of Boxes
    """
    lanes, n = picture.lanes, len(picture.lanes)
    if not n:
        return []
    thin = 0.03
    deep = -picture.front if picture.reach > 0 or picture.apart > 0 else picture.plate
    low = np.zeros((2 * n, 3), np.float32)
    size = np.full((2 * n, 3), WIDTH, np.float32)
    step, riser = slice(0, n), slice(n, 2 * n)
    low[step, 1], size[step, 1] = lanes.back - deep, deep
    low[step, 2], size[step, 2] = lanes.floor - thin, thin
    low[riser, 1], size[riser, 1] = lanes.back, 0.4 * thin
    # Up to the lower side of the next step, or the end of the last lane.
    top = np.append(lanes.floor[1:] - thin, lanes.top)
    low[riser, 2], size[riser, 2] = lanes.floor, top - lanes.floor
    colors = np.full(n, color, np.int32)
    steps = Boxes("terrace", low[step], size[step], colors, picture.threads)
    risers = Boxes("riser", low[riser], size[riser], colors, picture.threads)
    return [steps, risers]


def time_axis(picture: Layout) -> Axis:
    """Return the ruler of time, or what stands for it, along the front edge of the lowest terrace."""
    start, end = picture.window
    found, what = ruler_ticks(picture.trace, picture.window, 11)
    scale = WIDTH / (end - start)
    return Axis(
        origin=(0.0, picture.front, -0.04),
        direction=(1.0, 0.0, 0.0),
        length=WIDTH,
        tick=tuple((t - start) * scale for t in found.at),
        text=found.text,
        minor=tuple((t - start) * scale for t in found.minor),
        title=found.titled(what),
        outward=(0.0, 0.0, -1.0),
        height=picture.text,
        window=(start, end) if found.unit else None,
    )


def grid(picture: Layout, axis: Axis, color: int) -> Lines:
    """Return a line for each tick of the time axis that climbs the terraces behind the boxes.

    Parameters
    ----------
    picture : Layout
    axis : Axis
        That of time.
    color : int
        Index into the palette.

    Returns
    -------
    Lines
    """
    lanes = picture.lanes
    path = [(picture.front, 0.0)]
    for floor, height, back in zip(lanes.floor.tolist(), lanes.height.tolist(), lanes.back.tolist()):
        path += [(back - _HAIR, floor), (back - _HAIR, floor + height)]
    point = np.empty((len(axis.tick), len(path), 3), np.float32)
    point[:, :, 0] = np.array(axis.tick, np.float32)[:, None]
    point[:, :, 1:] = np.array(path, np.float32)
    n = len(axis.tick)
    return Lines(
        "grid", point.reshape(-1, 3), np.arange(n + 1, dtype=np.int64) * len(path),
        np.full(n, _HAIR, np.float32), np.full(n, color, np.int32), np.arange(n, dtype=np.int64),
    )  # fmt: skip


def depth_axis(picture: Layout) -> tuple[Axis, ...]:
    """Return the ruler of stack depth where there is one lane; among several the names take its place."""
    lanes = picture.lanes
    if len(lanes) != 1:
        return ()
    edge = lanes.edge
    middle = (edge[:-1] + edge[1:]) / 2
    first = picture.first_depth
    step = next(s for s in _DEPTH_STEPS if len(middle) / s <= (40 if picture.can_fold else 9))
    depth = [d for d in range(first, first + len(middle)) if d % step == 0 or d == first]
    places = [float(middle[d - first]) for d in depth]
    kept = ticks.thin(depth, places, 1.3 * picture.small_text)
    return (
        Axis(
            origin=(-0.06, 0.0, 0.0),
            direction=(0.0, 0.0, 1.0),
            length=lanes.top,
            tick=tuple(places[i] for i in kept),
            text=tuple(units.count(depth[i]) for i in kept),
            title="stack depth",
            outward=(-1.0, 0.0, 0.0),
            height=picture.small_text,
        ),
    )


def _facing(picture: Layout) -> Vector:
    """Return the horizontal direction across the camera's view: texts along it are level in the picture."""
    x, y, _ = picture.camera.direction
    length = math.hypot(x, y)
    return (-y / length, x / length, 0.0) if length > 1e-6 else (1.0, 0.0, 0.0)


def lane_names(picture: Layout) -> Labels:
    """Return the threads' names, left of their lanes; none where there is only one lane."""
    lanes, n = picture.lanes, len(picture.lanes)
    if n <= 1:
        n = 0
    anchor = np.zeros((n, 3), np.float32)
    anchor[:, 0] = -0.12
    anchor[:, 1] = lanes.back[:n] - picture.plate
    anchor[:, 2] = lanes.floor[:n] + np.minimum(lanes.height[:n] / 2, 0.4)
    titles = [lane_title(picture.trace, int(t)) for t in picture.threads[:n]]
    if picture.can_fold:
        titles = [f"{'▸' if folded else '▾'} {t}" for folded, t in zip(picture.folded.tolist(), titles)]
    return Labels(
        "thread",
        tuple(titles),
        anchor,
        np.full(n, max(picture.small_text, picture.line), np.float32),
        np.full(n, np.inf, np.float32),
        np.full(n, 1e9, np.float32),
        align=1,
        right=_facing(picture),
        id=picture.threads[:n] if picture.can_fold else np.empty(0, np.int64),
    )


def measure_ruler(picture: Layout, shown: Measure, scale: Scale, color: int) -> tuple[Lines, Labels]:
    """Return a ruler along y on the floor at the right end, and its texts, which stand upright.

    Parameters
    ----------
    picture : Layout
    shown : Measure
        The measure.
    scale : Scale
        From the measure to thickness.
    color : int
        Index into the palette.

    Returns
    -------
    (Lines, Labels)
    """
    # Texts stand below each other in the picture, as far apart as the floor is seen from above.
    seen = picture.reach * math.hypot(picture.camera.direction[2], 0.3 * picture.camera.direction[0])
    at, texts = scale.ticks(shown.text, 6, apart=1.15 * picture.small_text / max(seen, 1e-6))
    # At the end that the camera sees.
    side = -1.0 if picture.parameters.turn <= 0 else 1.0
    x, z = (-0.1 if side < 0 else WIDTH + 0.1), 0.0
    y = [-(picture.plate + picture.reach * t) for t in at]
    segments = [((x, 0.0, z), (x, -(picture.plate + picture.reach), z))]
    segments += [((x, v, z), (x + 0.1 * side, v, z)) for v in y]
    point = np.array(segments, np.float32).reshape(-1, 3)
    n = len(segments)
    lines = Lines(
        "ruler", point, np.arange(n + 1, dtype=np.int64) * 2, np.full(n, 1.5 * _HAIR, np.float32),
        np.full(n, color, np.int32), np.arange(n, dtype=np.int64),
    )  # fmt: skip
    labels = Labels(
        "ruler",
        (*texts, shown.title),
        np.array([(x + 0.18 * side, v, z) for v in (*y, picture.front - 0.25)], np.float32),
        np.full(n, picture.small_text, np.float32),
        np.full(n, np.inf, np.float32),
        np.full(n, 1e8, np.float32),
        align=1 if side < 0 else -1,
        right=_facing(picture),
    )
    return lines, labels
