"""Level of detail in 3D views: when one comes to rest after zooming, views show what can be seen there.

No step of undo is made, and the picture's own objects stay as they are: the detail lies beside
them, see :mod:`tracevis3d.scene.window.detail_objects`.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import BoolProperty

from ....tracevis3d.drawing.filtered import thinned
from ....tracevis3d.drawing.primitives import Drawing
from ....tracevis3d.errors import TraceVisError
from ....tracevis3d.layout.sight.view_projection import ViewProjection, whole_in_sight
from ....tracevis3d.parameters import as_key
from ....tracevis3d.scene.window import detail_objects, element_metadata
from ....tracevis3d.views import filtering, registry
from ....tracevis3d.views.detail import Detail, SpatialLevelOfDetail
from ....tracevis3d.views.element_metadata import metadata_of
from ....tracevis3d.views.view import level_of_detail_of
from ... import signals
from ...state import filter_stacks, settings, sources
from ...task import idle
from . import transition, window_time, zoom

_REST = 0.25  # seconds without a move after which a 3D view is at rest
#: Zoom factor, relative to the picture or the current detail, from which more detail is made.
_WORTH = 1.5
_MARGIN = 0.5  # of what is seen, on either side


#: Each returns region and eye, as one, of the lens over a 3D view; None without one.
lenses: list[Callable[[bpy.types.Area], Any]] = []
#: A lens has the whole view show its detail, which stands still then, unless that were more elements.
_MOST = 25_000

#: A view shows new detail: its collection.
on_enter: signals.Signal[[Any]] = signals.Signal()
#: Objects are about to be replaced by others of more detail, or of less.
on_replace: signals.Signal[[list[Any]]] = signals.Signal()


class _Rest:
    """The 3D view that moved last, and the time."""

    def __init__(self) -> None:
        self.area = 0
        self.look: Any = None
        self.moved = 0.0


_rest = _Rest()


def saw(context: bpy.types.Context) -> None:
    """Take note that a 3D view is being drawn; from its handler, so it costs next to nothing."""
    view, area = context.region_data, context.area
    if view is None or area is None or not context.scene.tracevis3d_detail:
        return
    # After a turn there may be something else to see from the same place.
    matrix = tuple(tuple(row) for row in view.perspective_matrix)
    lens = _lens_over(area)
    mouse = (lens.x, lens.y) if lens is not None else None
    look = (area.as_pointer(), matrix, context.scene.name, transition.motion.ended, mouse)
    if look == _rest.look:
        return
    _rest.look, _rest.area, _rest.moved = look, area.as_pointer(), time.perf_counter()
    if not bpy.app.timers.is_registered(wait):
        bpy.app.timers.register(wait, first_interval=_REST)


def wait() -> float | None:
    """Wait until the 3D view is at rest; a timer of Blender's."""
    left = _REST - (time.perf_counter() - _rest.moved)
    if left > 0.01 or zoom.is_on_the_way() or window_time.is_gliding() or transition.is_running():
        return max(left, 0.05)
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.as_pointer() == _rest.area and area.type == "VIEW_3D":
                follow(window.scene, area)
    return None


def _lens_over(area: bpy.types.Area) -> Any:
    return next((found for over in lenses if (found := over(area)) is not None), None)


def follow(scene: bpy.types.Scene, area: bpy.types.Area) -> int:
    """Let the views of ``scene`` show what can be seen in ``area``; returns how many have changed."""
    if not idle() or bpy.context.mode != "OBJECT" or _is_rendering():
        return 0
    region = next(region for region in area.regions if region.type == "WINDOW")
    eye, lens = area.spaces.active.region_3d, _lens_over(area)
    changed = 0
    for view in settings.all_in(scene):
        try:
            changed += _follow(scene, view, region, eye, lens)
        except TraceVisError as error:
            print(f"TraceVis3D: {error}")
    return changed


def _is_rendering() -> bool:
    return bool(bpy.app.is_job_running("RENDER"))


def _follow(scene: bpy.types.Scene, view: bpy.types.Collection, region: Any, eye: Any, lens: Any) -> bool:
    traces = sources.in_memory(view)
    if traces is None or settings.of(view).stale or view.library is not None:
        return False
    levels = _detail_of(view, traces, settings.frame_of(scene))
    if levels is None:
        return False
    if isinstance(levels, SpatialLevelOfDetail):
        return _open_around_eye(view, levels, traces, lens or region, lens or eye)
    changed = False
    for i, pane in enumerate(levels.panes):
        own = [
            o
            for o in view.objects
            if o.get("tracevis3d_kind") in pane.kinds
            and o.get("tracevis3d_source") == pane.source
            and o.visible_get()
        ]
        found = seen(own, region, eye) if own else None
        if found is None:
            continue
        within = seen(own, lens, lens) if lens is not None else None
        low, high, pixels = pane.at(found[0]), pane.at(found[1]), found[2]
        whole = low, high
        if within is not None:
            low, high, pixels = pane.at(within[0]), pane.at(within[1]), within[2]
        if pixels < _WORTH * pane.pixels_per_unit:
            changed |= _leave(view, pane.source)
            continue
        now = detail_objects.shown_detail(view, pane.source)
        if now is not None and now[0] <= low and high <= now[1] and 1 / _WORTH < pixels / now[2] < _WORTH:
            continue
        at = detail_objects.view_of(region, eye, own[0].matrix_world)
        if within is None or not show(view, levels, i, traces, _wider(whole, pane), pixels, at, _MOST):
            show(view, levels, i, traces, _wider((low, high), pane), pixels, at)
        changed = True
    return changed


