"""The traces that views are made from: kept in memory, and found again after the file was saved."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ...tracevis3d import api
from ...tracevis3d.errors import InputError
from ...tracevis3d.progress import Progress, part
from ...tracevis3d.trace.storage import cache
from .. import handlers, signals

#: Hash of the source -> trace. Traces are never changed, so undo and redo need not know about them.
_loaded: dict[str, Any] = {}


def remember(trace: Any) -> None:
    """Keep ``trace`` for rebuilding."""
    _loaded[trace.source.hash or trace.source.path] = trace


def forget() -> None:
    """Let go of all traces."""
    _loaded.clear()


def loaded(key: str) -> Any | None:
    """Return the trace with the key ``key`` if it is in memory."""
    return _loaded.get(key)


def in_memory(collection: bpy.types.Collection) -> list[Any] | None:
    """Return the view's traces if all are in memory."""
    stored = collection.tracevis3d.sources
    traces = [_loaded.get(source.hash or absolute(source.path, collection)) for source in stored]
    return traces if all(trace is not None for trace in traces) else None


def finder(collection: bpy.types.Collection) -> Callable[[Progress], list[Any]]:
    """Return a function of ``progress`` that finds the view's traces without touching Blender's data.

    It looks in memory, at the stored path, then for the stored hash in the cache; it raises
    :class:`~tracevis3d.errors.InputError` if a trace is in none of them.
    """
    finders = [finder_of(source) for source in collection.tracevis3d.sources]

    def find(progress: Progress) -> list[Any]:
        share = 1 / max(len(finders), 1)
        return [one(part(progress, i * share, (i + 1) * share)) for i, one in enumerate(finders)]

    return find


def finder_of(source: Any) -> Callable[[Progress], Any]:
    """Return a function of ``progress`` that finds the trace of one stored source; see :func:`finder`."""
    path, digest = absolute(source.path, source.id_data), source.hash
    return lambda progress: _find(path, digest, progress)


def _find(path: str, digest: str, progress: Progress) -> Any:
    if (digest or path) in _loaded:
        return _loaded[digest or path]
    if os.path.exists(path):
        return api.load(path, progress=progress)
    progress(0.0, "looking in the cache")
    trace = cache.find_trace(digest)
    if trace is None:
        raise InputError(
            f"{path}: the trace is neither there nor in the cache: put it back, locate it with Find Trace, "
            "or import it again"
        )
    # It is still the trace of that file, wherever the cache keeps it.
    return replace(trace, source=replace(trace.source, path=path, recording=""))


def absolute(path: str, collection: bpy.types.Collection) -> str:
    """Return the path stored on ``collection`` as the system knows it."""
    return os.path.normpath(bpy.path.abspath(path, library=collection.library))


def relative(path: str, blend: str) -> str:
    """Return ``path`` relative to the .blend at ``blend`` where that is possible, else as it is."""
    if not blend:
        return path
    try:
        return bpy.path.relpath(path, start=os.path.dirname(blend))
    except ValueError:
        # Another drive on Windows.
        return path


# While a file is being saved, its paths must be relative to its new folder: so
# they are worked out before, and once more after, since "Save Copy" leaves the open file where it was. What
# Blender calls before and after knows nothing but this of each other.
_places: dict[str, list[str]] = {}


def _before_saving(target: str) -> None:
    for collection in bpy.data.collections:
        places = [absolute(source.path, collection) for source in collection.tracevis3d.sources]
        if places and collection.library is None:
            _places[collection.name_full] = places
            _write(collection, places, target or bpy.data.filepath)


def _after_saving(_target: str) -> None:
    for collection in bpy.data.collections:
        if places := _places.get(collection.name_full):
            _write(collection, places, bpy.data.filepath)
    _places.clear()


def look() -> None:
    """Note of each stored source where it can be found; panels show it, and never look themselves."""
    for collection in bpy.data.collections:
        if collection.library is not None:
            continue
        for source in collection.tracevis3d.sources:
            path = absolute(source.path, collection)
            if os.path.exists(path) or source.hash in _loaded:
                state = "FILE"
            else:
                state = "CACHE" if source.hash and cache.has_trace(source.hash) else "MISSING"
            if source.state != state:
                source.state = state


def _after_loading() -> None:
    forget()
    look()


def _write(collection: bpy.types.Collection, places: list[str], blend: str) -> None:
    for source, place in zip(collection.tracevis3d.sources, places, strict=True):
        shown = relative(place, blend)
        if source.path != shown:
            source.path = shown


_CONNECTIONS = (
    (handlers.before_saving, _before_saving),
    (handlers.after_saving, _after_saving),
    (handlers.after_loading, _after_loading),
)


def register() -> None:
    """Follow what Blender does to the file."""
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`, and let go of the traces."""
    signals.disconnect(_CONNECTIONS)
    forget()


def name_of(source: Any) -> str:
    """Return the file name of a stored source, for people."""
    return Path(source.path.replace("\\", "/")).name or source.path
