"""What mouse and keys do on the strip; each is listed in the preferences, where it can be changed."""

import time
from typing import Any

import bpy
from bpy.props import EnumProperty

from ....tracevis3d.views import time_window
from ....tracevis3d.views.actions import NOT_IN_MEMORY
from ....tracevis3d.views.time_strip import dragged, drawn_out, grip
from ....tracevis3d.views.time_window import Window
from ... import areas
from ...explore import acts
from ...explore.motion import window_time
from ...state import selection, settings, sources
from ...views import make_view
from . import content, drawing
from .content import Row, state

_ZOOM, _MOVE = 0.6, 0.25  # of the window, for each notch of the wheel or press of a key
_REACH, _DRAG = 10.0, 4.0  # pixels at scale 1: of a grip, and that a click may move
#: A window that is so much of the whole is the whole.
_NEARLY = 0.995
#: Seconds that drawing the view may take for it to follow a drag.
_QUICK = 0.15

_DOES = (
    ("DRAG", "Move, Resize or Draw the Frame", "Move the frame, or one of its ends, or draw a new one"),
    ("SELECT", "Select Time", "Select a range of time"),
    ("IN", "Zoom In in Time", "Show less time, around the mouse"),
    ("OUT", "Zoom Out in Time", "Show more time, around the mouse"),
    ("BACK", "Move Back in Time", "Show earlier time"),
    ("FORWARD", "Move On in Time", "Show later time"),
    ("WHOLE", "Whole Trace", "Show all of the trace"),
    ("POINT", "Point at Time", "Show which time is under the mouse"),
)


#: When the strip was clicked last, by time.perf_counter().
_last_click = [0.0]


