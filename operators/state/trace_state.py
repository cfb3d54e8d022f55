"""State of each trace in the .blend, beside its views: one record per trace, shared by all its views.

The records lie on a collection that no scene shows, so that they are saved, and undone, with everything else,
whichever scene or view they were changed from. Other modules add their own properties to the record:
``trace_state.PROPERTIES["name"] = SomeProperty(...)``, before it is registered.
"""

from typing import Any

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from . import sources

HOME = ".TraceVis3D"

#: Properties of a record; the modules that they belong to are listed before this one is registered.
PROPERTIES: dict[str, Any] = {
    "trace": StringProperty(name="Trace", description="SHA-256 of the trace's file, or its path"),
    "calls": StringProperty(name="Selected Calls", description="Numbers and ranges, such as '3 7-9'"),
    "active": StringProperty(name="Active Call", description="Number of the active call"),
    "time_range": StringProperty(name="Time Range", description="Start and end in nanoseconds"),
    "revision": IntProperty(name="Revision", description="Counts the changes of the selection"),
}


def key_of(source: Any) -> str:
    """Return by what a view's stored source is known: its hash, or its path where it has none.

    It is the same text as ``trace.source.hash or trace.source.path``.
    """
    return source.hash or sources.absolute(source.path, source.id_data)


def keys_of(collection: bpy.types.Collection) -> list[str]:
    """Return the keys of a view's traces, in order."""
    return [key_of(source) for source in collection.tracevis3d.sources]


def _home() -> bpy.types.Collection | None:
    # A library may have one too: only this file's own counts.
    return bpy.data.collections.get((HOME, None))


def _ensure_home() -> bpy.types.Collection:
    if (found := _home()) is not None:
        return found
    made = bpy.data.collections.new(HOME)
    made.use_fake_user = True
    return made


def find(trace: str) -> Any | None:
    """Return the record of the trace with the key ``trace``; None if nothing is remembered of it."""
    home = _home()
    if home is None:
        return None
    return next((record for record in home.tracevis3d_traces if record.trace == trace), None)


def ensure(trace: str) -> Any:
    """Return the record of the trace with the key ``trace``, made if there is none."""
    if (record := find(trace)) is not None:
        return record
    record = _ensure_home().tracevis3d_traces.add()
    record.trace = trace
    return record


#: The group that was made at registration, for Blender to take away.
_registered: list[type] = []


def register() -> None:
    """Register the record and hang the list of them on collections."""
    members = {
        "__annotations__": dict(PROPERTIES),
        "__doc__": "State of a trace, stored in the .blend.",
    }
    group = type("TRACEVIS3D_PG_trace", (bpy.types.PropertyGroup,), members)
    bpy.utils.register_class(group)
    _registered.append(group)
    bpy.types.Collection.tracevis3d_traces = CollectionProperty(type=group)


def unregister() -> None:
    """Undo :func:`register`."""
    del bpy.types.Collection.tracevis3d_traces
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
