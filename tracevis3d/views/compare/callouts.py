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
from .frames import Pen, frames, plates

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
    x, width, _ = wall.spots(ids)
    width = np.maximum(width, _LEAST_PX / picture.pixels_per_unit)
    pen = Pen("callout", color, _FRAME_PX, 0.015, 1e7)
    lines, place = frames(picture, wall, ids, x - width / 2, x + width / 2, 2.0 * wall.plate, pen)
    # The names stand within the inner edge, clear of the tubes that begin there.
    function = wall.trace.calls.function[ids]
    label = wall.trace.functions.label
    height = 0.85 * picture.text
    place += wall.fold.clear(height, _ABOVE) - 0.5 * height * np.array(wall.fold.off)
    named: dict[str, int] = {}  # the longest call of each name, where its plate covers no other
    sizes: list[float] = []
    for i, f in enumerate(function.tolist()):
        name = _short(label[f])
        wide = (_CHARACTER * len(name) + 0.5) * height
        free = all(
            abs(place[i, 0] - place[j, 0]) > (wide + other) / 2
            or np.abs(place[i, 1:] - place[j, 1:]).max() > height
            for j, other in zip(named.values(), sizes)
        )
        if name not in named and free:
            named[name] = i
            sizes.append(wide)
    text, first = tuple(named), np.array(list(named.values()), np.int64)
    tags, names = plates(
        wall, text, place[first], np.array(sizes), height, ids[first], width[first], pen
    )  # fmt: skip
    return [lines, tags], names


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
