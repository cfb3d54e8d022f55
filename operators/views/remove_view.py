"""Take a view out of the scene, with all that was made for it."""

import bpy

from ...tracevis3d.scene.build import clear
from .. import preconditions
from ..state import settings
from . import arrange


class TRACEVIS3D_OT_remove_view(bpy.types.Operator):
    """Remove the active view and everything that was made for it; the trace's file is not touched"""

    bl_idname = "tracevis3d.remove_view"
    bl_label = "Remove View"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(cls, context, preconditions.IDLE, preconditions.VIEW)

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.active(context)
        clear(collection)
        bpy.data.collections.remove(collection)
        scene = context.scene
        remaining = settings.active_in(scene)
        with settings.quietly():
            scene.tracevis3d_view = remaining
        arrange.settle(scene)
        others = [other for other in bpy.data.scenes if other != scene]
        others.sort(key=lambda other: settings.active_in(other) is None)
        if (
            scene.tracevis3d_own
            and not scene.collection.all_objects
            and others
            and context.window is not None
        ):
            context.window.scene = others[0]
            bpy.data.scenes.remove(scene)
        return {"FINISHED"}


def register() -> None:
    """Register the operator."""
    bpy.utils.register_class(TRACEVIS3D_OT_remove_view)


def unregister() -> None:
    """Undo :func:`register`."""
    bpy.utils.unregister_class(TRACEVIS3D_OT_remove_view)
