"""Descriptions for tooltips: the view describes the element, from its traces or from the stored metadata."""

from typing import Any

import bpy

from ...tracevis3d.drawing.picked import Description
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.parameters import read
from ...tracevis3d.views import registry as views
from ...tracevis3d.views.describe import describe
from ..state import settings, sources, stored_metadata, trace_state
from .pointer import Hit


def tell(hit: Hit) -> list[Description]:
    """Return the descriptions of an element: one for each call that it represents."""
    collection = bpy.data.collections[hit.view]
    known: list[Any] = []
    for key in trace_state.keys_of(collection):
        trace = sources.loaded(key)
        known.append(trace if trace is not None else stored_metadata.Names(key))
    try:
        view = views.find(settings.of(collection).view)
        parameters: Any = read(view.parameters, settings.values(collection))
    except TraceVisError:
        # A view of a package that is not installed here: the stored metadata suffices.
        return describe(hit.picked, known)
    return view.describe(hit.picked, known, parameters)
