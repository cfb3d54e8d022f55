"""The focus: call stacks by name, their matches in the other trace, and the arcs to them.

Pointing at a call (TraceDiff, section IV-A) is ``focus`` with the call: the intervals of the other trace in
which the calls of its stack have matches are highlighted on the ground, and arcs lead there.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Boxes, Camera, Lines, Tubes
from ....errors import UsageError
from ....trace.model import Trace
from ....trace.names import label_of_call
from ..matching.match import Comparison
from .layout import OVERVIEW, Layout, Wall
from .matches import Chosen
from .overview import Skyline

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_CALL = re.compile(r"([AB]):(\d+)")
#: Maximum number of arcs on one side: more would hide their targets.
_MOST_ARCS = 8
_ARC_POINTS = 40
#: How high arcs rise, as a share of the way that they go, and width in pixels.
_ARC_RISE, _ARC_PX = 0.22, 1.6
#: Strips on the ground reach so far beyond the bars, in scene units.
_BEYOND = 0.06
_PLATE = 0.012


def focused(trace: Trace, text: str, trace_name: str = "A") -> Flags:
    """Return which calls lie within the call stacks that ``text`` names: bool (calls,).

    Parameters
    ----------
    trace : Trace
    text : str
        A function's name, ``*`` for anything and without regard to case; several in a row with ``>`` between
        them name a call path: the last one is meant where it lies below the others. ``A:12`` is call 12 of
        A, ``B:12`` of B.
    trace_name : str
        ``A`` or ``B``.

    Returns
    -------
    bool (calls,)

    Raises
    ------
    UsageError
        If a call's number is beyond the last.
    """
    calls = trace.calls
    if one := _CALL.fullmatch(text.strip()):
        within = np.zeros(len(calls), np.bool_)
        if one[1] == trace_name:
            call = int(one[2])
            if call >= len(calls):
                raise UsageError(f"focus={text}: {trace_name} has calls 0 to {len(calls) - 1:,}")
            within[call : call + int(calls.extent[call])] = True
        return within
    within = np.ones(len(calls), np.bool_)
    for word in (w.strip() for w in re.split(r">", text)):
        if not word:
            raise UsageError(f"focus={text}: names of functions are expected, with > between them")
        named = _called(trace, word)
        roots = np.flatnonzero(named[calls.function] & within)
        step = np.zeros(len(calls) + 1, np.int64)
        np.add.at(step, roots, 1)
        np.add.at(step, roots + calls.extent[roots], -1)
        within = np.cumsum(step[:-1]) > 0
    return within


def named(comparison: Comparison, text: str) -> str:
    """Return ``text``; if it is a call's number, the name of the call's function.

    Parameters
    ----------
    comparison : Comparison
    text : str
        As the parameter ``focus`` has it.

    Returns
    -------
    str
    """
    one = _CALL.fullmatch(text.strip())
    if not one:
        return text
    trace = comparison.traces["AB".index(one[1])]
    return label_of_call(trace, int(one[2]))


def _called(trace: Trace, word: str) -> Flags:
    """Return which functions are called ``word``: by label, or by full name."""
    low = word.lower()
    pattern = low if "*" in low else f"*{low}*"
    label = [x.lower() for x in trace.functions.label]
    exact = np.array([x == low for x in label], np.bool_)
    if exact.any():
        return exact
    return np.array(
        [
            fnmatchcase(x, pattern) or fnmatchcase(y.lower(), pattern)
            for x, y in zip(label, trace.functions.name)
        ],
        np.bool_,
    )


def stacks(comparison: Comparison, text: str, name: str = "focus") -> tuple[Flags, Flags]:
    """Return which calls of A and of B lie within the call stacks that ``text`` names.

    Parameters
    ----------
    comparison : Comparison
    text : str
        See :func:`focused`.
    name : str
        The parameter that it is from.

    Returns
    -------
    (bool (calls of A,), bool (calls of B,))

    Raises
    ------
    UsageError
        If there are none; ``name`` is the parameter.
    """
    a, b = (focused(t, text, "AB"[s]) for s, t in enumerate(comparison.traces))
    if not a.any() and not b.any():
        raise UsageError(f"{name}={text}: no function in either trace has this name")
    return a, b


def within(comparison: Comparison, chosen: Chosen, text: str, name: str = "focus") -> Flags:
    """Return which matches lie within the call stacks that ``text`` names: bool (m,).

    A trace in which nothing is called so doesn't restrict them.

    Parameters
    ----------
    comparison : Comparison
    chosen : Chosen
        The matches.
    text : str
        See :func:`focused`.
    name : str
        The parameter that it is from.

    Returns
    -------
    bool (m,)
    """
    a, b = stacks(comparison, text, name)
    return np.asarray((a[chosen.a] if a.any() else True) & (b[chosen.b] if b.any() else True))


def highlight(
    picture: Layout,
    lines: tuple[Skyline, Skyline],
    chosen: Chosen,
    inside: tuple[Flags, Flags],
    color: int,
) -> list[Boxes | Lines]:
    """Return highlights on the ground where calls of the focus have matches, and arcs to them.

    Parameters
    ----------
    picture : Layout
    lines : (Skyline, Skyline)
    chosen : Chosen
        Matches between what the overview is about.
    inside : bool (calls of A,), (calls of B,)
        The call stacks in focus.
    color : int
        Palette index.

    Returns
    -------
    list of Boxes or Lines
    """
    made: list[Boxes | Lines] = []
    ids = (chosen.a, chosen.b)
    for s, line in enumerate(lines):
        other = 1 - s
        if not inside[other].any():
            continue
        hit = np.flatnonzero(inside[other][ids[other]])
        start = line.wall.trace.calls.start[ids[s][hit]]
        kept = (start >= line.window[0]) & (start <= line.window[1])
        hit, bar = hit[kept], line.bars_at(start)
        if not len(hit):
            continue
        lit = np.unique(bar)
        made.append(_strips(line, picture, lit, color))
        # Intervals in a row are one place; its most important match is the one that an arc comes from.
        place = np.cumsum(np.diff(lit, prepend=lit[0]) > 1)[np.searchsorted(lit, bar)]
        order = np.lexsort((-chosen.importance[hit], place))
        first = order[np.unique(place[order], return_index=True)[1]]
        first = first[np.argsort(-chosen.importance[hit[first]], kind="stable")][:_MOST_ARCS]
        made.append(_arcs(picture, line, bar[first], ids[other][hit[first]], inside[other], color))
    return made


def _strips(line: Skyline, picture: Layout, bars: Ints, color: int) -> Boxes:
    wall, n = line.wall, len(bars)
    y0, y1, z0, z1 = wall.fold.plate(picture.behind - _BEYOND, OVERVIEW + 2 * _BEYOND, _PLATE, 0.0)
    low = np.stack([wall.offset + bars * line.bar, np.full(n, y0), np.full(n, z0)], axis=1)
    size = np.stack([np.full(n, line.bar), np.full(n, y1 - y0), np.full(n, z1 - z0)], axis=1)
    return Boxes(
        "strip",
        low.astype(np.float32),
        size.astype(np.float32),
        np.full(n, color, np.int32),
        bars,
        look="glow",
        source=wall.source,
    )


def _arcs(picture: Layout, line: Skyline, bars: Ints, calls: Ints, stack: Flags, color: int) -> Lines:
    """Return arcs from the outermost calls of the focus around ``calls`` to intervals of the other trace."""
    wall = picture.walls[1 - line.wall.source]
    root = _outermost(wall, calls, stack)
    x, _, h = wall.spots(root)
    y, z = wall.fold.inside(h)
    begin = np.stack([x, y, z + wall.plate], axis=1)
    end = np.zeros_like(begin)
    end[:, 0] = line.wall.offset + (bars + 0.5) * line.bar
    end[:, 1:] = line.wall.fold.stage(picture.behind + OVERVIEW / 2)
    t = np.linspace(0.0, 1.0, _ARC_POINTS)[None, :, None]
    path = begin[:, None] * (1 - t) + end[:, None] * t
    rise = _ARC_RISE * np.linalg.norm(end - begin, axis=1)
    path[:, :, 2] += 4 * rise[:, None] * (t * (1 - t))[:, :, 0]
    n = len(bars)
    return Lines(
        "arc", path.reshape(-1, 3).astype(np.float32), np.arange(n + 1, dtype=np.int64) * _ARC_POINTS,
        np.full(n, _ARC_PX / picture.pixels_per_unit, np.float32), np.full(n, color, np.int32), root,
        source=wall.source,
    )  # fmt: skip


def _outermost(wall: Wall, calls: Ints, stack: Flags) -> Ints:
    """Return the outermost call of the focus around each of ``calls``."""
    parent, top = wall.trace.calls.parent, calls.copy()
    while True:
        above = parent[top]
        rises = (above >= 0) & stack[np.maximum(above, 0)]
        if not rises.any():
            return top
        top[rises] = above[rises]


def closer(picture: Layout, elements: Sequence[Tubes | Lines], which: Flags) -> Camera | None:
    """Return the camera that looks at the matches ``which`` and the walls at their ends; None without any.

    Parameters
    ----------
    picture : Layout
    elements : sequence of Tubes or Lines
        The tubes and lines of the matches.
    which : bool (m,)
        Matches.

    Returns
    -------
    Camera or None
    """
    points = []
    for element in elements:
        if element.look == "ghost":
            continue
        rows = np.repeat(which[element.id], np.diff(element.first))
        points.append(element.point[rows])
    found = np.concatenate(points) if points else np.empty((0, 3), np.float32)
    if not len(found):
        return None
    # Single distant matches don't widen the picture.
    low, high = np.quantile(found, 0.02, axis=0), np.quantile(found, 0.98, axis=0)
    whole = picture.camera
    margin = 0.04 * float(high[0] - low[0]) + 0.1
    low[0], high[0] = low[0] - margin, high[0] + margin
    # And some of the walls around their ends.
    low[1], high[1] = (
        min(low[1], -picture.gap / 2) - 2 * picture.text,
        max(high[1], picture.gap / 2) + 2 * picture.text,
    )
    return Camera(
        whole.direction,
        (float(low[0]), float(low[1]), float(min(low[2], 0.0))),
        (float(high[0]), float(high[1]), float(high[2])),
        whole.up,
        whole.projection,
        whole.lens,
        whole=False,
    )
