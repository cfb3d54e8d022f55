"""The elements of a drawing as boxes and triangles for a graphics card, and what each item is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..drawing.primitives import Boxes, Drawing, Element, Image, Lines, Marks, Tubes, Wedges
from ..layout.buffers import Buffers
from ..layout.simplify import points_to_keep
from ..layout.tube import sweep
from ..trace.model import Trace

#: Sides of tubes and of lines, and how far both may be from their course, as a share of the picture's size.
_SIDES, _SIDES_OF_LINES, _WITHIN = 8, 3, 4e-4
#: A ball of few triangles: an octahedron.
_BALL = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], np.float32) / 2
_FACES = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
_OF_BALL = np.array(_FACES, np.uint32)
#: The four sides of a bent block, by the corners of its sections.
_AROUND = ((0, 1), (1, 2), (2, 3), (3, 0))
#: Darkening of the sides of wide tubes: cushions.
_CUSHION = 0.42
_buffers = Buffers()
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass
class Geometry:
    """What a page draws.

    Attributes
    ----------
    low, size : list of float32 (n, 3)
        Boxes.
    box_color : list of uint8 (n, 4)
    box_item : list of uint32 (n,)
        Row of the table of items.
    position : list of float32 (v, 3)
        Vertices of triangles.
    color : list of uint8 (v, 4)
    item : list of uint32 (v,)
    triangle : list of uint32 (t, 3)
    kind, source : list of uint8 (i,)
        Of each item: what it is, as an index into ``kinds``, and which trace it belongs to.
    function, other : list of int32 (i,)
        Index into ``names`` of its call's function, and of the call in the other trace; -1: none.
    start, lasts, other_lasts : list of float64 (i,)
        Nanoseconds; negative: unknown.
    count : list of uint32 (i,)
        How many calls it represents.
    kinds, names : list of str
    """

    low: list[NDArray[np.float32]] = field(default_factory=list)
    size: list[NDArray[np.float32]] = field(default_factory=list)
    box_color: list[NDArray[np.uint8]] = field(default_factory=list)
    box_item: list[NDArray[np.uint32]] = field(default_factory=list)
    position: list[NDArray[np.float32]] = field(default_factory=list)
    color: list[NDArray[np.uint8]] = field(default_factory=list)
    item: list[NDArray[np.uint32]] = field(default_factory=list)
    triangle: list[NDArray[np.uint32]] = field(default_factory=list)
    kind: list[NDArray[np.uint8]] = field(default_factory=list)
    source: list[NDArray[np.uint8]] = field(default_factory=list)
    function: list[NDArray[np.int32]] = field(default_factory=list)
    other: list[NDArray[np.int32]] = field(default_factory=list)
    start: list[NDArray[np.float64]] = field(default_factory=list)
    lasts: list[NDArray[np.float64]] = field(default_factory=list)
    other_lasts: list[NDArray[np.float64]] = field(default_factory=list)
    count: list[NDArray[np.uint32]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return its columns, each as one flat array."""
        types = {"low": np.float32, "size": np.float32, "box_color": np.uint8, "box_item": np.uint32,
                 "position": np.float32, "color": np.uint8, "item": np.uint32, "triangle": np.uint32,
                 "kind": np.uint8, "source": np.uint8, "function": np.int32, "other": np.int32,
                 "start": np.float64, "lasts": np.float64, "other_lasts": np.float64,
                 "count": np.uint32}  # fmt: skip
        found: dict[str, NDArray[np.generic]] = {}
        for name, kind in types.items():
            parts = [np.asarray(part, kind).ravel() for part in getattr(self, name)]
            found[name] = np.concatenate(parts) if parts else np.empty(0, kind)
        return found


