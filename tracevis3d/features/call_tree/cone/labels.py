"""Names in a cone tree: those in front, the most interesting first, each where there is room for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....analysis.measures import self_time_of
from ....drawing.primitives import Labels, Lines
from ....drawing.projection import Projection
from ....drawing.shorthand import lines
from ....units import count
from .camera import vector
from .layout import DASHED, Layout, busiest
from .occupied import Occupied, occupied
from .parameters import Parameters
from .paths import beginnings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Line heights of names and of thread titles, relative to the smallest readable one.
_NAME, _THREAD = 2.4, 2.7
#: A node in front of its cone's middle is worth a name as one with this many times twice its share behind it.
_FRONT = 1.0
#: What is below an open node counts this part for its name.
_BELOW = 0.2
#: The least share that is worth a name.
_LEAST = 5e-4
#: Approximate width of a character, in line heights, rounded up.
_CHARACTER = 0.52
#: The share of a name's place that may cover drawings: at the ends of paths, of required names, of others.
_END, _MUST, _MAY = 0.7, 0.25, 0.06
#: Distance of names in front of what crosses them, in scene units.
_BEFORE = 0.08
#: Crossing lines keep a distance of at least this share of their length from a name.
_BEHIND = 0.6
#: Elements this far in front of a ball hide it, in its radii.
_BURIED = 0.1
#: Characters of a name with a leader, and how often the same function is named but for what has to be.
_SHORT, _SAME = 40, 3
#: From this rank on a name has to be: those of the path, the focus, and the busiest functions.
_ON_PATH = 5.0
#: Width of leaders in pixels.
_HAIR = 1.5
#: Number of nodes tried per requested name.
_TRIED = 6


@dataclass(frozen=True, eq=False)
class Names:
    """The names of a picture.

    Attributes
    ----------
    labels : list of Labels
    leader : float64 (k, 2, 3)
        From nodes to those of their names that have no room beside them.
    width : float64 (k,)
        Of the leaders, in scene units: a pixel where they begin.
    """

    labels: list[Labels]
    leader: Floats
    width: Floats


@dataclass(frozen=True)
class _Place:
    """Where a name can be: to which side of its node, how it is aligned, and up or down.

    Right and up count in what the node reaches; with a leader (``far``) in line heights, from its middle.
    """

    align: int
    right: float
    up: float
    far: bool = False


#: Distances of names with a leader, in line heights, and how many directions are tried at each.
_FAR, _AROUND = (2.5, 4.0, 6.0, 9.0, 13.0, 18.0, 24.0), 16

#: A name that is written: its node, the text, its place, and the depth in front of which it stands.
_Written = tuple[int, str, _Place, float]
_PLACES = (
    _Place(-1, 1.0, 0.0), _Place(1, -1.0, 0.0), _Place(-1, 0.8, 0.8), _Place(-1, 0.8, -0.8),
    _Place(1, -0.8, 0.8), _Place(1, -0.8, -0.8), _Place(0, 0.0, 1.0), _Place(0, 0.0, -1.0),
    _Place(-1, 1.6, 0.5), _Place(-1, 1.6, -0.5), _Place(1, -1.6, 0.5), _Place(1, -1.6, -0.5),
)  # fmt: skip


def labels(
    picture: Layout,
    projection: Projection,
    named: NDArray[np.bool_],
    path: Ints,
    p: Parameters,
    shown: NDArray[np.bool_] | None = None,
) -> Names:
    """Return the names of nodes, of closed subtrees with what they hold, and of threads.

    Names lie in the picture's plane, all at one height in pixels, beside, above or below their nodes, where
    they cover little of what is drawn. The focus's come first, then those of the functions with most self
    time and of the path, then those with most time or calls. Where there is no room beside a node of one of
    the busiest functions, its name is farther away, at the end of a leader. Only those of ``named`` (n,) have
    one; what is not ``shown`` (n,) takes no place.

    Parameters
    ----------
    picture : Layout
    projection : Projection
        From where it is seen.
    named : bool (n,)
        Nodes that may have a name.
    path : int64 (k,)
        The nodes of the path that is drawn as a tube.
    p : Parameters
        ``labels`` is the most that are written.
    shown : bool (n,), optional
        All by default.

    Returns
    -------
    Names
    """
    frame = projection.frame
    toward = -projection.forward
    unit = _units_per_pixel(projection, picture.center)
    if p.labels == 0:
        shown = np.zeros(len(picture), np.bool_)
    there = occupied(
        picture, path, projection, p, np.ones(len(picture), np.bool_) if shown is None else shown
    )
    found = []
    if (picture.nodes.depth == 1).any():
        found.append(_thread_names(picture, projection, unit, there))
    sight = _in_sight(picture, projection)
    front = (picture.center - projection.eye) @ projection.forward - (1.0 + _BURIED) * picture.radius
    sight[sight] = ~there.hidden(projection.pixels(picture.center[sight]), front[sight])
    sight[path] |= _in_sight(picture, projection)[path]
    weights = _weights(picture, sight & named)
    # What takes most time is named even where it is behind something: its leader says where.
    sight |= weights.busy & _in_sight(picture, projection)
    candidates = np.flatnonzero((picture.nodes.depth > 1) & named & sight)
    rank = _ranks(picture, weights, toward, path)
    wanted = np.append(path, picture.focus)
    worth = (weights.share >= _LEAST) | weights.busy
    worth[wanted] = True
    worth[picture.whole :] = True  # what the camera came near for
    candidates = candidates[worth[candidates]]
    candidates = candidates[np.argsort(-rank[candidates], kind="stable")][: _TRIED * p.labels]
    leader, leads = [np.empty((0, 2, 3))], [np.empty(0)]
    may = np.where(np.isin(candidates, wanted), _MUST, _MAY)
    may[np.isin(candidates, path[beginnings(picture, path)[1:] - 1])] = _END
    chosen = _placed(picture, candidates, may, weights, rank, projection, unit, there, p)
    height = _NAME * frame.least_text * unit
    for align in (-1, 0, 1):
        here = [c for c in chosen if c[2].align == align]
        if not here:
            continue
        node = np.array([c[0] for c in here], np.int64)
        begin, at, size = _lettering(picture, projection, here, node, height)
        far = np.array([c[2].far for c in here])
        leader.append(np.stack([begin, at], axis=1)[far])
        leads.append(unit[node][far])
        found.append(
            Labels(
                "function", tuple(c[1] for c in here), at.astype(np.float32), size.astype(np.float32),
                np.full(len(node), np.inf, np.float32), rank[node].astype(np.float32), align,
                vector(projection.right), vector(projection.up),
            )
        )  # fmt: skip
    return Names(found, np.concatenate(leader), np.concatenate(leads))


def _thread_names(picture: Layout, projection: Projection, unit: Floats, there: Occupied) -> Labels:
    """Return the names of the threads, above their roots; nothing else may stand there."""
    frame = projection.frame
    roots = np.flatnonzero(picture.nodes.depth == 1)
    tall = _THREAD * frame.least_text * unit[roots]
    above = picture.center[roots] + projection.up * (picture.radius[roots] + 0.8 * tall)[:, None]
    titles = tuple(picture.trace.threads.title(int(t)) for t in picture.threads[: len(roots)])
    pixel = projection.pixels(above)
    for k, title in enumerate(titles):
        there.take(*_box(pixel[k, 0], pixel[k, 1], 0, title, _THREAD * frame.least_text))
    return Labels(
        "thread", titles, above.astype(np.float32), tall.astype(np.float32),
        np.full(len(roots), np.inf, np.float32), np.full(len(roots), 100.0, np.float32), 0,
        vector(projection.right), vector(projection.up),
    )  # fmt: skip


def _lettering(
    picture: Layout, projection: Projection, chosen: list[_Written], node: Ints, height: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return where names' leaders begin, where the names are, and how large, so that nothing crosses them."""
    way = np.array([(c[2].right, c[2].up) for c in chosen])
    reach = _reach(picture)[node, None] + 0.3 * height[node, None] * np.abs(way)
    reach[:, 1] += np.where(way[:, 0] == 0.0, 0.3 * height[node], 0.0)
    at = picture.center[node] - projection.forward * (1.1 * picture.radius[node, None])
    far = np.array([c[2].far for c in chosen])
    away = np.where(far[:, None], way * height[node, None], reach * way)
    begin = at + _steps(projection, _reach(picture)[node] * far, away)
    at += _steps(projection, 1.0, away)
    # In front of what crosses it, at the same place in the picture.
    deep = (at - projection.eye) @ projection.forward
    closer = np.minimum(np.array([c[3] for c in chosen]) - _BEFORE, deep)
    size = height[node]
    if projection.perspective:
        share = np.maximum(closer, 0.3 * deep) / deep
        at = projection.eye + (at - projection.eye) * share[:, None]
        return begin, at, size * share
    at -= projection.forward * (deep - closer)[:, None]
    return begin, at, size


