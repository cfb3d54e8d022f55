"""From a drawing to a file, whatever its suffix."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from ... import interrupts
from ...drawing.output import FIGURES, FILMS, STILLS, Output, check
from ...drawing.primitives import Drawing
from ...drawing.viewpoints import Viewpoint
from ...progress import Progress, part, silent
from ...trace.model import Trace
from ..build import Built, build, clear
from ..films import film, sound
from ..films.film import play
from ..geometry.forms import Purpose
from ..window.viewpoints import place
from . import engines, figure, visible
from .covered import legible
from .render import still
from .scene_files import export


@dataclass
class Produced:
    """The result.

    Attributes
    ----------
    stages : dict
        Seconds of each stage.
    counts : dict
        Labels shown and left out, overlaps, the engine, and ``visible_share`` where something is highlighted.
    """

    stages: dict[str, float] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)


def produce(
    drawing: Drawing,
    path: str | os.PathLike[str],
    output: Output,
    *,
    viewpoints: Sequence[Viewpoint] = (),
    changing: Callable[[float], Drawing] | None = None,
    recipe: str = "",
    traces: Sequence[Trace] = (),
    progress: Progress = silent,
) -> Produced:
    """Build a drawing in a scene of its own, write the file, and remove the scene.

    Parameters
    ----------
    drawing : Drawing
    path : path
    output : Output
    viewpoints : sequence of Viewpoint
        What scene files hold; without any they play the drawing's time.
    changing : callable, optional
        A film shows what ``changing(share) -> Drawing`` returns for each share of it, 0 to 1.
    recipe : str
        How the file is made again; a .png and figures keep it.
    traces : sequence of Trace
        Those that are drawn: .glb and .usdc have names from them.
    progress : Progress

    Returns
    -------
    Produced

    Raises
    ------
    UsageError, InputError, MissingDependency, Cancelled
    """
    check(path, output)
    # Blender swallows what is raised in its callbacks.
    with interrupts.handled(signal.SIGINT), interrupts.held():
        return _produce(drawing, Path(path), output, viewpoints, changing, recipe, traces, progress)


def _produce(
    drawing: Drawing,
    path: Path,
    output: Output,
    viewpoints: Sequence[Viewpoint],
    changing: Callable[[float], Drawing] | None,
    recipe: str,
    traces: Sequence[Trace],
    progress: Progress,
) -> Produced:
    suffix = path.suffix.lower()
    produced = Produced()
    purpose: Purpose = "draft" if output.draft else "film" if suffix in FILMS else "still"
    scene = bpy.data.scenes.new("TraceVis3D")
    built = None
    try:
        started = time.perf_counter()
        make = partial(
            build, output.ahead(drawing), style=output.style, frame=output.composed.frame, scene=scene,
            purpose=purpose,
            progress=part(progress, 0.0, 0.15),
        )  # fmt: skip
        built = make()
        if purpose == "still":
            built = legible(make, built)
        produced.stages["build"] = time.perf_counter() - started
        produced.counts.update(built.counts)
        engines.choose_device(scene, output.device)
        if (share := visible.share_in(built)) is not None:
            produced.counts["visible_share"] = round(share, 4)
        started = time.perf_counter()
        rest = part(progress, 0.15, 1.0)
        if suffix in STILLS:
            produced.counts["engine"] = still(
                built,
                path,
                engine=output.composed.engine,
                samples=output.samples,
                transparent=output.transparent,
                recipe=recipe,
                purpose=purpose,
                overprint=purpose == "still" and not built.counts["label_overlaps"],
                progress=rest,
                output=output,
            )
            produced.stages["render"] = time.perf_counter() - started
        elif suffix in FIGURES:
            produced.counts["engine"], texts = figure.write(
                built,
                path,
                engine=output.engine,
                samples=output.samples,
                transparent=output.transparent,
                recipe=recipe,
                purpose=purpose,
                progress=rest,
            )
            produced.counts.update(texts)
            produced.stages["render"] = time.perf_counter() - started
        elif suffix in FILMS:
            done = _film(built, drawing, path, output, changing, purpose, rest)
            produced.counts["engine"], produced.counts["frames"] = done
            produced.stages["render"] = time.perf_counter() - started
        else:
            _scene(built, drawing, path, output, viewpoints, traces, rest)
            produced.stages["export"] = time.perf_counter() - started
    finally:
        if built is not None:
            clear(built.collection)
            bpy.data.collections.remove(built.collection)
        # A file needs a scene: writing a .blend may have removed Blender's initial one.
        if len(bpy.data.scenes) > 1:
            bpy.data.scenes.remove(scene)
    progress(1.0, "done")
    return produced


def _film(
    built: Built,
    drawing: Drawing,
    path: Path,
    output: Output,
    changing: Callable[[float], Drawing] | None,
    purpose: Purpose,
    progress: Progress,
) -> tuple[str, int]:
    """Write a film; return its engine and its number of frames."""
    with contextlib.ExitStack() as kept:
        shoot: Callable[..., tuple[str, int]]
        if changing is not None:
            shoot = partial(film.changing, draw=_ahead(changing, output))
        elif output.sound:
            heard = kept.enter_context(sound.sound_file(drawing, output.seconds))
            shoot = partial(film.film, sound=heard)
        else:
            shoot = film.film
        return shoot(
            built,
            path=path,
            engine=output.composed.engine,
            samples=output.samples,
            seconds=output.seconds,
            fps=output.fps,
            purpose=purpose,
            progress=progress,
            output=output,
        )


def _scene(
    built: Built,
    drawing: Drawing,
    path: Path,
    output: Output,
    viewpoints: Sequence[Viewpoint],
    traces: Sequence[Trace],
    progress: Progress,
) -> None:
    """Write the scene itself, with its sound and with what moves in it."""
    if viewpoints:
        place(built, viewpoints, output.fps)
    else:
        play(built, output.seconds, output.fps)
    if output.sound:
        with sound.sound_file(drawing, output.seconds) as heard:
            sound.add_sound(built.scene, heard, packed=True)
    export.write(built, path, engine=output.engine, traces=traces, progress=progress)


def _ahead(draw: Callable[[float], Drawing], output: Output) -> Callable[[float], Drawing]:
    """Return a function that draws what an output looks at: the same drawing for the same one."""
    last: list[tuple[Drawing, Drawing]] = []

    def drawn(share: float) -> Drawing:
        drawing = draw(share)
        if not last or last[0][0] is not drawing:
            last[:] = [(drawing, output.ahead(drawing))]
        return last[0][1]

    return drawn
