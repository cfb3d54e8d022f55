"""Closed subtrees opened in place, near the camera."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....drawing.projection import Projection
from .layout import SKIRT, Layout, find_focus, shown_way
from .layouts import cone
from .layouts import rooms as cone_rooms
from .layouts.cone import levels
from .layouts.rooms import Opened, Rooms
from .parameters import Parameters
from .prepared import Prepared

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A closed subtree is opened if its cone is so wide in the picture, as a share of the picture's height.
_WIDE = 0.12
#: How much of the interest counts: a cone twice as wide is as much more worth as one of this interest more.
_OF_INTEREST = 0.15
#: Maximum share of the budget for one subtree: of very many callees the most interesting are shown.
_OF_BUDGET = 6
#: A node counts as visible if its ball has a larger diameter, in pixels.
_SEEN = 2.0
#: Maximum width of lines, as a share of the picture's height.
_LINE = 0.005
#: Nodes nearer than this share of the distance to the camera's goal are left out.
_BEFORE = 0.7
#: Share of the width that counts if the middle is outside the picture.
_CUT = 0.3
#: From inside a room, it is seen from this share of its extent.
_WITHIN = 0.5
_NONE = np.empty(0, np.int64)


def open_in_view(
    prepared: Prepared,
    projection: Projection,
    kept: Ints = _NONE,
    shown: NDArray[np.bool_] | None = None,
) -> tuple[Layout, Ints]:
    """Return the picture with the subtrees opened that look large, and the calls that those represent.

    All that the picture shows stays where it is. The budget is that of what is in view.

    Parameters
    ----------
    prepared : Prepared
    projection : Projection
        The view direction.
    kept : int64 (k,)
        Calls of the subtrees that are open by now, ascending: they stay open until they are clearly smaller.
    shown : bool (n,), optional
        Nodes of the picture; others are not there.

    Returns
    -------
    (Layout, int64 (k,))
        The calls ascend.
    """
    picture, p = prepared.picture, prepared.parameters
    there = np.ones(len(picture), np.bool_) if shown is None else shown
    seeds = np.flatnonzero(picture.closed & there)
    in_sight = np.count_nonzero(there & (_pixels(picture.center, picture.radius, projection) > _SEEN))
    opened = cone_rooms.open_near(
        prepared.ground, rooms_of(picture, seeds, p), lambda rooms: _sizes(rooms, projection, p),
        _OF_INTEREST * prepared.interest,
        least=_WIDE * projection.frame.height, budget=max(p.budget - int(in_sight), 0), kept=kept,
        step=_OF_INTEREST * p.near, most=max(p.budget // _OF_BUDGET, 1),
    )  # fmt: skip
    found = _with(prepared, seeds, opened)
    return replace(found, thin=_thin(found, projection)), np.sort(opened.rooms.call[opened.open])


def in_the_way(
    picture: Layout, place: tuple[Floats, Floats], approach: float, projection: Projection
) -> NDArray[np.bool_]:
    """Return which nodes stand between the camera and the place that it goes to (:func:`goal`), bool (n,).

    Parameters
    ----------
    picture : Layout
    place : (float64 (3,), float64 (3,))
        The corners of the box that the camera goes to.
    approach : float
        How far on the way, 0 to 1.
    projection : Projection
        From where it is seen.

    Returns
    -------
    bool (n,)
    """
    low, high = place
    if not projection.perspective:
        return np.zeros(len(picture), np.bool_)
    far = float(((low + high) / 2 - projection.eye) @ projection.forward)
    deep = (picture.center - projection.eye) @ projection.forward
    gone = deep < _BEFORE * far
    # More of what hides that place is removed as the camera comes closer.
    share = _BEFORE + (1.0 - _BEFORE) * approach
    some = ~gone & (deep < share * far) & ((picture.center < low) | (picture.center > high)).any(axis=1)
    corner = projection.pixels(np.array(list(itertools.product(*zip(low, high)))))
    reach = picture.disc[some] * projection.frame.width / (2 * projection.tangent * deep[some])
    at = projection.pixels(picture.center[some])
    over = (at > corner.min(axis=0) - reach[:, None]) & (at < corner.max(axis=0) + reach[:, None])
    gone[some] = over.all(axis=1)
    # With a closed subtree goes what has appeared in it.
    for here in levels(picture.nodes.depth):
        inner = here[here >= picture.whole]
        gone[inner] |= gone[picture.nodes.parent[inner]]
    return np.asarray(gone)


def goal(prepared: Prepared) -> tuple[Floats, Floats]:
    """Return the lowest and highest coordinates (3,) of the place that the camera goes to."""
    picture, p = prepared.picture, prepared.parameters
    seeds = np.flatnonzero(picture.closed)
    closed = rooms_of(picture, seeds, p)
    text = p.toward.strip() or p.focus.strip()
    if not text and not len(seeds):
        return picture.center.min(axis=0), picture.center.max(axis=0)
    if text:
        path = find_focus(
            picture.trace, picture.graph, picture.threads, text, prepared.original,
            "toward" if p.toward.strip() else "focus",
        )  # fmt: skip
        way = shown_way(picture.forest, picture.nodes, path)
        last = int(way[-1])
    else:
        way, path = _NONE, ()
        last = int(seeds[np.argmax(picture.below[seeds])])
    place = np.flatnonzero(seeds == last)
    if len(place):
        found = cone_rooms.way(prepared.ground, closed, int(place[0]), path[len(way) :])
    else:
        found = rooms_of(picture, way, p)
    # A call without callees is visible among its neighbours.
    some = found.taken(np.flatnonzero(found.height > 0)[-1:] if (found.height > 0).any() else np.array([-1]))
    wide, tall = float(some.disc[0]), float(some.height[0] + some.ball[0]) / 2
    middle = _points(some, some.down - some.ball + tall, p)[0]
    half = np.array([tall, wide, wide] if p.recline else [wide, wide, tall])
    return middle - half, middle + half


def rooms_of(picture: Layout, which: Ints, p: Parameters) -> Rooms:
    """Return some of the picture's nodes with the rooms that they have.

    Parameters
    ----------
    picture : Layout
    which : int64 (k,)
        Nodes.
    p : Parameters

    Returns
    -------
    Rooms
    """
    nodes, (plan, axis, sign) = picture.nodes, _axes(p)
    # The calls of a thread come after none of them.
    first = picture.trace.threads.first
    thread = np.clip(nodes.node[which] - len(picture.graph), 0, len(first) - 1)
    call = np.where(picture.call[which] >= 0, picture.call[which], np.asarray(first)[thread] - 1)
    height = picture.skirt[which] if p.opening > 0 else np.zeros(len(which))
    center = picture.center[which]
    return Rooms(
        nodes.node[which], np.full(len(which), -1), np.full(len(which), -1), nodes.depth[which],
        nodes.distance[which], call, center[:, plan[0]], center[:, plan[1]], sign * center[:, axis],
        picture.disc[which], height, picture.radius[which],
    )  # fmt: skip


def _axes(p: Parameters) -> tuple[list[int], int, float]:
    """Return the axes of the plan, the one along which the tree grows, and in which direction."""
    return ([1, 2], 0, 1.0) if p.recline else ([0, 1], 2, -1.0)


def _points(rooms: Rooms, down: Floats, p: Parameters) -> Floats:
    plan, axis, sign = _axes(p)
    point = np.empty((len(rooms), 3))
    point[:, plan[0]], point[:, plan[1]], point[:, axis] = rooms.x, rooms.y, sign * down
    return point


def _sizes(rooms: Rooms, projection: Projection, p: Parameters) -> Floats:
    """Return how wide the closed cones of rooms are in pixels; 0 where they are out of view."""
    reach = np.hypot(rooms.disc, rooms.height / 2)
    middle = _points(rooms, rooms.down + rooms.height / 2, p)
    return np.asarray(cone_rooms.SHARE * rooms.disc / reach * _pixels(middle, reach, projection))


def _pixels(middle: Floats, reach: Floats, projection: Projection) -> Floats:
    """Return how wide balls are in pixels; 0 where they are out of view."""
    offset = middle - projection.eye
    depth = offset @ projection.forward
    within = np.linalg.norm(offset, axis=1) < 2 * reach
    deep = np.where(within, np.maximum(depth, _WITHIN * reach), depth)
    ahead = (deep > 0) | (not projection.perspective)
    half = projection.tangent * (np.where(ahead, deep, 1.0) if projection.perspective else 1.0)
    pixels = reach * projection.frame.width / half
    # Points behind the camera have no place in the picture.
    anywhere = (depth > 0) | (not projection.perspective)
    safe = np.where(anywhere[:, None], middle, projection.eye + projection.forward)
    at = projection.pixels(safe)
    size = (projection.frame.width, projection.frame.height)
    inside = ((at >= -pixels[:, None] / 2) & (at <= size + pixels[:, None] / 2)).all(axis=1)
    # Of what the picture cuts off less is to be seen than it is wide.
    cut = ~within & ((at < 0) | (at > size)).any(axis=1)
    return np.asarray(np.where(ahead & (inside | within), np.where(cut, _CUT, 1.0) * pixels, 0.0))


def _thin(picture: Layout, projection: Projection) -> Floats:
    """Return the widest that a line at each node is, by the nearer of its ends."""
    deep = np.abs((picture.center - projection.eye) @ projection.forward)
    half = projection.tangent * (deep if projection.perspective else np.ones(len(picture)))
    widest = _LINE * projection.frame.height * 2 * half / projection.frame.width
    above = widest[np.maximum(picture.nodes.parent, 0)]
    return np.asarray(np.maximum(np.minimum(widest, above), 0.25 * widest))


def _with(prepared: Prepared, seeds: Ints, opened: Opened) -> Layout:
    """Return the picture with what appears in its closed subtrees."""
    picture, p = prepared.picture, prepared.parameters
    n, given = len(picture), len(seeds)
    rooms = opened.rooms.taken(np.arange(given, len(opened.rooms)))
    if not len(rooms):
        return picture
    place = np.concatenate([seeds, np.arange(n, n + len(rooms))])
    parent, nodes = place[rooms.parent], picture.nodes

    flags = np.append(nodes.opened, opened.open[given:]).astype(np.uint8)
    flags[seeds[opened.open[:given]]] = 1
    foot = np.append(picture.foot, np.where(opened.open[given:], opened.level[given:], rooms.height / SKIRT))
    there = seeds[opened.open[:given]]
    foot[there] = opened.level[:given][opened.open[:given]]
    rim = np.append(picture.rim, foot[n:])
    rim[there] = foot[there]
    center = np.concatenate([picture.center, _points(rooms, rooms.down, p)])
    plan, _, _ = _axes(p)
    ring = np.append(picture.ring, np.zeros(len(rooms)))
    np.maximum.at(ring, parent, np.hypot(*(center[n:] - center[parent])[:, plan].T))
    shown = cone.Shown(
        np.append(nodes.node, rooms.node), np.append(nodes.parent, parent), np.append(nodes.edge, rooms.edge),
        np.append(nodes.depth, rooms.depth), np.append(nodes.x, rooms.x), np.append(nodes.y, rooms.y),
        np.append(nodes.distance, rooms.distance), flags, nodes.way,
    )  # fmt: skip
    missing = np.append(picture.missing, np.zeros(len(rooms), np.int64))
    if len(prepared.hidden):
        missing[n:] = prepared.hidden[prepared.original[rooms.call]]
    every, first = np.append(nodes.node, rooms.node), picture.forest.first
    degree = first[every + 1] - first[every]
    new = np.append(seeds, np.arange(n, n + len(rooms)))[opened.open]
    missing[new] += (degree - np.bincount(parent, minlength=n + len(rooms)))[new]
    return replace(
        picture,
        nodes=shown,
        call=np.append(picture.call, rooms.call),
        iterations=np.append(picture.iterations, picture.forest.count[rooms.edge]),
        # A room's node is a call, not a thread.
        below=np.append(picture.below, picture.graph.subtrees.extent[rooms.node]),
        center=center,
        radius=np.append(picture.radius, rooms.ball),
        ring=ring,
        disc=np.append(picture.disc, rooms.disc),
        foot=foot,
        rim=rim,
        around=np.concatenate([picture.around, center[n:]]),
        missing=missing,
    )
