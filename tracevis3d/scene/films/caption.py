"""Captions of films: a strip at the foot of the picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...drawing.frame import Frame
from ...layout.lettering import Typeface, clean, set_texts, shorten
from ...progress import silent
from .. import camera, compat, lighting, styles
from ..build import apply_frame, show_colors_as_data
from ..output import engines, pixels, render
from ..text import shapes
from ..text.glyphs import typeface

#: Height of the strip, its margin at both sides, and heights of its lines by their number, as shares of the
#: picture's height.
_STRIP, _SIDE = 0.135, 0.045
_LINES = {1: 0.046, 2: 0.046, 3: 0.036}


def height(frame: Frame) -> int:
    """Return the pixels that a caption takes at the foot of a picture."""
    return round(_STRIP * frame.height)


def lines_of(text: str, frame: Frame, faces: Typeface) -> tuple[list[str], float]:
    """Return a caption's lines, and the height of a line in pixels; what has no room is left out.

    Parameters
    ----------
    text : str
    frame : Frame
    faces : Typeface

    Returns
    -------
    list of str
        Three at most.
    float
    """
    text = clean(text)
    faces.need([text, "…"])
    wide = frame.width - 2 * _SIDE * frame.height
    for most, share in _LINES.items():
        line = share * frame.height
        room = wide / (line * faces.size_per_line)
        lines = _wrapped(text, room, faces)
        if len(lines) <= most:
            return lines, line
    return [*lines[: most - 1], shorten(" ".join(lines[most - 1 :]), room, faces)], line


def _wrapped(text: str, room: float, faces: Typeface) -> list[str]:
    """Break a text into lines, about as long as each other."""
    lines = _greedy(text, room, faces)
    if len(lines) > 1:
        even = faces.width(text) / len(lines)
        for share in (1.05, 1.15, 1.3):
            if len(found := _greedy(text, min(even * share, room), faces)) == len(lines):
                return found
    return lines


def _greedy(text: str, room: float, faces: Typeface) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and faces.width(longer) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def strip(text: str, frame: Frame, style: str, place: Path) -> NDArray[np.uint8]:
    """Return the strip with a caption.

    Parameters
    ----------
    text : str
    frame : Frame
        Of the whole picture.
    style : str
    place : Path
        A file to render it into.

    Returns
    -------
    uint8 (rows, columns, 3)
        The highest row first.
    """
    look, high = styles.named(style), height(frame)
    ground = np.round(np.array(look.background) * 255).astype(np.uint8)
    if not text.strip():
        return np.broadcast_to(ground, (high, frame.width, 3)).copy()
    faces = typeface(frame.font)
    lines, line = lines_of(text, frame, faces)
    size, n = line * faces.size_per_line, len(lines)
    middle = frame.width / 2
    top = high / 2 + n * line / 2
    left = [middle - faces.width(text) * size / 2 for text in lines]
    base = top - (np.arange(n) + 0.5) * line - 0.5 * faces.cap_height * size
    start = np.column_stack([left, np.zeros(n), base])
    right, up = np.tile([1.0, 0.0, 0.0], (n, 1)), np.tile([0.0, 0.0, 1.0], (n, 1))
    setting = set_texts(lines, start, right, up, np.full(n, size), faces)
    ink = np.array([[*look.ink, 1.0]] * n, np.float32)
    own = Frame(frame.width, high, frame.dpi)
    view = camera.View(
        np.array([middle, -10.0, high / 2]), np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]),
        np.array([0.0, 1.0, 0.0]), middle, False, own, (middle, high / 2), 9.0, 11.0,
    )  # fmt: skip
    scene: Any = bpy.data.scenes.new("TraceVis3D caption")
    shown = [shapes.texts("TraceVis3D caption", setting, ink, look), camera.place(view, "TraceVis3D caption")]
    try:
        for one in shown:
            scene.collection.objects.link(one)
        scene.camera, scene.world = shown[1], lighting.world(look)
        apply_frame(scene, own)
        show_colors_as_data(scene)
        name = engines.suited("flat", quick=True)
        scene.render.engine = engines.identifier(name)
        scene.render.use_compositing = scene.render.use_sequencer = False
        if name == "workbench":
            scene.display.render_aa = "16"
        else:
            scene.cycles.samples = 16
        compat.set_still_output(scene.render.image_settings, "PNG")
        scene.render.image_settings.color_mode = "RGB"
        scene.render.filepath = str(place)
        render.run(scene, place, silent, frames=1)
        return pixels.read(place)[..., :3]
    finally:
        place.unlink(missing_ok=True)
        data = [one.data for one in shown]
        bpy.data.batch_remove(shown)
        bpy.data.batch_remove([block for block in data if block.users == 0])
        bpy.data.scenes.remove(scene)
