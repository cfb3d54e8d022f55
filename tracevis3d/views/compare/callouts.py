"""Frames around the calls that a figure is about, with their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...drawing.palettes import parse
from ...drawing.words import Labels, Lines
from ...errors import UsageError
from .composition import Composition, Wall
from .focus import focused

if TYPE_CHECKING:
    from ...trace.model import Trace

Ints = NDArray[np.int64]

#: Told apart from all colours of groups, on light and on dark ground.
COLOR = parse("d6006c")
#: Frames on a wall, at most: the longest calls'.
_MOST = 24
#: Width of frames in pixels, and the least width of what is framed, so that short calls are seen.
_FRAME_PX, _LEAST_PX = 3.0, 7.0


def marked(trace: Trace, text: str, trace_name: str) -> Ints:
    """Return the outermost calls that ``text`` names, as ``focus`` does, several with commas between."""
    inside = np.zeros(len(trace.calls), np.bool_)
    for word in text.split(","):
        if word.strip():
            inside |= focused(trace, word.strip(), trace_name)
    parent = trace.calls.parent
    return np.flatnonzero(inside & ~((parent >= 0) & inside[np.maximum(parent, 0)]))


def callouts(picture: Composition, text: str, color: int) -> tuple[list[Lines], list[Labels]]:
    """Return frames around the calls that ``text`` names, each with all that is below it, and their names.

    Parameters
    ----------
    picture : Composition
    text : str
        See :func:`marked`.
    color : int
        Palette index.

    Raises
    ------
    UsageError
        If no call of either trace is named so.
    """
    frames, labels, named = [], [], 0
    for wall in picture.walls:
        calls = wall.trace.calls
        ids = marked(wall.trace, text, "AB"[wall.source])
        named += len(ids)
        seen = (calls.end[ids] > wall.window[0]) & (calls.start[ids] < wall.window[1])
        ids = ids[seen & (wall.lane_of[calls.thread[ids]] >= 0)]
        ids = ids[calls.depth[ids] >= wall.first_depth]
        ids = ids[np.argsort(calls.start[ids] - calls.end[ids], kind="stable")][:_MOST]
        if len(ids):
            lines, names = _framed(picture, wall, ids, color)
            frames.append(lines)
            labels.append(names)
    if not named:
        raise UsageError(f"mark={text}: no call is called so in either trace")
    return frames, labels


def _framed(picture: Composition, wall: Wall, ids: Ints, color: int) -> tuple[Lines, Labels]:
    n = len(ids)
    x, width, _ = wall.spots(ids)
    width = np.maximum(width, _LEAST_PX / picture.pixels_per_unit)
    low, high = wall.levels(ids)
    deep = np.maximum(low + wall.extent(ids), high)
    step = high - low
    corner = []
    for h in (low, deep):
        y, z = wall.fold.above(h, step, 2.0 * wall.plate)
        corner.append((y, z + 0.015))
    path = np.empty((n, 5, 3), np.float32)
    for k, (side, e) in enumerate(((-1, 0), (1, 0), (1, 1), (-1, 1), (-1, 0))):
        path[:, k, 0], path[:, k, 1], path[:, k, 2] = x + side * width / 2, corner[e][0], corner[e][1]
    frames = Lines(
        "callout", path.reshape(-1, 3), np.arange(n + 1, dtype=np.int64) * 5,
        np.full(n, _FRAME_PX / picture.pixels_per_unit, np.float32), np.full(n, color, np.int32), ids,
        source=wall.source,
    )  # fmt: skip
    # The name stands beyond the frame's inner edge, where the tubes begin.
    height = np.full(n, 0.9 * picture.text)
    y, z = corner[1]
    up = wall.fold.upwards
    anchor = np.stack([x, y, z + 0.02], axis=1) + np.array(up) * (-wall.fold.side * 0.65 * height)[:, None]
    functions = wall.trace.functions
    text = tuple(functions.label[f] for f in wall.trace.calls.function[ids].tolist())
    names = Labels(
        "callout", text, anchor.astype(np.float32), height.astype(np.float32),
        np.full(n, np.inf, np.float32), (1e7 + width).astype(np.float32), up=up,
    )  # fmt: skip
    return frames, names
