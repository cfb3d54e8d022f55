"""The 3D view that a person looks at: turned to a new view's camera, and showing its colours as they are."""

import bpy

#: What decides how colours look, as the scene has it for pictures.
_SHADING = (
    "light",
    "color_type",
    "show_cavity",
    "show_shadows",
    "show_object_outline",
    "show_xray",
    "use_dof",
)


def look(context: bpy.types.Context) -> None:
    """Let the 3D view look through the scene's camera; where there is no window, do nothing."""
    found = _area(context)
    if found is None or context.scene.camera is None:
        return
    window, area = found
    space = area.spaces.active
    shading = space.shading
    if shading.type in ("WIREFRAME", "SOLID"):
        shading.type = "SOLID"
        chosen = context.scene.display.shading
        for name in _SHADING:
            setattr(shading, name, getattr(chosen, name))
        shading.background_type = "WORLD"
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.overlay.show_cursor = space.overlay.show_extras = False
    space.overlay.show_relationship_lines = False
    camera = context.scene.camera.data
    space.clip_start, space.clip_end = (
        min(space.clip_start, camera.clip_start),
        max(space.clip_end, camera.clip_end),
    )
    view = space.region_3d
    view.view_perspective = "CAMERA"
    region = next((region for region in area.regions if region.type == "WINDOW"), None)
    with context.temp_override(window=window, area=area, region=region):
        bpy.ops.view3d.view_center_camera()


def _area(context: bpy.types.Context) -> tuple[bpy.types.Window, bpy.types.Area] | None:
    """Return the 3D view under the mouse, or the largest one."""
    window = context.window
    if bpy.app.background or window is None:
        return None
    if context.area is not None and context.area.type == "VIEW_3D":
        return window, context.area
    areas = [area for area in window.screen.areas if area.type == "VIEW_3D"]
    return (window, max(areas, key=lambda area: area.width * area.height)) if areas else None
