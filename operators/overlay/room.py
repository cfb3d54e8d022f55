"""The room that an overlay has in a region, and its sizes and colours."""

import bpy

from ...tracevis3d.overlay.items import Rectangle, Theme
from ...tracevis3d.scene import styles
from ..state import settings
from ..views import overview, viewport

_GIZMO = 85  # pixels at scale 1 that Blender's navigation takes in the upper right corner
_LINE = 24  # pixels at scale 1 of the line above the strip


def theme_of(style_name: str, scale: float) -> Theme:
    """Return the overlay's sizes and colours, which fit a style's background."""
    style = styles.named(style_name)
    return Theme(scale=scale, ink=style.ink, muted=style.muted, ground=style.background)


def free_of(area: bpy.types.Area, region: bpy.types.Region, scene: bpy.types.Scene) -> Rectangle:
    """Return the part of a region that no sidebar, header and strip covers, in its pixels."""
    left, right, top = viewport.covered(area, region)
    bottom, scale = 0.0, bpy.context.preferences.system.ui_scale
    active = settings.active_in(scene)
    if active is not None and overview.is_in(area.id_data, active):
        with bpy.context.temp_override(area=area, region=region):
            found = overview.box(bpy.context)
        bottom = found[3] + _LINE * scale if found is not None else 0.0
    return float(left), bottom, float(region.width - right), float(region.height - top)


def gizmo_of(space: bpy.types.SpaceView3D, scale: float) -> float:
    """Return how many pixels Blender's navigation takes in the upper right corner."""
    return _GIZMO * scale if space.show_gizmo and space.show_gizmo_navigate else 0.0
