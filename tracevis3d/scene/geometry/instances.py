"""Points that a geometry-nodes group turns into instances of a template's parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import clock, compat
from ..node_groups import Builder, existing
from . import forms, meshes

GROUP = "TraceVis3D Instances"
_VERSION = 2
_MODIFIER = "TraceVis3D"
_INT32_MAX = 2**31 - 1


def group() -> Any:
    """Return the node group.

    It shows instances of the parts of *Template*, or, in the economical form, one mesh of those of
    *Economical*: a program goes through all instances for each picture.

    Points carry ``size`` (the scale), ``part`` (which part of the template) and, for films, ``start`` and
    ``end`` as shares of the drawn time. While *Now* is below 1, what starts later is left out and what is
    under way is cut along x. With *Play* on, *Now* follows the scene's frames from *First* to *Last*.

    Returns
    -------
    bpy.types.NodeTree
    """
    if (tree := existing(GROUP, _VERSION)) is not None:
        return tree
    make = Builder.geometry(GROUP, _VERSION)
    make.input("Geometry", "Geometry")
    make.input("Template", "Object")
    make.input("Economical", "Object")
    make.input("Material", "Material")
    forms.add_input(make)
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

    economical = forms.is_economical(make, given)

    def split_template(name: str) -> Any:
        template = make.node("GeometryNodeObjectInfo", feed={"Object": given[name]}).outputs["Geometry"]
        feed = {"Geometry": template, "Material": given["Material"]}
        dressed = make.node("GeometryNodeSetMaterial", feed=feed)
        split = make.node("GeometryNodeSplitToInstances", domain="FACE")
        make.tree.links.new(dressed.outputs[0], split.inputs[0])
        make.tree.links.new(make.attribute("part", "INT"), compat.socket(split.inputs, "Group ID"))
        return split.outputs["Instances"]

    parts = forms.choose(make, economical, split_template("Template"), split_template("Economical"))
    pick = make.attribute("part", "INT")

    def placed(scale: Any, selection: Any | None) -> Any:
        feed = {"Points": given["Geometry"], "Instance": parts, "Pick Instance": True}
        feed |= {"Instance Index": pick, "Scale": scale}
        if selection is not None:
            feed["Selection"] = selection
        return make.node("GeometryNodeInstanceOnPoints", feed=feed).outputs[0]

    # Only the chosen one of the two branches is computed, so stills don't pay for films.
    both = make.node("FunctionNodeBooleanMath", operation="AND", feed={0: running, 1: given["Timed"]})
    instances = forms.choose(make, both.outputs[0], placed(size, None), placed(shorter, begun.outputs[0]))
    one_mesh = make.node("GeometryNodeRealizeInstances", feed={"Geometry": instances}).outputs[0]
    shown = forms.choose(make, economical, instances, one_mesh)
    make.node("NodeGroupOutput", feed={0: shown})
    return make.tree


@dataclass(frozen=True, eq=False)
class Instances:
    """Points and the template whose parts are shown at them.

    Attributes
    ----------
    position, size : float32 (n, 3)
    part : int32 (n,)
        Which part of the template.
    id : int64 (n,)
        Kept as the point attribute ``id``; with ``id_high`` for the upper half where 32 bits don't do.
    time : float32 (n, 2) or (0, 2)
    material : bpy.types.Material
    key : str
        Digest of all that the template depends on.
    template, economical : callable
        Make the mesh of the template of the full and of the economical form, from
        :func:`tracevis3d.scene.geometry.templates.template`.
    """

    position: NDArray[np.float32]
    size: NDArray[np.float32]
    part: NDArray[np.int32]
    id: NDArray[np.int64]
    time: NDArray[np.float32]
    material: Any
    key: str
    template: Callable[[str], Any]
    economical: Callable[[str], Any]

    def attributes(self) -> dict[str, tuple[str, NDArray[Any]]]:
        """Return the point attributes: name -> (Blender's type, values)."""
        if not len(self.position):
            return {}
        found: dict[str, tuple[str, NDArray[Any]]] = {
            "position": ("FLOAT_VECTOR", self.position),
            "size": ("FLOAT_VECTOR", self.size),
            "part": ("INT", self.part),
            "id": ("INT", self.id.astype(np.int32)),
        }
        if self.id.max() > _INT32_MAX or self.id.min() < -_INT32_MAX - 1:
            found["id_high"] = ("INT", (self.id >> 32).astype(np.int32))
        if len(self.time):
            found["start"] = ("FLOAT", self.time[:, 0])
            found["end"] = ("FLOAT", self.time[:, 1])
        return found


def placed(name: str, wanted: Instances, full: bool = True) -> Any:
    """Return an object whose points are shown as instances.

    Parameters
    ----------
    name : str
    wanted : Instances
    full : bool
        It has the full form, too, and not the economical one alone.

    Returns
    -------
    bpy.types.Object
    """
    shown = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    modifier: Any = shown.modifiers.new(_MODIFIER, "NODES")
    modifier.node_group = group()
    rewrite(shown, wanted, True, full)
    return shown


def is_placed(shown: Any) -> bool:
    """Return whether ``shown`` is what :func:`placed` of this version makes."""
    modifier = shown.modifiers.get(_MODIFIER)
    return modifier is not None and modifier.node_group == existing(GROUP, _VERSION)


def differs(shown: Any, wanted: Instances) -> bool:
    """Return whether the points of an object, or their material, are others than wanted.

    Parameters
    ----------
    shown : bpy.types.Object
        Made by :func:`placed`.
    wanted : Instances

    Returns
    -------
    bool
    """
    mesh = shown.data
    if len(mesh.vertices) != len(wanted.position):
        return True
    if compat.get_input(shown.modifiers[_MODIFIER], "Material") != wanted.material:
        return True
    values = wanted.attributes()
    timed = any(name in mesh.attributes for name in ("start", "id_high"))
    if timed != any(name in values for name in ("start", "id_high")):
        return True
    return any(not meshes.holds(mesh, name, *values[name]) for name in values)


def rewrite(shown: Any, wanted: Instances, template: bool, full: bool = True) -> None:
    """Let an object show other instances: only what differs is written.

    Parameters
    ----------
    shown : bpy.types.Object
        Made by :func:`placed`.
    wanted : Instances
    template : bool
        Make the templates again, too.
    full : bool
        It is to have the full form, too, and not the economical one alone.
    """
    mesh, modifier = shown.data, shown.modifiers[_MODIFIER]
    if len(mesh.vertices) != len(wanted.position):
        mesh.clear_geometry()
        mesh.vertices.add(len(wanted.position))
    values = wanted.attributes()
    for name in ("start", "end", "id_high"):
        if name not in values and name in mesh.attributes:
            mesh.attributes.remove(mesh.attributes[name])
    for name, (kind, value) in values.items():
        if not meshes.holds(mesh, name, kind, value):
            meshes.set_attribute(mesh, name, kind, "POINT", value)
    mesh.update()
    for held, make in (("Template", wanted.template), ("Economical", wanted.economical)):
        before = compat.get_input(modifier, held)
        needed = full or held == "Economical"
        if before is not None and not template and needed:
            continue
        title = f"{shown.name} {held.lower()}"
        compat.set_input(modifier, held, bpy.data.objects.new(title, make(title)) if needed else None)
        if before is not None:
            data = before.data
            bpy.data.objects.remove(before)
            bpy.data.meshes.remove(data)
    compat.set_input(modifier, "Material", wanted.material)
    compat.set_input(modifier, "Timed", len(wanted.time) > 0)
    shown.update_tag()
