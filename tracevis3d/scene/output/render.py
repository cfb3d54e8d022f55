"""Still pictures of a built scene."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from ... import interrupts
from ...atomic import Incomplete, replacing
from ...drawing.output import Output
from ...drawing.primitives import Image
from ...errors import Cancelled, UsageError
from ...figures import picture_files
from ...figures.recipe import into_png
from ...places import check_folder
from ...progress import Progress, silent
from .. import compat
from ..build import Built, apply_frame
from ..geometry import forms
from ..geometry.forms import Purpose
from . import engines, eyes
from . import overprint as over
from .redirect import captured_output
from .verify import verify

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".exr": "OPEN_EXR", ".webp": "WEBP"}
_MOST_PIXELS_OF_WEBP = 16_383
#: Compression of the frames of films: they are read once.
_QUICK = 10
#: Samples per pixel where the user leaves them to us.
_SAMPLES: dict[Purpose, dict[str, int]] = {
    "still": {"workbench": 16, "eevee": 32, "cycles": 8},
    "film": {"workbench": 8, "eevee": 16, "cycles": 12},
    "draft": {"workbench": 5, "eevee": 4, "cycles": 4},
}
#: Pixels of the largest draft that Workbench draws once, at twice the size, instead of five times with smooth
#: edges: that takes software half the time.
_MOST_HALVED = 1920 * 1080


def still(
    built: Built,
    path: str | os.PathLike[str],
    *,
    engine: str = "auto",
    samples: int = 0,
    transparent: bool = False,
    recipe: str = "",
    purpose: Purpose = "still",
    overprint: bool = False,
    progress: Progress = silent,
    output: Output | None = None,
) -> str:
    """Render a picture into a file, which appears only when it is complete.

    Parameters
    ----------
    built : Built
    path : path
        .png .jpg .jpeg .exr .webp
    engine : {"auto", "workbench", "eevee", "cycles"}
    samples : int
        Per pixel; 0 leaves it to us.
    transparent : bool
        No background (not for .jpg).
    recipe : str
        How the picture is made again; a .png keeps it.
    purpose : {"still", "film", "draft"}
    overprint : bool
        Nothing of the data hides a text: they may be drawn over a picture by Cycles.
    progress : Progress
        May be called from a thread of the renderer.
    output : Output, optional
        For two eyes, or all directions.

    Returns
    -------
    str
        The engine.

    Raises
    ------
    UsageError
        If suffix or engine are not known.
    InputError
        If the file can't be written.
    MissingDependency
        If the engine does not work here.
    Cancelled
        If the user stopped it.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in _FORMATS:
        raise UsageError(f"{path}: the suffix {suffix!r} is not one of {' '.join(_FORMATS)}")
    if suffix == ".webp" and max(built.frame.width, built.frame.height) > _MOST_PIXELS_OF_WEBP:
        raise UsageError(f"{path}: WebP holds at most {_MOST_PIXELS_OF_WEBP:,} pixels a side; use .png")
    scene = built.scene
    name = prepare(built, engine, samples, transparent, purpose)
    settings = scene.render.image_settings
    compat.set_still_output(settings, _FORMATS[suffix])
    if output is not None:
        eyes.prepare(built, output)
    settings.color_mode = "RGBA" if transparent and suffix != ".jpg" else "RGB"
    if suffix == ".png":
        settings.color_depth, settings.compression = "8", 30
    elif suffix == ".exr":
        settings.color_depth = "16"
    else:
        settings.quality = 95
    check_folder(target)
    alone = output is None or not (output.stereo or output.panorama)
    plain = not samples and not transparent and suffix != ".exr"
    halved = purpose == "draft" and name == "workbench" and alone and plain
    draw = _halved if halved and built.frame.width * built.frame.height <= _MOST_HALVED else _picture
    overprinted = overprint and name == "cycles" and alone and suffix in over.SUFFIXES
    printed = over.over(built) if overprinted else []
    with replacing(target) as partial:
        if printed:
            over.draw(
                built,
                printed,
                partial,
                lambda engine: prepare(built, engine, samples, transparent or engine == "workbench", purpose),
                lambda place: _picture(scene, place, progress),
            )
            verify(partial, size=eyes.file_size(scene))
        else:
            draw(scene, partial, progress)
        around = eyes.file_size(scene) if output is not None and output.panorama else None
        if suffix == ".png":
            picture_files.finish_png(partial, built.frame.dpi, around)
            if recipe:
                into_png(partial, recipe)
        elif suffix in (".jpg", ".jpeg"):
            picture_files.finish_jpeg(partial, built.frame.dpi, around)
    return name


