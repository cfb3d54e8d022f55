"""The menu of the element under the mouse."""

from typing import Any

import bpy

from ...tracevis3d.views.clusters import call_under
from ..state import settings, sources, trace_state
from . import elements
from .overlay import state


class TRACEVIS3D_MT_element(bpy.types.Menu):
    """What can be done with the element under the mouse"""

    bl_idname = "TRACEVIS3D_MT_element"
    bl_label = "Element"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        # Menus run operators as they are, but those that may ask for something.
        layout.operator_context = "INVOKE_DEFAULT"
        target = target_of(state.hit)
        if target is None:
            _draw_beside(layout, context)
            return
        view, key, call = target
        trace = sources.loaded(key)
        if trace is None:
            layout.label(text="The trace is not in memory: Rebuild finds it", icon="INFO")
            layout.operator("tracevis3d.rebuild", icon="FILE_REFRESH")
            return
        layout.label(text=trace.functions.label[int(trace.calls.function[call])])
        layout.separator()

        def entry(into: Any, name: str, text: str = "", icon: str = "NONE", **values: Any) -> None:
            operator = into.operator(name, **({"text": text} if text else {}), icon=icon)
            operator.view, operator.trace, operator.call = view, key, str(call)
            for attribute, value in values.items():
                setattr(operator, attribute, value)

        entry(layout, "tracevis3d.zoom_to_subtree", icon="VIEWZOOM")
        entry(layout, "tracevis3d.show_all", icon="FULLSCREEN_EXIT")
        layout.separator()
        layout.menu("TRACEVIS3D_MT_show_only", icon="HIDE_OFF")
        layout.menu("TRACEVIS3D_MT_hide", icon="HIDE_ON")
        entry(layout, "tracevis3d.mark_utility", icon="TOOL_SETTINGS")
        layout.separator()
        if len(trace_state.keys_of(bpy.data.collections[view])) > 1:
            entry(layout, "tracevis3d.compare_from_here", icon="ARROW_LEFTRIGHT")
        else:
            layout.menu("TRACEVIS3D_MT_compare", icon="ARROW_LEFTRIGHT")
        entry(layout, "tracevis3d.find_similar", icon="DUPLICATE")
        entry(layout, "tracevis3d.select_function", icon="RESTRICT_SELECT_OFF")
        layout.separator()
        entry(layout, "tracevis3d.open_source", icon="TEXT")
        entry(layout, "tracevis3d.copy_as_python", icon="COPYDOWN")


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


class _What:
    """A submenu with an entry for each thing that can be meant."""

    operator: str
    layout: Any

    def draw(self, context: bpy.types.Context) -> None:
        target = target_of(state.hit)
        if target is None:
            return
        for name, title, _ in elements.WHAT:
            operator = self.layout.operator(self.operator, text=title)
            operator.view, operator.trace, operator.call = target[0], target[1], str(target[2])
            operator.what = name


class TRACEVIS3D_MT_show_only(_What, bpy.types.Menu):
    """Leave out everything else"""

    bl_idname = "TRACEVIS3D_MT_show_only"
    bl_label = "Show Only"
    operator = "tracevis3d.show_only"


class TRACEVIS3D_MT_hide(_What, bpy.types.Menu):
    """Leave this out"""

    bl_idname = "TRACEVIS3D_MT_hide"
    bl_label = "Hide"
    operator = "tracevis3d.hide"


class TRACEVIS3D_MT_compare(bpy.types.Menu):
    """The traces that this call can be compared with"""

    bl_idname = "TRACEVIS3D_MT_compare"
    bl_label = "Compare from Here"

    def draw(self, context: bpy.types.Context) -> None:
        target = target_of(state.hit)
        if target is None:
            return
        view, key, call = target
        others: dict[str, str] = {}
        for scene in bpy.data.scenes:
            for holder in settings.all_in(scene):
                for source, other in zip(
                    settings.of(holder).sources, trace_state.keys_of(holder), strict=True
                ):
                    if other != key and sources.loaded(other) is not None:
                        others.setdefault(other, sources.name_of(source))
        for other, name in others.items():
            operator = self.layout.operator("tracevis3d.compare_from_here", text=f"With {name}")
            operator.view, operator.trace, operator.call, operator.other = view, key, str(call), other
        if not others:
            self.layout.label(text="Import the trace to compare with first", icon="INFO")


_CLASSES = (TRACEVIS3D_MT_show_only, TRACEVIS3D_MT_hide, TRACEVIS3D_MT_compare, TRACEVIS3D_MT_element)

register, unregister = bpy.utils.register_classes_factory(_CLASSES)
