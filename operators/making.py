"""From a trace to a view in the scene: the library draws without bpy, then its scene room builds."""

import os
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import bpy

from ..tracevis3d.drawing.frame import Frame
from ..tracevis3d.errors import MissingDependency
from ..tracevis3d.formats import unpack
from ..tracevis3d.progress import Progress, part
from . import facts, holding, settings, sources, viewport

#: Seconds that the last rebuild of a view took, by the session's id of its collection.
_seconds: dict[int, float] = {}


def frame_of(scene: bpy.types.Scene) -> Frame:
    """Return the frame of the scene's pictures, which decides what is wide enough to be drawn."""
    return Frame(max(16, scene.render.resolution_x), max(16, scene.render.resolution_y))


def read_and_draw(path: str, view: str, frame: Frame, progress: Progress) -> tuple[Any, Any, Any]:
    """Return trace, figure and drawing of the file at ``path``; touches nothing of Blender's."""
    from ..tracevis3d import api

    progress(0.0, f"reading {os.path.basename(path)}")
    trace = api.load(path, progress=part(progress, 0.0, 0.8))
    figure = api.view(view, trace)
    return trace, figure, figure.drawing(frame, part(progress, 0.8, 1.0))


def figure_of(collection: bpy.types.Collection, traces: list[Any]) -> Any:
    """Return the figure that the settings on ``collection`` describe."""
    from ..tracevis3d import api

    return api.view(settings.of(collection).view, *traces, **settings.values(collection))


def new_view(
    context: bpy.types.Context, trace: Any, figure: Any, drawing: Any, style: str, own_scene: bool
) -> bpy.types.Collection:
    """Add a view of ``trace``, to a scene of its own or to the current one, and make it the active one."""
    name = f"{_bare(trace.source.path)} {figure.name}"
    frame, before = frame_of(context.scene), context.scene
    own_scene = own_scene and context.window is not None
    scene = bpy.data.scenes.new(name) if own_scene else before
    collection = bpy.data.collections.new(name)
    try:
        scene.render.resolution_x, scene.render.resolution_y = frame.width, frame.height
        scene.tracevis3d_own |= own_scene
        scene.collection.children.link(collection)
        stored = settings.of(collection)
        stored.view = figure.name
        with settings.quietly():
            stored.style = style
        stored.sources.add().path = sources.relative(trace.source.path, bpy.data.filepath)
        shown, scene.tracevis3d_view = scene.tracevis3d_view, collection
        show(scene, collection, [trace], figure, drawing)
    except BaseException:
        bpy.data.collections.remove(collection)
        if own_scene:
            bpy.data.scenes.remove(scene)
        else:
            scene.tracevis3d_view = shown
        raise
    if own_scene:
        # Without OpenGL an engine may not work: the scene then keeps Blender's own choice.
        with suppress(MissingDependency):
            choose_engine(scene, collection, film=False)
        context.window.scene = scene
    return collection


def _bare(path: str) -> str:
    """Return the file's name without folder and suffixes."""
    name = os.path.basename(os.path.normpath(path))
    root, suffix = os.path.splitext(name)
    while suffix.lower() in unpack.SUFFIXES:
        root, suffix = os.path.splitext(root)
    return root or name


def choose_engine(scene: bpy.types.Scene, collection: bpy.types.Collection, film: bool) -> None:
    """Let the scene have the engine that the view's settings ask for, set up as on the command line.

    What was set for that engine by hand stays, unless another engine was used meanwhile.

    Raises
    ------
    MissingDependency
        If it can't render here.
    """
    from ..tracevis3d.scene import engines, styles

    stored, render = settings.of(collection), scene.render
    style = styles.named(stored.style)
    name = engines.suited(style.name, film) if stored.engine == "auto" else stored.engine
    if render.engine == engines.identifier(name):
        return
    from ..tracevis3d.scene.render import prepare

    shown = SimpleNamespace(scene=scene, collection=collection, style=style, frame=frame_of(scene))
    percentage = render.resolution_percentage
    prepare(shown, name, 0, render.film_transparent, film)
    render.resolution_percentage = percentage


def show(
    scene: bpy.types.Scene, collection: bpy.types.Collection, traces: list[Any], figure: Any, drawing: Any
) -> None:
    """Put ``drawing`` into the collection in place of what was there, and store what it was made from."""
    from ..tracevis3d.scene.build import build
    from ..tracevis3d.scene.film import play

    stored = settings.of(collection)
    render = scene.render
    percentage, current = render.resolution_percentage, scene.camera
    if current is not None and collection in current.users_collection:
        current = None  # it is about to be replaced
    with viewport.through_camera(scene):
        built = build(
            drawing,
            style=stored.style,
            frame=frame_of(scene),
            scene=scene,
            collection=collection,
            name=collection.name,
        )
    # What the person sees through stays what it was, unless it is the view that is looked at.
    render.resolution_percentage = percentage
    if scene.tracevis3d_own:
        play(built, stored.seconds, render.fps)
    if current is not None and settings.active_in(scene) != collection:
        scene.camera = current
    for source, trace in zip(stored.sources, traces, strict=True):
        _describe(source, trace)
        sources.remember(trace)
    holding.hold(collection, traces, drawing)
    _fill(stored.facts, facts.of_drawing(drawing, built.counts))
    shown, wanted = figure.parameters, settings.values(collection)
    stored.stale = any(getattr(shown, name) != value for name, value in wanted.items())


def _describe(source: bpy.types.PropertyGroup, trace: Any) -> None:
    """Store what the panel says about ``trace``, and by what it is found again."""
    source.format, source.hash, source.size = trace.source.format, trace.source.hash, str(trace.source.size)
    _fill(source.facts, facts.of_trace(trace))
    _fill(source.problems, facts.of_problems(trace))


def _fill(stored: Any, rows: Any) -> None:
    stored.clear()
    for row in rows:
        fact = stored.add()
        for name, text in zip(("label", "text", "detail"), row):
            setattr(fact, name, text)


def took(collection: bpy.types.Collection, seconds: float) -> None:
    """Remember how long a rebuild took, so that the next change knows whether it may follow at once."""
    _seconds[collection.session_uid] = seconds


def seconds_of(collection: bpy.types.Collection) -> float | None:
    """Return how long the last rebuild of the view took in this session; None if there was none yet."""
    return _seconds.get(collection.session_uid)
