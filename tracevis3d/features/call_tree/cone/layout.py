"""The layout of a cone tree: the shown calls, and their places."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....analysis.compact import CompactTrace, graph_of
from ....analysis.measures import self_time_of
from ....analysis.search import Query, matching_functions
from ....analysis.subtrees import Edges
from ....errors import SEE_INFO, InputError, UsageError
from ....layout.cut import busy_time, call_span
from ....trace.model import Trace
from ....views.thread_selection import choose_threads
from ..call_paths import CallPaths, UniquePath
from .layouts import bubble, cone, cylinder, hyperbolic
from .layouts.cone import levels
from .layouts.rooms import STEEP
from .parameters import Parameters
from .sizes import (
    NODE,
    Weights,
    closed_radius,
    extents,
    first_calls,
    interest_of,
    light_classes,
    means,
    own_radius,
    shares,
    weigh,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: The nodes on the way to the call that faces the viewer, and how far it has turned to the front.
Facing = list[tuple[Ints, float]]

#: Width of the drawing in scene units.
WIDTH = 16.0
#: The functions with most self time, this many, are shown, and named first.
BUSY = 8
#: Share of the budget that the ways to them may take beyond it, and of the self time of a function's longest
#: call that the call which is shown has.
_OF_BUDGET, _LONG = 1.0, 0.25
#: Number of threads that ``auto`` shows, and with those of the busiest functions.
_AUTO_THREADS, _MOST_THREADS = 4, 7
#: Height of an upright tree, and length of a horizontal one, relative to its width.
_UPRIGHT, _LYING = 0.36, 1.9
#: Maximum radius of a ball, relative to its distance from those above and below.
_OF_DROP = 0.42
#: Maximum height of the cone of a closed subtree, relative to its open cone.
SKIRT = 0.8
#: Maximum width of a line in an opened subtree, relative to the radius of its node.
_THIN = 0.3
#: Height of the highest node of a bubble tree, in scene units.
_RISE = 5.0
#: Distance of the floor below the lowest element, in scene units.
_FLOOR = 0.2
#: Radius of the ring around a partly shown node, relative to the node's.
DASHED = 1.6
#: Hyperbolic radii of the smallest and the largest node, in units of the curvature's: more alike than in
#: cones, because chains of large ones would fill the ball.
_HYPERBOLIC = (0.027, 0.072)
#: Number of callees that count as a fan; the cone of fewer gets this share of the height.
_FAN, _FEW = 4, 0.2
#: By how much light classes are less interesting: more than any two others differ.
_LATER = 1000.0
#: Height that the cone of a closed subtree asks for, in radii of its disc.
_STANDS = 1.3
#: How far down a ball on a cylinder reaches, with the gap below it, in its radii.
_APART = 1.3
#: Share of a level's height by which a node of the least value drops.
_LEAST_DROP = 0.35


@dataclass(frozen=True, eq=False)
class Layout:
    """The shown nodes and their places: what all parts of the drawing are made from.

    Attributes
    ----------
    trace : Trace
    graph : CompactTrace
    forest : Edges
        Edges of the graph and of the threads' nodes.
    threads : int64 (t,)
        The shown threads; they are the first ``t`` nodes.
    nodes : cone.Shown
        Without places; ``x`` and ``y`` are not read.
    call : int64 (n,)
        A call that each node represents: the first of its iterations; -1 for a thread.
    iterations, below : int64 (n,)
        How often it repeats in a row; calls in one such subtree.
    center : float64 (n, 3)
        In scene units.
    radius : float64 (n,)
        Of the node.
    ring : float64 (n,)
        Of the cone below it: the farthest shown callee; 0 where none is shown.
    disc : float64 (n,)
        Of all that is below it.
    foot : float64 (n,)
        How far below the node (or right of it) its callees stand.
    rim : float64 (n,)
        How far below it the ring of its callees is: where the farthest of them stands; ``foot`` where none is
        shown.
    focus : int64 (f,)
        The nodes on the way to the focus; empty without one.
    around : float64 (n, 3)
        Middle of the disc of all that is below the node.
    bend : float64 (n, 3) or (0, 3)
        Where the line from the caller bends; empty where all lines are straight.
    balls : float64 (b, 4)
        Centre and radius of each ball that represents hyperbolic space.
    missing : int64 (n,)
        Callees that an open node doesn't show; 0 where it shows all or none.
    weights : Weights
        What the nodes carry; of those of the whole picture.
    whole : int
        How many of the nodes are shown to everyone; those after them are in closed subtrees that are opened
        for a camera close to them.
    thin : float64 (n,)
        The greatest width of lines at each node, for a camera close to them; else infinite.
    column : float64 (n,) or (0,)
        How far below the first row of its callees the last one stands, where they stand on a cylinder.
    tall : float64 (n,) or (0,)
        The height of each closed cone, where it shows how many levels are below it.
    """

    trace: Trace
    graph: CompactTrace
    forest: Edges
    threads: Ints
    nodes: cone.Shown
    call: Ints
    iterations: Ints
    below: Ints
    center: Floats
    radius: Floats
    ring: Floats
    disc: Floats
    foot: Floats
    rim: Floats
    focus: Ints
    around: Floats
    bend: Floats
    balls: Floats
    missing: Ints
    weights: Weights
    whole: int
    thin: Floats
    column: Floats = field(default_factory=lambda: np.empty(0))
    tall: Floats = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.call)

    @property
    def closed(self) -> NDArray[np.bool_]:
        """Nodes with callees of which none is shown, bool (n,)."""
        return np.asarray((self.nodes.opened == 0) & (self.below > 1))

    @property
    def linking(self) -> NDArray[np.bool_]:
        """Nodes shown only as the way to the focus, bool (n,)."""
        on_the_way = np.isin(np.arange(len(self)), self.nodes.way)
        return np.asarray(on_the_way & (self.nodes.opened == 2) & (self.missing > 0) & (self.nodes.depth > 1))

    @property
    def skirt(self) -> Floats:
        """The depth of the cone of each closed subtree, float64 (n,)."""
        skirt = np.minimum(STEEP * self.disc, SKIRT * np.maximum(self.foot, 1e-9))
        skirt[: len(self.tall)] = self.tall
        return skirt

    @property
    def floor(self) -> float:
        """The height of the floor below an upright tree, on which its shadows lie."""
        under = np.where(self.closed, np.maximum(self.skirt, self.radius), self.radius)
        return float((self.center[:, 2] - under).min(initial=0.0)) - _FLOOR

    @property
    def width(self) -> Floats:
        """Width of the line from the caller, float64 (n,): wider where more calls go."""
        calls = self.below * self.iterations
        share = np.log1p(calls) / np.log1p(max(int(calls[self.nodes.parent >= 0].max(initial=1)), 1))
        width = np.minimum(0.012 + 0.05 * share, 0.9 * self.radius)
        width[self.whole :] = np.minimum(width, _THIN * self.radius)[self.whole :]
        return np.minimum(width, self.thin)

    def circle(self, which: Ints, turn: Floats, p: Parameters) -> Floats:
        """Return points of the rings that callees stand on, at angles ``turn`` (t,): float64 (k, t, 3).

        In a plan, the rings around all that is below.

        Parameters
        ----------
        which : int64 (k,)
            Nodes.
        turn : float64 (t,)
            Radians, from +x on.
        p : Parameters

        Returns
        -------
        float64 (k, t, 3)
        """
        flat = p.opening == 0 or p.layout == "bubble"
        reach = (self.disc if flat else self.ring)[which]
        point = np.repeat((self.around if flat else self.center)[which, None], len(turn), axis=1)
        plan, axis = ([1, 2], 0) if p.recline else ([0, 1], 2)
        point[:, :, plan] += reach[:, None, None] * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
        point[:, :, axis] += (1 if p.recline else -1) * self.rim[which, None]
        return point


def compose(trace: Trace, p: Parameters, original: Ints | None = None) -> Layout:
    """Choose the nodes by their degree of interest and lay them out.

    Parameters
    ----------
    trace : Trace
    p : Parameters
    original : int64 (calls,), optional
        What the calls are called in parameters, ascending, where filters hide some.

    Returns
    -------
    Layout

    Raises
    ------
    UsageError
        If a thread, the focus or what faces the viewer doesn't exist.
    InputError
        If no thread has calls that take any time.
    """
    graph = graph_of(trace)
    forest, m = graph.forest, len(graph)
    threads = _threads(trace, p)
    focus = find_focus(trace, graph, threads, p.focus, original)
    extent = extents(trace, graph)
    interest = interest_of(trace, graph, extent, p)
    if not focus:
        # Without a focus, what has next to nothing below it is opened last: it would stand far out.
        interest = np.where(light_classes(trace, graph, threads, p), interest - _LATER, interest)
    if not len(threads):
        raise InputError(f"{trace.source.name}: no thread in it has calls that take any time: {SEE_INFO}")
    roots = (m + threads).astype(np.int32)
    zeros = np.zeros(len(roots))
    # Which nodes are shown doesn't depend on places; those come after.
    nowhere = cone.Cones(*(np.ones(m + len(trace.threads)),) * 2, *(np.zeros(len(forest)),) * 2)
    budget = max(p.budget, len(roots))
    choose = partial(
        cone.choose, forest, nowhere, roots, zeros, zeros, interest,
        budget=budget, focus=focus, weight=p.near,
    )  # fmt: skip
    nodes = choose()
    # With a focus, what is far from it is not what is looked for.
    if not focus and (ways := ways_to_busiest(trace, graph, threads, nodes, budget)):
        nodes = choose(also=ways)
    known = nodes.edge >= 0
    iterations = np.where(known, forest.count[nodes.edge], 1)
    below = extent[nodes.node]
    weights = weigh(trace, graph, nodes, p)
    own = own_radius(trace, graph, nodes, weights, p)
    callees = np.bincount(nodes.parent[nodes.parent >= 0], minlength=len(nodes))
    missing = np.where(nodes.opened == 2, np.diff(forest.first)[nodes.node] - callees, 0)
    facing = [(nodes.way, p.turn)] if focus else []
    if p.facing.strip():
        facing = [
            (shown_way(forest, nodes, find_focus(trace, graph, threads, call, original, "facing")), share)
            for call, share in _steps(p.facing)
        ]
    placed = {"cone": _cones, "bubble": _bubbles, "hyperbolic": _balls}[p.layout](
        trace, graph, forest, nodes, own, weights, facing, p
    )
    return Layout(
        trace, graph, forest, threads, nodes, first_calls(trace, graph, nodes), iterations, below,
        placed.center, placed.radius, placed.ring, placed.disc, placed.foot,
        _rims(nodes, placed, p), nodes.way, placed.around,
        placed.bend, placed.balls, missing, weights, len(nodes),
        np.full(len(nodes), np.inf), placed.column,
        _tall(nodes, placed, weights) if p.closed == "shape" else np.empty(0),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Placed:
    """The places of the shown nodes; as in :class:`Layout`."""

    center: Floats
    radius: Floats
    ring: Floats
    disc: Floats
    foot: Floats
    around: Floats
    bend: Floats
    balls: Floats
    column: Floats = field(default_factory=lambda: np.empty(0))


def _tall(nodes: cone.Shown, placed: _Placed, weights: Weights) -> Floats:
    """Return how high the cones of closed subtrees are that are as high as they have levels, float64 (n,).

    A level is as high in all of them, and as high as the room below each of them allows.
    """
    below = weights.levels[nodes.node]
    closed = (nodes.opened == 0) & (below > 0)
    level = (SKIRT * placed.foot[closed] / below[closed]).min(initial=np.inf)
    return np.where(closed, below * level, 0.0) if closed.any() else np.zeros(len(nodes))


def _cones(
    trace: Trace, graph: CompactTrace, forest: Edges, nodes: cone.Shown, own: Floats, weights: Weights,
    facing: Facing, p: Parameters,
) -> _Placed:  # fmt: skip
    stand = None
    if p.room == "all":
        offset_x, offset_y, disc = _all_room(trace, graph, forest, nodes, weights, p)
    else:
        offset_x, offset_y, disc = _shown_room(nodes, own, weights, p)
        if p.room == "levels" and p.opening > 0:
            if p.lists == "cylinder":
                size = _with_closed(nodes, own, weights, p)
                reach = np.maximum(_APART * own, np.where(size > own, _STANDS * size, 0.0))
                stand = cylinder.columns(nodes.parent, nodes.opened == 0, size, own, reach, p.rings)
            # From the plan, in which nothing overlaps, to what has room in space.
            by_level = _shown_room(nodes, own, weights, p, levels=True, stand=stand)
            share = p.opening
            offset_x, offset_y, disc = (
                (1 - share) * a + share * b for a, b in zip((offset_x, offset_y, disc), by_level)
            )
    angle = _angles(nodes, offset_x, offset_y, facing)
    x, y = _places(nodes, offset_x, offset_y, disc, angle)
    ring = np.zeros(len(nodes))
    inner = nodes.parent >= 0
    np.maximum.at(ring, nodes.parent[inner], np.hypot(offset_x, offset_y)[inner])
    z, foot, column = _heights(trace, graph, nodes, own, ring, disc, weights, p, stand)
    center, scale = _scaled(x, y, z, disc, nodes, p)
    if p.opening > 0:
        # Balls below each other don't touch either.
        inner = nodes.parent >= 0
        drop = z[inner] - z[nodes.parent[inner]]
        own[inner] = np.minimum(own[inner], _OF_DROP * drop)
        np.minimum.at(own, nodes.parent[inner], _OF_DROP * drop)
    return _Placed(
        center, own * scale, ring * scale, disc * scale, foot * scale * p.opening, center,
        np.empty((0, 3)), np.empty((0, 4)), column * scale * p.opening,
    )  # fmt: skip


def _rims(nodes: cone.Shown, placed: _Placed, p: Parameters) -> Floats:
    """Return how far below each node the ring of its callees is, where heights say something."""
    if p.height == "none" or p.layout != "cone":
        return placed.foot
    inner = np.flatnonzero(nodes.parent >= 0)
    along = placed.center[:, 0] if p.recline else -placed.center[:, 2]
    rim = np.zeros(len(nodes))
    np.maximum.at(rim, nodes.parent[inner], (along[inner] - along[nodes.parent[inner]]))
    return np.where(rim > 0, rim, placed.foot)


def _bubbles(
    trace: Trace, graph: CompactTrace, forest: Edges, nodes: cone.Shown, own: Floats, weights: Weights,
    facing: Facing, p: Parameters,
) -> _Placed:  # fmt: skip
    laid = bubble.lay(nodes.parent, _with_closed(nodes, own, weights, p))
    roots = nodes.parent < 0
    low = (laid.center - laid.radius[:, None])[roots].min(axis=0)
    high = (laid.center + laid.radius[:, None])[roots].max(axis=0)
    scale = WIDTH / max(float((high - low).max()), 1e-9)

    rise = _RISE * p.steepness * p.opening * _time_shares(trace, graph, nodes, p)

    def raised(points: Floats, height: Floats) -> Floats:
        return np.column_stack([(points - (low + high) / 2) * scale, height])

    # Where an edge bends it is as high as a straight one would be there.
    above = np.where(roots, np.arange(len(nodes)), nodes.parent)
    before, after = (np.hypot(*(laid.bend - end).T) for end in (laid.node[above], laid.node))
    way = before / np.maximum(before + after, 1e-12)
    at_bend = rise[above] + way * (rise - rise[above])
    return _Placed(
        raised(laid.node, rise), own * scale, np.zeros(len(nodes)), laid.radius * scale, rise,
        raised(laid.center, rise), raised(laid.bend, at_bend), np.empty((0, 4)),
    )  # fmt: skip


def _time_shares(trace: Trace, graph: CompactTrace, nodes: cone.Shown, p: Parameters) -> Floats:
    """Return how high the node of each bubble stands, from 0 to 1."""
    return shares(trace, graph, nodes, rise_of(trace, graph, p))


def rise_of(trace: Trace, graph: CompactTrace, p: Parameters) -> str:
    """Return what the height of a bubble's node shows: ``height``, or else time, or calls without times.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    p : Parameters

    Returns
    -------
    str
        A key of :data:`.parameters.QUANTITIES`.
    """
    if p.height != "none":
        return p.height
    return "duration" if means(trace, graph, "duration").any() else "calls"


def _balls(
    trace: Trace, graph: CompactTrace, forest: Edges, nodes: cone.Shown, own: Floats, weights: Weights,
    facing: Facing, p: Parameters,
) -> _Placed:  # fmt: skip
    """Each thread has a ball; a Lorentz matrix moves the focus, or the tree's middle, to its own."""
    own = np.interp(own, NODE, _HYPERBOLIC)
    tree = hyperbolic.lay(nodes.parent, own)
    roots = np.flatnonzero(nodes.parent < 0)
    points, shift, balls = np.zeros((len(nodes), 4)), np.zeros(len(nodes)), np.zeros((len(roots), 4))
    radius = WIDTH / 2 / (1.1 * len(roots) - 0.1) if len(roots) else WIDTH / 2
    for k, root in enumerate(roots.tolist()):
        # Elements in other balls don't affect this one.
        steps = [(int(way[-1]), share) for way, share in facing if len(way) and way[0] == root]
        from_root = bool(steps) and not p.facing.strip()
        node = root if from_root else _middle(nodes, weights, root)
        frames = hyperbolic.frames(tree, node)
        view = np.eye(4) if from_root else hyperbolic.boost(_rest(nodes, tree, node))
        for end, share in steps:
            frames = hyperbolic.frames(tree, end)
            view = hyperbolic.moved(view, frames[node], share)
            node = end
        here = np.isfinite(frames[:, 0, 3])
        points[here] = frames[here][:, :, 3] @ view.T
        shift[here] = (2.2 * k - 1.1 * (len(roots) - 1)) * radius
        balls[k, 0], balls[k, 3] = (2.2 * k - 1.1 * (len(roots) - 1)) * radius, radius
    # Callees lie below their caller; a half turn keeps what is left and right.
    at = hyperbolic.ball(points) * radius * [1.0, -1.0, -1.0]
    at[:, 0] += shift
    none = np.zeros(len(nodes))
    size = own / points[:, 3] * radius
    return _Placed(at, size, none, size, none, at, np.empty((0, 3)), balls)


