"""Pictures for two eyes, and of all directions around one place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...drawing.frame import Frame
from ...drawing.output import Output
from ...errors import UsageError
from ..build import Built
from ..camera import Pane

_MODES = {"side-by-side": "SIDEBYSIDE", "top-bottom": "TOPBOTTOM", "anaglyph": "ANAGLYPH"}
#: How far apart the two pictures of what is farthest lie at most, as a share of their width: more strains the
#: eyes. And how far apart the eyes are at most, as a share of the distance of what is nearest.
_FARTHEST, _NATURAL = 0.02, 1 / 30
#: Where title and legends lie, as a share of that distance.
_SCREEN = 0.96
#: Distance between eyes as a share of the distance of what a panorama shows: as if it stood 2 m away.
_EYES = 0.065 / 2.0


def file_frame(frame: Frame, output: Output) -> Frame:
    """Return the size of the file that has a picture for each eye.

    Parameters
    ----------
    frame : Frame
        Of one eye.
    output : Output

    Returns
    -------
    Frame
    """
    wide, high = {"side-by-side": (2, 1), "top-bottom": (1, 2)}.get(output.stereo, (1, 1))
    return replace(frame, width=wide * frame.width, height=high * frame.height)


def file_size(scene: Any) -> tuple[int, int]:
    """Return width and height of the file that a scene is set to render.

    Parameters
    ----------
    scene : bpy.types.Scene

    Returns
    -------
    (int, int)
    """
    wide, high = scene.render.resolution_x, scene.render.resolution_y
    settings = scene.render.image_settings
    if scene.render.use_multiview and settings.views_format == "STEREO_3D":
        mode = settings.stereo_3d_format.display_mode
        return (2 if mode == "SIDEBYSIDE" else 1) * wide, (2 if mode == "TOPBOTTOM" else 1) * high
    return wide, high


def prepare(built: Built, output: Output) -> None:
    """Set a prepared scene up for two eyes, or for all directions.

    Parameters
    ----------
    built : Built
        Its camera has what explains the picture as children, and keeps its place.
    output : Output

    Raises
    ------
    UsageError
        If a picture without depth is to be seen with two eyes.
    """
    if output.panorama:
        _look_around(built, output)
    if not output.stereo:
        return
    if not built.view.perspective:
        raise UsageError(f"--stereo {output.stereo}: this picture is flat: both eyes see the same")
    scene: Any = built.scene
    eyes = scene.camera.data.stereo
    near, far = _SCREEN * built.view.nearest, built.view.farthest
    for shown in built.collection.objects:
        if shown.parent == built.camera:
            shown.scale = (near / Pane.of(built.view).depth,) * 3
    if output.panorama:
        eyes.convergence_mode, eyes.interocular_distance = "OFFAXIS", _EYES * built.view.nearest
        eyes.convergence_distance = built.view.nearest
        eyes.use_spherical_stereo = eyes.use_pole_merge = True
    else:
        # Title and legends lie on the screen, the data a little behind it.
        eyes.convergence_mode, eyes.convergence_distance = "OFFAXIS", near
        widest = _FARTHEST * 2 * built.view.tangent / max(1 / near - 1 / far, 1e-9)
        eyes.interocular_distance = min(widest, _NATURAL * near)
    scene.render.use_multiview, scene.render.views_format = True, "STEREO_3D"
    settings = scene.render.image_settings
    settings.views_format = "STEREO_3D"
    form = settings.stereo_3d_format
    form.display_mode = _MODES[output.stereo]
    if output.stereo == "anaglyph":
        form.anaglyph_type = "RED_CYAN"
    elif output.stereo == "side-by-side":
        form.use_sidebyside_crosseyed = form.use_squeezed_frame = False
    else:
        form.use_squeezed_frame = False


def before_data(built: Built) -> Matrix:
    """Return what brings the frame's texts from before the lens to before the data, where they look the same.

    Parameters
    ----------
    built : Built

    Returns
    -------
    mathutils.Matrix
        Of the scene.
    """
    depth, near = Pane.of(built.view).depth, _SCREEN * built.view.nearest
    eye = built.camera.matrix_world
    if not built.view.perspective:
        return Matrix.Translation((near - depth) * Vector(built.view.forward.tolist()))
    return eye @ Matrix.Scale(near / depth, 4) @ eye.inverted()


def _look_around(built: Built, output: Output) -> None:
    """Put a level camera that sees all directions where the picture is seen from."""
    scene: Any = built.scene
    frame = output.frame
    scene.render.resolution_x, scene.render.resolution_y = frame.width, frame.height
    name = f"{built.collection.name} around"
    eye: Any = bpy.data.objects.get(name) or bpy.data.objects.new(name, bpy.data.cameras.new(name))
    if eye.name not in built.collection.objects:
        built.collection.objects.link(eye)
    data = eye.data
    data.type = "PANO"
    # Cycles had it as a property of its own until 4.x.
    for owner in (data, getattr(data, "cycles", None)):
        if owner is not None and hasattr(owner, "panorama_type"):
            owner.panorama_type = "EQUIRECTANGULAR"
            break
    data.clip_start, data.clip_end = built.camera.data.clip_start, built.camera.data.clip_end
    up = Vector((0.0, 0.0, 1.0))
    forward = Vector(built.view.forward.tolist())
    level = forward - up * forward.dot(up)
    if level.length < 1e-3:
        level = Vector(built.view.up.tolist())
    level.normalize()
    right = level.cross(up)
    columns = np.eye(4)
    columns[:3, 0], columns[:3, 1], columns[:3, 2], columns[:3, 3] = right, up, -level, built.view.eye
    eye.matrix_world = Matrix(columns.tolist())
    scene.camera = eye
