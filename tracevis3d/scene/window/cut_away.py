"""Node groups that cut away what lies outside a slab: in 3D views and in pictures, in every engine.

Boxes are cut exactly, because the points that they are made of are cut first. Meshes lose the faces outside
the slab; tubes, bent blocks and lines end at it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...drawing.primitives import Boxes, Image, Lines, Marks, Tubes, Wedges
from ...layout.sight.affine import Box
from .. import compat
from ..node_groups import Builder, existing
from . import element_metadata

_MODIFIER = "TraceVis3D Slab"
_POINTS, _FACES = "TraceVis3D Slab of Boxes", "TraceVis3D Slab"
_VERSION = 2
#: How often faces of lines are divided where they cross a slab's end, and by how many halvings each time.
_TIMES, _LEVEL = 2, 3
#: Kinds of elements that only say what a part of a drawing is: they are neither cut nor veiled.
EXPLAINS = frozenset({"trace"})
#: Farther than anything in a scene.
_FAR = 1e18


def _cut_points() -> Any:
    """Return the node group that cuts the points that boxes, or signs, are made of.

    With *Boxes* on, points are the boxes' lowest corners, and ``size`` is what they measure; else points are
    left out as a whole.
    """
    if (tree := existing(_POINTS, _VERSION)) is not None:
        return tree
    make = Builder.geometry(_POINTS, _VERSION)
    make.input("Geometry", "Geometry")
    make.input("Low", "Vector")
    make.input("High", "Vector")
    make.input("Boxes", "Bool", True)
    make.output("Geometry", "Geometry")
    given = make.node("NodeGroupInput").outputs

    def vectors(operation: str, one: Any, other: Any) -> Any:
        return make.node("ShaderNodeVectorMath", operation=operation, feed={0: one, 1: other}).outputs[0]

    point = make.node("GeometryNodeInputPosition").outputs[0]
    scale = make.node(
        "ShaderNodeVectorMath", operation="SCALE", feed={0: make.attribute("size", "FLOAT_VECTOR")}
    )
    make.tree.links.new(given["Boxes"], compat.socket(scale.inputs, "Scale"))
    end = vectors("ADD", point, scale.outputs[0])
    reach = vectors(
        "MINIMUM", vectors("SUBTRACT", end, given["Low"]), vectors("SUBTRACT", given["High"], point)
    )
    parts = make.node("ShaderNodeSeparateXYZ", feed={0: reach}).outputs
    least = make.math("MINIMUM", make.math("MINIMUM", parts[0], parts[1]), parts[2])
    beside = make.node("FunctionNodeCompare", data_type="FLOAT", operation="LESS_EQUAL")
    make.tree.links.new(least, beside.inputs[0])
    beside.inputs[1].default_value = 0.0
    feed = {"Geometry": given["Geometry"], "Selection": beside.outputs[0]}
    left = make.node("GeometryNodeDeleteGeometry", domain="POINT", feed=feed).outputs[0]

    corner = vectors("MAXIMUM", point, given["Low"])
    length = vectors("SUBTRACT", vectors("MINIMUM", end, given["High"]), corner)
    store = make.node("GeometryNodeStoreNamedAttribute", data_type="FLOAT_VECTOR", domain="POINT")
    for name, value in (("Geometry", left), ("Selection", given["Boxes"]), ("Value", length)):
        make.tree.links.new(value, compat.socket(store.inputs, name))
    compat.socket(store.inputs, "Name").default_value = "size"
    feed = {"Geometry": store.outputs[0], "Selection": given["Boxes"], "Position": corner}
    make.node("NodeGroupOutput", feed={0: make.node("GeometryNodeSetPosition", feed=feed).outputs[0]})
    return make.tree


def _cut_faces() -> Any:
    """Return the node group that leaves out faces beside a slab.

    With *Flush* on, the others end at it: their points beside it move to it. With *Finer* on, faces across it
    are divided before, so that lines keep their direction.
    """
    if (tree := existing(_FACES, _VERSION)) is not None:
        return tree
    make = Builder.geometry(_FACES, _VERSION)
    make.input("Geometry", "Geometry")
    make.input("Low", "Vector")
    make.input("High", "Vector")
    make.input("Flush", "Bool", False)
    make.input("Finer", "Bool", False)
    make.output("Geometry", "Geometry")
    given = make.node("NodeGroupInput").outputs
    point = make.node("GeometryNodeInputPosition").outputs[0]
    at = make.node("ShaderNodeSeparateXYZ", feed={0: point}).outputs

    def either(one: Any, other: Any) -> Any:
        if one is None:
            return other
        return make.node("FunctionNodeBooleanMath", operation="OR", feed={0: one, 1: other}).outputs[0]

    # Faces all of whose points are beyond one plane, and points that are beyond any.
    beside: Any = None
    outside: Any = None
    for name, operation in (("Low", "LESS_THAN"), ("High", "GREATER_THAN")):
        ends = make.node("ShaderNodeSeparateXYZ", feed={0: given[name]}).outputs
        for axis in range(3):
            test = make.node("FunctionNodeCompare", data_type="FLOAT", operation=operation)
            make.tree.links.new(at[axis], test.inputs[0])
            make.tree.links.new(ends[axis], test.inputs[1])
            # True for a face if it is true for all of its points.
            all_of = make.node("GeometryNodeFieldOnDomain", data_type="BOOLEAN", domain="POINT")
            make.tree.links.new(test.outputs[0], compat.socket(all_of.inputs, "Value"))
            beside = either(beside, compat.socket(all_of.outputs, "Value"))
            outside = either(outside, test.outputs[0])
    inside = make.node("FunctionNodeBooleanMath", operation="NOT", feed={0: outside}).outputs[0]
    whole = make.node("GeometryNodeFieldOnDomain", data_type="BOOLEAN", domain="POINT")
    make.tree.links.new(inside, compat.socket(whole.inputs, "Value"))

    def without(geometry: Any) -> Any:
        feed = {"Geometry": geometry, "Selection": beside}
        return make.node("GeometryNodeDeleteGeometry", domain="FACE", feed=feed).outputs[0]

    left = without(given["Geometry"])
    parts, across = [], left
    for _ in range(_TIMES):
        feed = {"Geometry": across, "Selection": compat.socket(whole.outputs, "Value")}
        apart = make.node("GeometryNodeSeparateGeometry", domain="FACE", feed=feed).outputs
        parts.append(apart[0])
        finer = make.node("GeometryNodeSubdivideMesh", feed={"Mesh": apart[1]})
        compat.socket(finer.inputs, "Level").default_value = _LEVEL
        across = without(finer.outputs[0])
    joined = make.node("GeometryNodeJoinGeometry")
    for part in (*parts, across):
        make.tree.links.new(part, joined.inputs[0])
    chosen = make.node("GeometryNodeSwitch", input_type="GEOMETRY")
    values = (("Switch", given["Finer"]), ("False", left), ("True", joined.outputs[0]))
    for name, value in values:
        make.tree.links.new(value, compat.socket(chosen.inputs, name))
    near = make.node("ShaderNodeVectorMath", operation="MAXIMUM", feed={0: point, 1: given["Low"]})
    near = make.node("ShaderNodeVectorMath", operation="MINIMUM", feed={0: near.outputs[0], 1: given["High"]})
    feed = {
        "Geometry": compat.socket(chosen.outputs, "Output"), "Selection": given["Flush"],
        "Position": near.outputs[0],
    }  # fmt: skip
    make.node("NodeGroupOutput", feed={0: make.node("GeometryNodeSetPosition", feed=feed).outputs[0]})
    return make.tree


def within(shown: Any, low: ArrayLike, high: ArrayLike) -> Box:
    """Return where a stretch of the scene begins and ends in the coordinates of an object.

    Parameters
    ----------
    shown : bpy.types.Object
        Where its axes are not the scene's, ends are right in the middle of what it shows.
    low, high : float (3,)
        In the scene; infinite along axes that are not cut.

    Returns
    -------
    (float64 (3,), float64 (3,))
        Infinite along axes that are not cut.
    """
    matrix = np.array(shown.matrix_world, np.float64)
    begin, end = np.full(3, -np.inf), np.full(3, np.inf)
    pickable = element_metadata.pickable_mesh(shown)
    middle = np.zeros(3)
    if pickable is not None and len(pickable):
        bounds = pickable.bounds()
        middle = (bounds[0].min(axis=0) + bounds[1].max(axis=0)) / 2
    free = [0, 1, 2]
    for axis in (0, 1, 2):
        row = matrix[axis, :3]
        own = max(free, key=lambda i: abs(row[i]))
        ends = float(np.asarray(low, np.float64)[axis]), float(np.asarray(high, np.float64)[axis])
        if not np.isfinite(ends).any() or abs(row[own]) < 1e-9:
            continue
        free.remove(own)
        here = matrix[axis, 3] + float(row @ middle)
        begin[own], end[own] = sorted(middle[own] + (value - here) / row[own] for value in ends)
    return begin, end


def cut(shown: Any, low: ArrayLike, high: ArrayLike) -> None:
    """Let an object of a drawing's elements show only what lies in a stretch of the scene.

    Parameters
    ----------
    shown : bpy.types.Object
    low, high : float (3,)
        In the scene; infinite along axes that are not cut.
    """
    word = str(shown.data.get("tracevis3d_word", ""))
    points = word in (Boxes.__name__, Marks.__name__)
    if not points and word not in (Tubes.__name__, Lines.__name__, Wedges.__name__, Image.__name__):
        return
    modifier: Any = shown.modifiers.get(_MODIFIER)
    group = _cut_points() if points else _cut_faces()
    if modifier is None:
        modifier = shown.modifiers.new(_MODIFIER, "NODES")
        modifier.node_group = group
        if points:
            # Before the points become boxes.
            shown.modifiers.move(len(shown.modifiers) - 1, 0)
    begin, end = (np.clip(side, -_FAR, _FAR).tolist() for side in within(shown, low, high))
    compat.set_input(modifier, "Low", begin)
    compat.set_input(modifier, "High", end)
    if points:
        compat.set_input(modifier, "Boxes", word == Boxes.__name__)
    else:
        # Sections of tubes run along time, as blocks do; a line's may run anywhere.
        compat.set_input(modifier, "Flush", word in (Tubes.__name__, Wedges.__name__, Lines.__name__))
        compat.set_input(modifier, "Finer", word == Lines.__name__)
    shown.update_tag()


def is_cut(shown: Any) -> bool:
    """Return whether an object shows only what lies in a stretch of the scene."""
    return shown.modifiers.get(_MODIFIER) is not None


def restore(shown: Any) -> None:
    """Let an object show all of it again."""
    modifier = shown.modifiers.get(_MODIFIER)
    if modifier is not None:
        shown.modifiers.remove(modifier)
