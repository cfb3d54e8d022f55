"""Frames of a film on disk: which are whole, and how they are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ...atomic import Incomplete
from ...drawing.frame import Frame
from ...errors import UsageError
from ...progress import Progress
from .. import compat
from ..build import apply_frame, show_colors_as_data
from ..output.render import leave_out_stamps, run
from ..output.verify import verify
from .sound import add_sound

_CONTAINERS = {".mp4": "MPEG4", ".mkv": "MKV"}


def is_whole(picture: Path, frame: Frame) -> bool:
    """Return whether a frame was written to its end, in the film's size.

    Parameters
    ----------
    picture : Path
    frame : Frame

    Returns
    -------
    bool
    """
    try:
        verify(picture, size=(frame.width, frame.height))
    except Incomplete:
        return False
    return True


def even(frame: Frame) -> Frame:
    """Return the frame that H.264 takes: it stores colours at half resolution, so both sides are even."""
    return replace(frame, width=frame.width + frame.width % 2, height=frame.height + frame.height % 2)


def container_of(target: Path) -> str:
    """Return Blender's name of the container that a film's suffix asks for.

    Parameters
    ----------
    target : Path

    Returns
    -------
    str

    Raises
    ------
    UsageError
        If it is not that of a film.
    """
    container = _CONTAINERS.get(target.suffix.lower())
    if container is None:
        raise UsageError(f"{target}: the suffix {target.suffix!r} is not one of {' '.join(_CONTAINERS)}")
    return container


def join(
    pictures: Sequence[Path],
    target: Path,
    container: str,
    fps: int,
    frame: Frame,
    progress: Progress,
    sound: Path | None = None,
) -> None:
    """Write pictures as a film, by the sequencer of a scene of its own.

    Parameters
    ----------
    pictures : sequence of Path
        The frames, all in one folder.
    target : Path
    container : {"MPEG4", "MKV"}
    fps : int
        Frames a second.
    frame : Frame
        The pictures' size.
    progress : Progress
    sound : Path, optional
        A .wav file: what is heard.

    Raises
    ------
    Cancelled
        If the user stopped it.
    Incomplete
        If Blender did not write the film to its end.
    """
    scene: Any = bpy.data.scenes.new("TraceVis3D film")
    try:
        apply_frame(scene, frame)
        show_colors_as_data(scene)
        scene.sequence_editor_create()
        strip = compat.strips(scene).new_image("film", str(pictures[0]), 1, 1)
        for picture in pictures[1:]:
            strip.elements.append(picture.name)
        scene.frame_start, scene.frame_end, scene.frame_step = 1, len(pictures), 1
        scene.render.fps, scene.render.fps_base = fps, 1.0
        scene.render.use_sequencer, scene.render.use_compositing = True, False
        scene.render.use_file_extension = True
        leave_out_stamps(scene)
        compat.set_movie_output(scene.render, container)
        if sound is not None:
            add_sound(scene, sound, packed=False)
        scene.render.filepath = str(target)
        run(scene, target, progress, frames=len(pictures), animation=True)
    finally:
        bpy.data.scenes.remove(scene)
