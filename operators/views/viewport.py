"""The 3D view that a person looks at: turned to a new view's camera, and showing its colours as they are."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import bpy

#: Settings of the scene that decide how colours look.
_SHADING = (
    "light",
    "color_type",
    "show_cavity",
    "show_shadows",
    "show_object_outline",
    "show_xray",
    "use_dof",
)
#: What would lie on the picture.
_OVERLAYS = (
    "show_floor", "show_ortho_grid", "show_axis_x", "show_axis_y", "show_cursor", "show_extras", "show_text",
)  # fmt: skip
#: Share of the free room that the camera's frame takes.
_SHARE = 0.97
_CLIP_START = 0.1  # scene units
_ROOM = 600.0  # pixels at scale 1: half of them for the sidebar
#: Seconds after which a sidebar that was just opened has its width, and is drawn: sooner or later, as busy as
#: Blender is with the new scene.
_SETTLED = (0.2, 0.5, 1.0)


@contextmanager
def through_camera(scene: bpy.types.Scene) -> Iterator[None]:
    """Let 3D views that look through the scene's camera do so again when another has taken its place."""
    views = [
        area.spaces.active.region_3d
        for window in bpy.context.window_manager.windows
        if window.scene == scene
        for area in window.screen.areas
        if area.type == "VIEW_3D" and area.spaces.active.region_3d.view_perspective == "CAMERA"
    ]
    yield
    for view in views:
        view.view_perspective = "CAMERA"


def look(context: bpy.types.Context, frame: Callable[[bpy.types.Area], bool] | None = None) -> None:
    """Let the 3D view look through the scene's camera; where there is no window, do nothing.

    With ``frame`` it leaves the camera: ``frame`` puts it where it is to be, and again when the sidebar has
    its width, until it returns False.
    """
    area = area_of(context)
    scene = context.window.scene if context.window is not None else context.scene
    if area is None or scene.camera is None:
        return
    space = area.spaces.active
    _show_colors(space.shading, scene)
    for name in _OVERLAYS:
        setattr(space.overlay, name, False)
    camera = scene.camera.data
    # A nearer start would cost so much depth precision that surfaces flicker through each other.
    space.clip_start = min(camera.clip_start, _CLIP_START)
    space.clip_end = max(space.clip_end, camera.clip_end)
    if has_room(area):
        space.show_region_ui = True
    view_from(space, scene.camera)
    if frame is None:
        space.region_3d.view_perspective = "CAMERA"
    else:
        frame(area)
    name, rests = scene.name, iter(_SETTLED[1:])

    def settle() -> float | None:
        if not is_open(area):
            return None
        _show_tab(area)
        again = _fit(area, name) if frame is None else frame(area)
        return next(rests, None) if again else None

    bpy.app.timers.register(settle, first_interval=_SETTLED[0])


def show_tab(context: bpy.types.Context) -> None:
    """Open the tab of the 3D view's sidebar, and leave what it looks at."""
    area = area_of(context)
    if area is None or not has_room(area):
        return
    area.spaces.active.show_region_ui = True
    rests = iter(_SETTLED[1:])

    def settle() -> float | None:
        if not is_open(area):
            return None
        _show_tab(area)
        return next(rests, None)

    bpy.app.timers.register(settle, first_interval=_SETTLED[0])


def has_room(area: bpy.types.Area) -> bool:
    """Return whether a 3D view has room for its sidebar beside what it shows."""
    return bool(area.width > _ROOM * bpy.context.preferences.system.ui_scale)


def area_of(context: bpy.types.Context) -> bpy.types.Area | None:
    """Return the 3D view under the mouse, or the largest one."""
    if bpy.app.background or context.window is None:
        return None
    if context.area is not None and context.area.type == "VIEW_3D":
        return context.area
    return largest(context)


def largest(context: bpy.types.Context) -> bpy.types.Area | None:
    """Return the largest 3D view of the window."""
    areas = [area for area in context.window.screen.areas if area.type == "VIEW_3D"]
    return max(areas, key=lambda area: area.width * area.height) if areas else None