def leaders(names: Names, color: int) -> Lines:
    """Return the lines from nodes to the names that are farther away.

    Parameters
    ----------
    names : Names
    color : int
        Palette index.

    Returns
    -------
    Lines
    """
    made = lines("leader", names.leader, 1.0, color)
    return replace(made, width=(_HAIR * names.width).astype(np.float32))


def _steps(projection: Projection, length: Floats | float, away: Floats) -> Floats:
    """Return ``away`` (n, 2), to the right and up in the picture, in space; given lengths (n,) of it."""
    if not np.isscalar(length):
        share = length / np.maximum(np.hypot(*away.T), 1e-12)
        away = np.minimum(share, 1.0)[:, None] * away
    return np.asarray(projection.right * away[:, :1] + projection.up * away[:, 1:])


def _in_sight(picture: Layout, projection: Projection) -> NDArray[np.bool_]:
    """Return which nodes are in the picture, and before the camera, bool (n,)."""
    ahead = (picture.center - projection.eye) @ projection.forward > picture.radius
    if not projection.perspective:
        ahead[:] = True
    found = np.zeros(len(picture), np.bool_)
    at = projection.pixels(picture.center[ahead])
    found[ahead] = ((at >= 0) & (at <= (projection.frame.width, projection.frame.height))).all(axis=1)
    return found


