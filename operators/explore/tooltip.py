"""Descriptions for tooltips: the view describes the element, from its traces or from the stored metadata."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ...tracevis3d.drawing.picked import Description, PickedElement
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.parameters import read
from ...tracevis3d.trace.model import Trace
from ...tracevis3d.trace.names import words_of
from ...tracevis3d.views import registry as views
from ...tracevis3d.views.calls.source_file import comment_in
from ...tracevis3d.views.describe import describe
from ...tracevis3d.views.linking.lit import best_matches
from ..state import settings, sources, stored_metadata, trace_state
from . import pointer
from .pointer import Hit


def describe_hit(hit: Hit) -> list[Description]:
    """Return the descriptions of an element: one for each call that it represents or is matched with."""
    collection = bpy.data.collections[hit.view]
    picked = hit.picked
    if hit.pickable.is_boxes and len(trace_state.keys_of(collection)) > 1:
        present = pointer.shown_in(bpy.context.scene)
        meshes = [pickable for _, shown, pickable in present if shown.name in collection.objects]
        picked = replace(picked, matched=best_matches(meshes, hit.calls))
    known: list[Any] = []
    for key in trace_state.keys_of(collection):
        trace = sources.loaded(key)
        known.append(trace if trace is not None else stored_metadata.Names(key))
    try:
        view = views.find(settings.of(collection).view)
        parameters: Any = read(view.parameters, settings.values(collection))
    except TraceVisError:
        # A view of a package that is not installed here: the stored metadata suffices.
        return describe(picked, known)
    descriptions = view.describe(picked, known, parameters)
    _add_comments(descriptions, picked, known, trace_state.keys_of(collection))
    return descriptions


def _add_comments(
    descriptions: list[Description], picked: PickedElement, known: list[Any], keys: list[str]
) -> None:
    """Add what the source says of the functions that are called, where it is on this machine."""
    for source, call in picked.calls.items():
        trace = known[source] if source < len(known) else None
        if not isinstance(trace, Trace) or picked.kind == "cluster" or call >= len(trace.calls):
            continue
        words = words_of(trace, int(trace.calls.function[call]))
        record = trace_state.find(keys[source])
        folder = bpy.path.abspath(record.sources_folder) if record is not None else ""
        beside = str(Path(trace.source.path).parent) if trace.source.path else ""
        text = comment_in(words.file, words.line, folder, beside)
        for said in descriptions if text else []:
            if said.title.endswith(words.label) and ("comment", text) not in said.rows:
                said.rows.append(("comment", text))
                break
