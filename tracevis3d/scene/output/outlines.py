"""A flat drawing as outlines: what a camera without perspective sees of each element, the nearest last.

Colours are those that Workbench shows without light, so a figure looks like the picture of the same scene.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Boxes, Drawing, Element, Image, Lines, Marks, Tubes, Wedges
from ...figures.page import RGB, Shape
from ...layout.sight.painting_order import painting_order
from .. import materials
from ..build import GRID, Built
from ..camera import View
from ..color import linear, mixed, srgb
from ..geometry import templates
from ..geometry.boxes import chamfer_width
from ..geometry.tubes import CREST, CUSHION, NARROW
from ..geometry.wedges import faces

Floats = NDArray[np.float64]
#: More elements than this stay a picture: no program could edit the file.
MOST = 100_000
#: Boxes under so many chamfers across have no edge and no ribs, as in pictures.
_NARROW = 4.0
#: Height of a cluster's ribs, in chamfers.
_RIB = 2.4
#: Steps in which wide tubes get darker towards their sides, and those where there are many tubes.
_STEPS, _FEW_STEPS, _MANY = 7, 3, 300
#: Width in pixels of the line between two faces of a block.
_SEAM = 0.3
#: Steps in which a tube turns from one colour into another.
_TURNS = 24


def can_be_outlined(drawing: Drawing) -> bool:
    """Return whether a drawing has few enough elements."""
    return sum(len(e) for e in drawing.elements if not isinstance(e, Image)) <= MOST


@dataclass(frozen=True, eq=False)
class _Part:
    """What is painted together: its shapes, and its surface as corners (k, 3) of triangles (t, 3).

    Corners are pixels and depth: what is larger is farther.
    """

    shapes: list[Shape]
    corner: Floats
    triangle: NDArray[np.int64]


@dataclass(frozen=True)
class _Look:
    """How elements are coloured."""

    built: Built
    palette: NDArray[np.float32]
    veil: float

    def shown(self, colors: NDArray[np.floating[Any]]) -> Floats:
        """Return sRGB colours (n, 3) under the veil of ghosts."""
        return np.asarray(mixed(colors, self.built.style.background, self.veil), np.float64)

    def of_index(self, index: NDArray[np.int32]) -> Floats:
        return self.shown(self.palette[np.clip(index, 0, len(self.palette) - 1)])

    def rim(self, index: NDArray[np.int32]) -> Floats:
        own = self.palette[np.clip(index, 0, len(self.palette) - 1)]
        return self.shown(mixed(own, *self.built.style.rim))

    def pale(self, index: NDArray[np.int32], share: float = 1.0) -> Floats:
        own = self.palette[np.clip(index, 0, len(self.palette) - 1)]
        return self.shown(mixed(own, self.built.style.background, templates.PALE * share))


def outlines(built: Built, palette: NDArray[np.float32]) -> tuple[list[Shape], float]:
    """Return the shapes of the drawing's elements, but for images, in the order in which they are painted.

    Parameters
    ----------
    built : Built
        Of a style without perspective and light.
    palette : float32 (k, 4)
        sRGB, opaque.

    Returns
    -------
    list of Shape
    float
        The share of what they cover where another element is seen than the one in front: where elements
        cross each other.
    """
    parts: list[_Part] = []
    for element in built.drawing.elements:
        if not isinstance(element, Image) and len(element):
            # Workbench shows ghosts of boxes and blocks paler, others as they are.
            veiled = element.look if isinstance(element, (Boxes, Wedges)) else "solid"
            look = _Look(built, palette[:, :3], materials.veil(veiled))
            parts += _MAKERS[type(element)](element, built.view, look)
    parts += _grid(built)
    if not parts:
        return [], 0.0
    base = np.cumsum([0, *(len(part.corner) for part in parts)])
    order, wrong = painting_order(
        np.concatenate([part.corner for part in parts]),
        np.concatenate([part.triangle + start for part, start in zip(parts, base)]),
        np.repeat(np.arange(len(parts)), [len(part.triangle) for part in parts]),
        len(parts),
        (built.frame.width, built.frame.height),
    )
    return [shape for i in order.tolist() for shape in parts[i].shapes], wrong


def _grid(built: Built) -> Iterator[_Part]:
    """Return the grid lines of the rulers, which lie among the elements."""
    view = built.view
    edge = built.style.faint, GRID * max(1.0, built.frame.height / 1080)
    for ruler in built.printed.rulers:
        for start, end in zip(ruler.grid_start, ruler.grid_end):
            if (start != end).any():
                both = np.array([start, end])
                flat = view.pixels(both)
                yield _Part([Shape((flat,), None, "", edge, False)], *_strip(flat, flat, both @ view.forward))


def _strip(left: Floats, right: Floats, depth: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return the surface between two courses of m points (m, 2), whose depths are (m,)."""
    m = len(left)
    i = np.arange(m - 1)
    triangle = np.concatenate([np.stack([i, i + 1, m + i], 1), np.stack([i + 1, m + i + 1, m + i], 1)])
    return np.column_stack([np.concatenate([left, right]), np.tile(depth, 2)]), triangle


