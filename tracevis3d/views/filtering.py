"""Filter stacks applied to any view: hidden calls are left out of the drawing, faded ones become ghosts.

A view whose parameters have ``filters`` lays out what is left; the others keep their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.compact import graph_of
from ..drawing.filtered import thinned
from ..drawing.frame import Frame
from ..drawing.primitives import Drawing
from ..errors import UsageError
from ..filters.facts import facts_of
from ..filters.listed import Listed, listed
from ..filters.stack import FilterResult, apply, parse
from ..progress import Progress
from ..trace.cached_results import cached_with_trace
from ..trace.model import Trace
from .view import View

#: Number of cached filter results per trace: computing one takes time for millions of calls.
_MOST = 8
#: Number of cached call trees, which are larger.
_MOST_LISTED = 4


@cached_with_trace(most=_MOST)
def outcome(trace: Trace, text: str) -> FilterResult:
    """Return the result of a stack on a trace, and of each of its filters; it is cached.

    Parameters
    ----------
    trace : Trace
    text : str
        The filter stack.

    Returns
    -------
    FilterResult

    Raises
    ------
    UsageError
        If the stack can't be read, or names what the trace hasn't.
    """
    return apply(parse(text), facts_of(trace))


def listing(trace: Trace, text: str, whole: bool) -> Listed:
    """Return the part of a trace's call tree that is listed under a stack; it is cached.

    Parameters
    ----------
    trace : Trace
    text : str
        The filter stack; empty: all is listed.
    whole : bool
        What the stack hides is listed too, marked.

    Returns
    -------
    Listed

    Raises
    ------
    UsageError
        If the stack can't be read, or names what the trace hasn't.
    """
    return _listing(trace, text, whole) if text.strip() else Listed(graph_of(trace))


@cached_with_trace(most=_MOST_LISTED)
def _listing(trace: Trace, text: str, whole: bool) -> Listed:
    return listed(parse(text), facts_of(trace), outcome(trace, text), whole)


def states(trace: Trace, text: str) -> NDArray[np.uint8]:
    """Return what happens to each call of a trace under a stack, uint8 (calls,); see :func:`outcome`.

    Parameters
    ----------
    trace : Trace
    text : str
        The filter stack.

    Returns
    -------
    uint8 (calls,)
        0 shown, 1 hidden, 2 faded, 3 sunk.
    """
    return outcome(trace, text).state


def applied(text: str, traces: Sequence[Trace], drawing: Drawing) -> Drawing:
    """Return ``drawing`` with the filters of ``text`` applied, for each trace that has what they name.

    Parameters
    ----------
    text : str
        The filter stack; empty: the drawing is returned as it is.
    traces : sequence of Trace
        Those of the view.
    drawing : Drawing
        Of all their calls.

    Returns
    -------
    Drawing
        With a note on what is left out.

    Raises
    ------
    UsageError
        If the stack can't be read, or none of the traces has what it names.
    """
    if not text.strip():
        return drawing
    found: dict[int, NDArray[np.uint8]] = {}
    effects = []
    refused: UsageError | None = None
    for source, trace in enumerate(traces):
        try:
            result = outcome(trace, text)
            found[source] = result.state
            effects.append(result.effects)
        except UsageError as error:
            refused = error
    if not found and refused is not None:
        raise refused
    left = thinned(drawing, found)
    missing = sum(map(len, drawing.elements)) - sum(map(len, left.elements))
    note = f"filters ({text}) leave out {missing:,} of what is drawn"
    # What marks nothing in any of the traces was probably meant otherwise.
    hints = [each[0].hint for each in zip(*effects, strict=True) if all(one.hint for one in each)]
    return replace(left, notes=(*left.notes, note, *hints))


def draw(
    view: View, traces: Sequence[Trace], parameters: Any, filters: str, frame: Frame, progress: Progress
) -> Drawing:
    """Draw a view with a filter stack applied.

    Parameters
    ----------
    view : View
    traces : sequence of Trace
        Those that it is drawn of.
    parameters : object
        The view's own.
    filters : str
        The filter stack; a view that filters by itself gets it with its own.
    frame : Frame
        Of the picture.
    progress : Progress

    Returns
    -------
    Drawing

    Raises
    ------
    UsageError
        As the view does, and if the stack can't be read.
    """
    own = any(field.name == "filters" for field in fields(view.parameters))
    if own and filters.strip():
        both = "; ".join(text for text in (parameters.filters, filters) if text.strip())
        return view.draw(traces, replace(parameters, filters=both), frame, progress)
    return applied(filters, traces, view.draw(traces, parameters, frame, progress))