def _show_colors(shading: bpy.types.View3DShading, scene: bpy.types.Scene) -> None:
    if shading.type not in ("WIREFRAME", "SOLID"):
        return
    shading.type = "SOLID"
    for name in _SHADING:
        setattr(shading, name, getattr(scene.display.shading, name))
    shading.background_type = "WORLD"


def view_from(space: bpy.types.SpaceView3D, camera: bpy.types.Object) -> None:
    """Let the view that a person gets when leaving the camera be about the camera's."""
    view = space.region_3d
    view.view_perspective = "PERSP"
    if camera.data.type == "PERSP":
        # Without a camera the same lens shows twice as much; a little more than the frame is wanted.
        space.lens = min(max(1.5 * camera.data.lens, 1.0), 250.0)
    view.view_distance = camera.matrix_world.translation.length
    view.view_matrix = camera.matrix_world.inverted()


def is_main(space: bpy.types.SpaceView3D, view: bpy.types.RegionView3D) -> bool:
    """Return whether a region is the only one of a 3D view, or of a quad view the one that can be turned."""
    return not space.region_quadviews or bool(view == space.region_3d)


def is_open(area: bpy.types.Area) -> bool:
    """Return whether a window still has ``area``, as a 3D view; one that was closed must not be touched.

    Blender does not invalidate references to areas that no longer exist: nothing else is read from it before.
    """
    place = area.as_pointer()
    for window in bpy.context.window_manager.windows:
        for known in window.screen.areas:
            if known.as_pointer() == place:
                return bool(known.type == "VIEW_3D")
    return False


def _fit(area: bpy.types.Area, name: str) -> bool:
    """Put the camera's frame into the part of the 3D view that no sidebar covers.

    Returns
    -------
    bool
        Whether it is to be done again: not if the user has moved the view meanwhile.
    """
    scene = bpy.data.scenes.get(name)
    if scene is None:
        return False
    window = next(region for region in area.regions if region.type == "WINDOW")
    view = area.spaces.active.region_3d
    if view.view_perspective != "CAMERA":
        return False
    left, right, top = covered(area, window)
    free, high = window.width - left - right, window.height - top
    render = scene.render
    ratio = render.resolution_y * render.pixel_aspect_y / (render.resolution_x * render.pixel_aspect_x)
    wide = _SHARE * min(free, high / ratio)
    if wide < 64:
        return True
    # Blender's own measure: the frame's longer side is this share of the region's.
    share = wide * max(1.0, ratio) / max(window.width, window.height)
    view.view_camera_zoom = min(max((2 * math.sqrt(share) - math.sqrt(2)) * 50, -30.0), 600.0)
    view.view_camera_offset = (
        (right - left) / 2 / (2 * window.width * share),
        top / 2 / (2 * window.height * share),
    )
    area.tag_redraw()
    return True


def _show_tab(area: bpy.types.Area) -> None:
    with suppress(AttributeError, TypeError, StopIteration):  # a sidebar without tabs
        next(r for r in area.regions if r.type == "UI").active_panel_category = "TraceVis"
    for region in area.regions:
        region.tag_redraw()


def covered(area: bpy.types.Area, window: bpy.types.Region) -> tuple[int, int, int]:
    """Return the pixels at the left, the right and the top of the region that others lie on."""
    left = right = top = 0
    for region in area.regions:
        # A quad view has several windows; one that only touches another does not lie on it.
        across = min(region.x + region.width, window.x + window.width) - max(region.x, window.x)
        along = min(region.y + region.height, window.y + window.height) - max(region.y, window.y)
        if region == window or region.width <= 1 or region.height <= 1 or min(across, along) <= 1:
            continue
        if region.type == "TOOLS":
            left = max(left, region.x + region.width - window.x)
        elif region.type == "UI":
            right = max(right, window.x + window.width - region.x)
        elif region.type in ("HEADER", "TOOL_HEADER"):
            top = max(top, window.y + window.height - region.y)
    return left, right, top
