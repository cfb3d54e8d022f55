"""The threads of a view as a list: which one is the main thread, which are shown, hidden, in which order."""

from typing import Any

import bpy
from bpy.props import CollectionProperty, EnumProperty, IntProperty, StringProperty

from .. import preconditions, signals
from ..state import settings

#: Rows that the list has at most.
_MOST = 600


class TRACEVIS3D_PG_thread_row(bpy.types.PropertyGroup):
    """A thread of a view."""

    key: StringProperty(description="Process and id, as parameters name it")
    title: StringProperty(description="What people call it")
    place: IntProperty(default=-1, description="Its place among the rows of the view; -1: not shown")


def tell(_scene: Any, collection: bpy.types.Collection, traces: list[Any], drawing: Any) -> None:
    """Store the threads of the view ``threads`` for the panel: those shown first, in their order."""
    rows = collection.tracevis3d_thread_rows
    rows.clear()
    if settings.of(collection).view != "threads":
        return
    threads = traces[0].threads
    shown = [t for e in drawing.elements if e.kind == "thread" for t in e.id.tolist()]
    known = set(shown)
    others = [t for t in range(len(threads)) if t not in known and threads.count[t]]
    for place, thread in enumerate([*shown, *others][:_MOST]):
        row = rows.add()
        row.key = f"{threads.process[thread]}:{threads.tid[thread]}"
        row.title = threads.title(thread)
        row.place = place if place < len(shown) else -1


def listed(collection: bpy.types.Collection, parameter: str) -> list[str]:
    """Return the words of a parameter that names threads."""
    text = getattr(settings.parameters(collection), parameter)
    return [word for word in (word.strip() for word in text.split(",")) if word]


class TRACEVIS3D_OT_thread_change(bpy.types.Operator):
    """Choose the main thread, or hide, show, move or widen a thread"""

    bl_idname = "tracevis3d.thread_change"
    bl_label = "Change Threads"
    bl_options = {"REGISTER", "UNDO"}

    key: StringProperty(options={"SKIP_SAVE"})
    do: EnumProperty(
        items=(
            ("MAIN", "Main Thread", "Pull it out; the main thread until now goes back among the others"),
            ("HIDE", "Hide", "Leave the thread out"),
            ("SHOW", "Show", "Draw the thread"),
            ("UP", "Up", "Move the thread up"),
            ("DOWN", "Down", "Move the thread down"),
            ("FOCUS", "Focus", "Widen the thread, or no longer"),
        ),
        name="What",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(
            cls,
            context,
            preconditions.LIBRARY,
            preconditions.IDLE,
            preconditions.VIEW,
            preconditions.INSTALLED,
            preconditions.OWN,
        )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        return str(properties.rna_type.properties["do"].enum_items[properties.do].description)

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.require_active(context)
        group, rows = settings.require_parameters(collection), collection.tracevis3d_thread_rows
        row = next((row for row in rows if row.key == self.key), None)
        if row is None or settings.of(collection).view != "threads":
            self.report({"ERROR"}, f"The view has no thread {self.key}: rebuild it")
            return {"CANCELLED"}
        shown = [other.key for other in rows if other.place >= 0]
        hidden, focused = listed(collection, "hide"), listed(collection, "focus")
        if self.do == "MAIN":
            group.main = self.key
        elif self.do == "HIDE":
            group.hide = ", ".join([*hidden, self.key])
        elif self.do == "SHOW":
            if self.key in hidden:
                group.hide = ", ".join(word for word in hidden if word != self.key)
            else:
                group.threads = ", ".join([*shown, *hidden, self.key])
        elif self.do == "FOCUS":
            rest = [word for word in focused if word != self.key]
            group.focus = ", ".join(rest if self.key in focused else [*focused, self.key])
        elif self.key in shown:
            place = shown.index(self.key)
            shown.remove(self.key)
            shown.insert(max(place + (-1 if self.do == "UP" else 1), 0), self.key)
            group.order = ", ".join(shown)
        return {"FINISHED"}


def register() -> None:
    """Register the rows and hang them on collections."""
    bpy.utils.register_class(TRACEVIS3D_PG_thread_row)
    bpy.utils.register_class(TRACEVIS3D_OT_thread_change)
    bpy.types.Collection.tracevis3d_thread_rows = CollectionProperty(type=TRACEVIS3D_PG_thread_row)
    signals.on_show.connect(tell)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.on_show.disconnect(tell)
    del bpy.types.Collection.tracevis3d_thread_rows
    bpy.utils.unregister_class(TRACEVIS3D_OT_thread_change)
    bpy.utils.unregister_class(TRACEVIS3D_PG_thread_row)