def _rest(nodes: cone.Shown, tree: hyperbolic.Tree, middle: int) -> Floats:
    """Return the point in the middle where nothing is in focus, seen from the middle of the tree.

    It is between that node and its callees, since most of the tree lies on that side.
    """
    way = 0.4 * float(tree.distance[nodes.parent == middle].max(initial=0.0))
    return np.array([0.0, 0.0, math.sinh(way), math.cosh(way)])


def _middle(nodes: cone.Shown, weights: Weights, root: int) -> int:
    """Return the innermost call of a tree that still carries half of what the tree does."""
    half, weight = weights.place[root] / 2, weights.place
    order = np.lexsort((weight, nodes.parent))
    last = np.searchsorted(nodes.parent[order], np.arange(len(nodes)), "right") - 1
    while last[root] >= 0 and nodes.parent[order[last[root]]] == root and weight[order[last[root]]] >= half:
        root = int(order[last[root]])
    return root


def find_focus(
    trace: Trace, graph: CompactTrace, threads: Ints, text: str, original: Ints | None = None,
    name: str = "focus",
) -> tuple[int, ...]:  # fmt: skip
    """Return the path to the call in focus: which of ``threads``, which of its roots, which edges then.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    threads : int64 (r,)
        Those that are shown, in order.
    text : str
        A call's number, or a path of names or ordinals; empty: there is no focus.
    original : int64 (calls,), optional
        What the calls are called in parameters, ascending, where filters hide some.
    name : str
        The parameter that the text is from.

    Returns
    -------
    tuple of int
        Empty: there is none.

    Raises
    ------
    UsageError
        If there is no such call in these threads; it speaks of the parameter ``name``.
    """
    text = text.strip()
    if not text:
        return ()
    calls = trace.calls
    if text.replace(",", "").replace("_", "").isdecimal():
        call = wanted = int(text.replace(",", "").replace("_", ""))
        if original is not None:
            call = int(np.searchsorted(original, wanted))
            if call < len(original) and original[call] != wanted:
                raise UsageError(f"{name}={text}: a filter hides this call")
        if call >= len(calls):
            raise UsageError(f"{name}={text}: there is no such call: they go from 0 to {len(calls) - 1:,}")
    else:
        matching = matching_functions(trace.functions, Query(text))
        exact = [f for f in matching.tolist() if text in (trace.functions.label[f], trace.functions.name[f])]
        named = np.zeros(len(trace.functions), np.bool_)
        named[exact or matching] = True
        shown = np.zeros(len(trace.threads), np.bool_)
        shown[threads] = True
        hits = np.flatnonzero(named[calls.function] & shown[calls.thread])
        if not len(hits):
            raise UsageError(
                f"{name}={text}: no function that is called in the shown threads has such a name"
            )
        call = int(hits[0])
    place = np.flatnonzero(threads == calls.thread[call])
    if not len(place):
        raise UsageError(f"{name}={text}: its thread is not shown: add it to threads=")
    return _way(graph, threads, int(calls.thread[call]), CallPaths(graph).path_of(call)[0])


