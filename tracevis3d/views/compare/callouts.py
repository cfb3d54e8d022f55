"""Frames around the calls that a figure is about, with their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...drawing.palettes import parse
from ...drawing.words import Boxes, Labels, Lines
from ...errors import UsageError
from .composition import Composition, Wall
from .focus import focused

if TYPE_CHECKING:
    from ...trace.model import Trace

Ints = NDArray[np.int64]

#: Told apart from all colours of groups, on light and on dark ground.
COLOR = parse("7c2cff")
#: Frames on a wall, at most: the longest calls'.
_MOST = 24
#: Width of frames in pixels, and the least width of what is framed, so that short calls are seen.
_FRAME_PX, _LEAST_PX = 3.0, 7.0
#: How far names stand above the wall, over the tubes that begin there, in scene units.
_ABOVE = 0.28
#: Width of a character in line heights, and characters of a name that are written.
_CHARACTER, _LONGEST = 0.5, 36


def marked(trace: Trace, text: str, trace_name: str) -> Ints:
    """Return the calls that ``text`` names, as ``focus`` does, several with commas between.

    Of the calls of one word the outermost.
    """
    chosen = np.zeros(len(trace.calls), np.bool_)
    parent = trace.calls.parent
    for word in text.split(","):
        if word.strip():
            inside = focused(trace, word.strip(), trace_name)
            chosen |= inside & ~((parent >= 0) & inside[np.maximum(parent, 0)])
    return np.flatnonzero(chosen)


def callouts(picture: Composition, text: str, color: int) -> tuple[list[Boxes | Lines], list[Labels]]:
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
    elements: list[Boxes | Lines] = []
    labels: list[Labels] = []
    named = 0
    for wall in picture.walls:
        calls = wall.trace.calls
        ids = marked(wall.trace, text, "AB"[wall.source])
        named += len(ids)
        seen = (calls.end[ids] > wall.window[0]) & (calls.start[ids] < wall.window[1])
        ids = ids[seen & (wall.lane_of[calls.thread[ids]] >= 0)]
        ids = ids[calls.depth[ids] >= wall.first_depth]
        ids = ids[np.argsort(calls.start[ids] - calls.end[ids], kind="stable")][:_MOST]
        if len(ids):
            made, names = _framed(picture, wall, ids, color)
            elements += made
            labels.append(names)
    if not named:
        raise UsageError(f"mark={text}: no call is called so in either trace")
    return elements, labels


def _framed(picture: Composition, wall: Wall, ids: Ints, color: int) -> tuple[list[Boxes | Lines], Labels]:
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
    # On a plate of the frame's colour, across its inner edge, the name is read on whatever lies there.
    function = wall.trace.calls.function[ids]
    label = wall.trace.functions.label
    height = 0.85 * picture.text
    y, z = corner[1]
    inward = np.array([0.0, -wall.fold.side * 0.5 * height, 0.0])
    place = np.stack([x, y, z + max(_ABOVE, wall.fold.lift(height))], axis=1) + inward
    named: dict[str, int] = {}  # the longest call of each name, where its plate covers no other
    sizes: list[float] = []
    for i, f in enumerate(function.tolist()):
        name = _short(label[f])
        wide = (_CHARACTER * len(name) + 0.5) * height
        free = all(
            abs(place[i, 0] - place[j, 0]) > (wide + other) / 2 or abs(place[i, 1] - place[j, 1]) > height
            for j, other in zip(named.values(), sizes)
        )
        if name not in named and free:
            named[name] = i
            sizes.append(wide)
    text, first = tuple(named), np.array(list(named.values()), np.int64)
    k = len(first)
    middle = place[first]
    size = np.stack([np.array(sizes), np.full(k, height), np.full(k, 0.012)], axis=1)
    tags = Boxes(
        "tag", (middle - size * np.array([0.5, 0.5, 1.0])).astype(np.float32), size.astype(np.float32),
        np.full(k, color, np.int32), ids[first], source=wall.source,
    )  # fmt: skip
    names = Labels(
        "callout", text, (middle + np.array([0.0, 0.0, 0.004])).astype(np.float32),
        np.full(k, 0.9 * height, np.float32), np.full(k, np.inf, np.float32),
        (1e7 + width[first]).astype(np.float32), up=(0.0, 1.0, 0.0), background=np.full(k, color, np.int32),
    )  # fmt: skip
    return [frames, tags], names


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