def _level(outline: Floats, depth: float) -> tuple[Floats, NDArray[np.int64]]:
    """Return the surface inside of a convex outline (k, 2) across the view."""
    k = np.arange(1, len(outline) - 1)
    return np.column_stack([outline, np.full(len(outline), depth)]), np.stack([0 * k, k, k + 1], 1)


def _of_boxes(boxes: Boxes, view: View, look: _Look) -> Iterator[_Part]:
    low = boxes.low.astype(np.float64)
    high = low + boxes.size
    a, b = view.pixels(low), view.pixels(high)
    left, right = np.minimum(a, b), np.maximum(a, b)
    depth = np.minimum(low @ view.forward, high @ view.forward)
    edge = chamfer_width(boxes, look.built.style) * float(view.pixels_per_unit(low[:1])[0])
    wide = ((right - left) >= _NARROW * edge).all(axis=1)
    ribbed = boxes.look == "cluster"
    plain, rim = look.of_index(boxes.color), look.rim(boxes.color)
    pale = look.pale(boxes.color) if ribbed else plain
    # Boxes too narrow for ribs are as pale as ribs look from a distance.
    middle = look.pale(boxes.color, 0.5) if ribbed else plain
    for i in range(len(boxes)):
        name = f"{boxes.kind} {int(boxes.id[i])}"
        surface = _level(_rectangle(left[i], right[i]), float(depth[i]))
        if not wide[i]:
            yield _Part([Shape((_rectangle(left[i], right[i]),), _rgb(middle[i]), name)], *surface)
            continue
        inner = left[i] + edge / 2, right[i] - edge / 2
        edges = _rgb(rim[i]), edge
        if not ribbed:
            yield _Part([Shape((_rectangle(*inner),), _rgb(plain[i]), name, edges)], *surface)
            continue
        count = int(min(max(3, round((right[i, 1] - left[i, 1]) / edge / _RIB)), 61)) | 1
        low_y, high_y = left[i, 1] + edge, right[i, 1] - edge
        levels = np.linspace(low_y, high_y, count + 1)
        bars = tuple(
            _rectangle(np.array([inner[0][0], levels[k]]), np.array([inner[1][0], levels[k + 1]]))
            for k in range(0, count, 2)
        )
        dark = Shape((_rectangle(*inner),), _rgb(plain[i]), name)
        frame = Shape((_rectangle(*inner),), None, name, edges)
        yield _Part([dark, Shape(bars, _rgb(pale[i]), name), frame], *surface)


def _rectangle(low: Floats, high: Floats) -> Floats:
    return np.array([low, [high[0], low[1]], high, [low[0], high[1]]])


def _rgb(color: Floats) -> RGB:
    r, g, b = np.clip(color, 0.0, 1.0).tolist()
    return r, g, b


