"""A drawing without the calls that a filter stack hides, with faded ones as ghosts; the rest is unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .primitives import Boxes, Drawing, Element, Image, Labels, Lines, Marks, Tubes, Wedges

#: As in :mod:`tracevis3d.filters.stack`: what happens to a call.
SHOWN, HIDDEN = 0, 1

States = Mapping[int, NDArray[np.uint8]]


def thinned(drawing: Drawing, states: States) -> Drawing:
    """Return ``drawing`` without what represents hidden calls.

    A cluster is treated like the longest of its calls, a match like both. Names on boxes go with them.

    Parameters
    ----------
    drawing : Drawing
    states : dict
        One of the view's traces -> uint8 (calls,): 0 shown, 1 hidden, others faded.

    Returns
    -------
    Drawing
        The same one if nothing is hidden or faded.
    """
    elements: list[Element] = []
    gone: list[Boxes] = []
    for element in drawing.elements:
        state = _state(element, drawing, states)
        if state is None or not state.any():
            elements.append(element)
            continue
        shown, faded = np.flatnonzero(state == SHOWN), np.flatnonzero(state > HIDDEN)
        if len(shown):
            elements.append(taken(element, shown))
        if len(faded):
            elements.append(replace(taken(element, faded), look="ghost"))
        if isinstance(element, Boxes):
            gone.append(taken(element, np.flatnonzero(state == HIDDEN)))
    if len(elements) == len(drawing.elements) and not gone:
        return drawing
    labels = tuple(kept for group in drawing.labels if len(kept := _labels(group, gone)))
    return replace(drawing, elements=tuple(elements), labels=labels)


def _state(element: Element, drawing: Drawing, states: States) -> NDArray[np.uint8] | None:
    """Return what happens to each element; None where it represents no calls of a filtered trace."""
    if isinstance(element, Image):
        return None
    if element.kind in ("call", "cluster"):
        calls = {element.source: element.id}
    elif (meaning := drawing.meaning.get(element.kind)) is not None:
        calls = {}
        for source, column in meaning.calls:
            inside = (element.id >= 0) & (element.id < len(column))
            calls[source] = np.where(inside, column[np.where(inside, element.id, 0)], -1)
    else:
        return None
    out: NDArray[np.uint8] | None = None
    for source, ids in calls.items():
        of_call = states.get(source)
        if of_call is None or not len(of_call):
            continue
        known = (ids >= 0) & (ids < len(of_call))
        own = np.where(known, of_call[np.where(known, ids, 0)], SHOWN).astype(np.uint8)
        # Hidden if one end is hidden; faded if one end is faded and none is hidden.
        out = (
            own if out is None else np.where((out == HIDDEN) | (own == HIDDEN), HIDDEN, np.maximum(out, own))
        )
    return None if out is None else np.asarray(out, np.uint8)


def taken(element: Any, which: NDArray[np.int64]) -> Any:
    """Return some of an element's boxes, tubes, lines or marks.

    Parameters
    ----------
    element : Boxes, Tubes, Lines, Wedges or Marks
        It stays as it is.
    which : int64 (k,)
        Their indices, in the order wanted.

    Returns
    -------
    as ``element``
        The same kind, with ``k`` elements.
    """
    if isinstance(element, (Tubes, Lines, Wedges)):
        count = np.diff(element.first)[which]
        first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        point = np.repeat(element.first[:-1][which] - first[:-1], count) + np.arange(int(first[-1]))
        rows: dict[str, Any] = {"first": first}
        if isinstance(element, Wedges):
            rows["corner"] = element.corner[point]
            rows |= {"time": element.time[which]} if len(element.time) else {}
        else:
            rows["point"] = element.point[point]
        if isinstance(element, Tubes):
            rows["radius"] = element.radius[point]
            optional = {name: getattr(element, name) for name in ("end_color", "gloss", "time")}
            rows |= {name: values[which] for name, values in optional.items() if len(values)}
        elif isinstance(element, Lines):
            rows["width"] = element.width[which]
        return replace(element, color=element.color[which], id=element.id[which], **rows)
    assert isinstance(element, (Boxes, Marks))
    n = len(element)
    rows = {}
    for column in fields(element):
        values = getattr(element, column.name)
        if isinstance(values, np.ndarray) and len(values) == n:
            rows[column.name] = values[which]
    return replace(element, **rows)


def _labels(group: Labels, gone: list[Boxes]) -> Labels:
    """Return the labels that don't lie on a box that no longer exists."""
    if not len(group.background) or not any(map(len, gone)):
        return group
    low = np.concatenate([boxes.low for boxes in gone]).astype(np.float64)
    high = low + np.concatenate([boxes.size for boxes in gone])
    # A text, and the box below it, are wider than they are high.
    wide = (high - low)[:, 0] >= float(group.height.min())
    low, high = low[wide], high[wide]
    near = 0.1 * group.height.astype(np.float64)
    keep = np.ones(len(group), np.bool_)
    for i, anchor in enumerate(group.anchor.astype(np.float64)):
        keep[i] = not ((low - near[i] <= anchor) & (anchor <= high + near[i])).all(axis=1).any()
    return group.only(np.flatnonzero(keep))
