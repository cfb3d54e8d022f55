"""Level of detail in 3D views: they show what can be seen there, while they move and when they come to rest.

What is to be shown is computed in a thread, so no frame waits for it; a timer then shows it. No step of undo
is made, and the picture's own objects stay as they are: the detail lies beside them, see
:mod:`tracevis3d.scene.window.detail_objects`.
"""

import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.props import BoolProperty

from ....tracevis3d.errors import TraceVisError
from ....tracevis3d.layout.sight.view_projection import ViewProjection
from ....tracevis3d.parameters import as_key
from ....tracevis3d.scene.window import detail_objects, element_metadata
from ....tracevis3d.views import registry
from ....tracevis3d.views.detail import SpatialLevelOfDetail, in_sight
from ....tracevis3d.views.detail.in_sight import Replacement, Sight
from ....tracevis3d.views.view import level_of_detail_of
from ... import signals
from ...state import filter_stacks, settings, sources
from ...task import idle
from . import transition, window_time, zoom

#: Seconds from one look at what a moving 3D view needs to the next, and between two looks at the thread.
_REST, _TICK = 0.25, 0.02


#: Each returns region and eye, as one, of the lens over a 3D view; None without one.
lenses: list[Callable[[bpy.types.Area], Any]] = []

#: A view shows new detail: its collection.
on_enter: signals.Signal[[Any]] = signals.Signal()
#: Objects are about to be replaced by others of more detail, or of less.
on_replace: signals.Signal[[list[Any]]] = signals.Signal()


@dataclass(frozen=True, eq=False)
class _Request:
    """What is to be found out about a part of a view.

    Attributes
    ----------
    view : str
        Name of its collection.
    state : object
        What the answer is for: it is dropped if that is another by then.
    find : callable
        Finds the replacement, or None, without touching Blender's data.
    eye : View or None
        For which names are printed; None where the window shows none.
    """

    view: str
    state: Any
    find: Callable[[], Replacement | None]
    eye: Any = None