def _wider(seen_of_it: tuple[float, float], pane: Any) -> tuple[float, float]:
    """Return what a pane shows of its window, and some on either side: who moves a little sees it too."""
    low, high = seen_of_it
    room = _MARGIN * (high - low)
    return max(low - room, pane.window[0]), min(high + room, pane.window[1])


def show(
    view: bpy.types.Collection,
    levels: Any,
    pane: int,
    traces: list[Any],
    window: tuple[float, float],
    pixels_per_unit: float,
    eye: Any,
    most: float = math.inf,
) -> bool:
    """Show the detail of one pane of a view within a part of its window, with names for ``eye`` to read.

    Returns whether it is shown: not if that were more than ``most`` elements.
    """
    near = levels.look(pane, window, pixels_per_unit)
    if sum(map(len, near.parts)) > most:
        return False
    part, seen_of_it = levels.panes[pane], (float(window[0]), float(window[1]), pixels_per_unit)
    _enter(view, near, part.source, part.kinds, levels.camera, traces, eye, seen_of_it)
    return True


def _open_around_eye(
    view: bpy.types.Collection, levels: SpatialLevelOfDetail, traces: list[Any], region: Any, eye: Any
) -> bool:
    """Let a view show what opens near the camera, in all directions; return whether that changed it."""
    own = [
        shown
        for shown in view.objects
        if shown.get("tracevis3d_kind") in levels.kinds
        and shown.get("tracevis3d_source") == levels.source
        and shown.visible_get()
    ]
    if not own:
        return False
    look = detail_objects.view_of(region, eye, own[0].matrix_world)
    near = levels.look_from(look, detail_objects.opened(view, levels.source))
    if near is None:
        return _leave(view, levels.source)
    _enter(view, near, levels.source, levels.kinds, levels.camera, traces, look, near.opened)
    return True


def _enter(
    view: bpy.types.Collection,
    near: Detail,
    source: int,
    kinds: tuple[str, ...],
    camera: Any,
    traces: list[Any],
    eye: Any,
    detail: Any,
) -> None:
    """Show the zoomed-in detail of one of a view's traces, without objects hidden in Blender."""
    drawing = Drawing(near.palette, near.parts, camera, near.names, meaning=near.meaning)
    if stack := filter_stacks.stack_of(view):
        drawing = thinned(drawing, {i: filtering.states(trace, stack) for i, trace in enumerate(traces)})
    # As in a picture: no object is made for a kind without elements.
    parts = tuple(part for part in drawing.elements if len(part))
    on_replace.send(_shown(view, source) or detail_objects.picture_of(view, source, kinds))
    detail_objects.enter(
        view,
        source,
        kinds,
        parts,
        drawing.labels,
        [metadata_of(part, drawing, traces) for part in parts],
        near.palette,
        settings.of(view).style,
        camera,
        eye,
        detail,
        bool(window_time.scene_of(view).tracevis3d_detail_rendered),
    )
    on_enter.send(view)


def _shown(view: bpy.types.Collection, source: int) -> list[Any]:
    """Return the objects of a trace's detail."""
    return [shown for shown in detail_objects.objects_of(view, source) if "tracevis3d_kind" in shown]


def _leave(view: bpy.types.Collection, source: int) -> bool:
    """Show the picture's own objects of a trace again; return whether there was a detail."""
    if shown := _shown(view, source):
        on_replace.send(shown)
    return detail_objects.leave(view, source)


def seen(parts: list[Any], region: Any, eye: Any) -> tuple[float, float, float] | None:
    """Return from which x to which boxes can be seen, and the most pixels that a unit takes there.

    Parameters
    ----------
    parts : list of bpy.types.Object
        Boxes or bent blocks of one view.
    region, eye
        Of the 3D view.

    Returns
    -------
    (float, float, float) or None
        None if nothing of the view can be seen.
    """
    found = []
    for shown in parts:
        pickable = element_metadata.pickable_mesh(shown)
        if pickable is not None and len(pickable):
            matrix = eye.perspective_matrix @ shown.matrix_world
            view = ViewProjection.of(matrix, region.width, region.height)
            found.append(view.x_in_sight(pickable.low, pickable.size))
    return whole_in_sight(found)


def _detail_of(view: bpy.types.Collection, traces: list[Any], frame: Any) -> Any:
    """Return the level of detail of a view; None if it declares none."""
    declared = registry.find(settings.of(view).view)
    return level_of_detail_of(traces, declared, as_key(settings.values(view)), frame)


def _switched(scene: bpy.types.Scene, _context: bpy.types.Context) -> None:
    """The setting was changed: remove the detail, or show it at the next rest."""
    _rest.look = None
    for view in settings.all_in(scene):
        if not scene.tracevis3d_detail:
            detail_objects.leave(view)
            continue
        for shown in detail_objects.objects_of(view):
            shown.hide_render = not scene.tracevis3d_detail_rendered
        for shown in detail_objects.replaced_objects(view):
            shown.hide_render = scene.tracevis3d_detail_rendered


def forget() -> None:
    """Look anew at the 3D view that is drawn next."""
    _rest.look = None


def register() -> None:
    """Add the settings, and see what is drawn."""
    signals.on_draw.connect(saw)
    bpy.types.Scene.tracevis3d_detail = BoolProperty(
        name="Detail Follows the View",
        description="Show more calls where the 3D view is zoomed in, as soon as it stops moving",
        default=True,
        update=_switched,
    )
    bpy.types.Scene.tracevis3d_detail_rendered = BoolProperty(
        name="Render Detail",
        description="Also show the 3D view's detail in pictures",
        default=False,
        update=_switched,
    )


def unregister() -> None:
    """Undo :func:`register`."""
    signals.on_draw.disconnect(saw)
    forget()
    del bpy.types.Scene.tracevis3d_detail_rendered
    del bpy.types.Scene.tracevis3d_detail
