"""Frames around the subject calls of a figure, with their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .....drawing.palettes import parse
from .....drawing.primitives import Boxes, Labels, Lines
from .....errors import UsageError
from ..focus import focused
from ..layout import Layout, Wall
from .frames import FrameBuilder, frames, plates
from .own_time import longest_own_stretch

if TYPE_CHECKING:
    from .....trace.model import Trace

Ints = NDArray[np.int64]

#: Distinct from all colours of groups, on light and on dark ground.
COLOR = parse("7c2cff")
#: Maximum number of frames on a wall, for the longest calls.
_MOST = 24
#: Width of frames in pixels, and the least width of what is framed, so that short calls are seen.
_FRAME_PX, _LEAST_PX = 3.0, 7.0
#: How far names stand above the wall, over the tubes that begin there, in scene units.
_ABOVE = 0.28
#: Width of a character in line heights, and characters of a name that are written.
_CHARACTER, _LONGEST = 0.5, 36
#: Suffix for the call's self time.
_ITSELF = " itself"


@dataclass(frozen=True, eq=False)
class Marked:
    """The frames on one wall.

    Attributes
    ----------
    call : int64 (n,)
    start, end : int64 (n,)
        Nanoseconds.
    alone : bool (n,)
        Only the call's own level is framed, nothing below it.
    """

    call: Ints
    start: Ints
    end: Ints
    alone: NDArray[np.bool_]

    def only(self, which: NDArray[Any]) -> Marked:
        """Return some of it."""
        return Marked(self.call[which], self.start[which], self.end[which], self.alone[which])


def marked(trace: Trace, text: str, trace_name: str) -> Marked:
    """Return what ``text`` names, as ``focus`` does, several with commas between.

    Of the calls of one word the outermost. A word with ``itself`` at its end names of each call the longest
    time in which it runs and none of those that it calls.

    Parameters
    ----------
    trace : Trace
    text : str
        Names, call paths or calls' numbers, with commas between them.
    trace_name : {"A", "B"}
        Which trace it is.

    Returns
    -------
    Marked
    """
    calls, parent = trace.calls, trace.calls.parent
    chosen, own = np.zeros(len(calls), np.bool_), np.zeros(len(calls), np.bool_)
    for word in filter(None, (w.strip() for w in text.split(","))):
        what = word.removesuffix(_ITSELF)
        inside = focused(trace, what, trace_name)
        outermost = inside & ~((parent >= 0) & inside[np.maximum(parent, 0)])
        chosen |= outermost
        own |= outermost & (what != word)
    call = np.flatnonzero(chosen)
    start, end, alone = calls.start[call].copy(), calls.end[call].copy(), own[call]
    # The longest are framed, so the others' stretches need not be known.
    which = np.flatnonzero(alone)
    for i in which[np.argsort(start[which] - end[which], kind="stable")][:_MOST].tolist():
        start[i], end[i] = longest_own_stretch(calls, int(call[i]))
    return Marked(call, start, end, alone)


def callouts(picture: Layout, text: str, color: int) -> tuple[list[Boxes | Lines], list[Labels]]:
    """Return frames around the calls that ``text`` names, each with all that is below it, and their names.

    Parameters
    ----------
    picture : Layout
    text : str
        See :func:`marked`.
    color : int
        Palette index.

    Returns
    -------
    (list of Boxes or Lines, list of Labels)

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
        found = marked(wall.trace, text, "AB"[wall.source])
        named += len(found.call)
        seen = (found.end > wall.window[0]) & (found.start < wall.window[1])
        seen &= (wall.lane_of[calls.thread[found.call]] >= 0) & (calls.depth[found.call] >= wall.first_depth)
        found = found.only(seen)
        found = found.only(np.argsort(found.start - found.end, kind="stable")[:_MOST])
        if len(found.call):
            made, names = _framed(picture, wall, found, color)
            elements += made
            labels.append(names)
    if not named:
        raise UsageError(f"mark={text}: no function in either trace has this name")
    return elements, labels


def _framed(picture: Layout, wall: Wall, found: Marked, color: int) -> tuple[list[Boxes | Lines], Labels]:
    ids = found.call
    start, end = (np.clip(t, *wall.window) - wall.window[0] for t in (found.start, found.end))
    x = wall.offset + (start + end) * (wall.per_ns / 2)
    width = np.maximum((end - start) * wall.per_ns, _LEAST_PX / picture.pixels_per_unit)
    pen = FrameBuilder("callout", color, _FRAME_PX, 0.015, 1e7)
    lines, place = frames(
        picture, wall, ids, x - width / 2, x + width / 2, 2.0 * wall.plate, pen, found.alone
    )
    # The names stand within the inner edge, clear of the tubes that begin there.
    function = wall.trace.calls.function[ids]
    label = wall.trace.functions.label
    height = 0.85 * picture.text
    place += wall.fold.clear(height, _ABOVE) - 0.5 * height * np.array(wall.fold.off)
    named: dict[str, int] = {}  # the longest call of each name, where its plate covers no other
    sizes: list[float] = []
    for i, f in enumerate(function.tolist()):
        name = _short(label[f]) + (_ITSELF if found.alone[i] else "")
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
