"""Instances in exported scenes: the meshes that boxes and marks share, where each stands, and what it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Boxes, Drawing, Element, Marks
from ....trace.model import Trace
from ... import compat, materials
from ...build import Built
from ...geometry.instances import is_placed


@dataclass(frozen=True, eq=False)
class Part:
    """A small mesh of unit size, in one colour and its shades.

    Attributes
    ----------
    position : float32 (v, 3)
    color : float32 (v, 4)
        Linear.
    triangle : uint32 (t, 3)
    """

    position: NDArray[np.float32]
    color: NDArray[np.float32]
    triangle: NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Instanced:
    """An object whose points are shown as instances.

    Attributes
    ----------
    shown : bpy.types.Object
    element : Boxes or Marks
        What it shows.
    part : int32 (n,)
        The number of the mesh of each.
    position, size : float32 (n, 3)
        Where its origin is, and its size.
    """

    shown: Any
    element: Boxes | Marks
    part: NDArray[np.int32]
    position: NDArray[np.float32]
    size: NDArray[np.float32]

    def parts(self) -> Iterator[tuple[Part, NDArray[np.int64]]]:
        """Yield each mesh with the rows of those that are shown by it, in order."""
        modifier = next(iter(self.shown.modifiers))
        template = compat.get_input(modifier, "Template") or compat.get_input(modifier, "Economical")
        mesh = template.data
        corner = _column(mesh.attributes[".corner_vert"].data, "value", np.int32, 1)[:, 0]
        position = _column(mesh.attributes["position"].data, "vector", np.float32, 3)[corner]
        color = _column(mesh.color_attributes[materials.SHADED].data, "color", np.float32, 4)
        mesh.calc_loop_triangles()
        triangle = _column(mesh.loop_triangles, "loops", np.int32, 3)
        face = _column(mesh.loop_triangles, "polygon_index", np.int32, 1)[:, 0]
        of = _column(mesh.attributes["part"].data, "value", np.int32, 1)[:, 0][face]
        # Faces are in the order of their parts, and so are the points once they are sorted.
        rows = np.argsort(self.part, kind="stable")
        used, first = np.unique(self.part[rows], return_index=True)
        for number, its in zip(used.tolist(), np.split(rows, first[1:])):
            low, high = np.searchsorted(of, [number, number + 1])
            corners, again = np.unique(triangle[low:high], return_inverse=True)
            yield (
                Part(position[corners], color[corners], again.reshape(-1, 3).astype(np.uint32)),
                its.astype(np.int64),
            )


def _column(items: Any, name: str, dtype: type[np.generic], width: int) -> NDArray[Any]:
    """Return a property of all items of a collection of Blender's, (n, width)."""
    values = np.empty(width * len(items), dtype)
    items.foreach_get(name, values)
    return values.reshape(-1, width)


def instanced(built: Built) -> list[Instanced]:
    """Return the objects of a built scene whose points are shown as instances.

    Parameters
    ----------
    built : Built

    Returns
    -------
    list of Instanced
    """
    found = []
    for shown in built.collection.objects:
        if shown.type != "MESH" or not is_placed(shown) or not len(shown.data.vertices):
            continue
        element = built.drawing.elements[int(shown["tracevis3d_element"])]
        assert isinstance(element, (Boxes, Marks))
        attributes = shown.data.attributes
        found.append(
            Instanced(
                shown,
                element,
                _column(attributes["part"].data, "value", np.int32, 1)[:, 0],
                _column(attributes["position"].data, "vector", np.float32, 3),
                _column(attributes["size"].data, "vector", np.float32, 3),
            )
        )
    return found


@dataclass(frozen=True, eq=False)
class Said:
    """What is said of each item of an element.

    Attributes
    ----------
    name : tuple of str (n)
        The function of its call; of several calls, that of the longest; else its kind.
    call : int64 (n,)
        Number of its call, -1 where there is none.
    start, lasts : int64 (n,)
        Of its call, nanoseconds; -1: unknown.
    count : int64 (n,)
        How many calls it represents.
    """

    name: tuple[str, ...]
    call: NDArray[np.int64]
    start: NDArray[np.int64]
    lasts: NDArray[np.int64]
    count: NDArray[np.int64]

    def extras(self, row: int) -> dict[str, int]:
        """Return what is known of an item beyond its name, ready for JSON."""
        if self.call[row] < 0:
            return {}
        found = {"call": int(self.call[row]), "calls": int(self.count[row])}
        if self.lasts[row] >= 0:
            found |= {"start_ns": int(self.start[row]), "duration_ns": int(self.lasts[row])}
        return found


def said_of(drawing: Drawing, element: Element, traces: Sequence[Trace]) -> Said:
    """Return what is said of the items of an element.

    Parameters
    ----------
    drawing : Drawing
    element : Element
    traces : sequence of Trace
        Those that are drawn; without them, items are called by their kind.

    Returns
    -------
    Said
    """
    n = len(element)
    calls = drawing.calls_of(element)
    call = np.full(n, -1, np.int64) if calls is None else np.asarray(calls, np.int64)
    name = [element.kind] * n
    start, lasts = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    if element.source < len(traces):
        trace = traces[element.source]
        call = np.where(call < len(trace.calls), call, -1)
        known = np.flatnonzero(call >= 0)
        its = call[known]
        for row, function in zip(known.tolist(), trace.calls.function[its].tolist()):
            name[row] = trace.functions.label[function]
        if trace.has_times:
            start[known] = trace.calls.start[its]
            lasts[known] = trace.calls.end[its] - trace.calls.start[its]
    many = getattr(element, "count", np.empty(0, np.int64))
    return Said(tuple(name), call, start, lasts, many if len(many) == n else np.ones(n, np.int64))
