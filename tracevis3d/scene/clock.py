"""The drawing's time in node groups: a value from 0 to 1 that the scene's frames play."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..drawing.primitives import Boxes, Element
from . import compat
from .geometry import meshes
from .node_groups import Builder, existing

_VISIBILITY = "TraceVis3D Reveal"
_VERSION = 1
#: Times that differ by no more are the same.
_SAME_TIME = 1e-3


def add_inputs(make: Builder) -> None:
    """Give a group the inputs *Now*, *Play*, *First* and *Last*."""
    make.input("Now", "Float", 1.0)
    make.input("Play", "Bool", False)
    make.input("First", "Float", 1.0)
    make.input("Last", "Float", 250.0)


def now(make: Builder, given: Any) -> tuple[Any, Any]:
    """Return the sockets of the time, and of whether it is before the end.

    With *Play* on, the time runs from 0 to 1 while the scene's frames go from *First* to *Last*; else it
    is *Now*.

    Parameters
    ----------
    make : Builder
        Of the group.
    given : bpy.types.NodeOutputs
        The group's inputs, with those of :func:`add_inputs`.

    Returns
    -------
    time, running : bpy.types.NodeSocket
    """
    frame = make.node("GeometryNodeInputSceneTime").outputs["Frame"]
    length = make.math("MAXIMUM", make.math("SUBTRACT", given["Last"], given["First"]), 1.0)
    played = make.math("DIVIDE", make.math("SUBTRACT", frame, given["First"]), length, clamp=True)
    choose = make.node("GeometryNodeSwitch", input_type="FLOAT")
    make.tree.links.new(given["Play"], compat.socket(choose.inputs, "Switch"))
    make.tree.links.new(given["Now"], compat.socket(choose.inputs, "False"))
    make.tree.links.new(played, compat.socket(choose.inputs, "True"))
    time = compat.socket(choose.outputs, "Output")
    running = make.node("FunctionNodeCompare", data_type="FLOAT", operation="LESS_THAN")
    make.tree.links.new(time, running.inputs[0])
    running.inputs[1].default_value = 1.0
    return time, running.outputs[0]


def _visibility_group() -> Any:
    """Return the node group that hides points whose attribute ``start`` is later than the time."""
    if (tree := existing(_VISIBILITY, _VERSION)) is not None:
        return tree
    make = Builder.geometry(_VISIBILITY, _VERSION)
    make.input("Geometry", "Geometry")
    add_inputs(make)
    make.output("Geometry", "Geometry")
    given = make.node("NodeGroupInput").outputs
    time, running = now(make, given)
    later = make.node("FunctionNodeCompare", data_type="FLOAT", operation="GREATER_THAN")
    make.tree.links.new(make.attribute("start", "FLOAT"), later.inputs[0])
    make.tree.links.new(time, later.inputs[1])
    hide = make.node("FunctionNodeBooleanMath", operation="AND", feed={0: later.outputs[0], 1: running})
    feed = {"Geometry": given["Geometry"], "Selection": hide.outputs[0]}
    kept = make.node("GeometryNodeDeleteGeometry", domain="POINT", feed=feed)
    make.node("NodeGroupOutput", feed={0: kept.outputs[0]})
    return make.tree


def animate_visibility(shown: Any, start: NDArray[np.float32]) -> None:
    """Let the points of an object's mesh appear one after another.

    Parameters
    ----------
    shown : bpy.types.Object
    start : float32 (n,)
        When each appears, as a share of the drawn time.
    """
    set_start(shown.data, start)
    add_visibility(shown)


def set_start(mesh: Any, start: NDArray[np.float32]) -> None:
    """Write when the points of a mesh appear.

    Parameters
    ----------
    mesh : bpy.types.Mesh
    start : float32 (n,)
        As a share of the drawn time.
    """
    meshes.set_attribute(mesh, "start", "FLOAT", "POINT", start)


def add_visibility(shown: Any) -> None:
    """Let the points of what an object shows appear at their :func:`start <set_start>`."""
    modifier: Any = shown.modifiers.new("TraceVis3D", "NODES")
    modifier.node_group = _visibility_group()


def appearing(elements: tuple[Element, ...], place: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return when time gets to places on the drawing's timed boxes.

    Parameters
    ----------
    elements : tuple of Element
    place : float64 (n, 3)

    Returns
    -------
    float64 (n,) or None
        As shares of the drawn time; None if no box is timed.
    """
    line = time_along_x(elements)
    if line is None:
        return None
    found = (place[:, 0] - line[0]) / line[1]
    timed = [element for element in elements if isinstance(element, Boxes) and len(element.time)]
    low = np.concatenate([element.low for element in timed]).astype(np.float64)
    size = np.concatenate([element.size for element in timed]).astype(np.float64)
    time = np.concatenate([element.time for element in timed]).astype(np.float64)
    expected = (low[:, 0] - line[0]) / line[1]
    if (np.abs(time[:, 0] - expected) > _SAME_TIME).any():
        # Threads play at paces of their own: what counts is the box that a text lies on.
        for i, at in enumerate(place):
            beyond = np.maximum(np.maximum(low - at, at - low - size), 0.0).max(axis=1)
            box = int(beyond.argmin())
            share = (at[0] - low[box, 0]) / max(size[box, 0], 1e-12)
            found[i] = time[box, 0] + min(max(share, 0.0), 1.0) * (time[box, 1] - time[box, 0])
    return np.clip(found, 0.0, 1.0)


def time_along_x(elements: tuple[Element, ...]) -> tuple[float, float] | None:
    """Return (a, b) such that x = a + b * time for the drawing's timed boxes; None if it has none."""
    for element in elements:
        if isinstance(element, Boxes) and len(element.time):
            x = np.concatenate([element.low[:, 0], element.low[:, 0] + element.size[:, 0]]).astype(np.float64)
            time = np.concatenate([element.time[:, 0], element.time[:, 1]]).astype(np.float64)
            if np.ptp(time) > 0:
                first, last = int(np.argmin(time)), int(np.argmax(time))
                slope = (x[last] - x[first]) / (time[last] - time[first])
                if slope > 0:
                    return float(x[first] - slope * time[first]), float(slope)
    return None
