"""The panel *VR*: landmarks for a headset."""

from typing import Any

import bpy

from . import parts


class TRACEVIS3D_PT_vr(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_vr"
    bl_label = "Virtual Reality"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        scene: Any = context.scene
        row = layout.row(align=True)
        row.operator("tracevis3d.vr_prepare", text="Prepare", icon="CAMERA_STEREO")
        row.operator("tracevis3d.vr_leave", text="", icon="X")
        landmarks = getattr(scene, "vr_landmarks", ())
        if not landmarks or landmarks[0].type != "CUSTOM":
            parts.paragraph(
                layout, context, "Landmarks at findings and bookmarks, with signs to be read there."
            )
            return
        running = bpy.types.XrSessionState.is_running(context)
        words = "Stop VR Session" if running else "Start VR Session"
        layout.operator("wm.xr_session_toggle", text=words, icon="SNAP_FACE" if running else "PLAY")
        active = min(scene.vr_landmarks_active, len(landmarks) - 1)
        row = layout.row(align=True)
        row.operator("tracevis3d.vr_go", text="", icon="TRIA_LEFT").step = -1
        row.label(text=f"{active + 1} of {len(landmarks)}: {landmarks[active].name}")
        row.operator("tracevis3d.vr_go", text="", icon="TRIA_RIGHT").step = 1
        layout.operator("tracevis3d.vr_tour", icon="PLAY")


CLASSES = (TRACEVIS3D_PT_vr,)
