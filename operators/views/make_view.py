"""From a trace to a view in the scene: the library draws without bpy, then its scene room builds."""

import os
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import bpy

from ...tracevis3d import api, warm
from ...tracevis3d.analysis.measures import self_time_of
from ...tracevis3d.drawing.frame import Frame
from ...tracevis3d.errors import MissingDependency
from ...tracevis3d.formats import unpack
from ...tracevis3d.overlay.items import Theme
from ...tracevis3d.progress import Progress, part
from ...tracevis3d.scene import styles
from ...tracevis3d.scene.build import build
from ...tracevis3d.scene.films.film import play
from ...tracevis3d.scene.geometry import forms
from ...tracevis3d.scene.geometry.forms import Form
from ...tracevis3d.scene.output import engines
from ...tracevis3d.scene.output.render import prepare
from ...tracevis3d.scene.text.glyphs import typeface
from ...tracevis3d.scene.window import detail_objects, viewpoints
from ...tracevis3d.views import registry as views
from ...tracevis3d.views import shown_facts
from .. import handlers, signals
from ..state import filter_stacks, settings, sources, stored_metadata
from . import arrange, overview, viewport

#: Places for a new view, with descriptions.
PLACES = (
    (
        "AUTO",
        "Beside the Others",
        "Beside the views of this scene; if it has none, in a scene of its own with camera and light",
    ),
    ("OWN", "In Its Own Scene", "In a new scene, whose camera, light and colour management are its own"),
    ("THIS", "In This Scene", "In this scene, with its objects; its camera and light are changed"),
)
#: Duration of the last rebuild of a view in this session, in seconds, by its collection's session id; not
#: saved, because it depends on the machine.
_seconds: dict[int, float] = {}


#: Instead of a view's name: the view that suits the trace best.
SUITED = "AUTO"


#: Pixels at scale 1 beside a drawing, of sidebar, editors and navigation; its share of the rest.
_BESIDE, _SHARE = 735.0, 0.8


def line_in(context: bpy.types.Context) -> float:
    """Return the height of a line of the window's type, as a share of the width that a drawing gets there."""
    scale = context.preferences.system.ui_scale
    wide = max(context.window.width - _BESIDE * scale, 0.4 * context.window.width)
    return float(Theme(scale=scale).type / (_SHARE * wide))


def figure_in(line: float | None, view: str, traces: list[Any]) -> Any:
    """Return the figure of a view that is read in a window with such a line of type; None: as it is usual."""
    declared = views.find(view).in_window
    return api.view(view, *traces, **(declared(line) if declared is not None and line is not None else {}))


def read_and_draw(
    path: str, view: str, frame: Frame, progress: Progress, line: float | None = None
) -> tuple[Any, Any, Any]:
    """Return trace, figure and drawing of the file at ``path``; touches nothing of Blender's.

    ``view`` is a view's name, or :data:`SUITED`; ``line`` as for :func:`figure_in`.
    """
    progress(0.0, f"reading {os.path.basename(path)}")
    trace = api.load(path, progress=part(progress, 0.0, 0.8))
    figure = figure_in(line, views.suited(trace) if view == SUITED else view, [trace])
    return trace, figure, drawing_of(figure, frame, part(progress, 0.8, 1.0))


def drawing_of(figure: Any, frame: Frame, progress: Progress) -> Any:
    """Return the figure's drawing; in passing, compile what building it will need, if that was never done."""
    drawing = figure.drawing(frame, part(progress, 0.0, 0.9))
    progress(0.9, "preparing the scene")
    warm.compile_what_building_needs()
    for trace in figure.traces:
        # What the panel and the tooltip show of a call, and the strip of all of them.
        _ = self_time_of(trace)
        overview.prepare(trace, figure.filters)
    return drawing


def _take_glyphs() -> None:
    typeface()


def _try_engines() -> None:
    engines.suited("paper", False)


#: What building the first view of a session needs, each a few hundredths of a second.
PREPARATIONS = (_take_glyphs, _try_engines)


def figure_of(collection: bpy.types.Collection, traces: list[Any]) -> Any:
    """Return the figure that the settings on ``collection`` describe."""
    view, stack = settings.of(collection).view, filter_stacks.stack_of(collection)
    return figure_with(view, traces, settings.values(collection), stack)


def figure_with(view: str, traces: list[Any], values: dict[str, Any], stack: str) -> Any:
    """Return the figure of a view with these parameters, without what a filter stack hides."""
    return replace(api.view(view, *traces, **values), filters=stack)


