"""The menu of the element under the mouse."""

from typing import Any

import bpy

from ...tracevis3d.trace.names import label_of_call
from ...tracevis3d.views import registry as views
from ...tracevis3d.views.actions import NOT_IN_MEMORY, Action
from ...tracevis3d.views.calls.clusters import call_under
from ..state import settings, sources, trace_state
from . import actions
from .overlay import state
from .source import line_of


class TRACEVIS3D_MT_element(bpy.types.Menu):
    """Actions on the element under the mouse"""

    bl_idname = "TRACEVIS3D_MT_element"
    bl_label = "Element"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        # Menus run operators directly, except those that may ask for something.
        layout.operator_context = "INVOKE_DEFAULT"
        target = target_of(state.hit)
        if target is None:
            if not _draw_line(layout, state.hit):
                _draw_beside(layout, context)
            return
        view, key, call = target
        trace = sources.loaded(key)
        if trace is None:
            layout.label(text=NOT_IN_MEMORY, icon="INFO")
            layout.operator("tracevis3d.rebuild", icon="FILE_REFRESH")
            return
        layout.label(text=label_of_call(trace, call))
        group, collection = -1, bpy.data.collections[view]
        for action in actions.declared_of(collection):
            if "menu" not in action.triggers or not action.offered(settings.of(collection).view, trace):
                continue
            if action.group != group:
                layout.separator()
                group = action.group
            if action.choices or action.asks_for_trace:
                layout.menu(_menu_of(action), icon=action.icon)
            else:
                _entry(layout, f"tracevis3d.{action.name}", target, icon=action.icon)
        layout.separator()
        entry = _entry(layout, "tracevis3d.open_source", target, icon="TEXT")
        if place := line_of(state.hit.picked):
            entry.file, entry.line = place
        _entry(layout, "tracevis3d.copy_as_python", target, icon="COPYDOWN")


def _entry(layout: Any, name: str, target: tuple[str, str, int], **look: Any) -> Any:
    operator = layout.operator(name, **look)
    operator.view, operator.trace, operator.call = target[0], target[1], str(target[2])
    return operator


def _draw_line(layout: Any, hit: Any) -> bool:
    """Lay out what can be done with a line of source that no call belongs to; return whether there is one."""
    place = None if hit is None or bpy.data.collections.get(hit.view) is None else line_of(hit.picked)
    if place is None:
        return False
    file, line = place
    layout.label(text=f"{file}:{line}" if line else file)
    entry = layout.operator("tracevis3d.open_source", icon="TEXT")
    entry.view, entry.file, entry.line = hit.view, file, line
    return True


def _draw_beside(layout: Any, context: bpy.types.Context) -> None:
    """Lay out what can be done where no element is under the mouse."""
    layout.label(text="No call is under the mouse")
    layout.separator()
    layout.operator("tracevis3d.show_all", icon="FULLSCREEN_EXIT")
    layout.operator("view3d.view_camera", text="Look through the Camera", icon="VIEW_CAMERA")
    layout.operator("tracevis3d.search_ask", icon="VIEWZOOM")
    layout.operator("tracevis3d.copy_as_python", icon="COPYDOWN")
    layout.separator()
    layout.operator("tracevis3d.explore", text="Leave Explore", icon="PANEL_CLOSE")


def target_of(hit: Any) -> tuple[str, str, int] | None:
    """Return the view, the trace's key and the call that a menu over ``hit`` is about; None if there is none.

    Over a cluster it is the call that lies where the mouse points.
    """
    if hit is None or bpy.data.collections.get(hit.view) is None or not hit.traces:
        return None
    key, call = next(iter(hit.traces.items()))
    trace = sources.loaded(key)
    if hit.kind == "cluster" and trace is not None:
        here = call_under(trace, hit.picked)
        call = here if here >= 0 else call
    return hit.view, key, call


def _draw_choices(self: Any, _context: bpy.types.Context) -> None:
    """Draw an entry for each thing that can be meant."""
    if (target := target_of(state.hit)) is not None:
        for choice in self.action.choices:
            entry = _entry(self.layout, f"tracevis3d.{self.action.name}", target, text=choice.title)
            entry.what = choice.name


def _draw_traces(self: Any, _context: bpy.types.Context) -> None:
    """Draw an entry for each other trace that is in memory."""
    target = target_of(state.hit)
    if target is None:
        return
    others: dict[str, str] = {}
    for scene in bpy.data.scenes:
        for holder in settings.all_in(scene):
            for source, other in zip(settings.of(holder).sources, trace_state.keys_of(holder), strict=True):
                if other != target[1] and sources.loaded(other) is not None:
                    others.setdefault(other, sources.name_of(source))
    for other, name in others.items():
        entry = _entry(self.layout, f"tracevis3d.{self.action.name}", target, text=f"With {name}")
        entry.other = other
    if not others:
        self.layout.label(text="Import the other trace first", icon="INFO")


def _menu_of(action: Action) -> str:
    return f"TRACEVIS3D_MT_{action.name}"


_registered: list[type] = []


def register() -> None:
    """Register the menu, and one for each action that can be about several things."""
    found: dict[str, type] = {}
    for view in views.loadable():
        for action in views.actions_of(view):
            if not (action.choices or action.asks_for_trace):
                continue
            members = {
                "bl_idname": _menu_of(action),
                "bl_label": action.label,
                "__doc__": action.sentence,
                "action": action,
                "draw": _draw_choices if action.choices else _draw_traces,
            }
            found.setdefault(_menu_of(action), type(_menu_of(action), (bpy.types.Menu,), members))
    _registered.extend([*found.values(), TRACEVIS3D_MT_element])
    for menu in _registered:
        bpy.utils.register_class(menu)


def unregister() -> None:
    """Remove the menus."""
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