def _way(graph: CompactTrace, threads: Ints, thread: int, path: UniquePath) -> tuple[int, ...]:
    """Return a path of the whole tree as one of the shown threads, of which ``thread`` is one."""
    before = sum(_roots_of(graph, t) for t in range(thread))
    return (int(np.flatnonzero(threads == thread)[0]), path[0] - before, *path[1:])


def _steps(text: str) -> list[tuple[str, float]]:
    """Return the calls that face the viewer one after the other, each with how far it has come.

    Raises
    ------
    UsageError
        If it is not a call, or calls with ~ and shares between.
    """
    first, *rest = (word.strip() for word in text.split("~"))
    try:
        shares = [float(word) for word in rest[1::2]]
    except ValueError:
        shares = []
    if len(rest) != 2 * len(shares) or not all(0.0 <= share <= 1.0 for share in shares):
        raise UsageError(
            f"facing={text}: a call is expected, or a place between two calls such as 12~5500~0.4 (0.4 "
            "of the way)"
        )
    return [(first, 1.0), *zip(rest[::2], shares)]


def busiest(trace: Trace, threads: Ints) -> Ints:
    """Return the functions with most self time in some threads, the first with the most.

    Parameters
    ----------
    trace : Trace
    threads : int64 (t,)

    Returns
    -------
    int64 (k,)
        At most :data:`BUSY`.
    """
    inside = np.isin(trace.calls.thread, threads)
    own = np.bincount(
        trace.calls.function[inside], self_time_of(trace)[inside], minlength=len(trace.functions)
    )
    first = np.argsort(-own, kind="stable")[:BUSY]
    return np.asarray(first[own[first] > 0], np.int64)


