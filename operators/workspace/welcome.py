"""What a newcomer is shown until they close it, and the example that they can open with one click."""

from pathlib import Path

import bpy

from .. import preconditions, preferences
from ..state import selection, settings, trace_state

#: Three sentences that say what to do.
SENTENCES = (
    "Import a trace, or drop its file on the 3D view; two files at once are compared.",
    "Point at anything to see what it is; a click selects it, a double click zooms to it.",
    "The time strip of the workspace shows all of the time: drag its frame. ? lists all keys.",
)
#: It travels in the extension: see tools/release/extension.py.
EXAMPLE = Path(__file__).parents[2] / "examples" / "vt_markdown_repeat1.json.gz"


def is_wanted() -> bool:
    """Return whether the sentences are to be shown."""
    stored = preferences.stored()
    return stored is not None and bool(stored.welcome)


def sentences(scene: bpy.types.Scene) -> tuple[str, ...]:
    """Return what a person still needs: who has a trace, not how to import; who has selected, nothing."""
    keys = [key for view in settings.all_in(scene) for key in trace_state.keys_of(view)]
    if any(selection.revision(key) for key in keys):
        return ()
    return SENTENCES[1:] if keys else SENTENCES


class TRACEVIS3D_OT_open_example(bpy.types.Operator):
    """Open a recording of a Python program that turns Markdown into HTML: 19,482 calls in 125 ms"""

    bl_idname = "tracevis3d.open_example"
    bl_label = "Open an Example"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not EXAMPLE.is_file():
            cls.poll_message_set("This build of the extension contains no example")
            return False
        return preconditions.poll(
            cls, context, preconditions.LIBRARY, preconditions.IDLE, preconditions.OBJECT_MODE
        )

    def execute(self, _context: bpy.types.Context) -> set[str]:
        files = [{"name": EXAMPLE.name}]
        bpy.ops.tracevis3d.import_trace("INVOKE_DEFAULT", directory=str(EXAMPLE.parent), files=files)
        return {"FINISHED"}


class TRACEVIS3D_OT_close_welcome(bpy.types.Operator):
    """Don't show this again; the preferences of the extension bring it back"""

    bl_idname = "tracevis3d.close_welcome"
    bl_label = "Close"

    def execute(self, context: bpy.types.Context) -> set[str]:
        stored = preferences.stored()
        if stored is None:
            return {"CANCELLED"}
        stored.welcome = False
        context.preferences.is_dirty = True
        return {"FINISHED"}


_CLASSES = (TRACEVIS3D_OT_open_example, TRACEVIS3D_OT_close_welcome)
register, unregister = bpy.utils.register_classes_factory(_CLASSES)
