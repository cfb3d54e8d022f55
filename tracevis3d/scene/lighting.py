"""World, lights and the surface behind the data; they scale with the subject."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from . import materials
from .color import linear
from .geometry import meshes
from .node_groups import Builder
from .styles import Light, Style

#: How far the light on one thing is away, and the radius of what it reaches, in diagonals of the data.
_SPOT_AWAY, _SPOT_WIDE = 1.5, 0.45


def world(style: Style) -> Any:
    """Return a style's world: even white light, and the background where the camera looks past all."""
    name = f"TraceVis3D {style.name}"
    made = bpy.data.worlds.get(name) or bpy.data.worlds.new(name)
    color = tuple(float(c) for c in linear(np.array(style.background)))
    made.color = color  # what Workbench shows
    shader = Builder.shader(made)
    seen = shader.node("ShaderNodeLightPath").outputs["Is Camera Ray"]
    light = shader.node(
        "ShaderNodeBackground", feed={"Color": (1.0, 1.0, 1.0, 1.0), "Strength": style.ambient}
    )
    behind = shader.node("ShaderNodeBackground", feed={"Color": (*color, 1.0), "Strength": 1.0})
    mix = shader.node("ShaderNodeMixShader", feed={0: seen, 1: light.outputs[0], 2: behind.outputs[0]})
    shader.node("ShaderNodeOutputWorld", feed={"Surface": mix.outputs[0]})
    return made


def key_light(style: Style, light: Light, aimed: bool, name: str) -> Any | None:
    """Return the sun of a style: as strong as makes facing surfaces get 1 in all.

    Parameters
    ----------
    style : Style
    light : Light
    aimed : bool
        There is something that a light of its own falls on, if the style has such a light.
    name : str
        Of the object.

    Returns
    -------
    bpy.types.Object or None
        None if all light comes from all sides.
    """
    if style.ambient >= 1.0:
        return None
    data: Any = bpy.data.lights.new(name, "SUN")
    data.energy = float(np.pi * _keyed(style, light) * (style.sun if aimed else 1.0))
    data.angle = style.softness
    for setting in ("use_shadow_jitter",):
        if hasattr(data, setting):
            setattr(data, setting, True)
    sun = bpy.data.objects.new(name, data)
    sun.rotation_mode = "QUATERNION"
    sun.rotation_quaternion = Vector(light.key.tolist()).to_track_quat("Z", "Y")
    return sun


def spot_light(
    style: Style,
    light: Light,
    aim: NDArray[np.float64] | None,
    low: NDArray[np.floating[Any]],
    high: NDArray[np.floating[Any]],
    name: str,
) -> Any | None:
    """Return the light on the one thing that a picture is about: with the sun, facing surfaces there get 1.

    Parameters
    ----------
    style : Style
    light : Light
    aim : float64 (3,) or None
        What it falls on.
    low, high : float (3,)
        Lowest and highest coordinates of the data.
    name : str
        Of the object.

    Returns
    -------
    bpy.types.Object or None
        None if the style has none, or nothing to aim at.
    """
    if aim is None or style.sun >= 1.0:
        return None
    far = float(np.linalg.norm(np.asarray(high, np.float64) - low)) * _SPOT_AWAY
    data: Any = bpy.data.lights.new(name, "SPOT")
    # A lamp of 4 pi^2 watts lights what faces it at distance 1 as a sun of strength pi does.
    data.energy = float(4 * np.pi**2 * far * far * _keyed(style, light) * (1.0 - style.sun))
    data.spot_size, data.spot_blend = 2 * np.arctan(_SPOT_WIDE / _SPOT_AWAY), 1.0
    data.shadow_soft_size = far * np.tan(style.softness / 2)
    lamp = bpy.data.objects.new(name, data)
    lamp.location = (aim + far * light.key).tolist()
    lamp.rotation_mode = "QUATERNION"
    lamp.rotation_quaternion = Vector(light.key.tolist()).to_track_quat("Z", "Y")
    return lamp


def _keyed(style: Style, light: Light) -> float:
    """Return the irradiance towards the key light that gives facing surfaces what is not ambient."""
    return float((1.0 - style.ambient) / (light.facing @ light.key))


def wall(
    style: Style, light: Light, low: NDArray[np.floating[Any]], high: NDArray[np.floating[Any]], name: str
) -> Any | None:
    """Return the surface behind the data (below it, if it is seen from above).

    Parameters
    ----------
    style : Style
    light : Light
    low, high : float (3,)
        Lowest and highest coordinates of the data.
    name : str
        Of the object.

    Returns
    -------
    bpy.types.Object or None
        None if the style has none.
    """
    if style.wall is None:
        return None
    axis = int(np.argmax(np.abs(light.facing)))
    size = float(np.linalg.norm(high - low))
    behind = low[axis] if light.facing[axis] > 0 else high[axis]
    middle = (np.asarray(low, np.float64) + high) / 2
    middle[axis] = behind - light.facing[axis] * 0.004 * size
    one = np.zeros(3)
    one[(axis + 1) % 3] = 40 * size
    two = np.cross(light.facing, one)
    corner = np.array([middle - one - two, middle + one - two, middle + one + two, middle - one + two])
    mesh = meshes.polygons(
        name, corner.astype(np.float32), np.arange(4, dtype=np.int32), np.zeros(1, np.int32)
    )
    color = np.ones((4, 4), np.float32)
    color[:, :3] = linear(np.array(style.background))
    meshes.set_color(mesh, materials.SHADED, "POINT", color, active=True)
    mesh.materials.append(materials.wall(style))
    return bpy.data.objects.new(name, mesh)