def _bands(tubes: Tubes | Lines, view: View) -> Iterator[tuple[int, Floats, Floats, Floats]]:
    """Return of each tube its middle (m, 2), half of its width as it is seen (m, 2), and its depth (m,)."""
    point = tubes.point.astype(np.float64)
    middle, scale = view.pixels(point), view.pixels_per_unit(point)
    away = point @ view.forward
    for i in range(len(tubes)):
        part = slice(int(tubes.first[i]), int(tubes.first[i + 1]))
        path = middle[part]
        if len(path) < 2:
            continue
        along = np.gradient(path, axis=0)
        length = np.linalg.norm(along, axis=1, keepdims=True)
        if not (length > 1e-9).any():
            continue
        across = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.maximum(length, 1e-9)
        if isinstance(tubes, Lines):
            half = front = np.full(len(path), float(tubes.width[i]) / 2)
        else:
            half, front = _half_widths(tubes, part, view, across)
            if tubes.level:
                # Their sections lie along one direction, wherever the path turns.
                side = np.asarray(tubes.side, np.float64)
                across = np.broadcast_to([side @ view.right, side @ view.up], path.shape)
                half = tubes.radius[part, 0].astype(np.float64)
        yield i, path, across * (half * scale[part])[:, None], away[part] - front


def _half_widths(tubes: Tubes, part: slice, view: View, across: Floats) -> tuple[Floats, Floats]:
    """Return how far the elliptical sections reach across the path and towards the eye, in scene units."""
    point, radius = tubes.point[part].astype(np.float64), tubes.radius[part].astype(np.float64)
    side = np.asarray(tubes.side, np.float64)
    tangent = np.gradient(point, axis=0)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-12)
    wide = np.broadcast_to(side, tangent.shape)
    if not tubes.level:
        wide = wide - tangent * (tangent @ side)[:, None]
    wide = wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12)
    high = np.cross(tangent, wide)
    high /= np.maximum(np.linalg.norm(high, axis=1, keepdims=True), 1e-12)
    seen = across[:, :1] * view.right + across[:, 1:] * view.up

    def reach(direction: Floats) -> Floats:
        parts = (radius[:, 0] * (wide * direction).sum(axis=1), radius[:, 1] * (high * direction).sum(axis=1))
        return np.asarray(np.hypot(*parts), np.float64)

    return reach(seen), reach(view.forward)


def _of_tubes(tubes: Tubes, view: View, look: _Look) -> Iterator[_Part]:
    start = look.of_index(tubes.color)
    end = look.of_index(tubes.end_color) if len(tubes.end_color) else None
    steps = (_STEPS if len(tubes) <= _MANY else _FEW_STEPS) if tubes.level else 1
    for i, path, half, depth in _bands(tubes, view):
        name, shapes = f"{tubes.kind} {int(tubes.id[i])}", []
        for k in range(steps):
            share = 1 - k / steps
            # The middle of the ring between this outline and the next one.
            at = share - 0.5 / steps if steps > 1 else 0.0
            light = 1 - CUSHION * at**2
            white = CREST * float(tubes.gloss[i]) * (1 - at**2) ** (NARROW / 2) if len(tubes.gloss) else 0.0
            if end is None:
                color = _lit(start[i], light, white)
                shapes.append(Shape((_band(path, half * share),), _rgb(color), name))
                continue
            for first, last, turned in _pieces(len(path)):
                own = start[i] * (1 - turned) + end[i] * turned
                color = _lit(own, light, white)
                band = _band(path[first:last], half[first:last] * share)
                shapes.append(Shape((band,), _rgb(color), name))
        yield _Part(shapes, *_strip(path - half, path + half, depth))


def _lit(color: Floats, light: float, white: float) -> Floats:
    """Return an sRGB colour under some light, and moved towards white."""
    dark = linear(color) * light
    return srgb(dark + (1 - dark) * white).astype(np.float64)


