"""The placement of the views of a scene, the active one, and a look at all of them side by side."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ...tracevis3d.scene import placement, styles
from ...tracevis3d.scene.parts import PART
from .. import preconditions, signals
from ..overlay import framing
from ..state import settings
from ..task import idle
from . import viewport

#: Lowest and highest coordinates, float64 (3,) each.
Box = tuple[Any, Any]
DIRECTIONS = (
    ("ROW", "Side by Side", "Each to the right of the one before"),
    ("DEPTH", "One behind the Other", "Each behind the one before"),
    ("STACK", "One above the Other", "Each above the one before, so that equal times are aligned"),
)
_AXES = {"ROW": 0, "DEPTH": 1, "STACK": 2}


def box(collection: bpy.types.Collection, standing: bool = True) -> Box:
    """Return lowest and highest coordinates of a view with its sign, where it is ``standing`` or is drawn."""
    stored = settings.of(collection)
    return placement.box(stored.low, stored.high, facing(collection), stored.place if standing else (0, 0, 0))


def place_beside(scene: bpy.types.Scene, collection: bpy.types.Collection) -> None:
    """Let a new view stand beside those that are in the scene."""
    others = [box(other) for other in settings.all_in(scene) if other != collection]
    axis = _AXES[scene.tracevis3d_direction]
    settings.of(collection).place = placement.free_place(*box(collection, standing=False), others, axis)


def make_room(scene: bpy.types.Scene, collection: bpy.types.Collection, before: Box) -> None:
    """Let other views give way to one that is larger than ``before`` and reaches into them."""
    others = [other for other in settings.all_in(scene) if other != collection]
    axis = _AXES[scene.tracevis3d_direction]
    own, shifts = placement.make_room(before, box(collection), [box(other) for other in others], axis)
    for view, shift in zip([collection, *others], [own, *shifts], strict=True):
        if shift:
            place = list(settings.of(view).place)
            place[axis] += shift
            settings.of(view).place = place


def lift(collection: bpy.types.Collection) -> None:
    """Take a view back to its own coordinates, in which it is built."""
    placement.put(collection, (0.0, 0.0, 0.0))


def settle(scene: bpy.types.Scene) -> None:
    """Put all views of ``scene`` where they stand, and attend to the active one, or to all."""
    present = settings.all_in(scene)
    active = settings.active_in(scene)
    if active is None:
        placement.drop_overview(scene)
        return
    overview = scene.tracevis3d_overview and len(present) > 1
    eyes = {view.name: camera_of(view) for view in present}
    for view in present:
        stored = settings.of(view)
        placement.put(view, stored.place)
        if len(present) > 1:
            style = styles.named(stored.style)
            placement.sign(view, view.name, stored.low, stored.high, style, facing(view))
            placement.put(view, stored.place)
    placement.attend(present, active, overview)
    eye = eyes[active.name]
    if overview and eye is not None:
        boxes = [box(view) for view in present]
        with viewport.through_camera(scene):
            scene.camera = placement.overview_camera(scene, eye, boxes, settings.frame_of(scene))
        return
    # A person may look through another camera of the same view.
    if eye is not None and (scene.camera is None or active not in scene.camera.users_collection):
        with viewport.through_camera(scene):
            scene.camera = eye
    placement.drop_overview(scene)
    world = bpy.data.worlds.get(f"TraceVis3D {settings.of(active).style}")
    if world is not None and scene.world != world:
        scene.world = world


def camera_of(collection: bpy.types.Collection) -> bpy.types.Object | None:
    """Return the camera of a view's picture; it may have others, which are parts of what is drawn."""
    eyes = (shown for shown in collection.objects if shown.type == "CAMERA" and PART not in shown)
    return next(eyes, None)


def facing(collection: bpy.types.Collection) -> int:
    """Return the axis across the side from which a view is seen: 2 for what is seen from above."""
    eye = camera_of(collection)
    if eye is None:
        return 1
    back = [abs(eye.matrix_basis[axis][2]) for axis in range(3)]
    return 2 if back[2] > max(back[:2]) else 1


def _attend() -> None:
    """Follow a change of the active view, of a view's place, or of the overview."""
    if idle():
        for scene in bpy.data.scenes:
            if settings.active_in(scene) is not None:
                settle(scene)


def _several(operator: Any, context: bpy.types.Context) -> bool:
    """Return whether there are views to be arranged, and let ``operator`` say why not."""
    if not preconditions.poll(operator, context, preconditions.IDLE, preconditions.VIEW):
        return False
    if len(settings.all_in(context.scene)) < 2:
        operator.poll_message_set("There is only one view in this scene: add another first")
        return False
    return True


class TRACEVIS3D_OT_arrange(bpy.types.Operator):
    """Arrange all views of the scene so that they do not overlap"""

    bl_idname = "tracevis3d.arrange"
    bl_label = "Arrange Views"
    bl_options = {"REGISTER", "UNDO"}

    direction: EnumProperty(items=DIRECTIONS, name="Direction", default="ROW")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _several(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        scene.tracevis3d_direction = self.direction
        taken: list[Box] = []
        with settings.quietly():
            for view in settings.all_in(scene):
                place = placement.free_place(*box(view, standing=False), taken, _AXES[self.direction])
                settings.of(view).place = place
                taken.append(box(view))
        settle(scene)
        return {"FINISHED"}


class TRACEVIS3D_OT_frame_views(bpy.types.Operator):
    """Turn the 3D view to all views of the scene at once, or back to the active one"""

    bl_idname = "tracevis3d.overview"
    bl_label = "See All Views"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _several(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.scene.tracevis3d_overview = not context.scene.tracevis3d_overview
        framing.look(context)
        return {"FINISHED"}


_CLASSES = (TRACEVIS3D_OT_arrange, TRACEVIS3D_OT_frame_views)
_register, _unregister = bpy.utils.register_classes_factory(_CLASSES)


def register() -> None:
    """Register the operators, and what scenes remember of their arrangement."""
    _register()
    bpy.types.Scene.tracevis3d_direction = EnumProperty(
        items=DIRECTIONS, name="Arrangement", description="Where a new view goes", default="ROW"
    )
    signals.on_move.connect(_attend)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.on_move.disconnect(_attend)
    del bpy.types.Scene.tracevis3d_direction
    _unregister()
