"""Viewpoints in Blender: a camera and a marker in the timeline for each, with its caption in the picture."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...drawing.frame import Frame
from ...drawing.primitives import Camera
from ...drawing.viewpoints import Viewpoint
from ...layout.lettering import clean, set_texts
from .. import camera, compat
from ..build import Built
from ..parts import PART
from ..styles import Style
from ..text import shapes
from ..text.glyphs import typeface

#: Seconds at each viewpoint.
SECONDS = 4.0
#: The caption's margin, its line height and its greatest width, as shares of the picture's height.
_MARGIN, _LINE, _WIDEST = 0.035, 0.034, 1.5
#: The share of the picture's height that is kept for the caption.
_KEPT = 0.16
_MOST_LINES = 4
#: Prefix of the markers of viewpoints (a thin space), by which they are found.
_SIGN = "\u2009"
#: Objects that some viewpoints hide have this property.
_HIDES = "tracevis3d_hides"


def region(frame: Frame) -> camera.Rectangle:
    """Return the part of the picture that shows the scene, below the caption."""
    margin = _MARGIN * frame.height
    return margin, margin, frame.width - margin, (1.0 - _KEPT) * frame.height


def place(built: Built, viewpoints: Sequence[Viewpoint], fps: int = 24) -> int:
    """Give a built scene viewpoints.

    Each is a camera, bound to a marker of its name: its frames show what belongs to it.

    Parameters
    ----------
    built : Built
    viewpoints : sequence of Viewpoint
        Those of an earlier time are removed.
    fps : int
        Frames a second.

    Returns
    -------
    int
        The number of frames.
    """
    scene = built.scene
    length = max(2, round(SECONDS * fps))
    leave(scene, built.collection)
    _stand_still(built)
    eyes = [_eye(built, i, viewpoint) for i, viewpoint in enumerate(viewpoints)]
    scene.render.fps, scene.render.fps_base = fps, 1.0
    scene.frame_start, scene.frame_end, scene.frame_step = 1, length * len(viewpoints), 1
    for i, (viewpoint, eye) in enumerate(zip(viewpoints, eyes)):
        marker = scene.timeline_markers.new(_SIGN + viewpoint.name, frame=1 + i * length)
        marker.camera = eye
    kinds = {kind for viewpoint in viewpoints for kind in viewpoint.shows}
    own = [i for i, viewpoint in enumerate(viewpoints) if viewpoint.camera is None]
    for shown in built.collection.objects:
        kind = shown.get("tracevis3d_kind", "")
        if kind in kinds:
            _show(
                shown,
                [i for i, viewpoint in enumerate(viewpoints) if kind in viewpoint.shows],
                len(viewpoints),
                length,
            )
        elif shown.parent == built.camera:
            _show(shown, own, len(viewpoints), length)
        elif shown.get(PART, "").startswith("stop ") and shown.type == "MESH":
            _show(shown, [int(shown[PART].split()[1])], len(viewpoints), length)
    scene.camera = eyes[0] if eyes else built.camera
    scene.frame_set(1)
    return length * len(viewpoints)


def cameras_of(scene: Any) -> list[tuple[str, Any]]:
    """Return the names and cameras of the viewpoints of a scene, in the timeline's order."""
    markers = sorted(scene.timeline_markers, key=lambda marker: marker.frame)
    signed = (marker for marker in markers if marker.camera is not None and marker.name.startswith(_SIGN))
    return [(marker.name.removeprefix(_SIGN), marker.camera) for marker in signed]


def leave(scene: Any, collection: Any) -> None:
    """Remove viewpoints with their markers; what they hid is seen again.

    Parameters
    ----------
    scene : bpy.types.Scene
    collection : bpy.types.Collection
        Of the view.
    """
    gone = [shown for shown in collection.objects if shown.get(PART, "").startswith("stop ")]
    if not gone:
        return
    for marker in list(scene.timeline_markers):
        if marker.name.startswith(_SIGN):
            scene.timeline_markers.remove(marker)
    for shown in gone:
        _remove(shown)
    for shown in collection.objects:
        if shown.pop(_HIDES, None) is not None:
            shown.animation_data_clear()
            shown.hide_render = shown.hide_viewport = False


