"""The ring icicle around the drum: the hierarchy, how busy each element is, and the names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Labels, Lines, Wedges
from .layout import RELIEF, RING, Drum, Floats, Layout, vector
from .parameters import Parameters
from .radial import spread

_FLAT = 0.05
#: Sections of a full turn.
_SECTIONS = 180
_GAP = 0.08
#: How far inside the outer edge of its sector a line to a name ends, in rings.
_WITHIN = 0.3
#: Distance beyond the ring's edge at which the lines to the names begin and bend.
_STANDOFF, _ELBOW = 0.06, 0.35
#: Width of a letter, about, in line heights.
_LETTER = 0.42
#: Size of a trace's name, relative to that of an element's.
_TRACE = 1.3
#: Distance of names in front of the ring.
_BEFORE = 3.0


def ring(
    picture: Layout, drum: Drum, activity: Floats, most: float, color: NDArray[np.int32], p: Parameters
) -> Wedges:
    """Return a block for each node of the hierarchy but the root.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    activity : float64 (elements,)
        Calls that each takes part in, in the window.
    most : float
        The greatest of all drums.
    color : int32 (nodes,)
    p : Parameters

    Returns
    -------
    Wedges
    """
    h, sectors = picture.hierarchy, picture.sectors
    nodes = np.arange(1, len(h)) if len(h) > 1 else np.empty(0, np.int64)
    corner, first, shown = [], [0], []
    deepest = sectors.rings
    level = sectors.level
    for i in nodes.tolist():
        s0, s1 = float(sectors.low[i]), float(sectors.high[i])
        inner = 0.1 + RING * level[i]
        # An element near the root reaches out to its container's ring.
        above = int(level[h.parent[i]]) if h.parent[i] > 0 else deepest
        outer = 0.1 + RING * max(above, int(level[i]) + 1) - _GAP * RING
        leaf = h.element[i] >= 0
        height = _FLAT
        if leaf and most > 0:
            height += p.relief * p.opening * RELIEF * 0.5 * float(np.sqrt(activity[h.element[i]] / most))
        k = max(2, int((s1 - s0) * _SECTIONS) + 2)
        s = np.linspace(s0, s1, k)
        corner.append(
            np.stack(
                [
                    drum.bend.brim(s, np.full(k, out), np.full(k, up))
                    for out, up in ((inner, 0.0), (outer, 0.0), (outer, height), (inner, height))
                ],
                axis=1,
            )
        )
        first.append(first[-1] + k)
        shown.append(i)
    return Wedges(
        "sector",
        np.concatenate(corner).astype(np.float32) if corner else np.empty((0, 4, 3), np.float32),
        np.array(first, np.int64),
        color[shown].astype(np.int32),
        np.array(shown, np.int64),
        source=drum.source,
    )


def names(
    picture: Layout,
    activity: Floats,
    text: float,
    color: int,
    p: Parameters,
    status: NDArray[np.int32] | None = None,
    only: int = 0,
) -> tuple[list[Labels], Lines | None]:
    """Return the names of the busiest elements and of their containers, and the lines that lead to them.

    Names stand in columns beside the ring, so that they read level whatever their sectors' angle.

    Parameters
    ----------
    picture : Layout
    activity : float64 (elements,)
        Calls that each takes part in, in the window.
    text : float
        Line height in scene units.
    color : int
        That of the lines, as index into the palette.
    p : Parameters
        ``labels`` is the most that are written.
    status : int32 (nodes,), optional
        Which of two drums has each node (:func:`.tones.presence`); what one lacks comes first.
    only : int
        Palette index of what only A has, before those of B and of what has moved: leaders of such nodes.

    Returns
    -------
    list of Labels, Lines or None
    """
    h, sectors, drum = picture.hierarchy, picture.sectors, picture.drums[0]
    if len(h) < 2 or p.labels == 0:
        return [], None
    below = np.concatenate([[0.0], np.cumsum(activity)])
    low, high = h.first_element()
    weight = below[high] - below[low]
    nodes = np.arange(1, len(h))
    leaf = h.element[nodes] >= 0
    # A container's name is worth more than that of a small element; the widest and busiest come first.
    size = (sectors.high - sectors.low)[nodes]
    rank = np.sqrt(weight[nodes] / max(float(activity.sum()), 1.0)) + size + np.where(leaf, 0.0, 0.02)
    rank = np.where((h.parent[nodes] == 0) & ~leaf, rank + 0.2, rank)
    # What is called in a container itself has the container's name.
    same = np.array([h.path[i][-1:] == ("",) for i in nodes.tolist()], np.bool_)
    if status is not None:
        rank = np.where(leaf & (status[nodes] >= 0), rank + 1.0, rank)
    rank = np.where((weight[nodes] > 0) & ~same, rank, 0.0)
    best = nodes[np.argsort(-rank, kind="stable")][: p.labels]
    value = dict(zip(nodes.tolist(), rank.tolist(), strict=True))
    best = best[[value[int(i)] > 0 for i in best]]
    # A line ends at what it names: a line to an element passes over its containers.
    above = np.where(h.parent[best] > 0, sectors.level[np.maximum(h.parent[best], 0)], sectors.rings)
    edge = np.where(h.element[best] >= 0, np.maximum(above, sectors.level[best] + 1), sectors.level[best] + 1)
    out = 0.1 + RING * (edge - _WITHIN) if picture.flat else np.full(len(best), picture.ring + _STANDOFF)
    anchor = drum.bend.brim(sectors.middle[best], out, np.full(len(best), 2 * _FLAT))
    if drum.bend.unroll == 1 and picture.flat and drum.bend.time[2]:
        return [_upright(picture.name, best, anchor, value, text, drum, sectors.high - sectors.low)], None
    return _columns(picture, best, anchor, value, text, color, status, only)


def trace_names(picture: Layout, words: Sequence[str], text: float) -> Labels:
    """Return what each of two drums shows, above its mantle, level for the reader.

    Parameters
    ----------
    picture : Layout
    words : sequence of str
        Of each drum.
    text : float
        Line height in scene units.

    Returns
    -------
    Labels
    """
    right, up = picture.right, picture.up
    s, t = (grid.reshape(-1) for grid in np.meshgrid(np.linspace(0, 1, 33), np.linspace(0, 1, 9)))
    anchor = np.empty((len(picture.drums), 3))
    for place, drum in zip(anchor, picture.drums, strict=True):
        mantle = drum.bend.mantle(s, t)
        x, y = mantle @ right, mantle @ up
        highest = int(np.argmax(y))
        place[:] = mantle[highest] + (x.min() - x[highest]) * right + text * up
    n, height = len(anchor), _TRACE * text
    return Labels(
        "trace", tuple(words), anchor.astype(np.float32), np.full(n, height, np.float32),
        np.full(n, np.inf, np.float32), np.full(n, 1e9, np.float32), -1, right=vector(right), up=vector(up),
    )  # fmt: skip


def _upright(
    name: Callable[[int], str], nodes: NDArray[np.int64], anchor: Floats, value: dict[int, float],
    text: float, drum: Drum, size: Floats,
) -> Labels:  # fmt: skip
    """Return names that stand on end above the icicle, as wide as their sectors allow."""
    height = np.minimum(0.8 * size[nodes] * drum.bend.circumference, text)
    return Labels(
        "element", tuple(name(i) for i in nodes.tolist()), anchor.astype(np.float32),
        height.astype(np.float32), np.full(len(nodes), np.inf, np.float32),
        np.array([value[int(i)] for i in nodes], np.float32), -1, right=(0, 0, 1), up=(-1, 0, 0),
    )  # fmt: skip


def _columns(
    picture: Layout, nodes: NDArray[np.int64], anchor: Floats, value: dict[int, float], text: float,
    color: int, status: NDArray[np.int32] | None, only: int,
) -> tuple[list[Labels], Lines | None]:  # fmt: skip
    right, up, sectors = picture.right, picture.up, picture.sectors
    pair = len(picture.drums) > 1
    towards = np.array(picture.camera.direction)
    before = towards / np.linalg.norm(towards) * (0.1 if picture.flat else _BEFORE)
    x, y = anchor @ right, anchor @ up
    s = np.linspace(0, 1, 129)
    edge = [d.bend.brim(s, np.full(129, picture.ring), np.zeros(129)) for d in picture.drums]
    first_x = edge[0] @ right
    middle_x = float(first_x.max() + first_x.min()) / 2
    both = picture.flat and picture.drums[0].bend.unroll == 0
    groups, points, firsts, colors = [], [], [0], []
    for side in (-1, 1):
        if side > 0 and not both:
            break
        mine = (
            np.flatnonzero((x < middle_x) if side < 0 else (x >= middle_x)) if both else np.arange(len(nodes))
        )
        if pair:
            column = 0.0
        else:
            column = (first_x.min() - 0.9) if side < 0 else (first_x.max() + 0.9)
        # As many as fit, the most important first.
        span = float(np.ptp(edge[0] @ up)) * (1.0 if both else 1.12)
        room = max(int(span / (1.18 * text)), 1)
        mine = mine[np.argsort([-value[int(nodes[i])] for i in mine], kind="stable")][:room]
        mine = (
            mine[np.argsort(y[mine], kind="stable")]
            if both or picture.drums[0].bend.unroll > 0.9
            else _along(mine, nodes, picture, y)
        )
        place = spread(y[mine], 1.18 * text)
        top = float((edge[0] @ up).max() + (edge[0] @ up).min()) / 2 + span / 2
        place = np.minimum(place, top - 1.18 * text * np.arange(len(place))[::-1])
        at = anchor[mine] + np.outer(column - x[mine], right) + np.outer(place - y[mine], up)
        # Towards the camera: nothing may come before a name, nor a wall that it reaches into.
        at += before
        groups.append(
            Labels(
                "element", tuple(picture.name(i) for i in nodes[mine].tolist()),
                (at + (0.0 if pair else 0.12 * side) * right).astype(np.float32),
                np.full(len(mine), text, np.float32), np.full(len(mine), np.inf, np.float32),
                np.array([value[int(i)] for i in nodes[mine]], np.float32),
                0 if pair else 1 if side < 0 else -1,
                right=vector(right), up=vector(up),
            )
        )  # fmt: skip
        if pair and status is not None:
            for node, name_at in zip(nodes[mine].tolist(), at, strict=True):
                for d in picture.drums:
                    if status[node] not in (d.source, 2):
                        continue
                    begin = d.bend.brim(
                        sectors.middle[[node]], np.full(1, picture.ring + _STANDOFF), np.zeros(1)
                    )[0]
                    # The name stands across the middle.
                    half = 0.5 * _LETTER * text * len(picture.name(node)) + 0.1
                    end = name_at + np.sign((begin - name_at) @ right) * half * right
                    points += [begin, end]
                    firsts.append(firsts[-1] + 2)
                    colors.append(only + int(status[node]))
        if not pair:
            elbow = at - np.outer(np.full(len(mine), side * _ELBOW), right)
            for begin, bend, end in zip(anchor[mine], elbow, at, strict=True):
                points += [begin, bend, end]
                firsts.append(firsts[-1] + 3)
                colors.append(color)
    n = len(firsts) - 1
    leaders = None
    if n:
        leaders = Lines(
            "leader", np.array(points, np.float32), np.array(firsts, np.int64), np.full(n, 0.012, np.float32),
            np.array(colors, np.int32), np.arange(n, dtype=np.int64),
        )  # fmt: skip
    return groups, leaders


def _along(
    mine: NDArray[np.int64], nodes: NDArray[np.int64], picture: Layout, y: Floats
) -> NDArray[np.int64]:
    """Order names along the opened ring, from its lower end in the picture: then no lines cross."""
    s = picture.sectors.middle[nodes[mine]]
    order = np.argsort(s, kind="stable")
    ends = picture.drums[0].bend.brim(np.array([0.02, 0.98]), np.ones(2), np.zeros(2)) @ picture.up
    return mine[order if ends[0] < ends[1] else order[::-1]]
