"""Films: time plays in the nodes, the camera moves gently. A saved .blend plays the same without us."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...atomic import replacing
from ...drawing.primitives import Drawing
from ...errors import UsageError
from ...progress import Progress, part, silent
from .. import compat
from ..build import Built, apply_frame, build, show_colors_as_data
from . import engines
from .render import prepare, run, still
from .verify import verify

_CONTAINERS = {".mp4": "MPEG4", ".mkv": "MKV"}
#: Share of the film in which time runs; then the whole picture stands.
_RUNNING = 0.8
#: How far the camera comes from, in radians around the subject.
_SWING = math.radians(9.0)


def play(built: Built, seconds: float, fps: int) -> int:
    """Let the scene's frames play the drawing's time, and move the camera; return the number of frames.

    The last frame is the still picture.
    """
    scene = built.scene
    frames = max(2, round(seconds * fps))
    scene.frame_start, scene.frame_end, scene.frame_step = 1, frames, 1
    scene.render.fps, scene.render.fps_base = fps, 1.0
    for shown in built.collection.objects:
        for modifier in shown.modifiers:
            if compat.has_input(modifier, "Play"):
                compat.set_input(modifier, "Play", True)
                compat.set_input(modifier, "First", 1.0)
                compat.set_input(modifier, "Last", 1.0 + max(1.0, _RUNNING * (frames - 1)))
    _swing(built, frames)
    scene.frame_set(frames)
    return frames


def _swing(built: Built, frames: int) -> None:
    """Move the camera in a small arc that ends where the still picture is taken from."""
    eye: Any = built.camera
    eye.animation_data_clear()
    if built.style.straight:
        return
    low, high = (np.array(v, np.float64) for v in (built.drawing.camera.low, built.drawing.camera.high))
    middle, up = Vector(((low + high) / 2).tolist()), Vector(built.drawing.camera.up)
    end = eye.matrix_world.copy()
    turn = Matrix.Translation(middle) @ Matrix.Rotation(-_SWING, 4, up) @ Matrix.Translation(-middle)
    begin = turn @ end
    begin.translation += (begin.translation - middle) * 0.06
    eye.rotation_mode = "QUATERNION"
    for frame, pose in ((1, begin), (frames, end)):
        eye.matrix_world = pose
        eye.keyframe_insert("location", frame=frame)
        eye.keyframe_insert("rotation_quaternion", frame=frame)
    compat.ease(eye)


def film(
    built: Built,
    path: str | os.PathLike[str],
    *,
    engine: str = "auto",
    samples: int = 0,
    seconds: float = 8.0,
    fps: int = 24,
    progress: Progress = silent,
) -> tuple[str, int]:
    """Render a film (H.264) into ``path``, .mp4 or .mkv, which appears only when it is complete.

    Returns
    -------
    (str, int)
        The engine, and the number of frames.

    Raises
    ------
    UsageError, InputError, MissingDependency, Cancelled
    """
    target = Path(path)
    container = _container(target)
    name = prepare(built, engine, samples, transparent=False, film=True)
    scene = built.scene
    _write_films(scene, container)
    frames = play(built, seconds, fps)
    with replacing(target) as partial:
        scene.render.filepath = str(partial)
        run(scene, partial, progress, frames=frames, animation=True)
        verify(partial, frames=frames)
    return name, frames


def changing(
    built: Built,
    draw: Callable[[float], Drawing],
    path: str | os.PathLike[str],
    *,
    engine: str = "auto",
    samples: int = 0,
    seconds: float = 8.0,
    fps: int = 24,
    progress: Progress = silent,
) -> tuple[str, int]:
    """Render a film in which the drawing itself changes: each frame is drawn, built and rendered.

    Parameters
    ----------
    built : Built
        Any drawing of it; what stays from frame to frame is kept in its collection.
    draw : callable
        ``draw(share) -> Drawing`` at a share of the film, 0 to 1. Frames whose drawing is the very same
        object are rendered once.
    path, engine, samples, seconds, fps, progress
        As for :func:`film`.

    Raises
    ------
    UsageError, InputError, MissingDependency, Cancelled
    """
    target = Path(path)
    container = _container(target)
    frames = max(2, round(seconds * fps))
    name = engines.suited(built.style.name, True) if engine == "auto" else engine
    pictures: list[Path] = []
    with replacing(target) as partial, tempfile.TemporaryDirectory(prefix="tracevis3d-film-") as folder:
        before: Drawing | None = None
        for i in range(frames):
            here = part(progress, 0.95 * i / frames, 0.95 * (i + 1) / frames)
            drawing = draw(i / (frames - 1))
            if drawing is before:
                pictures.append(pictures[-1])
                continue
            before = drawing
            built = build(
                drawing, style=built.style.name, frame=built.frame, scene=built.scene,
                collection=built.collection,
            )  # fmt: skip
            pictures.append(Path(folder) / f"{i:06}.png")
            still(built, pictures[-1], engine=name, samples=samples, progress=here)
        _join(pictures, partial, container, fps, built, part(progress, 0.95, 1.0))
        verify(partial, frames=frames)
    return name, frames


def _container(target: Path) -> str:
    container = _CONTAINERS.get(target.suffix.lower())
    if container is None:
        raise UsageError(f"{target}: the suffix {target.suffix!r} is not one of {' '.join(_CONTAINERS)}")
    return container


def _write_films(scene: Any, container: str) -> None:
    # H.264 stores colours at half resolution: both sides have to be even.
    scene.render.resolution_x += scene.render.resolution_x % 2
    scene.render.resolution_y += scene.render.resolution_y % 2
    compat.set_movie_output(scene.render, container)


def _join(
    pictures: Sequence[Path], target: Path, container: str, fps: int, built: Built, progress: Progress
) -> None:
    """Write pictures of one folder as a film, by the sequencer of a scene of its own."""
    scene: Any = bpy.data.scenes.new("TraceVis3D film")
    try:
        apply_frame(scene, built.frame)
        show_colors_as_data(scene)
        scene.sequence_editor_create()
        strip = compat.strips(scene).new_image("film", str(pictures[0]), 1, 1)
        for picture in pictures[1:]:
            strip.elements.append(picture.name)
        scene.frame_start, scene.frame_end, scene.frame_step = 1, len(pictures), 1
        scene.render.fps, scene.render.fps_base = fps, 1.0
        scene.render.use_sequencer, scene.render.use_compositing = True, False
        scene.render.use_file_extension = True
        _write_films(scene, container)
        scene.render.filepath = str(target)
        run(scene, target, progress, frames=len(pictures), animation=True)
    finally:
        bpy.data.scenes.remove(scene)
