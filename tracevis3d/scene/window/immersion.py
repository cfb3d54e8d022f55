"""Standing before a drawing: places to stand at, and signs that can be read from there."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import ArrayLike, NDArray

from ...layout.lettering import clean, set_texts
from .. import page
from ..parts import PART
from ..styles import Style
from ..text import shapes
from ..text.glyphs import typeface

Floats = NDArray[np.float64]

#: What a landmark is about fills this angle, and seems to be so many metres away.
_FILLS, _METRES = math.radians(60.0), 2.0
#: Nobody looks farther down than this for long.
_DOWN = math.radians(25.0)
#: Height of a sign's line, as an angle; characters in a line; most lines.
_LINE, _CHARACTERS, _LINES = math.radians(1.5), 40, 5
#: Signs stand above what is looked at, between these angles over the horizon.
_LOWEST, _HIGHEST = math.radians(4.0), math.radians(28.0)
#: How far before the data title and legends stand, as a share of its distance.
_BEFORE = 0.96
_LEFT_OUT = ("wall", "sign")
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Landmark:
    """A place to stand at.

    Attributes
    ----------
    name, caption : str
    eye, focus : (float, float, float)
        Where the viewer's eyes are, and what they look at.
    angle : float
        Direction of view around the z axis, in radians; 0 is along y.
    scale : float
        Scene units that a metre of the viewer takes.
    """

    name: str
    caption: str
    eye: tuple[float, float, float]
    focus: tuple[float, float, float]
    angle: float
    scale: float

    @property
    def distance(self) -> float:
        """From the eye to what is looked at."""
        return math.dist(self.eye, self.focus)


def landmark(name: str, caption: str, focus: ArrayLike, forward: ArrayLike, width: float) -> Landmark:
    """Return a place from where something is seen as a person sees it who stands before it.

    Parameters
    ----------
    name, caption : str
    focus : float (3,)
        What is looked at.
    forward : float (3,)
        From where: the direction of view, which is made level but for a look down.
    width : float
        How wide what is looked at is, in scene units.

    Returns
    -------
    Landmark

    Examples
    --------
    >>> at = landmark("All", "", (0, 0, 1), (1, 0, 0), 2.0)
    >>> round(at.angle, 4), round(at.distance, 3), round(at.scale, 3)
    (-1.5708, 1.732, 0.866)
    """
    at, ahead = np.asarray(focus, np.float64), np.asarray(forward, np.float64)
    level = ahead * (1.0, 1.0, 0.0)
    length = float(np.linalg.norm(level))
    level = level / length if length > 1e-6 else np.array([0.0, 1.0, 0.0])
    down = min(max(math.atan2(-float(ahead[2]), length), 0.0), _DOWN)
    distance = max(width, 1e-6) / 2 / math.tan(_FILLS / 2)
    eye = at - distance * math.cos(down) * level + distance * math.sin(down) * _UP
    angle = math.atan2(-float(level[0]), float(level[1]))
    return Landmark(name, caption, _three(eye), _three(at), angle, distance / _METRES)


def _three(point: Floats) -> tuple[float, float, float]:
    return float(point[0]), float(point[1]), float(point[2])


def caption_sign(where: Landmark, top: float, style: Style, name: str) -> list[Any]:
    """Return a landmark's caption as a sign above what it is about.

    Parameters
    ----------
    where : Landmark
    top : float
        The height of the drawing's highest point.
    style : Style
    name : str
        Of the objects.

    Returns
    -------
    list of bpy.types.Object
        Plate and text; empty without a caption.
    """
    over = math.atan2(top - where.eye[2], where.distance) + math.radians(2.0)
    height = where.eye[2] + where.distance * math.tan(min(max(over, _LOWEST), _HIGHEST))
    ahead = np.array([-math.sin(where.angle), math.cos(where.angle), 0.0])
    foot = np.asarray(where.eye) + ahead * where.distance * math.cos(_DOWN)
    foot[2] = height
    return sign(where.caption, foot, where.eye, style, name)


def sign(text: str, foot: ArrayLike, eye: ArrayLike, style: Style, name: str) -> list[Any]:
    """Return a sign that stands on a point and faces an eye.

    Parameters
    ----------
    text : str
        Lines are broken; what is too long is left out.
    foot : float (3,)
        The middle of its lower edge.
    eye : float (3,)
    style : Style
    name : str
        Of the objects.

    Returns
    -------
    list of bpy.types.Object
        Plate and text, not linked.
    """
    lines = [
        line
        for each in text.split("\n")
        for line in textwrap.wrap(clean(each), _CHARACTERS, placeholder=" …", max_lines=_LINES)
    ][: 2 * _LINES]
    if not lines:
        return []
    at, seen_from = np.asarray(foot, np.float64), np.asarray(eye, np.float64)
    away = (at - seen_from) * (1.0, 1.0, 0.0)
    distance = max(float(np.linalg.norm(at - seen_from)), 1e-6)
    away = away / max(float(np.linalg.norm(away)), 1e-9)
    right = np.cross(away, _UP)
    line = distance * math.tan(_LINE)
    faces = typeface()
    faces.need([*lines, "…"])
    size = line * faces.size_per_line
    wide = max(faces.width(each) for each in lines) * size
    n, margin = len(lines), 0.5 * line
    low, high = at - (wide / 2 + margin) * right, at + (wide / 2 + margin) * right
    tall = (n * line + 2 * margin) * _UP
    # A frame around the plate, which has the ground's colour.
    plate = np.array([[*style.ink[:3], 1.0], [*style.background[:3], 1.0]], np.float32)
    first = at - wide / 2 * right + margin * _UP - 0.01 * line * away
    start = np.array([first + (n - i - 0.8) * line * _UP for i in range(n)])
    setting = set_texts(lines, start, np.tile(right, (n, 1)), np.tile(_UP, (n, 1)), np.full(n, size), faces)
    ink = np.array([[*style.ink, 1.0]] * n, np.float32)
    inner = np.array([low, high, high + tall, low + tall])
    edge = 0.06 * line
    grown = np.array([-right - _UP, right - _UP, right + _UP, _UP - right]) * edge + edge / 4 * away
    corners = np.concatenate([inner + grown, inner])
    return [
        shapes.patches(f"{name} plate", corners, plate, style),
        shapes.texts(f"{name} text", setting, ink, style),
    ]


def print_before(view: Any, eye: Any, corners: Sequence[Sequence[float]]) -> list[Any]:
    """Return what is printed of a drawing, standing before it: title, legends, names, rulers.

    Parameters
    ----------
    view : bpy.types.Collection
    eye : bpy.types.Object
        The picture's camera, before which title and legends hang.
    corners : sequence of (float, float, float)
        Of the box around the data.

    Returns
    -------
    list of bpy.types.Object
        Copies that share their meshes, not linked.
    """
    matrix = np.array(eye.matrix_world)
    ahead, place = -matrix[:3, 2], matrix[:3, 3]
    near = _BEFORE * max(float(((np.asarray(corners) - place) @ ahead).min()), 1e-3)
    made = []
    for shown in view.objects:
        if shown.type != "MESH" or not page.is_printed(shown) or shown.get(PART) in _LEFT_OUT:
            continue
        pose = shown.matrix_world.copy()
        if shown.parent == eye:
            depth = _depth(shown, eye)
            if depth <= 0:
                continue
            pose = eye.matrix_world @ Matrix.Scale(near / depth, 4) @ eye.matrix_world.inverted() @ pose
        elif shown.parent is not None:
            continue
        copy = shown.copy()
        copy.parent = None
        copy.animation_data_clear()
        for key in list(copy.keys()):
            if key.startswith("tracevis3d"):
                del copy[key]
        copy.matrix_world = pose
        made.append(copy)
    return made


def _depth(shown: Any, eye: Any) -> float:
    """Return how far before a camera an object that hangs there is; 0 if it is empty."""
    if not len(shown.data.vertices):
        return 0.0
    point = shown.matrix_world @ shown.data.vertices[0].co
    return -float((eye.matrix_world.inverted() @ point)[2])


#: The collection of signs.
HOME = "TraceVis3D VR"


def home(scene: Any) -> Any | None:
    """Return the collection of a scene's signs; None where there are none.

    Parameters
    ----------
    scene : bpy.types.Scene

    Returns
    -------
    bpy.types.Collection or None
    """
    return next((child for child in scene.collection.children if child.name.startswith(HOME)), None)


def show(collection: Any, objects: Sequence[Any], group: str) -> None:
    """Link objects of a group, which pictures do not show.

    Parameters
    ----------
    collection : bpy.types.Collection
    objects : sequence of bpy.types.Object
    group : str
        By which they are hidden and removed.
    """
    for shown in objects:
        shown[GROUP] = group
        shown.hide_render, shown.hide_select, shown.hide_viewport = True, True, False
        collection.objects.link(shown)


#: The property that names an object's group.
GROUP = "tracevis3d_immersion"


def remove(collection: Any, group: str = "") -> None:
    """Remove the objects of a group, or all.

    Parameters
    ----------
    collection : bpy.types.Collection
    group : str
        Empty: all.
    """
    gone = [shown for shown in collection.objects if not group or shown.get(GROUP) == group]
    data = [shown.data for shown in gone]
    bpy.data.batch_remove(gone)
    bpy.data.batch_remove([block for block in data if block is not None and block.users == 0])