class TRACEVIS3D_OT_strip(bpy.types.Operator):
    """Choose on the time strip which time the view shows"""

    bl_idname = "tracevis3d.strip"
    bl_label = "Time Strip"
    bl_options = {"INTERNAL"}

    do: EnumProperty(items=_DOES, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if areas.kind_of(context.area) == areas.STRIP:
            return True
        cls.poll_message_set("Point at the time strip of the workspace TraceVis")
        return False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        region = next((one for one in context.area.regions if one.type == "WINDOW"), None)
        if region is None:
            return {"PASS_THROUGH"}
        self._region = region
        x, y = event.mouse_x - region.x, event.mouse_y - region.y
        if self.do == "POINT":
            return self._point(context, x, y)
        view, rows = content.rows_in(context, region)
        row = min(rows, key=lambda row: abs((row.lane.low + row.lane.high) / 2 - y), default=None)
        if view is None or row is None:
            return {"PASS_THROUGH"}
        self._view = view.name
        if self.do in ("DRAG", "SELECT"):
            return self._begin(context, view, row, x, y)
        if row.window is None or sources.in_memory(view) is None:
            self.report({"INFO"}, _why_no_window(view))
            return {"CANCELLED"}
        self._step(view, rows, row, x)
        return {"FINISHED"}

    # -- the frame, at once ---------------------------------------------------------------------------------

    def _step(self, view: bpy.types.Collection, rows: list[Row], row: Row, x: float) -> None:
        """Zoom or move in all traces of the view alike."""
        if self.do == "WHOLE":
            _go(view, dict.fromkeys(each.source for each in rows), "Whole Trace")
            return
        traces = sources.in_memory(view) or []
        goal = window_time.goal_of(view, row.source) or row.lane.whole
        share = (row.lane.time_at(x) - goal[0]) / max(goal[1] - goal[0], 1)
        share = min(max(share, 0.0), 1.0)
        windows: dict[int, Window | None] = {}
        for each in rows:
            window = window_time.goal_of(view, each.source)
            if window is None:
                continue
            if self.do in ("IN", "OUT"):
                fixed = window[0] + share * (window[1] - window[0])
                ends = time_window.scaled(window, _ZOOM if self.do == "IN" else 1 / _ZOOM, fixed)
            else:
                ends = time_window.moved(window, _MOVE if self.do == "FORWARD" else -_MOVE)
            bounded = time_window.bounded(traces[each.source], *ends)
            first, last = each.lane.whole
            # Zoomed out as far as in, it is the whole again, not a nanosecond less.
            nearly = bounded[1] - bounded[0] > _NEARLY * (last - first)
            windows[each.source] = None if nearly else bounded
        _go(view, windows, "Zoom in Time" if self.do in ("IN", "OUT") else "Move in Time")

    # -- the frame, dragged ---------------------------------------------------------------------------------

    def _begin(
        self, context: bpy.types.Context, view: bpy.types.Collection, row: Row, x: float, y: float
    ) -> set[str]:
        number = _finding_at(x, y)
        if number is not None and self.do == "DRAG":
            content.go_to(context, view, number)
            return {"FINISHED"}
        self._row, self._pressed, self._moved = row, x, False
        self._part, self._before = "", row.window
        if self.do == "SELECT" or row.window is None or sources.in_memory(view) is None:
            self._part = "select"
        else:
            ends = row.lane.x_of(row.window[0]), row.lane.x_of(row.window[1])
            self._part = grip(ends, x, _REACH * context.preferences.system.ui_scale)
            if self._part == "inside" and row.window == row.lane.whole:
                self._part = ""
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        view = bpy.data.collections.get(self._view)
        if not settings.is_view(view):
            return self._end(context)
        x = event.mouse_x - self._region.x
        state.at = x, event.mouse_y - self._region.y
        if event.type in ("ESC", "RIGHTMOUSE") and event.value == "PRESS":
            if self._part != "select" and self._before is not None and self._moved:
                window_time.go(view, {self._row.source: self._before}, _nothing, at_once=True)
            return self._end(context)
        if event.type in ("MOUSEMOVE", "INBETWEEN_MOUSEMOVE"):
            near = _DRAG * context.preferences.system.ui_scale
            if self._moved or abs(x - self._pressed) >= near:
                self._moved = True
                self._follow(view, x)
                areas.redraw()
        elif event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._end_drag(context, view, x)
            return self._end(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends it: another file is opened, or the window is closed."""
        self._end(context)

    def _end(self, _context: bpy.types.Context) -> set[str]:
        state.windows, state.brush = {}, None
        areas.redraw()
        return {"FINISHED"}

    def _wanted(self, x: float) -> Window:
        """Return the window that the drag has come to."""
        lane, before = self._row.lane, self._before
        if before is None or not self._part:
            return drawn_out(lane.time_at(self._pressed), lane.time_at(x), lane.whole, time_window.LEAST)
        by = lane.length_of(x - self._pressed)
        return dragged(before, lane.whole, self._part, by, time_window.LEAST)

    def _follow(self, view: bpy.types.Collection, x: float) -> None:
        row = self._row
        if self._part == "select":
            ends = sorted((row.lane.time_at(self._pressed), row.lane.time_at(x)))
            state.brush = (row.source, ends[0], ends[1])
            return
        state.windows = {row.source: self._wanted(x)}
        seconds = make_view.seconds_of(view)
        # A new frame is first drawn: what it will hold is seen when it is let go.
        if self._part and seconds is not None and seconds < _QUICK:
            window_time.go(view, dict(state.windows), _nothing, at_once=True)

    def _end_drag(self, context: bpy.types.Context, view: bpy.types.Collection, x: float) -> None:
        row, lane = self._row, self._row.lane
        now, before = time.perf_counter(), _last_click[0]
        _last_click[0] = 0.0 if self._moved else now
        if not self._moved and now - before < context.preferences.inputs.mouse_double_click_time / 1000:
            _go(view, dict.fromkeys(range(len(settings.of(view).sources))), "Whole Trace")
        elif self._part == "select":
            if state.brush is not None:
                selection.select(row.key, [], time_range=state.brush[1:])
                acts.push(context, "Select Time")
            elif selection.selected(row.key):
                selection.deselect(row.key)
                acts.push(context, "Deselect")
        elif self._moved:
            _go(view, {row.source: self._wanted(x)}, "Window of Time", at_once=True)
        elif row.window is not None and not self._part and row.window != lane.whole:
            # A click beside the frame brings it there.
            by = lane.time_at(x) - (row.window[0] + row.window[1]) / 2
            _go(view, {row.source: dragged(row.window, lane.whole, "inside", by, 1)}, "Move in Time")

    def _point(self, context: bpy.types.Context, x: float, y: float) -> set[str]:
        state.area, state.at = context.area.as_pointer(), (x, y)
        context.area.tag_redraw()
        return {"PASS_THROUGH"}


def _finding_at(x: float, y: float) -> int | None:
    """Return the number of the finding whose sign is under the mouse."""
    return next(
        (number for box, number in drawing.signs if box[0] <= x <= box[2] and box[1] <= y <= box[3]), None
    )


def _go(
    view: bpy.types.Collection, windows: dict[int, Window | None], message: str, at_once: bool = False
) -> None:
    if at_once:
        # While it was dragged the view may have come there.
        window_time.go(view, windows, _nothing, at_once=True)
        acts.push(bpy.context, message)
    else:
        window_time.go(view, windows, lambda: acts.push(bpy.context, message))
    areas.redraw()


def _nothing() -> None:
    """A step of a drag is no step of undo."""


def _why_no_window(view: bpy.types.Collection) -> str:
    if sources.in_memory(view) is None:
        return NOT_IN_MEMORY
    return "This view has no time window: drag on the strip to select a range"


#: Keymap, its space, event, value, keys held, what is done.
_KEYS = (
    ("Node Editor", "NODE_EDITOR", "LEFTMOUSE", "PRESS", "", "DRAG"),
    ("Node Editor", "NODE_EDITOR", "LEFTMOUSE", "PRESS", "shift", "SELECT"),
    ("Node Editor", "NODE_EDITOR", "LEFTMOUSE", "DOUBLE_CLICK", "", "WHOLE"),
    ("Node Editor", "NODE_EDITOR", "MOUSEMOVE", "ANY", "", "POINT"),
    ("Node Editor", "NODE_EDITOR", "W", "PRESS", "", "IN"),
    ("Node Editor", "NODE_EDITOR", "S", "PRESS", "", "OUT"),
    ("Node Editor", "NODE_EDITOR", "A", "PRESS", "", "BACK"),
    ("Node Editor", "NODE_EDITOR", "D", "PRESS", "", "FORWARD"),
    ("Node Editor", "NODE_EDITOR", "HOME", "PRESS", "", "WHOLE"),
    # Blender first offers the wheel to the key map that all panning editors share.
    ("View2D", "EMPTY", "WHEELUPMOUSE", "PRESS", "", "IN"),
    ("View2D", "EMPTY", "WHEELDOWNMOUSE", "PRESS", "", "OUT"),
    ("View2D", "EMPTY", "WHEELUPMOUSE", "PRESS", "ctrl", "IN"),
    ("View2D", "EMPTY", "WHEELDOWNMOUSE", "PRESS", "ctrl", "OUT"),
    ("View2D", "EMPTY", "WHEELUPMOUSE", "PRESS", "shift", "BACK"),
    ("View2D", "EMPTY", "WHEELDOWNMOUSE", "PRESS", "shift", "FORWARD"),
    ("View2D", "EMPTY", "MIDDLEMOUSE", "PRESS", "", "DRAG"),
)
_added: list[tuple[Any, Any]] = []


def register() -> None:
    """Register the operator and its keys."""
    bpy.utils.register_class(TRACEVIS3D_OT_strip)
    config = bpy.context.window_manager.keyconfigs.addon
    if config is None:  # without a window there are no keys
        return
    for name, space, kind, value, held, do in _KEYS:
        keymap = config.keymaps.new(name=name, space_type=space)
        keys = {held: True} if held else {}
        item = keymap.keymap_items.new(TRACEVIS3D_OT_strip.bl_idname, kind, value, **keys)
        item.properties.do = do
        _added.append((keymap, item))


def unregister() -> None:
    """Undo :func:`register`."""
    while _added:
        keymap, item = _added.pop()
        keymap.keymap_items.remove(item)
    bpy.utils.unregister_class(TRACEVIS3D_OT_strip)
    state.windows, state.brush, state.area = {}, None, 0