def _placed(
    picture: Layout, named: Ints, may: Floats, weights: _Weights, rank: Floats, projection: Projection,
    unit: Floats, there: Occupied, p: Parameters,
) -> list[_Written]:  # fmt: skip
    """Return which names are written, where, and in front of which depth; the first ones choose first.

    Where there is no room beside a busy node, its name has a leader.
    """
    pixel = projection.pixels(picture.center)
    radius = _reach(picture) / unit
    deep, closed = (picture.center - projection.eye) @ projection.forward, picture.closed
    tall = _NAME * projection.frame.least_text
    function = np.append(picture.graph.subtrees.function, np.full(len(picture.trace.threads), -1))
    function = function[picture.nodes.node]
    repeated = np.zeros(len(picture.trace.functions) + 1, np.int64)
    chosen: list[_Written] = []
    for node, least in zip(named.tolist(), may.tolist()):
        if len(chosen) >= p.labels:
            break
        text, best = _text(picture, node, bool(closed[node])), None
        far = bool(weights.busy[node])
        if repeated[function[node]] >= _SAME and not far and rank[node] < _ON_PATH:
            continue
        for place in _PLACES:
            x = pixel[node, 0] + place.right * (radius[node] + 0.3 * tall)
            y = pixel[node, 1] + place.up * (radius[node] + (0.6 if place.right == 0.0 else 0.3) * tall)
            box = _box(x, y, place.align, text, tall)
            share = there.share(*box)
            # Far behind what crosses it, a name would be displaced when seen from other viewpoints.
            if projection.perspective and there.nearest(*box) < _BEHIND * deep[node]:
                continue
            if share < least:
                best, least = (place, box), share
            if share < 0.25 * _MAY:
                break
        if best is None and far:
            # Of a long name the beginning and the end, where the whole has no room.
            best = _farther(pixel[node], text, tall, there, _MAY if len(text) > _SHORT else _MUST)
            if best is None and len(text) > _SHORT:
                text = f"{text[: _SHORT // 2]}\u2026{text[1 - _SHORT // 2 :]}"
                best = _farther(pixel[node], text, tall, there)
        if best is not None:
            there.take(*best[1])
            repeated[function[node]] += 1
            chosen.append((node, text, best[0], there.nearest(*best[1])))
    return chosen


def _farther(
    pixel: Floats, text: str, tall: float, there: Occupied, least: float = _MUST
) -> tuple[_Place, tuple[float, float, float, float]] | None:
    """Return the nearest place with room for the name of a node, whose leader crosses no name.

    Where there is none, the place of which least is covered, if it is less than ``least``.
    """
    best = None
    for distance in _FAR:
        for angle in np.arange(_AROUND) * (2 * np.pi / _AROUND):
            right, up = distance * float(np.cos(angle)), distance * float(np.sin(angle))
            align = 0 if abs(right) < 0.3 * distance else -1 if right > 0 else 1
            x, y = pixel[0] + right * tall, pixel[1] + up * tall
            box = _box(x, y, align, text, tall)
            share = there.share(*box)
            if share < least and not there.crossed(pixel, np.array([x, y])):
                best, least = (_Place(align, right, up, far=True), box), share
            if least < _MAY:
                return best
    return best


