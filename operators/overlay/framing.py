"""The 3D view turned to a view's data, so that they fill it, or to its page."""

import bpy
from mathutils import Vector

from ...tracevis3d.overlay.framing import frame
from ..explore.motion.zoom import Pose, axes_of, lens_of, place, pose_of
from ..state import settings
from ..views import viewport
from .canvas import measure
from .content import contents
from .room import free_of, gizmo_of, theme_of


def look(context: bpy.types.Context, page: bool = False) -> None:
    """Let the 3D view show the active view's data, or its page; where there is no window, do nothing."""
    area = viewport.area_of(context)
    scene = context.window.scene if context.window is not None else context.scene
    active = settings.active_in(scene)
    if area is None or active is None or page or scene.tracevis3d_overview or contents.of(active) is None:
        viewport.look(context)
        return
    viewport.look(context, Framed(scene.name, active.name))


class Framed:
    """The data of a view, filling a 3D view until somebody moves it."""

    def __init__(self, scene: str, collection: str) -> None:
        self.scene, self.collection = scene, collection
        self._stands: Pose | None = None

    def __call__(self, area: bpy.types.Area) -> bool:
        """Turn a 3D view to the data; returns whether it is to be done again when its sidebar has settled."""
        scene, collection = bpy.data.scenes.get(self.scene), bpy.data.collections.get(self.collection)
        content = contents.of(collection) if collection is not None else None
        space = area.spaces.active
        view = space.region_3d
        if scene is None or collection is None or content is None:
            return False
        if self._stands is not None and pose_of(view) != self._stands:
            return False
        region = next(region for region in area.regions if region.type == "WINDOW")
        stored, scale = settings.of(collection), bpy.context.preferences.system.ui_scale
        reading = content.explained.reading
        if reading is not None and self._stands is None:
            view.view_rotation = Vector(reading).to_track_quat("Z", "Y")
        view.update()
        location, distance = frame(
            content.explained,
            content.names,
            axes_of(view.view_rotation),
            lens_of(view).tangents,
            free_of(area, region, scene),
            (region.width, region.height),
            theme_of(stored.style, scale),
            measure,
            gizmo_of(space, scale),
        )
        middle = Vector(location.tolist()) + Vector(stored.place)
        place(space, Pose(middle, view.view_rotation.copy(), distance))
        area.tag_redraw()
        self._stands = pose_of(view)
        return True