def new_view(
    context: bpy.types.Context, traces: list[Any], figure: Any, drawing: Any, style: str, where: str
) -> bpy.types.Collection:
    """Add a view of ``traces`` and make it the active one.

    ``where`` is one of :data:`PLACES`.
    """
    name = f"{' and '.join(_bare(trace.source.path) for trace in traces)} {figure.name}"
    frame, before = settings.frame_of(context.scene), context.scene
    own_scene = where == "OWN" or (where == "AUTO" and not settings.all_in(before))
    own_scene = own_scene and context.window is not None
    scene = bpy.data.scenes.new(name) if own_scene else before
    collection = bpy.data.collections.new(name)
    try:
        scene.render.resolution_x, scene.render.resolution_y = frame.width, frame.height
        scene.tracevis3d_own |= own_scene
        scene.collection.children.link(collection)
        stored = settings.of(collection)
        shown = scene.tracevis3d_view
        with settings.quietly():
            stored.view = figure.name
            stored.style = style
            for trace in traces:
                stored.sources.add().path = sources.relative(trace.source.path, bpy.data.filepath)
            settings.assign(collection, vars(figure.parameters))
            scene.tracevis3d_overview = False
            scene.tracevis3d_view = collection
        if own_scene:
            # Before there is anything to evaluate: shown afterwards, all would be evaluated again.
            context.window.scene = scene
        show(scene, collection, traces, figure, drawing, new=True)
    except BaseException:
        bpy.data.collections.remove(collection)
        if own_scene:
            context.window.scene = before
            bpy.data.scenes.remove(scene)
        else:
            scene.tracevis3d_view = shown
        raise
    if own_scene:
        # Without OpenGL an engine may not work: the scene then keeps Blender's own choice.
        with suppress(MissingDependency):
            choose_engine(scene, collection, film=False)
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

    What was set for that engine manually stays, unless another engine was used meanwhile.

    Raises
    ------
    MissingDependency
        If it can't render here.
    """
    stored, render = settings.of(collection), scene.render
    style = styles.named(stored.style)
    name = engines.suited(style.name, film) if stored.engine == "auto" else stored.engine
    if render.engine == engines.identifier(name):
        return
    frame = settings.frame_of(scene)
    shown: Any = SimpleNamespace(scene=scene, collection=collection, style=style, frame=frame)
    percentage = render.resolution_percentage
    prepare(shown, name, 0, render.film_transparent, "film" if film else "still")
    # The scene keeps its settings for later stills, here or where it is opened without the extension.
    forms.show(collection.objects, Form.SUITED)
    render.resolution_percentage = percentage


def show(
    scene: bpy.types.Scene,
    collection: bpy.types.Collection,
    traces: list[Any],
    figure: Any,
    drawing: Any,
    new: bool = False,
) -> None:
    """Put ``drawing`` into the collection, replacing its content, and store its inputs.

    A ``new`` view goes beside those that the scene has.
    """
    stored = settings.of(collection)
    render = scene.render
    percentage = render.resolution_percentage
    detail_objects.leave(collection)
    viewpoints.leave(scene, collection)
    with viewport.through_camera(scene):
        arrange.lift(collection)
        built = build(
            drawing,
            style=stored.style,
            frame=settings.frame_of(scene),
            scene=scene,
            collection=collection,
            name=collection.name,
        )
        render.resolution_percentage = percentage
        if scene.tracevis3d_own:
            play(built, stored.seconds, render.fps)
        before = arrange.box(collection)
        with settings.quietly():
            stored.low, stored.high = drawing.camera.low, drawing.camera.high
            if new:
                arrange.place_beside(scene, collection)
            else:
                arrange.make_room(scene, collection, before)
        # The user's camera stays, unless it looks at this view.
        arrange.settle(scene)
    for source, trace in zip(stored.sources, traces, strict=True):
        _describe(source, trace)
        sources.remember(trace)
    stored_metadata.store(collection, traces, built.drawing)
    _store_facts(stored, drawing, built.counts)
    filter_stacks.store_effects(collection, traces)
    signals.on_show.send(scene, collection, traces, drawing)
    shown, wanted = figure.parameters, settings.values(collection)
    stored.stale = any(getattr(shown, name) != value for name, value in wanted.items())


def _store_facts(stored: Any, drawing: Any, counts: dict[str, int]) -> None:
    """Store the panel's texts about a drawing."""
    settings.fill(stored.facts, shown_facts.of_drawing(drawing, counts))
    stored.tables.clear()
    for title, rows in drawing.facts:
        table = stored.tables.add()
        table.name = title
        settings.fill(table.rows, rows)


def _describe(source: bpy.types.PropertyGroup, trace: Any) -> None:
    """Store the panel's texts about ``trace``, and the data to find it again."""
    source.format, source.hash, source.size = trace.source.format, trace.source.hash, str(trace.source.size)
    settings.fill(source.facts, shown_facts.of_trace(trace))
    settings.fill(source.problems, shown_facts.of_problems(trace))


def took(collection: bpy.types.Collection, seconds: float) -> None:
    """Remember how long a rebuild took, so that the next change knows whether it may follow at once."""
    _seconds[collection.session_uid] = seconds


def seconds_of(collection: bpy.types.Collection) -> float | None:
    """Return how long the last rebuild of the view took in this session; None if there was none yet."""
    return _seconds.get(collection.session_uid)


_CONNECTIONS = ((handlers.after_loading, _seconds.clear),)


def register() -> None:
    """Forget how long views of another file took."""
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
    _seconds.clear()
