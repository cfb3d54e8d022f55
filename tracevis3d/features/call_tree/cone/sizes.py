"""How much each place of a call tree carries, and how large it is drawn: by its area or its volume."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....analysis.compact import CompactTrace
from ....analysis.measures import self_time_of
from ....kernels.tree.cone import count_levels
from ....layout.scales import Kind, Scale
from ....trace.model import Trace
from .layouts import cone
from .layouts.cone import levels
from .parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Radius of the smallest and the largest node, in units of the layout.
NODE = (0.1, 3.0)
#: Classes with less than this share of all below them are light.
LIGHT = 0.003
#: How much wider a closed subtree with all that the trace carries would be, in units of the layout.
_CLOSED = 8.0
#: The same for the broadest one, where breadth is what is shown.
_BROAD = 1.2


@dataclass(frozen=True, eq=False)
class Weights:
    """What the places of a picture carry, and what one call of each class does.

    Attributes
    ----------
    kind : str
        ``duration`` (in nanoseconds) or ``calls``.
    place : float64 (n,)
        Of all calls that a shown node represents, with all below them: in all its repetitions and its
        callers'. A callee has never more than its caller. Of one call with ``room=all``, where the places of
        all classes are given.
    each : float64 (m + threads,)
        The mean of a class's calls; what a thread carries.
    most : float
        The most that a thread carries.
    leads : bool (m + threads,)
        Which classes call anything.
    levels, breadth : float64 (m + threads,)
        Levels below a call of each class, and how many calls stand on one of them on average.
    """

    kind: str
    place: Floats
    each: Floats
    most: float
    leads: NDArray[np.bool_]
    levels: Floats
    breadth: Floats

    @property
    def word(self) -> str:
        """What is weighed: ``time`` or ``calls``."""
        return "time" if self.kind == "duration" else "calls"

    def share(self, of: NDArray[np.int32] | None = None) -> Floats:
        """Return what each shown node, or a call of some classes, carries of the most: float64 (n,) or (k,).

        Parameters
        ----------
        of : int32 (k,), optional
            Classes, in place of the shown nodes.

        Returns
        -------
        float64 (n,) or (k,)
        """
        some = self.place if of is None else self.each[of]
        return np.asarray(np.minimum(some / max(self.most, 1e-9), 1.0))


def weigh(trace: Trace, graph: CompactTrace, nodes: cone.Shown, p: Parameters) -> Weights:
    """Return what the shown nodes carry: time or calls, as ``interest`` says.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    nodes : Shown
    p : Parameters

    Returns
    -------
    Weights
    """
    kind, leads = counted(trace, graph, p), np.diff(graph.forest.first) > 0
    extent = extents(trace, graph).astype(np.float64)
    shape = _shape(graph, extent)
    threads = nodes.node[nodes.depth == 1] - len(graph)
    if kind == "duration" and of_one_call(p):
        each, most = _time_each(trace, graph, threads)
        return Weights(kind, each[nodes.node], each, most, leads, *shape)
    if kind == "calls":
        repeats = np.ones(len(nodes))
        for here in levels(nodes.depth)[1:]:
            repeats[here] = repeats[nodes.parent[here]] * graph.forest.count[nodes.edge[here]]
        return Weights(
            kind, extent[nodes.node] * repeats, extent, float(extent[len(graph) + threads].max()), leads,
            *shape,
        )  # fmt: skip
    calls = trace.calls
    each, most = _time_each(trace, graph, threads)
    place = np.where(nodes.depth == 1, each[nodes.node], 0.0)
    length = calls.end - calls.start
    # The calls that a node represents are no other's, so all together are no more than the trace's.
    found, first = np.full(int(np.count_nonzero(nodes.depth == 1)), -1), np.arange(len(nodes))
    number = np.ones(len(nodes), np.int64)
    for here in levels(nodes.depth)[1:]:
        above, edge = nodes.parent[here], nodes.edge[here]
        times = graph.forest.count[edge]
        count = number[above] * times
        begin = np.cumsum(count) - count
        step = np.arange(int(count.sum())) - np.repeat(begin, count)
        times, of = np.repeat(times, count), np.repeat(np.arange(len(here)), count)
        caller = found[first[above][of] + step // times]
        base = np.where(caller >= 0, caller + 1, _begin_of(trace, graph, nodes, above)[of])
        found = (
            base + graph.calls_before[edge][of] + step % times * graph.subtrees.extent[nodes.node[here]][of]
        )
        first[here], number[here] = begin, count
        place[here] = np.bincount(of, length[found], minlength=len(here))
    return Weights(kind, place, each, most, leads, *shape)


def _shape(graph: CompactTrace, extent: Floats) -> tuple[Floats, Floats]:
    """Return how many levels are below each class, and how many calls are on each on average."""
    levels, forest = np.zeros(len(extent), np.int64), graph.forest
    count_levels(forest.first, forest.child, levels)
    # A thread's node is no call.
    below = extent - (np.arange(len(extent)) < len(graph))
    return levels.astype(np.float64), below / np.maximum(levels, 1)


def of_one_call(p: Parameters) -> bool:
    """Return whether a place is weighed by one of its calls: where all classes have places of their own.

    Parameters
    ----------
    p : Parameters

    Returns
    -------
    bool
    """
    return p.layout == "cone" and p.room == "all"


def _time_each(trace: Trace, graph: CompactTrace, threads: Ints) -> tuple[Floats, float]:
    """Return the mean time of each class, the time of each thread, and the most of some threads."""
    calls = trace.calls
    roots = calls.depth == 1
    length = (calls.end - calls.start)[roots]
    of_thread = np.bincount(calls.thread[roots], length, minlength=len(trace.threads))
    return np.append(means(trace, graph, "duration"), of_thread), float(of_thread[threads].max())


def _begin_of(trace: Trace, graph: CompactTrace, nodes: cone.Shown, which: Ints) -> Ints:
    """Return the first call of the threads among some nodes, int64 (k,); of others anything."""
    thread = np.clip(nodes.node[which] - len(graph), 0, len(trace.threads) - 1)
    return np.asarray(trace.threads.first[thread])


def counted(trace: Trace, graph: CompactTrace, p: Parameters) -> str:
    """Return what places are weighed by: ``calls``, or ``duration`` where there are times.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    p : Parameters
        ``interest`` says what counts.

    Returns
    -------
    str
    """
    return "duration" if p.interest == "duration" and means(trace, graph, "duration").any() else "calls"


def means(trace: Trace, graph: CompactTrace, what: str) -> Floats:
    """Return the value of a quantity for each class, float64 (m,).

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    what : str
        A key of :data:`.parameters.QUANTITIES`.

    Returns
    -------
    float64 (m,)
    """
    subtrees, calls = graph.subtrees, trace.calls
    if what == "calls":
        return subtrees.extent.astype(np.float64)
    if what == "occurrences":
        return subtrees.occurrences.astype(np.float64)
    if what == "none":
        return np.zeros(len(subtrees))
    values = self_time_of(trace) if what == "self" else calls.end - calls.start
    return np.bincount(subtrees.of_call, values, len(subtrees)) / subtrees.occurrences


def extents(trace: Trace, graph: CompactTrace) -> Ints:
    """Return how many calls are in a subtree of each class, or in a thread.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.

    Returns
    -------
    int64 (m + threads,)
    """
    return np.append(graph.subtrees.extent, trace.threads.count).astype(np.int64)


def interest_of(trace: Trace, graph: CompactTrace, extent: Ints, p: Parameters) -> Floats:
    """Return how interesting each node is: the logarithm of its calls or time; threads come first.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    extent : int64 (m + threads,)
        See :func:`extents`.
    p : Parameters
        ``interest`` says what counts.

    Returns
    -------
    float64 (m + threads,)
    """
    interest = np.log2(1.0 + extent)
    if counted(trace, graph, p) == "duration":
        interest[: len(graph)] = np.log2(1.0 + means(trace, graph, "duration"))
    interest[len(graph) :] = interest.max(initial=0.0) + 1.0
    return np.asarray(interest)


def light_classes(trace: Trace, graph: CompactTrace, threads: Ints, p: Parameters) -> NDArray[np.bool_]:
    """Return which classes have next to nothing (:data:`LIGHT`) below them, however often they occur.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    threads : int64 (t,)
        Those that are shown.
    p : Parameters
        ``interest`` says what counts.

    Returns
    -------
    bool (m + threads,)
        No thread is light.
    """
    kind = counted(trace, graph, p)
    roots = (trace.calls.depth == 1) & np.isin(trace.calls.thread, threads)
    value = trace.calls.extent if kind == "calls" else trace.calls.end - trace.calls.start
    own = means(trace, graph, "self") if kind == "duration" else np.ones(len(graph))
    below = (means(trace, graph, kind) - own) * graph.subtrees.occurrences
    return np.append(below < LIGHT * float(value[roots].sum()), np.zeros(len(trace.threads), np.bool_))


def shares(
    trace: Trace,
    graph: CompactTrace,
    nodes: cone.Shown,
    what: str,
    of: NDArray[np.int32] | None = None,
    kind: Kind | None = None,
) -> Floats:
    """Return where the value of each shown node, or of some classes, lies: from the least shown (0) to the
    largest (1).

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    nodes : Shown
        Those that are shown.
    what : str
        A key of :data:`.parameters.QUANTITIES`.
    of : int32 (k,), optional
        Classes, in place of the shown nodes.
    kind : str, optional
        The scale: by default the square root of times, and the logarithm of numbers.

    Returns
    -------
    float64 (n,) or (k,)
    """
    classes = nodes.node if of is None else of
    if what == "none":
        return np.zeros(len(classes))
    values = np.append(means(trace, graph, what), 0.0)
    scale = Scale.over(
        kind or ("sqrt" if what in ("duration", "self") else "log"),
        values[nodes.node[nodes.node < len(graph)]],
    )
    share = scale.place(values[np.minimum(classes, len(graph))])
    return np.where(classes < len(graph), share, 1.0)


def own_radius(
    trace: Trace,
    graph: CompactTrace,
    nodes: cone.Shown,
    weights: Weights,
    p: Parameters,
    of: NDArray[np.int32] | None = None,
) -> Floats:
    """Return the radius of each shown node, or of nodes of some classes, in units of the layout.

    The area that is seen shows the value, so half as much is seen as half.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    nodes : Shown
        Those that are shown.
    weights : Weights
        What they carry.
    p : Parameters
        ``size`` says what the radius shows.
    of : int32 (k,), optional
        Classes, in place of the shown nodes.

    Returns
    -------
    float64 (n,) or (k,)
    """
    least, most = NODE
    if p.size == "weight":
        share = np.sqrt(weights.share(of))
    else:
        share = shares(trace, graph, nodes, p.size, of, "sqrt")
    return np.asarray(least + (most - least) * share)


def closed_radius(
    own: Floats, weights: Weights, p: Parameters, of: NDArray[np.int32], each: bool = False
) -> Floats:
    """Return the radius of a closed subtree's disc: by its node, and by the square root of what it carries.

    So what is seen of its cone, from any side, shows what is in it. With ``closed=shape`` by the calls on a
    level below it.

    Parameters
    ----------
    own : float64 (n,) or (k,)
        The nodes' own radii.
    weights : Weights
    p : Parameters
        ``closed`` says what the cone shows.
    of : int32 (n,) or (k,)
        The classes of the shown nodes, or others.
    each : bool
        They are not those of the shown nodes: what one of their calls carries counts.

    Returns
    -------
    float64 (n,) or (k,)
    """
    if p.closed == "shape":
        wide = np.log1p(weights.breadth)
        return np.asarray(own + _BROAD * wide[of] / max(float(wide.max(initial=0.0)), 1e-9))
    return np.asarray(own + _CLOSED * np.sqrt(weights.share(of if each else None)))


def first_calls(trace: Trace, graph: CompactTrace, nodes: cone.Shown) -> Ints:
    """Return the first call that each node represents, int64 (n,); -1 for a thread.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    nodes : Shown

    Returns
    -------
    int64 (n,)
    """
    call = np.full(len(nodes), -1)
    for here in levels(nodes.depth)[1:]:
        above = nodes.parent[here]
        base = np.where(call[above] >= 0, call[above] + 1, _begin_of(trace, graph, nodes, above))
        call[here] = base + graph.calls_before[nodes.edge[here]]
    return call
