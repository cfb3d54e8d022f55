"""The metadata of the elements of a drawing, as numbers that can be stored beside them.

They describe an element when the trace itself is not available.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.measures import self_time_of
from ..drawing.links import Link
from ..drawing.primitives import Boxes, Drawing, Element, Image
from ..trace.model import Trace

Ints = NDArray[np.int64]

#: Kinds of elements whose ids are calls.
CALLS = ("call", "cluster")
#: Titles of the text and of the value by which an element's line is opened in an editor.
FILE, LINE = "file", "line"


@dataclass(frozen=True, eq=False)
class ElementMetadata:
    """The metadata of the ``n`` elements of one part of a drawing.

    Attributes
    ----------
    calls : dict
        One of the view's traces -> int64 (n,): the call of it, the longest one of a cluster; -1: none.
    function, depth, thread : int32 (n,) or (0,)
        Of the call, of the first trace where there are several; empty where nothing is a call.
    duration, own : float32 (n,) or (0,)
        Nanoseconds of the call, and of them in itself.
    count : int64 (n,) or (0,)
        How many calls each represents; empty: one.
    values : tuple of (str, float64 (n,))
        More values of each.
    texts : tuple of (str, tuple of str (n,))
        Texts of each.
    links : tuple of Link
        What each shows beside calls.
    """

    calls: dict[int, Ints]
    function: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    depth: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    thread: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    duration: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    own: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    count: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    values: tuple[tuple[str, NDArray[np.float64]], ...] = ()
    texts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    links: tuple[Link, ...] = ()


def metadata_of(element: Element, drawing: Drawing, traces: Sequence[Trace]) -> ElementMetadata | None:
    """Return what the elements of one part of ``drawing`` represent; None if for no calls.

    Parameters
    ----------
    element : Element
        A part of ``drawing``.
    drawing : Drawing
        Its ``meaning`` says what ids of other kinds than calls represent.
    traces : sequence of Trace
        Those of the view.

    Returns
    -------
    ElementMetadata or None
    """
    values: tuple[tuple[str, NDArray[np.float64]], ...] = ()
    texts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    links: tuple[Link, ...] = ()
    if isinstance(element, Image):
        return None
    meaning = drawing.meaning_of(element)
    if element.kind not in CALLS and meaning is None:
        return None
    calls = {element.source: np.asarray(element.id, np.int64)}
    if meaning is not None:
        if element.kind not in CALLS:
            calls = {source: _taken(column, element.id, -1) for source, column in meaning.calls}
        values = tuple((title, _taken(column, element.id, np.nan)) for title, column in meaning.values)
        texts = tuple(
            (title, tuple(words[i] if i >= 0 else "" for i in _taken(column, element.id, -1).tolist()))
            for title, words, column in meaning.texts
        )
        links = tuple(link.taken(np.asarray(element.id, np.int64)) for link in meaning.links)
    if not calls:
        return ElementMetadata({}, values=values, texts=texts, links=links)
    # The trace that the elements are of, where some are of one trace and some of another.
    source, ids = next(((s, c) for s, c in calls.items() if (c >= 0).any()), next(iter(calls.items())))
    trace = traces[source]
    columns = trace.calls
    known = np.clip(ids, 0, max(len(columns) - 1, 0))
    if not len(columns):
        return ElementMetadata(calls, values=values, texts=texts, links=links)
    return ElementMetadata(
        calls,
        np.where(ids >= 0, columns.function[known], -1).astype(np.int32),
        columns.depth[known],
        columns.thread[known],
        (columns.end[known] - columns.start[known]).astype(np.float32),
        self_time_of(trace)[known].astype(np.float32),
        element.count if isinstance(element, Boxes) else np.empty(0, np.int64),
        values,
        texts,
        links,
    )


def _taken(column: NDArray[Any], ids: Ints, missing: float) -> NDArray[Any]:
    """Return ``column[ids]``, and ``missing`` where there is no such id."""
    if not len(column):
        return np.full(len(ids), missing, np.asarray(column).dtype)
    inside = (ids >= 0) & (ids < len(column))
    return np.where(inside, np.asarray(column)[np.clip(ids, 0, len(column) - 1)], missing)


def functions_of(metadata: Sequence[ElementMetadata | None], traces: Sequence[Trace]) -> dict[int, set[int]]:
    """Return the functions of the calls that elements represent.

    Parameters
    ----------
    metadata : list of ElementMetadata or None
        Of each part of a drawing.
    traces : list of Trace
        The view's.

    Returns
    -------
    dict
        One of the traces -> functions of it.
    """
    used: dict[int, set[int]] = {}
    for found in metadata:
        for source, calls in (found.calls if found is not None else {}).items():
            own = traces[source].calls
            functions = np.unique(own.function[calls[(calls >= 0) & (calls < len(own))]])
            used.setdefault(source, set()).update(functions.tolist())
    return used