def _reach(picture: Layout) -> Floats:
    """Return how far the drawing of each node reaches to its sides, float64 (n,)."""
    reach = picture.radius * np.where(picture.missing > 0, 1.1 * DASHED, 1.0)
    # In a flat layout closed subtrees are discs around their nodes, without height.
    flat = picture.closed & (picture.foot.max(initial=0.0) == 0.0)
    return np.where(flat, np.maximum(reach, 0.92 * picture.disc), reach)


def _box(x: float, y: float, align: int, text: str, tall: float) -> tuple[float, float, float, float]:
    """Return left, bottom, right and top of a text in pixels."""
    wide = _CHARACTER * len(text) * tall
    left = x - (align + 1) / 2 * wide
    return left, y - 0.45 * tall, left + wide, y + 0.45 * tall


@dataclass(frozen=True, eq=False)
class _Weights:
    """The priorities of the names of the shown nodes.

    Attributes
    ----------
    share : float64 (n,)
        Of the time or the calls of the picture, whichever is more: what a node has to itself or closes, or a
        part of all that is below it.
    busy : bool (n,)
        Those that represent one of the functions with most self time: of those seen the one with most of it.
    """

    share: Floats
    busy: NDArray[np.bool_]


def _weights(picture: Layout, seen: NDArray[np.bool_]) -> _Weights:
    trace, nodes, closed = picture.trace, picture.nodes, picture.closed
    known = np.flatnonzero(picture.call >= 0)
    call = picture.call[known]
    repeats = picture.iterations[known].astype(np.float64)
    length = (trace.calls.end - trace.calls.start)[call] * repeats
    own = np.where(closed[known], length, self_time_of(trace)[call] * repeats)
    calls = picture.below[known] * repeats
    roots = nodes.depth[known] == 2
    time, many = max(float(length[roots].sum()), 1.0), max(float(calls[roots].sum()), 1.0)
    share = np.zeros(len(picture))
    share[known] = np.maximum(own / time, np.where(closed[known], calls, repeats) / many)
    share[known] = np.maximum(share[known], _BELOW * np.maximum(length / time, calls / many))
    busy = np.zeros(len(picture), np.bool_)
    function = trace.calls.function[call]
    for f in busiest(trace, picture.threads).tolist():
        mine = np.flatnonzero(function == f)
        if len(mine):
            visible = mine[seen[known[mine]]]
            mine = visible if len(visible) else mine
            busy[known[mine[np.argmax(own[mine])]]] = True
    return _Weights(share, busy)


def _ranks(picture: Layout, weights: _Weights, toward: Floats, path: Ints) -> Floats:
    rank = np.log2(np.maximum(weights.share, 1e-9))
    inner = picture.nodes.parent >= 0
    offset = np.zeros(len(picture))
    away = picture.center[inner] - picture.center[picture.nodes.parent[inner]]
    offset[inner] = (away * toward).sum(axis=1)
    rank += _FRONT * np.sign(np.round(offset / max(float(picture.radius.max(initial=1.0)), 1e-9), 3))
    rank[path] += 20.0
    # Whatever their shares are.
    rank[weights.busy] += 60.0
    rank[picture.focus] += 90.0
    if len(picture.focus):
        rank[picture.focus[-1]] += 20.0
    return np.asarray(rank)


def _units_per_pixel(projection: Projection, points: Floats) -> Floats:
    step = projection.right * 0.01
    here, there = projection.pixels(points), projection.pixels(points + step)
    return np.asarray(0.01 / np.maximum(np.hypot(*(there - here).T), 1e-9))


def _text(picture: Layout, node: int, closed: bool) -> str:
    """Return the name of a node, with what is below a closed one, or missing from an open one."""
    trace, graph = picture.trace, picture.graph
    text: str = trace.functions.label[graph.subtrees.function[picture.nodes.node[node]]]
    if picture.iterations[node] > 1:
        text += f" \u00d7{count(int(picture.iterations[node]))}"
    if closed:
        return f"{text} +{count(int(picture.below[node] - 1))}"
    if picture.missing[node]:
        return f"{text} ~{count(int(picture.missing[node]))}"
    return text
