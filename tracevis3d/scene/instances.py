"""Points that a geometry-nodes group turns into instances of a template's parts."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import clock, compat, meshes
from .nodes import Builder, existing

GROUP = "TraceVis3D Instances"
_VERSION = 1
_INT32_MAX = 2**31 - 1


def group() -> Any:
    """Return the node group.

    Points carry ``size`` (the scale), ``part`` (which part of the template) and, for films, ``start`` and
    ``end`` as shares of the drawn time. While *Now* is below 1, what starts later is left out and what is
    under way is cut along x. With *Play* on, *Now* follows the scene's frames from *First* to *Last*.
    """
    if (tree := existing(GROUP, _VERSION)) is not None:
        return tree
    make = Builder.geometry(GROUP, _VERSION)
    make.input("Geometry", "Geometry")
    make.input("Template", "Object")
    make.input("Material", "Material")
    make.input("Timed", "Bool", False)
    clock.add_inputs(make)
    make.output("Geometry", "Geometry")
    given = make.node("NodeGroupInput").outputs

    now, running = clock.now(make, given)
    start, end = make.attribute("start", "FLOAT"), make.attribute("end", "FLOAT")
    size = make.attribute("size", "FLOAT_VECTOR")
    cut = make.math(
        "DIVIDE", make.math("SUBTRACT", now, start), make.math("SUBTRACT", end, start), clamp=True
    )
    factor = make.node("ShaderNodeCombineXYZ", feed={"X": cut, "Y": 1.0, "Z": 1.0}).outputs[0]
    shorter = make.node("ShaderNodeVectorMath", operation="MULTIPLY", feed={0: size, 1: factor}).outputs[0]
    begun = make.node("FunctionNodeCompare", data_type="FLOAT", operation="LESS_EQUAL")
    make.tree.links.new(start, begun.inputs[0])
    make.tree.links.new(now, begun.inputs[1])

    template = make.node("GeometryNodeObjectInfo", feed={"Object": given["Template"]}).outputs["Geometry"]
    dressed = make.node("GeometryNodeSetMaterial", feed={"Geometry": template, "Material": given["Material"]})
    split = make.node("GeometryNodeSplitToInstances", domain="FACE")
    make.tree.links.new(dressed.outputs[0], split.inputs[0])
    make.tree.links.new(make.attribute("part", "INT"), compat.socket(split.inputs, "Group ID"))
    parts = split.outputs["Instances"]
    pick = make.attribute("part", "INT")

    def placed(scale: Any, selection: Any | None) -> Any:
        feed = {"Points": given["Geometry"], "Instance": parts, "Pick Instance": True}
        feed |= {"Instance Index": pick, "Scale": scale}
        if selection is not None:
            feed["Selection"] = selection
        return make.node("GeometryNodeInstanceOnPoints", feed=feed).outputs[0]

    # Two branches, of which only the chosen one is computed: a still pays nothing for the film.
    whole, partly = placed(size, None), placed(shorter, begun.outputs[0])
    both = make.node("FunctionNodeBooleanMath", operation="AND", feed={0: running, 1: given["Timed"]})
    switch = make.node("GeometryNodeSwitch", input_type="GEOMETRY")
    make.tree.links.new(both.outputs[0], compat.socket(switch.inputs, "Switch"))
    make.tree.links.new(whole, compat.socket(switch.inputs, "False"))
    make.tree.links.new(partly, compat.socket(switch.inputs, "True"))
    make.node("NodeGroupOutput", feed={0: compat.socket(switch.outputs, "Output")})
    return make.tree


def placed(
    name: str,
    template: Any,
    material: Any,
    *,
    position: NDArray[np.float32],
    size: NDArray[np.float32],
    part: NDArray[np.int32],
    id: NDArray[np.int64],
    time: NDArray[np.float32] | None = None,
) -> Any:
    """Return an object whose points are shown as instances.

    Parameters
    ----------
    name : str
    template : bpy.types.Mesh
        From :func:`tracevis3d.scene.signs.template`.
    material : bpy.types.Material
    position, size : float32 (n, 3)
    part : int32 (n,)
    id : int64 (n,)
        Kept as the point attribute ``id``; with ``id_high`` for the upper half where 32 bits don't do.
    time : float32 (n, 2), optional
    """
    mesh = meshes.points(name, position)
    if len(position):
        meshes.set_attribute(mesh, "size", "FLOAT_VECTOR", "POINT", size)
        meshes.set_attribute(mesh, "part", "INT", "POINT", part)
        meshes.set_attribute(mesh, "id", "INT", "POINT", id.astype(np.int32))
        if len(id) and (id.max() > _INT32_MAX or id.min() < -_INT32_MAX - 1):
            meshes.set_attribute(mesh, "id_high", "INT", "POINT", (id >> 32).astype(np.int32))
        if time is not None and len(time):
            meshes.set_attribute(mesh, "start", "FLOAT", "POINT", time[:, 0])
            meshes.set_attribute(mesh, "end", "FLOAT", "POINT", time[:, 1])
    shown = bpy.data.objects.new(name, mesh)
    modifier: Any = shown.modifiers.new("TraceVis3D", "NODES")
    modifier.node_group = group()
    compat.set_input(modifier, "Template", bpy.data.objects.new(f"{name} template", template))
    compat.set_input(modifier, "Material", material)
    compat.set_input(modifier, "Timed", time is not None and len(time) > 0)
    return shown