def geometry_of(
    drawing: Drawing, traces: Sequence[Trace], background: tuple[float, float, float]
) -> Geometry:
    """Return what a page draws of a drawing.

    Parameters
    ----------
    drawing : Drawing
    traces : sequence of Trace
        Those that are drawn.
    background : (float, float, float)
        sRGB; colours whose alpha is below 1 are mixed with it.

    Returns
    -------
    Geometry
    """
    out = Geometry()
    palette = np.asarray(drawing.palette, np.float64)
    alpha = palette[:, 3:4]
    mixed = palette[:, :3] * alpha + np.asarray(background) * (1 - alpha)
    colors = np.column_stack([np.round(mixed * 255), np.full(len(mixed), 255)]).astype(np.uint8)
    low, high = (np.asarray(v, np.float64) for v in (drawing.camera.low, drawing.camera.high))
    within = _WITHIN * float(np.linalg.norm(high - low))
    words = [_Words(out, trace) for trace in traces]
    vertices, items = 0, 0
    for element in drawing.elements:
        if isinstance(element, Image) or not len(element):
            continue
        _describe(out, drawing, element, words)
        rows = np.arange(items, items + len(element), dtype=np.uint32)
        items += len(element)
        paint = colors[np.clip(element.color, 0, len(colors) - 1)].copy()
        if element.look == "ghost":
            paint[:, :3] = (0.3 * paint[:, :3] + 0.7 * 255 * np.asarray(background)).astype(np.uint8)
        if isinstance(element, Boxes):
            out.low.append(element.low)
            out.size.append(element.size)
            out.box_color.append(paint)
            out.box_item.append(rows)
            continue
        position, triangle, owner = _mesh(element, within)
        out.position.append(position)
        out.triangle.append(triangle + np.uint32(vertices))
        painted = paint[owner]
        if isinstance(element, Tubes) and element.level:
            around = np.cos(np.linspace(0, 2 * np.pi, _SIDES, endpoint=False)) ** 2
            rings = painted.reshape(-1, _SIDES, 4)
            rings[..., :3] = (rings[..., :3] * (1 - _CUSHION * around)[None, :, None]).astype(np.uint8)
        out.color.append(painted)
        out.item.append(rows[owner])
        vertices += len(position)
    return out