def render_frame(built: Built, path: Path, progress: Progress) -> None:
    """Render a frame of a film, whose scene is prepared.

    Parameters
    ----------
    built : Built
    path : Path
        .png
    progress : Progress
    """
    settings = built.scene.render.image_settings
    compat.set_still_output(settings, "PNG")
    settings.color_mode, settings.color_depth, settings.compression = "RGB", "8", _QUICK
    with replacing(path) as partial:
        _picture(built.scene, partial, progress)


def _picture(scene: Any, path: Path, progress: Progress) -> None:
    """Render into a file, and make sure that it is whole."""
    scene.render.filepath = str(path)
    run(scene, path, progress, frames=1)
    verify(path, size=eyes.file_size(scene))


def _halved(scene: Any, path: Path, progress: Progress) -> None:
    """Render at twice the size with one sample for each pixel, and write the means of four."""
    settings, width, height = scene.render.image_settings, *eyes.file_size(scene)
    written, smooth = settings.file_format, scene.display.render_aa
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.tga"
        settings.file_format = "TARGA_RAW"
        scene.display.render_aa, scene.render.resolution_percentage = "OFF", 200
        scene.render.filepath = str(large)
        try:
            run(scene, large, progress, frames=1)
        finally:
            settings.file_format = written
            scene.display.render_aa, scene.render.resolution_percentage = smooth, 100
        image = bpy.data.images.load(str(large))
        try:
            image.scale(width, height)
            image.file_format = written
            image.save(filepath=str(path), quality=settings.quality)
        finally:
            bpy.data.images.remove(image)
    verify(path, size=(width, height))


def prepare(built: Built, engine: str, samples: int, transparent: bool, purpose: Purpose = "still") -> str:
    """Set the scene up for an engine.

    Parameters
    ----------
    built : Built
    engine : {"auto", "workbench", "eevee", "cycles"}
    samples : int
        Per pixel; 0 leaves it to us.
    transparent : bool
        No background, and no wall.
    purpose : {"still", "film", "draft"}

    Returns
    -------
    {"workbench", "eevee", "cycles"}

    Raises
    ------
    UsageError
        If there is no such engine.
    MissingDependency
        If it does not work here.
    """
    name = engines.suited(built.style.name, purpose != "still") if engine == "auto" else engine
    scene = built.scene
    scene.render.engine = engines.identifier(name)
    apply_frame(scene, built.frame)
    scene.render.film_transparent = transparent
    scene.render.use_file_extension = True
    scene.render.use_overwrite, scene.render.use_placeholder = True, False
    scene.render.use_compositing = scene.render.use_sequencer = False
    leave_out_stamps(scene)
    for shown in built.collection.objects:
        if shown.name.startswith(f"{built.collection.name} wall") or shown.get("tracevis3d_part") == "wall":
            shown.hide_render = transparent
    forms.show(built.collection.objects, forms.form_of(purpose))
    count = samples or _SAMPLES[purpose][name]
    if name == "workbench":
        steps = (5, 8, 11, 16, 32)
        scene.display.render_aa = str(next((s for s in steps if s >= count), 32))
        # Backs lie behind fronts, but software OpenGL shades them too: a fifth of a comparison's time. Images
        # alone are open surfaces, of which either side may be seen.
        hide = purpose == "draft" and not any(isinstance(e, Image) for e in built.drawing.elements)
        scene.display.shading.show_backface_culling = hide
    elif name == "eevee":
        scene.eevee.taa_render_samples = count
        for setting, value in (("use_raytracing", False), ("use_shadows", True), ("shadow_ray_count", 2)):
            if hasattr(scene.eevee, setting):
                setattr(scene.eevee, setting, value)
    else:
        _prepare_cycles(scene, count, exact=built.style.emission >= 1.0)
    return name


def leave_out_stamps(scene: Any) -> None:
    """Let files contain no time or place of their making, so that equal pictures are equal files.

    Parameters
    ----------
    scene : bpy.types.Scene
    """
    for name in dir(scene.render):
        if name.startswith("use_stamp"):
            setattr(scene.render, name, False)


