"""Explore mode: point at anything in the 3D views, and move to what matters.

One modal operator for all 3D views of the window and all kinds of views. Blender's own navigation goes past
it.
"""

import time
from dataclasses import replace
from typing import Any

import bpy
from bpy.props import BoolProperty

from ...tracevis3d import units
from ...tracevis3d.drawing.picked import Description
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.views import time_window
from ...tracevis3d.views.actions import NOT_IN_MEMORY
from .. import environment, signals
from ..keys import EXPLORE
from ..state import selection, settings, sources
from ..task import free_status_bar
from ..views import viewport
from . import actions, acts, keys, marks, pointer, related, tooltip
from .background import background
from .motion import drop, drum, live_bars, orbit, ride, trails, transition, wheel, window_time, zoom
from .overlay import covers, redraw, say, state
from .place import Place, place_of
from .sight import lens, slabs, visible, xray

_TICK = 1 / 20  # seconds between two checks whether a view is at rest
_DRAG = 5  # pixels that a click may move
_HINTS = "    ".join(f"{key}: {short}" for key, _, short in EXPLORE if short)
#: Events that Blender handles: they are passed through everywhere.
_NAVIGATION = {
    "MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "WHEELINMOUSE", "WHEELOUTMOUSE", "WHEELLEFTMOUSE",
    "WHEELRIGHTMOUSE", "TRACKPADPAN", "TRACKPADZOOM", "MOUSEROTATE", "MOUSESMARTZOOM", "NDOF_MOTION",
}  # fmt: skip
_NUMBERS = ("ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
_ZOOM, _MOVE = 0.6, 0.25  # of the window, for each press of a key
_LOOK = 0.25  # seconds of rest after which the visible share of highlighted elements is measured
_REST = 0.6  # seconds without an event after which the viewpoint of a 3D view is stored
_MINUTE = 60.0
_AUTOSAVE_REST = 3.0  # seconds without an event before Blender is given the time to save
_ASIDE = 0.02  # seconds of that time, twice


def notes(context: bpy.types.Context) -> str:
    """Return why Explore mode can't be started; empty if it can."""
    if sentence := environment.missing_library():
        return sentence
    if context.mode != "OBJECT":
        return "Leave edit mode first"
    if not settings.all_in(context.scene) and live_bars.view_in(context.scene) is None:
        return "This scene has no view: import a trace first"
    return ""


class TRACEVIS3D_OT_explore(bpy.types.Operator):
    """Point at anything in the views to see what it is, click to select, double-click to zoom"""

    bl_idname = "tracevis3d.explore"
    bl_label = "Explore"
    bl_options = {"REGISTER"}

    by_tool: BoolProperty(
        options={"SKIP_SAVE", "HIDDEN"}, description="Exploring continues while its tool is active"
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if sentence := notes(context):
            cls.poll_message_set(sentence)
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if state.exploring and self.by_tool:
            return {"PASS_THROUGH"}
        if state.exploring:
            if keys.is_chosen(context):
                keys.choose(context, keys.OTHER_TOOL)
            # The button and the key turn it off, too: the mode that runs sees it at its next tick.
            state.exploring = False
            return {"FINISHED"}
        if context.window is None:
            self.report({"ERROR"}, "Exploring needs a window")
            return {"CANCELLED"}
        state.exploring = True
        self._press: tuple[int, int] | None = None
        self._click = (0.0, 0, 0)
        self._chosen: Any = None
        self._brush: Any = None
        self._drag_action: Any = None
        self._moved = self._begun = self._last = time.perf_counter()
        self._since = self._last
        self._at: tuple[int, int] | None = None
        self._area: Any = None
        self._over: Any = None
        manager = context.window_manager
        _timers.append(manager.event_timer_add(_TICK, window=context.window))
        manager.modal_handler_add(self)
        _hint(context)
        signals.on_task_end.connect(_hint)
        background.warm()
        background.fetch_traces(context.scene)
        _tag_panels()
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the mode: another file is opened, or the window is closed."""
        self._leave(context)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not state.exploring or (self.by_tool and not keys.is_chosen(context)):
            self._leave(context)
            return {"FINISHED", "PASS_THROUGH"}
        now = time.perf_counter()
        if now - self._last > 2 * _TICK:
            # Blender was drawing: this may have come at any time since.
            self._since = self._last
        elif event.type == "TIMER":
            self._since = now
        self._last = now
        if event.type == "TIMER":
            return self._tick(context)
        place = place_of(context, event.mouse_x, event.mouse_y)
        self._at = (event.mouse_x, event.mouse_y)
        if place is not None:
            self._area = place.area
        notch = event.type in wheel.NOTCHES and event.ctrl and place is not None
        if notch and place is not None:
            self._moved = time.perf_counter()
            if not wheel.turned(context, event, place):
                self._window_key(context, "W" if event.type == wheel.NOTCHES[0] else "S", place)
            return {"RUNNING_MODAL"}
        if event.type in wheel.NOTCHES and event.shift and place is not None:
            wheel.by_notch(place, upwards=event.type == wheel.NOTCHES[0])
            return {"RUNNING_MODAL"}
        if event.type in wheel.NOTCHES and event.alt and place is not None:
            onwards = event.type == wheel.NOTCHES[0]
            self._say(ride.turned(context, place, self._view_at(context), onwards))
            return {"RUNNING_MODAL"}
        if event.type in ("MOUSEMOVE", "INBETWEEN_MOUSEMOVE"):
            self._moved = time.perf_counter()
            lens.move(place)
            if self._press is not None:
                return self._drag(context, event)
            # While Blender turns the view nothing is pointed at.
            self._point(context, place)
            return {"PASS_THROUGH"}
        turns = event.type == "MIDDLEMOUSE" and event.value == "PRESS"
        if turns and place is not None and not (event.shift or event.ctrl or event.alt):
            orbit.about_the_mouse(context)
        if event.type in _NAVIGATION or event.type.startswith("NDOF"):
            zoom.stop()
            self._moved = time.perf_counter()
            return {"PASS_THROUGH"}
        if event.type == "LEFTMOUSE":
            return self._left(context, event, place)
        if place is None:
            return {"PASS_THROUGH"}
        if event.type == "RIGHTMOUSE" and event.value == "PRESS":
            return self._menu(context, place)
        if event.value == "PRESS":
            return self._key(context, event, place)
        return {"PASS_THROUGH"}

    def _tick(self, context: bpy.types.Context) -> set[str]:
        orbit.settle(context)
        if background.collect():
            self._describe()
        if self._at is not None and self._press is None and live_bars.view_in(context.scene) is not None:
            # The element under a resting mouse has moved on.
            self._point(context, place_of(context, *self._at))
        if visible.collect():
            redraw()
        if sentence := visible.arrive():
            self._say(sentence)
        now = time.perf_counter()
        if now - self._moved > _LOOK and state.hit is not None and viewport.is_open(self._over):
            visible.ask(context, self._over)
        if now - self._moved > _REST and self._area is not None and not zoom.is_on_the_way():
            if viewport.is_open(self._area):
                trails.visit(self._area)
            self._area = None
        # A running modal operator keeps Blender from saving automatically: let it, when nothing happens.
        minutes = context.preferences.filepaths.auto_save_time
        if (
            context.preferences.filepaths.use_auto_save_temporary_files
            and now - self._begun > _MINUTE * minutes
            and now - self._moved > _AUTOSAVE_REST
            and self._press is None
        ):
            self._leave(context)
            _step_aside(self.by_tool)
            return {"FINISHED", "PASS_THROUGH"}
        return {"PASS_THROUGH"}

    def _leave(self, context: bpy.types.Context) -> None:
        state.exploring = False
        orbit.settle(context)
        zoom.stop()
        window_time.finish()
        transition.finish()
        drop.cancel()
        _clean_up()
        state.hit, state.descriptions, state.brush, state.message = None, [], None, ""
        state.pointed = state.pinned = None
        lens.forget()
        live_bars.leave()
        for cover in covers:
            cover.point(None)
        selection.hover({})
        if context.window is not None:
            context.window.cursor_modal_restore()
        redraw()
        _tag_panels()

    def _point(self, context: bpy.types.Context, place: Place | None, through: bool = False) -> None:
        """Find what the mouse is over, or what lies below all that covers it, and say so."""
        before = state.hit
        said = [] if through else [cover.point(place) for cover in covers]
        over = next((descriptions for descriptions in said if descriptions is not None), None)
        if over is not None and place is not None:
            live_bars.leave()
            state.hit = None
            state.place, state.region = (place.x, place.y), place.region.as_pointer()
            if before is None and over == state.descriptions:
                place.area.tag_redraw()
            else:
                self._describe(over)
            return
        if place is None or zoom.is_on_the_way():
            hit = None
            live_bars.leave()
        else:
            hit = pointer.under(context, place.region, place.space, place.x, place.y)
            self._over = place.area
            state.place, state.region = (place.x, place.y), place.region.as_pointer()
        state.hit = hit
        same = hit is not None and hit.is_same(before)
        if hit is not None and same and hit.kind != "cluster":
            if place is not None:
                place.area.tag_redraw()
            return
        on_mantle: list[Description] = []
        if hit is None and place is not None and not zoom.is_on_the_way():
            ray = pointer.ray_through(place.region, place.space.region_3d, place.x, place.y)
            on_mantle = drum.describe_at(context.scene, ray) or live_bars.describe_at(context.scene, ray)
            state.place, state.region = (place.x, place.y), place.region.as_pointer()
        if hit is None and before is None and not on_mantle and not state.descriptions:
            return
        self._describe(on_mantle)

    def _describe(self, on_mantle: list[Description] | None = None) -> None:
        hit = state.hit
        state.descriptions = tooltip.describe_hit(hit) if hit is not None else on_mantle or []
        before = state.pointed
        if hit is None:
            state.pointed = None
        elif before is None or (hit.shown, hit.element) != (before.shown, before.element):
            state.pointed = related.pointed_at(hit)
        selection.hover({key: [call] for key, call in hit.traces.items()} if hit is not None else {})
        redraw()

    def _left(self, context: bpy.types.Context, event: bpy.types.Event, place: Place | None) -> set[str]:
        if event.value == "RELEASE":
            if self._press is None:
                return {"PASS_THROUGH"}
            press, self._press = self._press, None
            if slabs.release():
                acts.push(context, "Slab")
                return {"RUNNING_MODAL"}
            if drop.is_held():
                drop.release(self._say)
                return {"RUNNING_MODAL"}
            if self._brush is not None:
                self._brushed(context, event.shift)
                return {"RUNNING_MODAL"}
            self._clicked(context, event, press)
            return {"RUNNING_MODAL"}
        # Alt with the left button turns the view where a mouse has no middle one.
        if place is None or event.value not in ("PRESS", "DOUBLE_CLICK") or event.alt:
            return {"PASS_THROUGH"}
        if event.ctrl:
            return self._ctrl_clicked(context, place)
        cover = next((one for one in covers if one.point(place) is not None), None)
        if cover is None and state.hit is None and place.on_gizmo(context):
            return {"PASS_THROUGH"}
        if cover is not None:
            double = event.value == "DOUBLE_CLICK" or self._is_double(context, event.mouse_x, event.mouse_y)
            cover.click(context, place, double, event.shift)
            redraw()
            return {"RUNNING_MODAL"}
        self._press, self._brush = (event.mouse_x, event.mouse_y), None
        if slabs.grab(place):
            self._space, self._pressed = place, None
            return {"RUNNING_MODAL"}
        self._point(context, place)
        self._pressed, self._space = state.hit, place
        return {"RUNNING_MODAL"}

    def _drag(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Brush a range of time, from where the button was pressed."""
        x, y = self._press or (0, 0)
        if not viewport.is_open(self._space.area):
            self._press = self._brush = state.brush = None
            drop.cancel()
            return {"RUNNING_MODAL"}
        if slabs.is_held():
            across, up = event.mouse_x - self._space.region.x, event.mouse_y - self._space.region.y
            slabs.drag(self._space, across, up, event.shift)
            return {"RUNNING_MODAL"}
        if self._brush is None and max(abs(event.mouse_x - x), abs(event.mouse_y - y)) < _DRAG:
            return {"RUNNING_MODAL"}
        place = self._space
        if drop.is_held() or (self._brush is None and drop.grab(self._pressed, place)):
            # What it would be dropped on lights up, below a callout, too.
            self._point(context, place_of(context, event.mouse_x, event.mouse_y), through=True)
            state.descriptions = []
            drop.drag(event.mouse_x - place.region.x, event.mouse_y - place.region.y)
            return {"RUNNING_MODAL"}
        if self._brush is None:
            self._brush = self._begin_brush(context, place)
            begun = bpy.data.objects.get(self._brush[0]) if self._brush is not None else None
            self._drag_action = self._dragging(begun, False)[1] if begun is not None else None
            state.descriptions = []
        if self._brush is not None:
            name, through, left = self._brush
            right = self._x_at(
                place, name, through, event.mouse_x - place.region.x, event.mouse_y - place.region.y
            )
            shown = bpy.data.objects.get(name)
            if right is not None:
                state.brush = (name, *self._dragged(shown, left, right))
                place.area.tag_redraw()
        return {"RUNNING_MODAL"}

    def _dragging(self, shown: Any, extend: bool) -> tuple[Any, Any]:
        """Return the state that a drag of the pressed element starts from, and its action."""
        view, hit = acts.view_of(bpy.context.scene, shown), self._pressed
        turned = drum.of_object(shown)
        source = turned.source if turned is not None else marks.with_times(shown).source
        element = hit.picked if hit is not None and hit.shown == shown.name else None
        given = actions.state_of(view, traces_too=False, source=source, element=element, extend=extend)
        found = (one for one in actions.declared_of(view) if "drag" in one.triggers and one.applies(given))
        return given, next(found, None)

    def _dragged(self, shown: Any, begin: float, now: float) -> tuple[float, float]:
        """Return the range that the mouse selects: the range it passed, or a dragged element's new place."""
        action = self._drag_action
        pickable, hit = marks.with_times(shown), self._pressed
        if action is None or action.drag is None or pickable is None or hit is None:
            return begin, now
        low = float(pickable.low[hit.element, 0])
        first, length = pickable.along
        own = low, low + float(pickable.size[hit.element, 0])
        return tuple(map(float, action.drag(own, (first, first + length), begin, now)))  # type: ignore[return-value]

    def _begin_brush(self, context: bpy.types.Context, place: Place) -> Any:
        """Return name of the object along whose x (or axis) is brushed, a point on it and where it begins."""
        hit = self._pressed
        if hit is not None and marks.with_times(bpy.data.objects.get(hit.shown)) is not None:
            return hit.shown, hit.local, float(hit.local[0])
        ray = pointer.ray_through(place.region, place.space.region_3d, place.x, place.y)
        if (turned := drum.begin(context.scene, ray, hit)) is not None:
            return turned
        # Beside all elements: along the nearest view with a time axis.
        for view in settings.all_in(context.scene):
            for shown in view.objects:
                pickable = marks.with_times(shown) if shown.get("tracevis3d_kind") == "call" else None
                if pickable is None or not shown.visible_get():
                    continue
                through = pickable.extent[0]
                left = self._x_at(place, shown.name, through, place.x, place.y)
                if left is not None:
                    return shown.name, through, left
        return drum.beside(context.scene, ray)

    def _x_at(self, place: Place, name: str, through: Any, x: float, y: float) -> float | None:
        shown = bpy.data.objects.get(name)
        if shown is None:
            return None
        ray = pointer.ray_through(place.region, place.space.region_3d, x, y)
        if (turned := drum.of_object(shown)) is not None:
            return turned.share_along(ray, through)
        point = pointer.plane_point(ray, shown.matrix_world, through)
        if point is None:
            return None
        a, b = marks.with_times(shown).along
        return float(min(max(point[0], a), a + b))

    def _brushed(self, context: bpy.types.Context, extend: bool) -> None:
        """Select what was brushed."""
        brush, state.brush, self._brush = state.brush, None, None
        shown = bpy.data.objects.get(brush[0]) if brush is not None else None
        if brush is None or shown is None:
            redraw()
            return
        view = acts.view_of(context.scene, shown)
        low, high = sorted(marks.time_at(shown, x) or 0 for x in brush[1:])
        given, action = self._dragging(shown, extend)
        if action is None:
            return
        try:
            change = action.run(replace(given, span=(low, high)))
        except TraceVisError as error:
            self._say(str(error))
            return
        if not acts.apply(view, given, change):
            self._say(_why_no_window(view, sources.in_memory(view)))
        elif change.windows:
            window = change.windows[given.source] or (low, high)
            self._say(f"{units.duration(window[1] - window[0], 4)} shown: Home shows all")
        else:
            self._say(f"{units.duration(high - low, 4)} selected: F shows it, M marks it")
        redraw()

    def _clicked(self, context: bpy.types.Context, event: bpy.types.Event, press: tuple[int, int]) -> None:
        double = self._is_double(context, *press)
        hit = self._pressed
        if double and transition.is_running():
            # The element clicked first has begun to move away.
            hit = self._chosen
        if double and hit is not None:
            self._zoom_to(context, hit)
            return
        if hit is None and (title := live_bars.pick()):
            self._say(f"{title}: see the panel Live for details")
            return
        if hit is None:
            pinned, state.pinned = state.pinned, None
            if not event.shift and acts.deselect_all(context):
                acts.push(context, "Deselect")
            elif pinned is not None:
                redraw()
            return
        # Elements without a call can't be selected in a trace: they stay highlighted until the next click.
        state.pinned = state.pointed if not hit.calls else None
        acts.select(context, hit, event.shift)
        self._chosen = hit
        view = bpy.data.collections.get(hit.view)
        if view is not None and not event.shift:
            acts.trigger(view, "click", hit)

    def _is_double(self, context: bpy.types.Context, x: int, y: int) -> bool:
        """Take note of a click, and return whether it is the second of two quick ones at one place."""
        before, *at = self._click
        patience = context.preferences.inputs.mouse_double_click_time / 1000
        double = self._since - before < patience and max(abs(x - at[0]), abs(y - at[1])) < _DRAG
        self._click = (0.0, 0, 0) if double else (time.perf_counter(), x, y)
        return double

    def _ctrl_clicked(self, context: bpy.types.Context, place: Place) -> set[str]:
        """Let the view of what is clicked do what it declares for it, such as to align two traces there."""
        self._point(context, place)
        hit = state.hit
        view = bpy.data.collections.get(hit.view) if hit is not None else None
        if view is None or not acts.trigger(view, "ctrl click", hit, say=self._say):
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    def _zoom_to(self, context: bpy.types.Context, hit: Any) -> None:
        """Zoom to the double-clicked element: in time if the view has a time window, else the 3D view."""
        view = bpy.data.collections.get(hit.view)
        if view is None:
            return
        if acts.trigger(view, "double click", hit):
            # Another element will be under the mouse.
            state.hit, state.descriptions, state.pointed = None, [], None
            return
        shown = bpy.data.objects.get(hit.shown)
        zoom.fly_to_box(self._space.area, pointer.box_of(shown, hit.pickable, [hit.element]))

    def _menu(self, context: bpy.types.Context, place: Place) -> set[str]:
        self._point(context, place)
        state.descriptions = []
        with context.temp_override(window=context.window, area=place.area, region=place.region):
            bpy.ops.wm.call_menu(name="TRACEVIS3D_MT_element")
        return {"RUNNING_MODAL"}

    def _key(self, context: bpy.types.Context, event: bpy.types.Event, place: Place) -> set[str]:
        backwards = event.type in ("LEFT_ARROW", "BUTTON4MOUSE")
        if backwards or event.type in ("RIGHT_ARROW", "BUTTON5MOUSE"):
            if not event.alt and event.type.endswith("ARROW"):
                return {"PASS_THROUGH"}
            if not trails.go(place.area, backwards):
                self._say(f"There is no place {'before' if backwards else 'after'} this one")
            return {"RUNNING_MODAL"}
        if event.ctrl or event.alt or event.oskey:
            return {"PASS_THROUGH"}
        if event.type in wheel.KEYS:
            wheel.by_key(place, event.type)
            return {"RUNNING_MODAL"}
        kind, shift = event.type, event.shift
        if kind == "ESC":
            if context.screen.is_animation_playing:
                # Blender's own key stops it; exploring goes on.
                return {"PASS_THROUGH"}
            if zoom.stop() or transition.finish() or any(cover.restore(context) for cover in covers):
                return {"RUNNING_MODAL"}
            if self._press is not None:
                slabs.release(as_before=True)
                drop.cancel()
                self._press, self._brush, state.brush = None, None, None
                redraw()
                return {"RUNNING_MODAL"}
            if lens.close(place.area):
                return {"RUNNING_MODAL"}
            if self.by_tool:
                return {"PASS_THROUGH"}
            self._leave(context)
            return {"FINISHED"}
        if event.unicode == "?" or (kind == "SLASH" and shift):
            with context.temp_override(window=context.window, area=place.area, region=place.region):
                bpy.ops.tracevis3d.keys("INVOKE_DEFAULT")
        elif kind in _NUMBERS and not shift:
            return self._go_to_view(context, _NUMBERS.index(kind))
        elif kind in ("W", "S", "A", "D") and not shift:
            self._window_key(context, kind, place)
        elif kind in ("W", "S"):
            self._heighten(context, kind == "W")
        elif kind == "F" and not shift:
            acts.frame_selection(context, place.area)
        elif kind == "V" and not shift:
            if not visible.turn(context, place.area):
                self._say("Nothing is highlighted: point at an element, or select one")
        elif kind == "X" and not shift:
            self._say("X-ray: what is selected shows through" if xray.toggle(place.space) else "X-ray off")
        elif kind == "L" and not shift:
            lens.move(place)
            self._say("Lens: full detail around the mouse" if lens.toggle(place.area) else "Lens off")
        elif kind == "B":
            self._slab(context, shift)
        elif kind == "HOME":
            self._home(context, place)
        elif kind == "M" and not shift:
            self._mark(context)
        elif kind in ("SLASH", "NUMPAD_SLASH"):
            return self._call(context, place, "search")
        elif kind in ("PERIOD", "COMMA"):
            return self._call(context, place, "next" if kind == "PERIOD" else "previous")
        else:
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    def _go_to_view(self, context: bpy.types.Context, number: int) -> set[str]:
        """Choose a view of the scene, and look at it."""
        views = settings.all_in(context.scene)
        if number < len(views):
            context.scene.tracevis3d_view = views[number]
            signals.on_look.send(context)
            self._say(views[number].name)
            acts.push(context, "View")
        else:
            self._say(f"This scene has {units.counted(len(views), 'view')}")
        return {"RUNNING_MODAL"}

    def _call(self, context: bpy.types.Context, place: Place, what: str) -> set[str]:
        """Call the search's operators."""
        # Without search results they go through the differences between two traces.
        steps = "difference_step" if not context.scene.tracevis3d_search.total else "search_step"
        name, words_ = {
            "search": ("search_ask", {}),
            "next": (steps, {"step": "NEXT"}),
            "previous": (steps, {"step": "PREVIOUS"}),
        }[what]
        operator = getattr(bpy.ops.tracevis3d, name)
        with context.temp_override(window=context.window, area=place.area, region=place.region):
            if operator.poll():
                operator("INVOKE_DEFAULT", **words_)
            else:
                self._say("There are no results yet: press / to search")
        return {"RUNNING_MODAL"}

    def _view_at(self, context: bpy.types.Context) -> Any:
        """Return the view under the mouse, or the active one."""
        if state.hit is not None:
            return bpy.data.collections.get(state.hit.view)
        return settings.active(context)

    def _window_key(self, context: bpy.types.Context, kind: str, place: Place) -> None:
        view = self._view_at(context)
        traces = sources.in_memory(view) if view is not None else None
        if traces is None or window_time.names_of(view, 0) is None:
            self._say(_why_no_window(view, traces))
            return
        # The time under the mouse stays in place, in all traces of the view alike.
        share, about = 0.5, state.hit
        at = None if about is None else drum.time_under(view, about) or about.picked.moment
        if about is not None and at is not None:
            window = window_time.goal_of(view, about.pickable.source)
            if window is not None:
                share = min(max((at - window[0]) / max(window[1] - window[0], 1), 0.0), 1.0)
        windows: dict[int, Any] = {}
        for source, trace in enumerate(traces):
            window = window_time.goal_of(view, source)
            if window is None:
                continue
            if kind in "WS":
                fixed = window[0] + share * (window[1] - window[0])
                low, high = time_window.scaled(window, _ZOOM if kind == "W" else 1 / _ZOOM, fixed)
            else:
                low, high = time_window.moved(window, _MOVE if kind == "D" else -_MOVE)
            windows[source] = time_window.bounded(trace, low, high)
        message = "Zoom in Time" if kind in "WS" else "Move in Time"
        window_time.go(view, windows, lambda: acts.push(bpy.context, message))

    def _heighten(self, context: bpy.types.Context, higher: bool) -> None:
        """Make levels higher or lower; what the mouse is over stays where it is."""
        view = self._view_at(context)
        if view is None or not wheel.heighten(view, higher, state.hit, self._area, self._say):
            self._say("Nothing of this view can be made higher")

    def _home(self, context: bpy.types.Context, place: Place) -> None:
        if wheel.back(context.scene):
            return
        view = self._view_at(context)
        traces = sources.in_memory(view) if view is not None else None
        if traces is None:
            self._say(_why_no_window(view, traces))
            return
        windows: dict[int, Any] = dict.fromkeys(range(len(traces)))
        window_time.go(view, windows, lambda: acts.push(bpy.context, "Whole Trace"))

    def _slab(self, context: bpy.types.Context, of_depth: bool) -> None:
        """Show only a stretch of time, or of depth, of the view under the mouse; or all of it again."""
        view = self._view_at(context)
        if view is None:
            self._say("Point at a view")
            return
        what = "depth" if of_depth else "time"
        there = slabs.toggle(context.scene, view, of_depth)
        self._say(
            f"Drag the planes: only the {what} between them is shown" if there else f"All {what} is shown"
        )
        acts.push(context, "Slab")

    def _mark(self, context: bpy.types.Context) -> None:
        """Mark the selected time range, else the selection or the element under the mouse."""
        found = acts.mark_selection(context)
        self._say(found or "Select a range of time or a call to mark it")

    def _say(self, sentence: str) -> None:
        say(sentence)


#: The running mode: Blender sends no event when the extension is disabled meanwhile.
_timers: list[Any] = []


def end() -> None:
    """End the mode from outside: the extension is being disabled."""
    if state.exploring:
        state.exploring = False
        zoom.stop()
        _clean_up()


def _clean_up() -> None:
    """Give back the timer and the status bar."""
    while _timers:
        bpy.context.window_manager.event_timer_remove(_timers.pop())
    signals.on_task_end.disconnect(_hint)
    free_status_bar()


def _hint(context: bpy.types.Context) -> None:
    """Show the mode's keys in the status bar."""
    if context.workspace is not None:
        context.workspace.status_text_set(_HINTS if keys.is_chosen(context) else f"{_HINTS}    Esc: leave")


def _why_no_window(view: Any, traces: Any) -> str:
    if view is None:
        return "Point at a view"
    if traces is None:
        return NOT_IN_MEMORY
    return "This view has no time window"


def _step_aside(by_tool: bool) -> None:
    """Let Blender save, and continue: a click without a move of the mouse must not be lost."""
    # Blender tries to save every 10 ms. After a long redraw all timers are due in one round, ours perhaps
    # first: in the second round it has saved.
    rounds = iter((_ASIDE,))

    def resume() -> float | None:
        for wait in rounds:
            return wait
        manager = bpy.context.window_manager
        if not manager.windows or state.exploring:
            return None
        with bpy.context.temp_override(window=manager.windows[0]):
            wanted = keys.is_chosen(bpy.context) if by_tool else True
            if wanted and bpy.ops.tracevis3d.explore.poll():
                bpy.ops.tracevis3d.explore("INVOKE_DEFAULT", by_tool=by_tool)
        return None

    bpy.app.timers.register(resume, first_interval=_ASIDE)


def _tag_panels() -> None:
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    region.tag_redraw()
