"""The 3D view turned to a view's data, so that they fill it, or to its page."""

from collections.abc import Callable
from typing import NamedTuple

import bpy
from mathutils import Vector

from ...tracevis3d.overlay.framing import frame
from ..explore.motion.zoom import Pose, axes_of, lens_of, place, pose_of
from ..state import settings
from ..views import viewport
from .canvas import measure
from .content import Content, contents
from .room import free_of, gizmo_of, theme_of


def look(context: bpy.types.Context, page: bool = False) -> None:
    """Let the 3D view show the active view's data, or its page; where there is no window, do nothing."""
    area = viewport.area_of(context)
    scene = context.window.scene if context.window is not None else context.scene
    active = settings.active_in(scene)
    if area is None or active is None or page or scene.tracevis3d_overview or contents.of(active) is None:
        viewport.look(context)
        return
    viewport.look(context, Framed(scene.name, view_named(active.name)))


class Subject(NamedTuple):
    """What a 3D view is to be filled with: what explains it, where it stands, and its style."""

    content: Content
    place: tuple[float, float, float]
    style: str


def view_named(name: str) -> Callable[[], Subject | None]:
    """Return what looks up the data of a view by its collection's name."""

    def look_up() -> Subject | None:
        collection = bpy.data.collections.get(name)
        content = contents.of(collection) if collection is not None else None
        if collection is None or content is None:
            return None
        stored = settings.of(collection)
        return Subject(content, tuple(stored.place), stored.style)

    return look_up


class Framed:
    """The data of a view, filling a 3D view until somebody moves it.

    Parameters
    ----------
    scene : str
    subject : callable
        Returns what the view is to be filled with; None if it is gone.
    """

    def __init__(self, scene: str, subject: Callable[[], Subject | None]) -> None:
        self.scene, self.subject = scene, subject
        self._stands: Pose | None = None

    def is_moved(self, area: bpy.types.Area) -> bool:
        """Whether somebody has moved a 3D view since it was turned to the data."""
        return self._stands is not None and pose_of(area.spaces.active.region_3d) != self._stands

    def __call__(self, area: bpy.types.Area) -> bool:
        """Turn a 3D view to the data; returns whether it is to be done again when its sidebar has settled."""
        scene, subject = bpy.data.scenes.get(self.scene), self.subject()
        space = area.spaces.active
        view = space.region_3d
        if scene is None or subject is None or self.is_moved(area):
            return False
        region = next(region for region in area.regions if region.type == "WINDOW")
        scale = bpy.context.preferences.system.ui_scale
        reading = subject.content.explained.reading
        if reading is not None and self._stands is None:
            view.view_rotation = Vector(reading).to_track_quat("Z", "Y")
        view.update()
        location, distance = frame(
            subject.content.explained,
            subject.content.names,
            axes_of(view.view_rotation),
            lens_of(view).tangents,
            free_of(area, region, scene),
            (region.width, region.height),
            theme_of(subject.style, scale),
            measure,
            gizmo_of(space, scale),
        )
        middle = Vector(location.tolist()) + Vector(subject.place)
        place(space, Pose(middle, view.view_rotation.copy(), distance))
        area.tag_redraw()
        self._stands = pose_of(view)
        return True
