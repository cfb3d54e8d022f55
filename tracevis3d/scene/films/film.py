"""Films: nodes play the time, the camera moves gently. A saved .blend also plays without the extension."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ... import interrupts
from ...atomic import replacing
from ...drawing.frame import Frame
from ...drawing.output import Output
from ...drawing.primitives import Drawing
from ...places import check_folder
from ...progress import Progress, part, silent
from ...trace.storage.cache import code_version
from .. import compat
from ..build import Built, build
from ..digest import digest
from ..geometry.forms import Purpose
from ..output import engines, eyes
from ..output.render import prepare, render_frame
from ..output.verify import verify
from .frames import kept_frames
from .join import container_of, even, is_whole, join
from .notes import RUNNING

#: Angle of the camera's movement around the subject, in radians.
_SWING = math.radians(9.0)


def play(built: Built, seconds: float, fps: int, still: bool = False) -> int:
    """Let the scene's frames play the drawing's time, and move the camera.

    The last frame is the still picture.

    Parameters
    ----------
    built : Built
    seconds : float
    fps : int
        Frames a second.
    still : bool
        The camera stays: who looks around moves it.

    Returns
    -------
    int
        The number of frames.
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
                compat.set_input(modifier, "Last", 1.0 + max(1.0, RUNNING * (frames - 1)))
    _swing(built, frames, still)
    scene.frame_set(frames)
    return frames


def _swing(built: Built, frames: int, still: bool) -> None:
    """Move the camera in a small arc that ends where the still picture is taken from."""
    eye: Any = built.camera
    eye.animation_data_clear()
    if built.style.straight or still:
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
    purpose: Purpose = "film",
    progress: Progress = silent,
    output: Output | None = None,
    sound: Path | None = None,
) -> tuple[str, int]:
    """Render a film (H.264) into a file, which appears only when it is complete.

    Its frames are kept in the cache until then: a film that was interrupted continues from there.

    Parameters
    ----------
    built : Built
    path : path
        .mp4 or .mkv
    engine : {"auto", "workbench", "eevee", "cycles"}
    samples : int
        Per pixel; 0 leaves it to us.
    seconds : float
    fps : int
        Frames a second.
    purpose : {"film", "draft"}
    progress : Progress
    output : Output, optional
        For two eyes, or all directions.
    sound : Path, optional
        A .wav file: what is heard.

    Returns
    -------
    (str, int)
        The engine, and the number of frames.

    Raises
    ------
    UsageError, InputError, MissingDependency, Cancelled
    """
    target = Path(path)
    container = container_of(target)
    built = replace(built, frame=even(built.frame))
    name = prepare(built, engine, samples, transparent=False, purpose=purpose)
    frames, drawn = play(built, seconds, fps, output is not None and output.panorama), digest(built.drawing)
    size = _for_eyes(built, output)

    def render(i: int, place: Path, progress: Progress) -> None:
        built.scene.frame_set(i + 1)
        render_frame(built, place, progress)

    def named(i: int) -> str:
        return f"{drawn}{_word(output)}-{i}"

    settings = (name, samples, purpose, fps, frames)
    _make(target, container, built, size, settings, named, render, progress, sound)
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
    purpose: Purpose = "film",
    progress: Progress = silent,
    output: Output | None = None,
) -> tuple[str, int]:
    """Render a film in which the drawing itself changes: each frame is drawn, built and rendered.

    Parameters
    ----------
    built : Built
        Any drawing of it; what stays from frame to frame is kept in its collection.
    draw : callable
        ``draw(share) -> Drawing`` at a share of the film, 0 to 1. Frames whose drawing is the very same
        object are rendered once.
    path, engine, samples, seconds, fps, purpose, progress, output
        As for :func:`film`.

    Returns
    -------
    (str, int)
        The engine, and the number of frames.

    Raises
    ------
    UsageError, InputError, MissingDependency, Cancelled
    """
    target = Path(path)
    container = container_of(target)
    frames = max(2, round(seconds * fps))
    name = engines.suited(built.style.name, quick=True) if engine == "auto" else engine
    built = replace(built, frame=even(built.frame))
    size = _size(built, output)
    last: list[tuple[Drawing, str]] = []

    def named(i: int) -> str:
        drawing = draw(i / (frames - 1))
        if not last or last[0][0] is not drawing:
            last[:] = [(drawing, digest(drawing))]
        return f"{last[0][1]}{_word(output)}"

    def render(i: int, place: Path, progress: Progress) -> None:
        now = build(
            last[0][0], style=built.style.name, frame=built.frame, scene=built.scene,
            collection=built.collection, purpose=purpose,
        )  # fmt: skip
        prepare(now, name, samples, transparent=False, purpose=purpose)
        _for_eyes(now, output)
        render_frame(now, place, progress)

    _make(target, container, built, size, (name, samples, purpose, fps, frames), named, render, progress)
    return name, frames


def _make(
    target: Path,
    container: str,
    built: Built,
    size: Frame,
    settings: tuple[str, int, Purpose, int, int],
    named: Callable[[int], str],
    render: Callable[[int, Path, Progress], None],
    progress: Progress,
    sound: Path | None = None,
) -> None:
    """Render the frames that are not kept, and join all of them.

    Parameters
    ----------
    size : Frame
        Of the film.
    settings : (str, int, str, int, int)
        Engine, samples, purpose, frames per second, number of frames.
    named : callable
        Returns what a frame shows, in a word: frames of one name are the same.
    render : callable
        Renders a frame, after its name was requested, into a file.
    sound : Path or None
        A .wav file.
    """
    *_, fps, frames = settings
    check_folder(target)
    programs = (bpy.app.version_string, code_version("drawing", "scene"))
    key = digest(named(0), built.style.name, built.frame, size, settings, programs)
    with replacing(target) as partial, kept_frames(key, target) as folder:
        pictures: list[Path] = []
        for i in range(frames):
            place = folder / f"{named(i)}.png"
            if place not in pictures[-1:] and not is_whole(place, size):
                here = part(progress, 0.95 * i / frames, 0.95 * (i + 1) / frames)
                render(i, place, _counting(here, i, frames))
            pictures.append(place)
            interrupts.check()
        join(pictures, partial, container, fps, size, part(progress, 0.95, 1.0), sound)
        verify(partial, frames=frames)


def _size(built: Built, output: Output | None) -> Frame:
    """Return the size of a film."""
    return even(built.frame) if output is None else eyes.file_frame(even(output.frame), output)


def _word(output: Output | None) -> str:
    """Return what tells frames of two eyes, or all directions, from others."""
    return "" if output is None else f"{output.stereo}{'around' if output.panorama else ''}"


def _for_eyes(built: Built, output: Output | None) -> Frame:
    """Set a prepared scene up for an output's eyes; return the size of the film."""
    if output is not None:
        eyes.prepare(built, replace(output, frame=even(output.frame)))
    return _size(built, output)


def _counting(progress: Progress, i: int, frames: int) -> Progress:
    return lambda done, what: progress(done, f"rendering frame {i + 1} of {frames}")
