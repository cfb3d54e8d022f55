"""Rebuild a view at once when its parameters change, if that is quick; otherwise it waits for *Rebuild*."""

import time

import bpy

from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.progress import silent
from .. import signals
from ..state import settings, sources
from ..task import idle
from . import make_view

_QUICK = 0.4  # maximum duration, in seconds, of a rebuild while a slider is dragged


def rebuild(collection: bpy.types.Collection) -> None:
    """Rebuild the view if its traces are in memory, the last time was not slow, and a person is looking.

    It is part of the change of the property, so that both are one step of undo.
    """
    if bpy.app.background or not idle() or collection.library is not None:
        return
    seconds = make_view.seconds_of(collection)
    traces = sources.in_memory(collection)
    if traces is None or (seconds is not None and seconds > _QUICK):
        return
    started = time.perf_counter()
    try:
        figure = make_view.figure_of(collection, traces)
        drawing = figure.drawing(settings.frame_of(bpy.context.scene), silent)
        make_view.show(bpy.context.scene, collection, traces, figure, drawing)
    except TraceVisError as error:
        # The panel keeps saying that the view is not up to date; Rebuild reports why.
        print(f"TraceVis3D: {error}")
        return
    make_view.took(collection, time.perf_counter() - started)


def register() -> None:
    """Rebuild when people change something."""
    signals.on_change.connect(rebuild)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.on_change.disconnect(rebuild)
