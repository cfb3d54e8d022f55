"""The place of an event: the 3D view, and the pixel of its region."""

from typing import Any

import bpy

_GIZMO = 180  # pixels at scale 1 from the region's upper right corner that the navigation gizmo takes


class Place:
    """The place of an event: the 3D view, and the pixel of its region."""

    def __init__(self, area: Any, region: Any, x: int, y: int) -> None:
        self.area, self.region, self.space = area, region, area.spaces.active
        self.x, self.y = x - region.x, y - region.y

    def on_gizmo(self, context: bpy.types.Context) -> bool:
        """Whether Blender's navigation gizmo may be there."""
        if not (self.space.show_gizmo and self.space.show_gizmo_navigate):
            return False
        near = _GIZMO * context.preferences.system.ui_scale
        right = next((r.width for r in self.area.regions if r.type == "UI" and r.width > 1), 0)
        from_right, from_top = self.region.width - right - self.x, self.region.height - self.y
        return from_right < near and from_top < 1.8 * near


def place_of(context: bpy.types.Context, x: int, y: int) -> Place | None:
    """Return the place of a pixel of the window in a 3D view; None where a sidebar or another editor is."""
    for area in context.window.screen.areas if context.window is not None else ():
        if not (area.x <= x < area.x + area.width and area.y <= y < area.y + area.height):
            continue
        if area.type != "VIEW_3D":
            return None
        inside = [
            region
            for region in area.regions
            if region.width > 1
            and region.height > 1
            and region.x <= x < region.x + region.width
            and region.y <= y < region.y + region.height
        ]
        # Sidebars and headers lie on the region of the view.
        if [region.type for region in inside] != ["WINDOW"]:
            return None
        return Place(area, inside[0], x, y)
    return None