class _Words:
    """The names of a trace's functions, each once among those of the page."""

    def __init__(self, out: Geometry, trace: Trace) -> None:
        known = {name: i for i, name in enumerate(out.names)}
        number = []
        for label in trace.functions.label:
            if label not in known:
                known[label] = len(out.names)
                out.names.append(label)
            number.append(known[label])
        self.trace, self._number = trace, np.array(number, np.int32)

    def of(
        self, calls: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
        """Return name, start and duration of calls; of -1 nothing."""
        all_calls = self.trace.calls
        known = (calls >= 0) & (calls < len(all_calls))
        if not known.any():
            none = np.full(len(calls), -1.0)
            return np.full(len(calls), -1, np.int32), none, none
        at = np.where(known, calls, 0)
        start, end = all_calls.start[at], all_calls.end[at]
        name = np.where(known, self._number[all_calls.function[at]], -1).astype(np.int32)
        return name, np.where(known, start, -1.0), np.where(known, end - start, -1.0)


def _describe(out: Geometry, drawing: Drawing, element: Element, words: Sequence[_Words]) -> None:
    n = len(element)
    if element.kind not in out.kinds:
        out.kinds.append(element.kind)
    out.kind.append(np.full(n, out.kinds.index(element.kind), np.uint8))
    source = getattr(element, "source", 0)
    out.source.append(np.full(n, min(source, 255), np.uint8))
    count = element.count if isinstance(element, Boxes) and len(element.count) else np.ones(n)
    out.count.append(np.asarray(count, np.uint32))
    ids = getattr(element, "id", np.full(n, -1))
    meaning = drawing.meaning_of(element)
    calls: dict[int, NDArray[np.int64]] = {}
    if meaning is not None:
        for trace, of in meaning.calls:
            inside = (ids >= 0) & (ids < len(of))
            calls[trace] = np.where(inside, of[np.where(inside, ids, 0)] if len(of) else -1, -1)
    elif element.kind in ("call", "cluster"):
        calls[source] = ids
    calls = {trace: found for trace, found in calls.items() if trace < len(words)}
    first = source if source in calls else min(calls, default=-1)
    other = next((trace for trace in sorted(calls) if trace != first), -1)
    none = np.full(n, -1, np.int32), np.full(n, -1.0), np.full(n, -1.0)
    name, start, lasts = words[first].of(calls[first]) if first >= 0 else none
    name_of_other, _, lasts_of_other = words[other].of(calls[other]) if other >= 0 else none
    out.function.append(name)
    out.start.append(start)
    out.lasts.append(lasts)
    out.other.append(name_of_other)
    out.other_lasts.append(lasts_of_other)


def _mesh(
    element: Tubes | Lines | Marks | Wedges, within: float
) -> tuple[NDArray[np.float32], NDArray[np.uint32], NDArray[np.int64]]:
    """Return vertices (v, 3), triangles (t, 3), and which item each vertex belongs to."""
    if isinstance(element, Marks):
        size = element.size if element.size.ndim == 2 else np.repeat(element.size[:, None], 3, axis=1)
        position = (element.point[:, None] + _BALL[None] * size[:, None]).reshape(-1, 3)
        triangle = _OF_BALL[None] + (len(_BALL) * np.arange(len(element), dtype=np.uint32))[:, None, None]
        return (
            position.astype(np.float32),
            triangle.reshape(-1, 3),
            np.repeat(np.arange(len(element)), len(_BALL)),
        )
    if isinstance(element, Wedges):
        return _bent(element)
    if isinstance(element, Lines):
        half = np.repeat(np.asarray(element.width, np.float32) / 2, np.diff(element.first))
        radius, side, level, sides = np.stack([half, half], axis=1), (0.0, 0.0, 0.0), False, _SIDES_OF_LINES
    else:
        radius, side, level, sides = element.radius, element.side, element.level, _SIDES
    filled = np.flatnonzero(np.diff(element.first) > 0)
    point, first = element.point, np.append(element.first[filled], element.first[-1])
    keep = points_to_keep(point, radius, first, within)
    first = np.searchsorted(keep, first)
    color = np.ones((len(filled), 3), np.float32)
    light = np.array([0, 0, 1, 1, 0, 1], np.float32)
    swept = sweep(
        point[keep], np.asarray(radius, np.float32)[keep], first, side, color, light, sides, _buffers, level
    )
    owner = np.repeat(filled, swept.vertices)
    return swept.position.copy(), _fans(swept.corner, swept.face), owner


def _fans(corner: NDArray[np.int32], face: NDArray[np.int32]) -> NDArray[np.uint32]:
    """Return the triangles of convex faces, each a fan about its first corner."""
    length = np.diff(np.append(face, len(corner)))
    count = np.maximum(length - 2, 0)
    of = np.repeat(np.arange(len(face)), count)
    k = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    start = face[of]
    found: NDArray[np.uint32] = np.stack(
        [corner[start], corner[start + k + 1], corner[start + k + 2]], axis=1
    ).astype(np.uint32)
    return found


def _bent(element: Wedges) -> tuple[NDArray[np.float32], NDArray[np.uint32], NDArray[np.int64]]:
    """Return the four sides of bent blocks, and both ends."""
    count = np.diff(element.first)
    owner = np.repeat(np.arange(len(element)), 4 * count)
    last = np.zeros(len(element.corner), np.bool_)
    last[element.first[1:][count > 0] - 1] = True
    here = np.flatnonzero(~last)
    quads = [
        np.stack([4 * here + a, 4 * here + b, 4 * here + 4 + b, 4 * here + 4 + a], axis=1) for a, b in _AROUND
    ]
    for ends in (element.first[:-1][count > 0], element.first[1:][count > 0] - 1):
        quads.append(4 * ends[:, None] + np.arange(4)[None])
    quad = np.concatenate(quads).astype(np.uint32)
    triangle = np.concatenate([quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]])
    return element.corner.reshape(-1, 3).astype(np.float32), triangle, owner
