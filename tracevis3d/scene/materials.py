"""Materials: one per look and style, all reading the mesh's colour attributes.

``tint`` is the colour as data, for EEVEE and Cycles, which add light; ``shaded`` is the active colour
attribute with the light already in it, for Workbench, which has none of ours.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from .color import linear
from .node_groups import Builder
from .styles import Style

TINT = "tint"
SHADED = "shaded"
_VERSION = 1


#: Opacity of a ghost.
_GHOST = 0.28
#: Reflectivity of a glossy surface.
_GLOSS = 0.08


def veil(look: str) -> float:
    """Return the transparency of a look."""
    return 1.0 - _GHOST if look == "ghost" else 0.0


def surface(look: str, style: Style) -> Any:
    """Return the material of a look, made once per file.

    Parameters
    ----------
    look : str
        ``ink`` for texts and axes.
    style : Style

    Returns
    -------
    bpy.types.Material
    """
    name = f"TraceVis3D {look} {style.name}"
    material = bpy.data.materials.get(name)
    if material is not None and material.get("tracevis3d_version") == _VERSION:
        return material
    material = material or bpy.data.materials.new(name)
    material["tracevis3d_version"] = _VERSION
    shader = Builder.shader(material)
    tint = shader.node("ShaderNodeAttribute", attribute_name=TINT).outputs["Color"]
    emission = 1.0 if look in ("ink", "glow") else style.emission
    made = shader.node("ShaderNodeEmission", feed={"Color": tint, "Strength": emission}).outputs[0]
    if emission < 1.0:
        lit = shader.node(
            "ShaderNodeVectorMath", operation="SCALE", feed={"Vector": tint, "Scale": 1.0 - emission}
        )
        diffuse = shader.node("ShaderNodeBsdfDiffuse", feed={"Color": lit.outputs[0]}).outputs[0]
        made = shader.node("ShaderNodeAddShader", feed={0: made, 1: diffuse}).outputs[0]
    if look == "gloss":
        light = (_GLOSS, _GLOSS, _GLOSS, 1.0)
        shine = shader.node("ShaderNodeBsdfGlossy", feed={"Color": light, "Roughness": 0.3}).outputs[0]
        made = shader.node("ShaderNodeAddShader", feed={0: made, 1: shine}).outputs[0]
    if look == "ghost":
        clear = shader.node("ShaderNodeBsdfTransparent").outputs[0]
        made = shader.node("ShaderNodeMixShader", feed={0: _GHOST, 1: clear, 2: made}).outputs[0]
        if hasattr(material, "surface_render_method"):
            material.surface_render_method = "BLENDED"
    shader.node("ShaderNodeOutputMaterial", feed={"Surface": made})
    return material


def wall(style: Style) -> Any:
    """Return the material of the surface behind the data, which takes the shadows."""
    assert style.wall is not None
    name = f"TraceVis3D wall {style.name}"
    material = bpy.data.materials.get(name)
    if material is not None and material.get("tracevis3d_version") == _VERSION:
        return material
    material = material or bpy.data.materials.new(name)
    material["tracevis3d_version"] = _VERSION
    shader = Builder.shader(material)

    color = (*(float(c) for c in linear(np.array(style.background))), 1.0)
    emitted = shader.node("ShaderNodeEmission", feed={"Color": color, "Strength": style.wall[0]}).outputs[0]
    lit = tuple(c * style.wall[1] for c in color[:3])
    diffuse = shader.node("ShaderNodeBsdfDiffuse", feed={"Color": (*lit, 1.0)}).outputs[0]
    both = shader.node("ShaderNodeAddShader", feed={0: emitted, 1: diffuse}).outputs[0]
    shader.node("ShaderNodeOutputMaterial", feed={"Surface": both})
    return material