def ways_to_busiest(
    trace: Trace, graph: CompactTrace, threads: Ints, nodes: cone.Shown, budget: int
) -> list[tuple[int, ...]]:
    """Return the ways to calls of the busiest functions that are not shown, as :func:`find_focus` does.

    Of a function's calls with at least a share (:data:`_LONG`) of the self time of its longest one, the least
    deep is chosen.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    threads : int64 (t,)
        Those that are shown.
    nodes : Shown
        Those that are shown without them.
    budget : int
        All ways together have at most :data:`_OF_BUDGET` of so many nodes.

    Returns
    -------
    list of tuple of int
    """
    calls, own, room = trace.calls, self_time_of(trace), _OF_BUDGET * budget
    known = graph.subtrees.function[nodes.node[nodes.node < len(graph)]]
    inside = np.isin(calls.thread, threads)
    found: list[tuple[int, ...]] = []
    there: set[tuple[int, ...]] = set()
    paths = None
    for function in busiest(trace, threads).tolist():
        if function in known:
            continue
        which = np.flatnonzero((calls.function == function) & inside)
        which = which[own[which] >= _LONG * own[which].max()]
        call = int(which[np.argmin(calls.depth[which])])
        paths = paths or CallPaths(graph)
        way = _way(graph, threads, int(calls.thread[call]), paths.path_of(call)[0])
        more = {way[:k] for k in range(2, len(way) + 1)} - there
        if len(more) <= room:
            room -= len(more)
            there |= more
            found.append(way)
    return found


