"""Sound in Blender's sequencer: packed into a .blend, so that it plays anywhere; in films, their track."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...drawing.primitives import Drawing
from .. import compat
from .notes import RATE, RUNNING, samples_of, write_wave

#: The strip's name, and that of its sound.
NAME = "TraceVis3D events"


@contextlib.contextmanager
def sound_file(drawing: Drawing, seconds: float) -> Iterator[Path]:
    """Give a file with the sound of a film, as long as it is needed.

    Parameters
    ----------
    drawing : Drawing
    seconds : float
        Length of the film.

    Yields
    ------
    Path
        A .wav file.

    Raises
    ------
    UsageError
        If nothing in the drawing has a time.
    """
    with tempfile.TemporaryDirectory(prefix="tracevis3d-") as folder:
        path = Path(folder) / "events.wav"
        write_wave(samples_of(drawing, seconds, RUNNING * seconds), path)
        yield path


def add_sound(scene: Any, path: Path, packed: bool) -> Any:
    """Add a sound to a scene's sequencer, from its first frame on; return the strip.

    Parameters
    ----------
    scene : bpy.types.Scene
    path : Path
        A .wav file.
    packed : bool
        The .blend holds it; the file is not needed any more.

    Returns
    -------
    bpy.types.SoundStrip
    """
    if scene.sequence_editor is None:
        scene.sequence_editor_create()
    strips = compat.strips(scene)
    # Above what is there.
    channel = 1 + max((strip.channel for strip in strips), default=0)
    strip = strips.new_sound(NAME, str(path), channel, scene.frame_start)
    strip.sound.name = NAME
    if packed:
        strip.sound.pack()
        strip.sound.filepath = f"//{NAME}.wav"
    scene.render.ffmpeg.audio_codec = "AAC"
    scene.render.ffmpeg.audio_mixrate = RATE
    scene.render.ffmpeg.audio_channels = "MONO"
    return strip
