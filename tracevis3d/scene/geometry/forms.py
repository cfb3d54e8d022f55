"""Two forms of what is shown: the full one for pictures, and an economical one, of fewer triangles.

The 3D view shows the economical form, stills the full one; node groups choose, so that a saved .blend does so
without the extension. Films and drafts ask for the economical form, exported files for the full one.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any, Literal

import bpy

from .. import compat
from ..node_groups import Builder, existing

#: Inputs of node groups with objects other than the one shown.
HELD = ("Template", "Economical")
_GROUP = "TraceVis3D Form"
_VERSION = 1
_MODIFIER = "TraceVis3D Form"


#: What is rendered: a still in full, or a film or a draft in the economical form.
Purpose = Literal["still", "film", "draft"]


class Form(IntEnum):
    """Which form is shown: in 3D views the economical one and in pictures the full one, or one everywhere."""

    SUITED = 0
    FULL = 1
    ECONOMICAL = 2


def form_of(purpose: Purpose) -> Form:
    """Return the form of the data in what is rendered."""
    return Form.SUITED if purpose == "still" else Form.ECONOMICAL


def add_input(make: Builder) -> None:
    """Give a group the input *Form*, a :class:`Form`."""
    make.input("Form", "Int", int(Form.SUITED))


def is_economical(make: Builder, given: Any) -> Any:
    """Return the socket that says whether the economical form is shown.

    Parameters
    ----------
    make : Builder
        Of the group.
    given : bpy.types.NodeOutputs
        The group's inputs, with that of :func:`add_input`.

    Returns
    -------
    bpy.types.NodeSocket
    """
    in_view = make.node("GeometryNodeIsViewport").outputs[0]

    def equals(form: Form) -> Any:
        node = make.node("FunctionNodeCompare", data_type="INT", operation="EQUAL")
        make.tree.links.new(given["Form"], compat.socket(node.inputs, "A"))
        compat.socket(node.inputs, "B").default_value = int(form)
        return node.outputs[0]

    suited = make.node("FunctionNodeBooleanMath", operation="AND", feed={0: in_view, 1: equals(Form.SUITED)})
    feed = {0: suited.outputs[0], 1: equals(Form.ECONOMICAL)}
    return make.node("FunctionNodeBooleanMath", operation="OR", feed=feed).outputs[0]


def choose(make: Builder, economical: Any, full: Any, light: Any) -> Any:
    """Return the socket of one of two geometries.

    Parameters
    ----------
    make : Builder
    economical : bpy.types.NodeSocket
        Whether it is that of the economical form.
    full, light : bpy.types.NodeSocket
        The geometry of the full and of the economical form.

    Returns
    -------
    bpy.types.NodeSocket
    """
    switch = make.node("GeometryNodeSwitch", input_type="GEOMETRY")
    make.tree.links.new(economical, compat.socket(switch.inputs, "Switch"))
    make.tree.links.new(full, compat.socket(switch.inputs, "False"))
    make.tree.links.new(light, compat.socket(switch.inputs, "True"))
    return compat.socket(switch.outputs, "Output")


def _group() -> Any:
    """Return the node group that shows another object's mesh where the economical form is wanted."""
    if (tree := existing(_GROUP, _VERSION)) is not None:
        return tree
    make = Builder.geometry(_GROUP, _VERSION)
    make.input("Geometry", "Geometry")
    make.input("Economical", "Object")
    add_input(make)
    make.output("Geometry", "Geometry")
    given = make.node("NodeGroupInput").outputs
    light = make.node("GeometryNodeObjectInfo", feed={"Object": given["Economical"]}).outputs["Geometry"]
    shown = choose(make, is_economical(make, given), given["Geometry"], light)
    make.node("NodeGroupOutput", feed={0: shown})
    return make.tree


def set_economical(shown: Any, mesh: Any) -> None:
    """Let a mesh be the economical form of an object; the one before it is removed.

    Parameters
    ----------
    shown : bpy.types.Object
    mesh : bpy.types.Mesh
    """
    modifier: Any = shown.modifiers.get(_MODIFIER)
    if modifier is None:
        modifier = shown.modifiers.new(_MODIFIER, "NODES")
        modifier.node_group = _group()
        holder = bpy.data.objects.new(f"{shown.name} economical", mesh)
        compat.set_input(modifier, "Economical", holder)
        return
    holder = compat.get_input(modifier, "Economical")
    before, holder.data = holder.data, mesh
    bpy.data.meshes.remove(before)


def held_by(shown: Any) -> list[Any]:
    """Return the objects that the node groups of an object show in its place."""
    return [
        held
        for modifier in shown.modifiers
        for name in HELD
        if compat.has_input(modifier, name) and (held := compat.get_input(modifier, name)) is not None
    ]


def show(objects: Iterable[Any], form: Form) -> None:
    """Let objects show a form.

    Parameters
    ----------
    objects : iterable of bpy.types.Object
        Those without forms stay as they are.
    form : Form
    """
    for shown in objects:
        for modifier in shown.modifiers:
            if compat.has_input(modifier, "Form") and compat.get_input(modifier, "Form") != form:
                compat.set_input(modifier, "Form", int(form))
                shown.update_tag()
