"""Which texts something hides in a picture, pixel by pixel: drawn off screen from the scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Image, Lines, Tubes
from ...layout.sight.visible import shown_pixels
from ..build import Built
from ..geometry.images import grid_faces
from ..parts import PART
from ..text.glyphs import typeface
from .visible import is_ghost, projection_of, triangles_of

#: Maximum share of a text's pixels that may be hidden: the edges of what touches it fall on pixels of both.
_HIDDEN = 0.005
#: Most times that a picture is built again: a shorter text may make room for another one.
_AGAIN = 4
#: Objects that are no data, but may lie before a text: in the scene, and before the camera.
_AXES, _PATCHES = "axis lines", "legend"
#: Cells of an image that are examined.
_CELLS = 160_000

Floats = NDArray[np.float64]


class Covered(NamedTuple):
    """What something hides of the texts in a scene.

    Attributes
    ----------
    texts : list of str
    pixels : bool (height, width)
        Where it hides them; the lowest row first.
    """

    texts: list[str]
    pixels: NDArray[np.bool_]


def legible(make: Callable[..., Built], built: Built) -> Built:
    """Return a picture in which nothing hides a text: those that are hidden end before that, or are left out.

    Adds the number of those that are hidden still to the count ``label_overlaps``.

    Parameters
    ----------
    make : callable
        Builds it again; takes ``collection`` and ``hidden``, as :func:`..build.build`.
    built : Built

    Returns
    -------
    Built
    """
    found = covered_texts(built)
    hidden = found.pixels
    for _ in range(_AGAIN):
        if not found.texts:
            break
        built = make(collection=built.collection, hidden=hidden)
        found = covered_texts(built)
        hidden = hidden | found.pixels
    # Texts over texts are counted already.
    built.counts["label_overlaps"] += len(found.texts)
    return built


def covered_texts(built: Built) -> Covered:
    """Return the texts in the scene that something hides: names on the data, and those of rulers.

    A text is the rectangle from its baseline to the height of its capitals.

    Parameters
    ----------
    built : Built

    Returns
    -------
    Covered
    """
    corners, written = _rectangles(built)
    if not written:
        return Covered([], np.zeros((built.view.frame.height, built.view.frame.width), np.bool_))
    points, triangles = [corners.reshape(-1, 3)], [np.empty((0, 3), np.int32)]
    base = len(points[0])
    for point, triangle in _surfaces(built):
        points.append(np.asarray(point, np.float64))
        triangles.append((triangle + base).astype(np.int32))
        base += len(point)
    first = 4 * np.arange(len(written), dtype=np.int32)[:, None, None]
    quads = (first + np.array([[0, 1, 2], [0, 2, 3]], np.int32)).reshape(-1, 3)
    owner = np.repeat(np.arange(len(written), dtype=np.int32), 2)
    seen, alone, where = shown_pixels(
        np.concatenate(points), np.concatenate(triangles), quads, owner, projection_of(built.view)
    )
    hidden = np.flatnonzero(alone - seen > np.maximum(_HIDDEN * alone, 3))
    return Covered([written[i] for i in hidden.tolist()], np.isin(where, hidden))


def _rectangles(built: Built) -> tuple[Floats, list[str]]:
    """Return the corners of the texts in the scene, float64 (n, 4, 3), and the texts."""
    face = typeface(built.frame.font)
    corners: list[Floats] = []
    written: list[str] = []
    for texts in (built.printed.labels, built.printed.axis_texts):
        for text, start, right, up, size in zip(
            texts.text, texts.start, texts.right, texts.up, texts.size, strict=True
        ):
            along, high = right * (face.width(text) * size), up * (face.cap_height * size)
            corners.append(np.array([start, start + along, start + along + high, start + high]))
            written.append(text)
    return np.array(corners, np.float64).reshape(-1, 4, 3), written


def _surfaces(built: Built) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Return points and triangles of all that is opaque, and no text."""
    found: list[tuple[NDArray[Any], NDArray[Any]]] = []
    view = built.view
    for shown in built.collection.objects:
        at = shown.get("tracevis3d_element", -1)
        if 0 <= at < len(built.drawing.elements):
            element = built.drawing.elements[at]
            if is_ghost(element):
                continue
            if isinstance(element, (Tubes, Lines)):
                found += _ribbons(element, view.forward)
            elif isinstance(element, Image):
                found.append(_grid(element))
            else:
                found.append(triangles_of(shown, element))
        elif shown.get(PART) == _AXES:
            found.append(triangles_of(shown))
        elif shown.get(PART) == _PATCHES:
            at_camera, triangle = triangles_of(shown)
            axes = np.stack([view.right, view.up, -view.forward])
            found.append((view.eye + at_camera.astype(np.float64) @ axes, triangle))
    return found


def _ribbons(element: Tubes | Lines, forward: Floats) -> list[tuple[Floats, NDArray[np.int32]]]:
    """Return tubes as two crossing ribbons, through their width and their height, and lines as one.

    Their meshes have many times the triangles, and the same outline.
    """
    point = element.point.astype(np.float64)
    if len(point) < 2:
        return []
    ends = np.zeros(len(point), np.bool_)
    ends[np.asarray(element.first[1:], np.int64) - 1] = True
    first = np.flatnonzero(~ends)
    if isinstance(element, Lines):
        # Lines may turn by a right angle: each of their stretches has its own width at both ends.
        half = np.repeat(element.width / 2, np.diff(element.first))[first, None]
        start, end = point[first], point[first + 1]
        wide = _unit(np.cross(end - start, forward)) * half
        # They are round: what is seen of them lies half their width before their middle.
        start, end = start - forward * half, end - forward * half
        corner = np.stack([start - wide, start + wide, end + wide, end - wide], axis=1)
        return [(corner.reshape(-1, 3), _triangles(4 * np.arange(len(first))[:, None] + np.arange(4)))]
    along = np.diff(point, axis=0, append=point[-1:])
    along[ends] = np.roll(along, 1, axis=0)[ends]
    along = _unit(along)
    side = np.broadcast_to(np.array(element.side, np.float64), along.shape)
    if not element.level:
        side = _unit(side - along * np.sum(side * along, axis=1, keepdims=True))
    widths = [side * element.radius[:, :1], _unit(np.cross(along, side)) * element.radius[:, 1:]]
    triangle = _triangles(np.stack([2 * first, 2 * first + 1, 2 * first + 3, 2 * first + 2], axis=1))
    return [(np.stack([point - wide, point + wide], axis=1).reshape(-1, 3), triangle) for wide in widths]


def _triangles(quads: NDArray[np.int64]) -> NDArray[np.int32]:
    return quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3).astype(np.int32)


def _grid(element: Image) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the surface of an image where anything covers it, in coarser steps."""
    step = max(int((element.pixel[..., 3].size / _CELLS) ** 0.5), 1)
    cover = np.ascontiguousarray(element.pixel[::step, ::step, 3])
    corners = grid_faces(cover)
    return element.point[::step, ::step].reshape(-1, 3), corners[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / np.maximum(np.linalg.norm(vector, axis=1, keepdims=True), 1e-12))