def shown_way(forest: Edges, nodes: cone.Shown, path: tuple[int, ...]) -> Ints:
    """Return the shown nodes on a way, from the root on, as far as it is shown.

    Parameters
    ----------
    forest : Edges
        Edges of the graph and its roots.
    nodes : Shown
        Those that are shown.
    path : tuple of int
        As :func:`find_focus` returns it.

    Returns
    -------
    int64 (k,)
    """
    if not path:
        return np.empty(0, np.int64)
    # Roots are the first nodes, in the order of the shown threads.
    way = [path[0]]
    for ordinal in path[1:]:
        edge = forest.first[nodes.node[way[-1]]] + ordinal
        found = np.flatnonzero((nodes.parent == way[-1]) & (nodes.edge == edge))
        if not len(found):
            break
        way.append(int(found[0]))
    return np.array(way, np.int64)


def _roots_of(graph: CompactTrace, thread: int) -> int:
    m = len(graph)
    return int(graph.forest.first[m + thread + 1] - graph.forest.first[m + thread])


def _threads(trace: Trace, p: Parameters) -> Ints:
    busy = busy_time(trace, call_span(trace))
    found = choose_threads(trace, p.threads, "recorded", busy, np.ones(len(busy)), float(_AUTO_THREADS))
    if p.threads.strip() not in ("", "auto"):
        return found
    # What takes most time is not to be missing.
    calls, own = trace.calls, self_time_of(trace)
    for function in busiest(trace, np.arange(len(trace.threads))).tolist():
        which = np.flatnonzero(calls.function == function)
        time = np.bincount(calls.thread[which], own[which], len(trace.threads))
        if len(found) < _MOST_THREADS and time[found].sum() < _LONG * time.sum():
            found = np.sort(np.append(found, np.argmax(time)))
    return found


