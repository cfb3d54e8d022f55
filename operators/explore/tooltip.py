"""Tooltips: the view describes the element, from its traces or from the stored metadata; where they lie."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import blf
import bpy

from ...tracevis3d.drawing.picked import Description, PickedElement
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.overlay.items import Rectangle
from ...tracevis3d.parameters import read
from ...tracevis3d.trace.model import Trace
from ...tracevis3d.trace.names import words_of
from ...tracevis3d.views import registry as views
from ...tracevis3d.views.calls.source_file import comment_in
from ...tracevis3d.views.describe import describe
from ...tracevis3d.views.linking.lit import best_matches
from ..state import settings, sources, stored_metadata, trace_state
from ..views import viewport
from . import pointer, shapes
from .pointer import Hit

_LEAST_TEXT = 11.0  # pixels below which no type shrinks
_APART = 18.0  # from the mouse


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


class TooltipShape(NamedTuple):
    """The size of a tooltip's parts in pixels.

    Attributes
    ----------
    lines : list of (str, tuple of str, float)
        Label, texts and size of the type of each line.
    tab, between : float
        From the left edge to the texts, and between two columns of these.
    columns : list of float
        Their widths.
    wide, high : float
        Of all lines.
    """

    lines: list[tuple[str, tuple[str, ...], float]]
    tab: float
    between: float
    columns: list[float]
    wide: float
    high: float


def measured(descriptions: list[Description], size: float) -> TooltipShape:
    """Return the shape of a tooltip whose common text has a size."""
    lines = [(label, texts, kind * size) for label, texts, kind in tooltip_lines(descriptions)]
    blf.size(0, size)
    tab = max((blf.dimensions(0, label)[0] for label, _, _ in lines), default=0.0)
    tab += 1.4 * size if tab else 0.0
    columns = max((len(texts) for _, texts, _ in lines), default=1)
    wides, widest, high = [0.0] * columns, 0.0, 0.0
    for label, texts, type_size in lines:
        blf.size(0, type_size)
        if len(texts) == columns and (label or columns > 1):
            for i, text in enumerate(texts):
                wides[i] = max(wides[i], blf.dimensions(0, text.lstrip("\0"))[0])
        elif texts:
            widest = max(widest, (tab if label else 0.0) + blf.dimensions(0, texts[0].lstrip("\0"))[0])
        high += shapes.LINE * size if texts else type_size
    between = 2.0 * size
    return TooltipShape(
        lines, tab, between, wides, max(tab + sum(wides) + between * (columns - 1), widest), high
    )


def tooltip_place(
    wide: float, high: float, mouse: tuple[float, float], apart: tuple[float, float], free: Rectangle
) -> tuple[float, float]:
    """Return the left and upper edge of a box beside the mouse: within ``free`` if it fits there."""
    left, low, right, top = free
    x, y = mouse[0] + apart[0], mouse[1] - apart[1]
    if x + wide > right:
        x = mouse[0] - apart[0] - wide
    if y - high < low:
        y = mouse[1] + apart[1] + high
    return max(min(x, right - wide), left), min(max(y, low + high), top)


def draw_tooltip(
    area: Any,
    region: Any,
    descriptions: list[Description],
    mouse: tuple[int, int],
    apart: float,
    scale: float,
) -> Rectangle:
    """Draw a tooltip beside the mouse, in the part of a region that no sidebar covers.

    Parameters
    ----------
    area : bpy.types.Area
    region : bpy.types.Region
    descriptions : list of Description
    mouse : (int, int)
        In the region's pixels.
    apart : float
        Pixels about the mouse that stay free.
    scale : float
        Of Blender's interface.

    Returns
    -------
    Rectangle
        Left, lower, right and upper pixel of where it lies.
    """
    left, right, top = viewport.covered(area, region)
    free = (float(left), 0.0, float(region.width - right), float(region.height - top))
    size = shapes.TEXT * scale
    shape = measured(descriptions, size)
    # On a small screen its type is smaller, down to what can be read.
    fits = min((free[2] - free[0]) / (shape.wide + 1.6 * size), free[3] / (shape.high + 1.6 * size))
    if fits < 1:
        size = max(0.95 * fits * size, min(_LEAST_TEXT, size))
        shape = measured(descriptions, size)
    pad = 0.8 * size
    box = (shape.wide + 2 * pad, shape.high + 2 * pad)
    x, y = tooltip_place(*box, mouse, (max(_APART * scale, apart), _APART * scale), free)
    shapes.rectangle(x, y - box[1], x + box[0], y, shapes.GROUND)
    base = y - pad
    for label, texts, type_size in shape.lines:
        base -= shapes.LINE * size if texts else type_size
        low = base + 0.35 * size
        if label:
            shapes.write(label, x + pad, low, size, shapes.QUIET)
        at = x + pad + (shape.tab if label or len(texts) > 1 else 0.0)
        for text, taken in zip(texts, shape.columns, strict=False):
            shapes.write(
                text.lstrip("\0"), at, low, type_size, shapes.QUIET if text.startswith("\0") else shapes.INK
            )
            at += taken + shape.between
    return x, y - box[1], x + box[0], y


def tooltip_lines(descriptions: list[Description]) -> list[tuple[str, tuple[str, ...], float]]:
    """Return label, texts and size of the type, in that of common text, of each line of a tooltip.

    Of two descriptions that say the same of two things, such as of both calls of a match, the values stand
    side by side. Texts that begin with a zero character are less important.
    """
    labels = [[label for label, _ in said.rows] for said in descriptions]
    lines: list[tuple[str, tuple[str, ...], float]] = []
    if len(descriptions) == 2 and len(set(labels[0]) & set(labels[1])) > 2:
        one, other = descriptions
        lines.append(("", (one.title, other.title), 1.05))
        if one.where or other.where:
            lines.append(("", ("\0" + one.where, "\0" + other.where), 0.8))
        values = [dict(said.rows) for said in descriptions]
        shared = [label for label in labels[0] if label in values[1]]
        lines += [(label, (values[0][label], values[1][label]), 1.0) for label in shared]
        rest = [row for said in descriptions for row in said.rows if row[0] not in shared]
        return [*lines, *((label, (text,), 1.0) for label, text in rest)]
    for i, said in enumerate(descriptions):
        if i:
            lines.append(("", (), 0.4))
        lines.append(("", (said.title,), 1.15))
        if said.where:
            lines.append(("", ("\0" + said.where,), 0.85))
        lines += [(label, (text,), 1.0) for label, text in said.rows]
    return lines