class _Work:
    """Requests of one 3D view that are computed in a thread, one after the other, and what was found."""

    def __init__(self, requests: list[_Request]) -> None:
        self.found: list[tuple[_Request, Replacement]] = []
        self.failed = False
        self._requests = requests
        self._thread = threading.Thread(target=self._run, name="tracevis3d detail", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether something may still be found."""
        return self._thread.is_alive()

    def _run(self) -> None:
        for request in self._requests:
            try:
                found = request.find()
            except Exception as error:
                self.failed = True
                if isinstance(error, TraceVisError):
                    print(f"TraceVis3D: {error}")
                else:
                    traceback.print_exc()
            else:
                if found is not None:
                    self.found.append((request, found))


class _Rest:
    """The 3D view that moved last, how it looks and for which look it shows detail, and what is computed."""

    def __init__(self) -> None:
        self.area = 0
        self.look: Any = None
        self.answered: Any = None
        self.moved = 0.0
        self.work: _Work | None = None


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
    _rest.look, _rest.area = look, area.as_pointer()
    if not bpy.app.timers.is_registered(wait):
        _rest.moved = time.perf_counter()
        bpy.app.timers.register(wait, first_interval=_REST)


def wait() -> float | None:
    """Have what the 3D view needs computed now and then, and show what is ready; a timer of Blender's."""
    work = _rest.work
    on_the_way = zoom.is_on_the_way() or window_time.is_gliding() or transition.is_running()
    if work is not None:
        if work.is_running or work.found:
            # Of views that are on their way, objects are moved.
            if work.found and not on_the_way:
                _apply(*work.found.pop(0))
            return _TICK
        if work.failed:
            _rest.answered = _rest.look
        _rest.work, _rest.moved = None, time.perf_counter()
    left = _REST - (time.perf_counter() - _rest.moved)
    if left > 0.01 or on_the_way:
        return max(left, 0.05)
    if _rest.answered == _rest.look:
        return None
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.as_pointer() == _rest.area and area.type == "VIEW_3D":
                look = _rest.look
                requests = list(_requests(window.scene, area, at_once=False))
                # Where levels of detail have to be made first, the view is looked at once more.
                if all(request.state is not None for request in requests):
                    _rest.answered = look
                if requests:
                    _rest.work = _Work(requests)
                    return _TICK
    return None


def _lens_over(area: bpy.types.Area) -> Any:
    return next((found for over in lenses if (found := over(area)) is not None), None)


def follow(scene: bpy.types.Scene, area: bpy.types.Area) -> int:
    """Let views show at once what can be seen in ``area``; returns how many of their parts have changed."""
    changed = 0
    for request in _requests(scene, area, at_once=True):
        try:
            found = request.find()
        except TraceVisError as error:
            print(f"TraceVis3D: {error}")
            continue
        changed += found is not None and _apply(request, found)
    return changed


def _is_rendering() -> bool:
    return bool(bpy.app.is_job_running("RENDER"))


def _requests(scene: bpy.types.Scene, area: bpy.types.Area, at_once: bool) -> Iterator[_Request]:
    """Yield what is to be found out about the views of a scene for a 3D view.

    Unless ``at_once``, levels of detail that have to be made are all that is requested of a view: a request
    without a state.
    """
    if not idle() or bpy.context.mode != "OBJECT" or _is_rendering():
        return
    region = next(region for region in area.regions if region.type == "WINDOW")
    eye, lens = area.spaces.active.region_3d, _lens_over(area)
    for view in settings.all_in(scene):
        traces = sources.in_memory(view)
        if traces is None or settings.of(view).stale or view.library is not None:
            continue
        made = _Levels(view, traces, settings.frame_of(scene))
        if not at_once and not made.is_known:
            yield _Request(view.name, None, made.make)
            continue
        try:
            levels = made()
        except TraceVisError as error:
            print(f"TraceVis3D: {error}")
            continue
        if isinstance(levels, SpatialLevelOfDetail):
            yield from _around(view, levels, traces, lens or region, lens or eye)
        elif levels is not None:
            yield from _along(view, levels, traces, region, eye, lens)


def _along(view: Any, levels: Any, traces: list[Any], region: Any, eye: Any, lens: Any) -> Iterator[_Request]:
    """Yield a request for each pane of a view that can be seen."""
    stack = filter_stacks.stack_of(view)
    for i, pane in enumerate(levels.panes):
        own = _own(view, pane.source, pane.kinds)
        held = [
            (o, pickable)
            for o in own
            if (pickable := element_metadata.pickable_mesh(o)) is not None and len(pickable)
        ]
        if not held:
            continue
        boxes = tuple((pickable.low, pickable.size) for _, pickable in held)
        eyes, through = (
            tuple(
                ViewProjection.of(look.perspective_matrix @ o.matrix_world, where.width, where.height)
                for o, _ in held
                if look is not None
            )
            for look, where in ((eye, region), (lens, lens))
        )
        at = _eye_of_names(view, eye, region, own[0])
        shown = detail_objects.shown_detail(view, pane.source)
        # Names are printed anew for whoever comes to look through the camera.
        new_names = at is not None and not detail_objects.has_names(view, pane.source)
        sight = Sight(boxes, eyes, through, None if new_names else shown)

        def find(i: int = i, sight: Sight = sight) -> Replacement | None:
            return in_sight.along(levels, i, sight, traces, stack)

        yield _Request(view.name, _state(view, pane.source), find, at)


def _around(
    view: Any, levels: SpatialLevelOfDetail, traces: list[Any], region: Any, eye: Any
) -> Iterator[_Request]:
    """Yield a request for what opens near the camera, in all directions."""
    own = _own(view, levels.source, levels.kinds)
    if not own:
        return
    look = detail_objects.view_of(region, eye, own[0].matrix_world)
    opened, stack = detail_objects.opened(view, levels.source), filter_stacks.stack_of(view)
    yield _Request(
        view.name,
        _state(view, levels.source),
        lambda: in_sight.around(levels, look, opened, traces, stack),
        _eye_of_names(view, eye, region, own[0]),
    )


def _own(view: Any, source: int, kinds: tuple[str, ...]) -> list[Any]:
    """Return the objects that show elements of some kinds of one of a view's traces now."""
    return [
        shown
        for shown in view.objects
        if shown.get("tracevis3d_kind") in kinds
        and shown.get("tracevis3d_source") == source
        and shown.visible_get()
    ]


def _eye_of_names(view: Any, eye: Any, region: Any, shown: Any) -> Any:
    """Return the eye that printed names are for; None where they are not seen: the window draws its own."""
    rendered = window_time.scene_of(view).tracevis3d_detail_rendered
    if not rendered and getattr(eye, "view_perspective", "") != "CAMERA":
        return None
    return detail_objects.view_of(region, eye, shown.matrix_world)


def _state(view: bpy.types.Collection, source: int) -> Any:
    """Return what a replacement was found for: another one by the time when it is ready is dropped."""
    return (
        [id(trace) for trace in sources.in_memory(view) or ()],
        as_key(settings.values(view)),
        filter_stacks.stack_of(view),
        settings.of(view).style,
        [
            (shown.name, shown.data.get("tracevis3d_stamp"))
            for shown in detail_objects.objects_of(view, source)
        ],
    )


def _apply(request: _Request, found: Replacement) -> bool:
    """Show what was found, if it is still what is needed; return whether that changed anything."""
    view = bpy.data.collections.get(request.view)
    if view is None or not settings.is_view(view) or not idle() or _is_rendering():
        return False
    if request.state != _state(view, found.source):
        _rest.answered = None
        return False
    if found.drawing is None:
        return _leave(view, found.source)
    show(view, found, request.eye)
    return True


def show(view: bpy.types.Collection, found: Replacement, eye: Any = None) -> None:
    """Show the zoomed-in detail of one of a view's traces, without objects hidden in Blender.

    Its names are printed for ``eye``, where there is one.
    """
    assert found.drawing is not None
    on_replace.send(_shown(view, found.source) or detail_objects.picture_of(view, found.source, found.kinds))
    detail_objects.enter(
        view,
        found.source,
        found.kinds,
        found.parts,
        found.drawing.labels,
        list(found.metadata),
        found.drawing.palette,
        settings.of(view).style,
        found.drawing.camera,
        eye,
        found.seen,
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


class _Levels:
    """The level of detail of a view; None if it declares none."""

    def __init__(self, view: bpy.types.Collection, traces: list[Any], frame: Any) -> None:
        declared = registry.find(settings.of(view).view)
        self._asked = traces, declared, as_key(settings.values(view)), frame

    @property
    def is_known(self) -> bool:
        """Whether it has been made."""
        return self._asked[1].level_of_detail is None or level_of_detail_of.is_known(*self._asked)

    def make(self) -> None:
        """Make it, in any thread."""
        level_of_detail_of(*self._asked)

    def __call__(self) -> Any:
        return level_of_detail_of(*self._asked)


def _switched(scene: bpy.types.Scene, _context: bpy.types.Context) -> None:
    """The setting was changed: remove the detail, or show it at the next rest."""
    forget()
    for view in settings.all_in(scene):
        if not scene.tracevis3d_detail:
            detail_objects.leave(view)
            continue
        for shown in detail_objects.objects_of(view):
            shown.hide_render = not scene.tracevis3d_detail_rendered
        for shown in detail_objects.replaced_objects(view):
            shown.hide_render = scene.tracevis3d_detail_rendered


def forget() -> None:
    """Look anew at the 3D view that is drawn next; what is being computed is dropped."""
    _rest.look = _rest.answered = _rest.work = None


def register() -> None:
    """Add the settings, and see what is drawn."""
    signals.on_draw.connect(saw)
    bpy.types.Scene.tracevis3d_detail = BoolProperty(
        name="Detail Follows the View",
        description="Show more calls where the 3D view is zoomed in, while it moves and when it stops",
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