def _stand_still(built: Built) -> None:
    """Stop the animation of the drawing's time and of the camera."""
    for shown in built.collection.objects:
        for modifier in shown.modifiers:
            if compat.has_input(modifier, "Play"):
                compat.set_input(modifier, "Play", False)
    eye = built.camera
    pose = eye.matrix_world.copy()
    eye.animation_data_clear()
    eye.matrix_world = pose


def _remove(shown: Any) -> None:
    data = shown.data
    bpy.data.objects.remove(shown)
    if data is not None and data.users == 0:
        bpy.data.batch_remove([data])


def _eye(built: Built, index: int, viewpoint: Viewpoint) -> Any:
    """Return the camera of a viewpoint, made with its caption."""
    if viewpoint.camera is None:
        return built.camera
    corners = np.array(list(itertools.product(*zip(viewpoint.camera.low, viewpoint.camera.high))), np.float64)
    words: Camera = viewpoint.camera
    view = camera.fit(words, built.frame, region(built.frame), corners)
    name = f"{built.collection.name} {viewpoint.name}"
    eye = camera.place(view, name)
    eye[PART] = f"stop {index} camera"
    eye.delta_location = built.camera.delta_location
    built.collection.objects.link(eye)
    for part, shown in caption(viewpoint.caption, built.frame, built.style, camera.Pane.of(view), name):
        shown[PART] = f"stop {index} {part}"
        shown["tracevis3d_kind"] = f"stop {part}"
        built.collection.objects.link(shown)
        shown.parent = eye
    return eye


def caption(
    words: str, frame: Frame, style: Style, pane: camera.Pane, name: str, foot: bool = False
) -> Iterable[tuple[str, Any]]:
    """Make a caption's plate and text on a pane before a camera.

    Parameters
    ----------
    words : str
    frame : Frame
    style : Style
    pane : Pane
    name : str
        First word of the objects' names.
    foot : bool
        Whether it is at the foot of the picture, not at its top.

    Yields
    ------
    str
        The part: ``plate`` or ``caption``.
    bpy.types.Object
        In the coordinates of the camera, linked nowhere.
    """
    faces = typeface(frame.font)
    line = _LINE * frame.height
    size = line * faces.size_per_line
    text = clean(words)
    faces.need([text, "…"])
    widest = min(_WIDEST * frame.height, frame.width - 2 * _MARGIN * frame.height)
    per_line = max(20, int(widest / max(faces.width(text) * size / max(len(text), 1), 1e-9)))
    lines = textwrap.wrap(text, per_line, max_lines=_MOST_LINES, placeholder=" …") or [""]
    left, tall = _MARGIN * frame.height, (len(lines) + 0.4) * line
    top = tall + 0.5 * left if foot else frame.height - 0.5 * left
    # A band across the picture, so that nothing of the scene is cut off in the middle.
    low, high = (0.0, top + 0.5 * left) if foot else (top - tall, frame.height)
    corner = np.array([(0, low), (frame.width, low), (frame.width, high), (0, high)])
    plate: NDArray[np.float32] = np.array([[*style.background[:3], 1.0]], np.float32)
    ink = np.array([[*style.ink, 1.0]] * len(lines), np.float32)
    at = pane.local(corner)
    yield "plate", shapes.patches(f"{name} plate", at, plate, style)
    start = pane.local(np.array([[left, top - (i + 0.8) * line] for i in range(len(lines))]))
    start[:, 2] += 2e-4 * pane.depth
    n = len(lines)
    setting = set_texts(
        lines, start, np.tile([1.0, 0.0, 0.0], (n, 1)), np.tile([0.0, 1.0, 0.0], (n, 1)),
        np.full(n, size * pane.unit), faces,
    )  # fmt: skip
    yield "caption", shapes.texts(f"{name} caption", setting, ink, style)


def _show(shown: Any, viewpoints: list[int], count: int, length: int) -> None:
    """Let an object be seen in the frames of some viewpoints alone; such keyframes hold their value."""
    shown[_HIDES] = True
    for i in range(count):
        hidden = i not in viewpoints
        for setting in ("hide_render", "hide_viewport"):
            setattr(shown, setting, hidden)
            shown.keyframe_insert(setting, frame=1 + i * length)