def _prepare_cycles(scene: Any, samples: int, exact: bool) -> None:
    cycles = scene.cycles
    cycles.samples = samples
    cycles.use_adaptive_sampling, cycles.adaptive_threshold = True, 0.02
    cycles.adaptive_min_samples = min(8, samples)
    cycles.seed = 0
    # Sun and sky, and what keeps them off: light that surfaces pass on to each other costs a quarter more.
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 0, 0, 0
    cycles.transparent_max_bounces = 16
    cycles.use_light_tree = False
    if scene.world is not None:
        # The world is uniform, so importance sampling is useless.
        scene.world.cycles.sampling_method = "NONE"
    cycles.caustics_reflective = cycles.caustics_refractive = False
    cycles.pixel_filter_type, cycles.filter_width = "BLACKMAN_HARRIS", 1.5
    # Without light there is no noise; a denoiser could only change colours.
    cycles.use_denoising = not exact and bpy.app.build_options.cycles and _has_denoiser(scene)
    scene.render.use_persistent_data = False
    scene.render.threads_mode = "AUTO"


def _has_denoiser(scene: Any) -> bool:
    try:
        scene.cycles.denoiser = "OPENIMAGEDENOISE"
    except TypeError:
        return False
    # The denoiser's guide images are sharp, so they need no prefiltering, which takes most of its time.
    for setting, value in (
        ("denoising_input_passes", "RGB_ALBEDO_NORMAL"),
        ("denoising_prefilter", "NONE"),
        ("denoising_quality", "BALANCED"),
    ):
        if hasattr(scene.cycles, setting):
            setattr(scene.cycles, setting, value)
    return True


_SAMPLE = re.compile(r"Sample (\d+)/(\d+)")


def run(scene: Any, output: Path, progress: Progress, frames: int, animation: bool = False) -> None:
    """Render, quietly, with progress.

    Parameters
    ----------
    scene : bpy.types.Scene
        Its settings say what is written where.
    output : Path
        The file that has to be there then.
    progress : Progress
    frames : int
        How many are rendered.
    animation : bool
        Render all frames of the scene, instead of the current one.

    Raises
    ------
    Cancelled
        If the user stopped it.
    Incomplete
        If Blender failed, or wrote no file.
    """
    stop: list[BaseException] = []
    stdout: Any = sys.stdout
    state = {"frame": 0, "share": 0.0}

    def report(share: float, what: str) -> None:
        if stop:
            return
        try:
            with contextlib.redirect_stdout(stdout):
                progress(share, what)
        except BaseException as error:  # Blender would swallow it: kept until the render returns
            stop.append(error)

    def on_stats(text: Any, *_: Any) -> None:
        if (found := _SAMPLE.search(str(text))) is not None:
            state["share"] = int(found[1]) / max(int(found[2]), 1)
            report((state["frame"] + state["share"]) / frames, "rendering")

    def on_frame(*_: Any) -> None:
        state["frame"] += 1
        state["share"] = 0.0
        report(min(state["frame"] / frames, 1.0), f"rendering frame {state['frame']} of {frames}")

    handlers: list[tuple[Any, Callable[..., None]]] = [(bpy.app.handlers.render_stats, on_stats)]
    if animation:
        handlers.append((bpy.app.handlers.render_post, on_frame))
    report(0.0, "rendering")
    for chain, function in handlers:
        chain.append(function)
    try:
        result: Any = None
        with captured_output() as written:
            stdout = sys.stdout
            try:
                # The operator prints its errors there, too.
                # A picture is taken at the frame of the context's scene, whichever scene is named.
                with contextlib.redirect_stdout(io.StringIO()), bpy.context.temp_override(scene=scene):
                    result = bpy.ops.render.render(
                        animation=animation, write_still=not animation, scene=scene.name
                    )
            except RuntimeError as error:
                raise Incomplete(reason(str(error))) from None
            log = written()
    finally:
        stdout = sys.stdout
        for chain, function in handlers:
            if function in chain:
                chain.remove(function)
    if stop:
        raise stop[0]
    interrupts.check()
    if "CANCELLED" in result:
        raise Cancelled("Rendering was stopped.")
    if not output.is_file():
        raise Incomplete(reason(log))
    report(1.0, "rendered")
    if stop:
        raise stop[0]


def reason(log: str) -> str:
    """Return what Blender printed about why something failed."""
    known = (os.strerror(code) for code in (errno.ENOSPC, errno.EFBIG, errno.EIO))
    if (said := next((text for text in known if text in log), None)) is not None:
        return said
    lines = [line.strip() for line in log.splitlines() if line.strip() and "EGL" not in line]
    result = [line for line in lines if "rror" in line or "annot" in line]
    return (result or lines or ["Blender gives no reason"])[-1]
