"""A cone tree before it is drawn: the layout, its colours, and the effect of filters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.palettes import PALETTES
from ....errors import SEE_INFO, InputError
from ....filters import stack as filtering
from ....filters.facts import Facts
from ....filters.reduce import reduced
from ....progress import Progress, silent
from ....trace.model import Trace
from ....views.calls.colors import Coloring, coloring
from .layout import Layout, compose
from .layouts.cone import levels
from .layouts.rooms import Ground
from .parameters import Parameters
from .sizes import closed_radius, extents, interest_of, own_radius

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A cone tree before it is drawn.

    Attributes
    ----------
    parameters : Parameters
        As the layout needs them.
    whole, trace : Trace
        With and without what filters hide.
    original : int64 (calls,)
        What the calls of ``trace`` are in ``whole``.
    state : uint8 (calls,)
        What filters do to each call of ``whole``.
    hidden : int64 (calls,) or (0,)
        Callees of each call of ``whole`` that filters hide where others are shown; empty without filters.
    facts : dict
        What filters did, for the report.
    picture : Layout
    colors : Coloring
    """

    parameters: Parameters
    whole: Trace
    trace: Trace
    original: Ints
    state: NDArray[np.uint8]
    hidden: Ints
    facts: dict[str, Any]
    picture: Layout
    colors: Coloring

    @cached_property
    def ground(self) -> Ground:
        """The input of the layout of rooms of closed subtrees."""
        picture, p = self.picture, self.parameters
        graph, forest = picture.graph, picture.forest
        classes = np.arange(len(forest.first) - 1, dtype=np.int32)
        weights = picture.weights
        own = own_radius(picture.trace, graph, picture.nodes, weights, p, classes)
        closed = np.where(weights.leads, closed_radius(own, weights, p, classes, each=True), own)
        return Ground(forest, graph.calls_before, own, closed, p.rings, p.opening == 0)

    @cached_property
    def interest(self) -> Floats:
        """The interest of each class, float64 (m,)."""
        picture, graph = self.picture, self.picture.graph
        every = extents(picture.trace, graph)
        return np.asarray(interest_of(picture.trace, graph, every, self.parameters))

    def calls(self, picture: Layout) -> Ints:
        """Return the call of the whole trace that each node represents; -1 for a thread."""
        return np.where(picture.call >= 0, self.original[picture.call], -1)

    def faded(self, picture: Layout) -> NDArray[np.bool_]:
        """Return which nodes a filter fades, bool (n,)."""
        call = self.calls(picture)
        faded = np.zeros(len(picture), np.bool_)
        faded[call >= 0] = self.state[call[call >= 0]] >= filtering.FADED
        return faded


def prepare(trace: Trace, parameters: Parameters, progress: Progress = silent) -> Prepared:
    """Choose what is shown of a trace, and place it.

    Parameters
    ----------
    trace : Trace
    parameters : Parameters
        Those of the view.
    progress : Progress

    Returns
    -------
    Prepared

    Raises
    ------
    UsageError
        If a thread, a filter, the focus or what faces the viewer doesn't exist.
    InputError
        If the trace has no calls.
    """
    if not len(trace.calls):
        raise InputError(
            f"{trace.source.name}: there are no calls in it, and a cone tree is made of calls: {SEE_INFO}"
        )
    p = _settled(parameters)
    progress(0.0, "finding distinct subtrees")
    whole, state, facts = trace, np.zeros(len(trace.calls), np.uint8), {}
    hidden = np.empty(0, np.int64)
    if p.filters.strip():
        stack = filtering.parse(p.filters)
        done = filtering.apply(stack, Facts(trace))
        facts, state = filtering.summary(stack, done), done.state
        trace = reduced(trace, done)
        if facts:
            hidden = _hidden_callees(whole, state)
    progress(0.4, "choosing what to show")
    original = np.flatnonzero(state != filtering.HIDDEN)
    picture = compose(trace, p, original)
    progress(0.7, "placing cones")
    drawn = picture.call[picture.call >= 0]
    colors = coloring(trace, p.color, PALETTES[p.palette], p.entries, picture.threads, drawn)
    prepared = Prepared(p, whole, trace, original, state, hidden, facts, picture, colors)
    call = prepared.calls(picture)
    if len(hidden):
        picture = replace(picture, missing=picture.missing + np.where(call >= 0, hidden[call], 0))
    sunk = np.zeros(len(picture), np.bool_)
    sunk[call >= 0] = state[call[call >= 0]] == filtering.SUNK
    return replace(prepared, picture=_sink(picture, sunk, p))


def _hidden_callees(whole: Trace, state: NDArray[np.uint8]) -> Ints:
    """Return how many callees of each call filters hide where others are shown, int64 (calls,)."""
    calls = whole.calls
    hidden = np.flatnonzero((state == filtering.HIDDEN) & (calls.parent >= 0))
    count = np.bincount(calls.parent[hidden], minlength=len(calls))
    every = np.bincount(calls.parent[calls.parent >= 0], minlength=len(calls))
    return np.where((count > 0) & (count < every), count, 0)


def _settled(p: Parameters) -> Parameters:
    """Return the parameters with those that only cones have as the layout needs them."""
    if p.layout == "bubble":
        return replace(p, recline=False, approach=0.0, closed="weight")
    if p.layout == "hyperbolic":
        return replace(p, opening=1.0, recline=False, shells="none", approach=0.0, closed="weight")
    if p.room != "levels" or p.height != "none":
        # A column needs the room that only levels have, and stands where a height would say something.
        return replace(p, lists="rings")
    return p


def _sink(picture: Layout, sunk: NDArray[np.bool_], p: Parameters) -> Layout:
    """Move sunk nodes, with what is below them, up to half their cone away from where they would stand."""
    if not sunk.any():
        return picture
    nodes = picture.nodes
    shift = np.zeros(len(picture))
    for here in levels(nodes.depth)[1:]:
        above = nodes.parent[here]
        shift[here] = np.maximum(
            shift[above], np.where(sunk[here], p.sinking * 0.5 * picture.foot[above], 0.0)
        )
    center = picture.center.copy()
    center[:, 0 if p.recline else 2] += shift if p.recline else -shift
    return replace(picture, center=center)