def _pieces(count: int) -> Iterator[tuple[int, int, float]]:
    """Return slices of a path's points that overlap by a segment, and how far along each is, 0 to 1."""
    bounds = np.unique(np.linspace(0, count - 1, min(_TURNS, count - 1) + 1).astype(int)).tolist()
    for a, b in pairwise(bounds):
        yield a, min(b + 2, count), (a + b) / 2 / (count - 1)


def _band(path: Floats, half: Floats) -> Floats:
    return np.concatenate([path + half, (path - half)[::-1]])


def _of_lines(lines: Lines, view: View, look: _Look) -> Iterator[_Part]:
    color = look.of_index(lines.color)
    for i, path, half, depth in _bands(lines, view):
        edge = _rgb(color[i]), 2 * float(np.linalg.norm(half, axis=1).mean())
        shape = Shape((path,), None, f"{lines.kind} {int(lines.id[i])}", edge, False)
        yield _Part([shape], *_strip(path - half, path + half, depth))


def _of_marks(marks: Marks, view: View, look: _Look) -> Iterator[_Part]:
    shape = templates.mark_shape(marks.shape, marks.along)
    size = np.asarray(marks.size, np.float64)
    size = size if size.ndim == 2 else np.repeat(size[:, None], 3, axis=1)
    color = look.of_index(marks.color)
    for i in range(len(marks)):
        points = marks.point[i] + shape.position.astype(np.float64) * size[i]
        outline = _hull(view.pixels(points))
        if len(outline) >= 3:
            name = f"{marks.kind} {int(marks.id[i])}"
            surface = _level(outline, float((points @ view.forward).min()))
            yield _Part([Shape((outline,), _rgb(color[i]), name)], *surface)


def _hull(points: Floats) -> Floats:
    """Return the convex hull of points (n, 2), counterclockwise (Andrew's monotone chain)."""
    rows = sorted({(round(x, 4), round(y, 4)) for x, y in points.tolist()})
    if len(rows) < 3:
        return np.array(rows).reshape(-1, 2)

    def half(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
        out: list[tuple[float, float]] = []
        for p in ordered:
            while len(out) > 1:
                (ax, ay), (bx, by) = out[-2], out[-1]
                if (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > 0:
                    break
                out.pop()
            out.append(p)
        return out[:-1]

    return np.array(half(rows) + half(rows[::-1]))


def _of_wedges(wedges: Wedges, view: View, look: _Look) -> Iterator[_Part]:
    face, normal, owner = faces(np.asarray(wedges.corner, np.float32), wedges.first)
    towards = normal @ view.forward < 0
    face, owner = face[towards].astype(np.float64), owner[towards]
    color = look.of_index(wedges.color)
    depth = face @ view.forward
    flat = view.pixels(face.reshape(-1, 3)).reshape(-1, 4, 2)
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(len(wedges) + 1))
    for i in range(len(wedges)):
        mine = order[bounds[i] : bounds[i + 1]]
        if len(mine):
            quads = tuple(_counterclockwise(flat[k]) for k in mine)
            # A hairline in the same colour closes the seams between a block's faces.
            own = _rgb(color[i])
            shape = Shape(quads, own, f"{wedges.kind} {int(wedges.id[i])}", (own, _SEAM))
            corner = np.concatenate([flat[mine], depth[mine][..., None]], axis=2).reshape(-1, 3)
            first = 4 * np.arange(len(mine))[:, None]
            yield _Part(
                [shape], corner, np.concatenate([first + np.array(k) for k in ((0, 1, 2), (0, 2, 3))])
            )


def _counterclockwise(quad: Floats) -> Floats:
    x, y = quad[:, 0], quad[:, 1]
    area = float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())
    return quad if area >= 0 else quad[::-1]


_MAKERS: dict[type[Element], Callable[[Any, View, _Look], Iterator[_Part]]] = {
    Boxes: _of_boxes,
    Tubes: _of_tubes,
    Lines: _of_lines,
    Marks: _of_marks,
    Wedges: _of_wedges,
}
