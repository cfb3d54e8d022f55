"""The screen of the workspace: a large 3D view, calls and selection beside it, the time strip below."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import bpy

from .. import areas
from ..explore import keys
from ..views import viewport

#: Of the areas beside and below the 3D view, in pixels at scale 1. A sidebar has just room beside: before 5.0
#: Blender shows none in an area that is narrower.
_BESIDE, _BELOW = 312, 132
#: How many times Blender may handle all events until it has drawn the sidebars, and knows their tabs.
_PATIENCE = 50
#: Share of the height beside the 3D view that facts of what is selected have.
_FACTS = 0.45
#: What Blender draws over a scene to model in it: it lies on the picture, and says nothing of a trace.
_OVERLAYS = (
    "show_floor",
    "show_ortho_grid",
    "show_axis_x",
    "show_axis_y",
    "show_axis_z",
    "show_cursor",
    "show_relationship_lines",
    "show_outline_selected",
    "show_object_origins",
    "show_extras",
    "show_text",
    "show_bones",
    "show_motion_paths",
)


def lay_out(window: bpy.types.Window) -> Iterator[None]:
    """Turn the screen that a window shows into ours, step by step; it must be a copy that is nobody else's.

    Blender sets the sizes of areas after all events: it must run between two steps.
    """
    kept = _alone(window)
    yield
    scale = bpy.context.preferences.system.ui_scale
    pieces = [kept]
    yield from _split(window, pieces, "HORIZONTAL", min(_BELOW * scale / kept.height, 0.4))
    strip, main = sorted(pieces, key=lambda area: area.y)
    pieces = [main]
    yield from _split(window, pieces, "VERTICAL", 1.0 - min(_BESIDE * scale / main.width, 0.4))
    main, beside = sorted(pieces, key=lambda area: area.x)
    pieces = [beside]
    yield from _split(window, pieces, "HORIZONTAL", _FACTS)
    facts, calls = sorted(pieces, key=lambda area: area.y)
    _show_picture(main)
    keys.choose(bpy.context, keys.TOOL)
    for area, kind in ((strip, areas.STRIP), (calls, areas.CALLS), (facts, areas.SELECTION)):
        area.ui_type = kind
        space = area.spaces.active
        space.show_region_header = space.show_region_toolbar = False
        space.show_region_ui = area != strip
    sidebars = [next(r for r in area.regions if r.type == "UI") for area in (calls, facts)]
    for _ in range(_PATIENCE):
        yield
        with suppress(AttributeError, TypeError):
            for region in sidebars:
                region.active_panel_category = "TraceVis"
            return


def _alone(window: bpy.types.Window) -> Any:
    """Close all areas but the largest 3D view, or area, and return it as a 3D view."""
    present = list(window.screen.areas)
    kept = max(present, key=lambda area: (area.type == "VIEW_3D", area.width * area.height))
    kept.type = "VIEW_3D"
    place = kept.as_pointer()
    left = len(present) + 1
    while 1 < len(window.screen.areas) < left:
        left = len(window.screen.areas)
        for area in [each for each in window.screen.areas if each.as_pointer() != place]:
            with bpy.context.temp_override(window=window, area=area):
                if bpy.ops.screen.area_close.poll() and bpy.ops.screen.area_close() == {"FINISHED"}:
                    break
    return kept


def _split(window: bpy.types.Window, pieces: list[Any], direction: str, factor: float) -> Iterator[None]:
    """Split the one area of ``pieces``, which gets the new one too."""
    before = {each.as_pointer() for each in window.screen.areas}
    with bpy.context.temp_override(window=window, area=pieces[0], region=pieces[0].regions[-1]):
        bpy.ops.screen.area_split(direction=direction, factor=factor)
    pieces += (each for each in window.screen.areas if each.as_pointer() not in before)
    yield


def _show_picture(area: bpy.types.Area) -> None:
    """Leave of Blender's 3D view what helps to look at a trace; T and the small arrows bring the rest."""
    space = area.spaces.active
    for name in _OVERLAYS:
        if hasattr(space.overlay, name):
            setattr(space.overlay, name, False)
    space.show_region_header = space.show_region_tool_header = space.show_region_toolbar = False
    space.show_region_ui = viewport.has_room(area)