def _shown_room(
    nodes: cone.Shown, own: Floats, weights: Weights, p: Parameters, levels: bool = False,
    stand: cylinder.Columns | None = None,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """Lay out the shown nodes as a tree of their own: free of overlaps in the plan, or at each level."""
    if stand is not None:
        size = _with_closed(nodes, own, weights, p)
        return cylinder.lay(nodes.parent, size, nodes.opened == 0, stand, p.rings)
    n = len(nodes)
    edges, order = bubble.children(nodes.parent)
    flat = (nodes.opened == 0)[::-1] if levels else None
    cones = cone.lay(edges, _with_closed(nodes, own, weights, p)[::-1].copy(), flat, most=p.rings)
    x, y = np.zeros(n), np.zeros(n)
    x[order], y[order] = cones.x, cones.y
    return x, y, cones.radius[::-1].copy()


def _with_closed(nodes: cone.Shown, own: Floats, weights: Weights, p: Parameters) -> Floats:
    """Return the radius of each node, with the room of what it closes."""
    closed = (nodes.opened == 0) & weights.leads[nodes.node]
    return np.where(closed, closed_radius(own, weights, p, nodes.node), own)


def _all_room(
    trace: Trace, graph: CompactTrace, forest: Edges, nodes: cone.Shown, weights: Weights, p: Parameters
) -> tuple[Floats, Floats, Floats]:
    """Lay out every class; the shown nodes take their places from there."""
    classes = np.arange(len(forest.first) - 1, dtype=np.int32)
    cones = cone.lay(forest, own_radius(trace, graph, nodes, weights, p, classes), most=p.rings)
    known = nodes.edge >= 0
    x, y = np.zeros(len(nodes)), np.zeros(len(nodes))
    x[known], y[known] = cones.x[nodes.edge[known]], cones.y[nodes.edge[known]]
    return x, y, cones.radius[nodes.node]


def _angles(nodes: cone.Shown, dx: Floats, dy: Floats, facing: Facing) -> Floats:
    """Return how far each node's cone is turned, float64 (n,): from one that faces the viewer to the next."""
    angle = np.zeros(len(nodes))
    for way, share in facing:
        away = _turned(nodes, dx, dy, way) - angle
        angle += share * np.arctan2(np.sin(away), np.cos(away))
    return angle


def _turned(nodes: cone.Shown, dx: Floats, dy: Floats, way: Ints) -> Floats:
    """Return the angles by which each cone on a way has its callee there in front; others turn along."""
    angle = np.zeros(len(nodes))
    next_on_way = np.full(len(nodes), -1)
    next_on_way[way[:-1]] = way[1:]
    for here in levels(nodes.depth):
        inner = here[nodes.parent[here] >= 0]
        angle[inner] = angle[nodes.parent[inner]]
        for node in here[next_on_way[here] >= 0].tolist():
            wanted = next_on_way[node]
            if dx[wanted] or dy[wanted]:
                # The front is -y.
                angle[node] = -np.pi / 2 - np.arctan2(dy[wanted], dx[wanted])
    return angle


def _places(nodes: cone.Shown, dx: Floats, dy: Floats, disc: Floats, angle: Floats) -> tuple[Floats, Floats]:
    """Sum the offsets up from the roots, each cone turned by its angle."""
    n = len(nodes)
    x, y = np.zeros(n), np.zeros(n)
    roots = np.flatnonzero(nodes.parent < 0)
    along = np.cumsum(2.2 * disc[roots]) - 1.1 * disc[roots]
    x[roots] = along - (along[-1] + disc[roots[-1]]) / 2 if len(roots) > 1 else 0.0
    for here in levels(nodes.depth)[1:]:
        above = nodes.parent[here]
        c, s = np.cos(angle[above]), np.sin(angle[above])
        x[here] = x[above] + c * dx[here] - s * dy[here]
        y[here] = y[above] + s * dx[here] + c * dy[here]
    return x, y


def _heights(
    trace: Trace, graph: CompactTrace, nodes: cone.Shown, own: Floats, ring: Floats, disc: Floats,
    weights: Weights, p: Parameters, stand: cylinder.Columns | None,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """Return how far each node stands below the roots, how far its callees do below it, and how far below
    the first of them the last, where they stand on a cylinder.

    The levels are as high as the widest cone on each asks for, so that cones are equally steep.
    """
    deepest = int(nodes.depth.max(initial=1))
    level = np.zeros(deepest + 1)
    count = np.bincount(nodes.parent[nodes.parent >= 0], minlength=len(nodes))
    closed = (nodes.opened == 0) & (disc > own)
    stands = _STANDS * disc
    if p.closed == "shape" and closed.any():
        below = weights.levels[nodes.node]
        stands = _STANDS * disc[closed].max() * below / max(float(below[closed].max()), 1.0)
    asks = np.where(closed, stands, np.where(count >= _FAN, 1.0, _FEW) * ring)
    np.maximum.at(level, nodes.depth, asks)
    # Deep levels are many and narrow, so they get more than their share.
    level = np.sqrt(level) + 0.35 * math.sqrt(max(float(level.max()), 1.0))
    level[0] = 0.0
    wide = max(float(disc[nodes.parent < 0].sum()) * 2.2, 1e-9)
    aspect = _LYING if p.recline else _UPRIGHT
    level *= p.steepness * aspect * wide / max(float(level.sum()), 1e-9)
    foot, column = np.zeros(len(nodes)), np.zeros(len(nodes))
    if stand is not None:
        # All rows of a cylinder stand above the next level.
        np.maximum.at(level, nodes.depth, stand.high / SKIRT)
        np.maximum.at(column, nodes.parent[stand.on], stand.drop[stand.on])
        foot = stand.room
    share = shares(trace, graph, nodes, p.height)
    down = np.zeros(len(nodes))
    for depth, here in enumerate(levels(nodes.depth)[1:], 2):
        drop = level[depth - 1] * (
            1.0 if p.height == "none" else _LEAST_DROP + (1 - _LEAST_DROP) * share[here]
        )
        down[here] = down[nodes.parent[here]] + drop
    if stand is not None:
        down += stand.drop
    return down, np.where(foot > 0, foot, level[nodes.depth]), column


def _scaled(
    x: Floats, y: Floats, down: Floats, disc: Floats, nodes: cone.Shown, p: Parameters
) -> tuple[Floats, float]:
    """Put the tree into the drawing's room: (n, 3) in scene units, and the scale."""
    roots = nodes.parent < 0
    wide = max(float((x + disc)[roots].max() - (x - disc)[roots].min()), 1e-9)
    tall = float(down.max(initial=0.0)) * p.opening
    scale = WIDTH / max(wide, tall if p.recline else wide)
    middle = float(((x + disc)[roots].max() + (x - disc)[roots].min()) / 2)
    plan_x, plan_y, depth = (x - middle) * scale, y * scale, down * p.opening * scale
    if p.recline:
        # Down becomes right; the plan stands upright.
        return np.column_stack([depth, plan_x, plan_y]), scale
    return np.column_stack([plan_x, plan_y, -depth]), scale
