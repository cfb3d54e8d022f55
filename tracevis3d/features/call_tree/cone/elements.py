"""The elements of a cone tree: balls, closed cones, rings, links and others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.filtered import taken
from ....drawing.palettes import BASE, GRID, OTHER
from ....drawing.primitives import Lines, Marks, Meaning, Tubes
from ....views.calls.colors import Coloring
from .layout import DASHED, Layout
from .layouts.rooms import SHARE
from .parameters import Parameters
from .paths import beginnings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Colour of the path's tube: a dark orange that no palette for kinds contains.
_PATH = np.array([0.93, 0.38, 0.09, 1.0], np.float32)
#: Shades of the shadows: darker for deeper calls.
_SHADES = 6
#: How far the path lies above a flat tree.
_ABOVE = 0.08
#: Maximum thickness of the path's tube, relative to a line.
_TUBE = 2.0
#: Corners of a ring.
_CORNERS = 72
#: Dashes of the ring around a node of which some callees are shown.
_DASHES = 9
#: Share of the colour that faded elements keep.
_FADED = 0.28
#: How much white the colour of what is not full has, and how much wider it is than what it covers.
_LIGHTER, _OVER = 0.7, 1.04
#: Kinds of elements that represent calls.
KINDS = ("node", "closed subtree", "cone", "ring", "link", "repetition", "partly shown")


@dataclass(frozen=True, eq=False)
class Paint:
    """The colours of a picture.

    Attributes
    ----------
    color : int32 (n,)
        Of each node: index into ``palette``.
    palette : float32 (k, 4)
        sRGB.
    neutral : dict
        Where the colours are that represent no kind.
    pale : bool (n,)
        Nodes that are seen through.
    kinds : int
        How many colours represent kinds; as many pale ones follow them.
    light : int32 (n,)
        Each node's colour where it represents what is not full; as ``color`` where it is pale.
    """

    color: NDArray[np.int32]
    palette: NDArray[np.float32]
    neutral: dict[str, int]
    pale: NDArray[np.bool_]
    kinds: int
    light: NDArray[np.int32]

    @classmethod
    def of(cls, picture: Layout, colors: Coloring, faded: NDArray[np.bool_]) -> Paint:
        """Return the colours of a picture; linking parents are seen through, as what a filter fades is.

        Parameters
        ----------
        picture : Layout
        colors : Coloring
            Of calls.
        faded : bool (n,)
            Nodes that a filter fades.

        Returns
        -------
        Paint
        """
        pale = faded | picture.linking
        color, palette, neutral = _colors(picture, colors, pale)
        kinds = len(colors.palette)
        light = np.where(color < kinds, neutral["light"] + color, color)
        light = np.where(color == neutral["other"], neutral["light"] + kinds, light)
        return cls(color, palette, neutral, pale, kinds, light.astype(np.int32))


def elements(
    picture: Layout, paint: Paint, path: Ints, p: Parameters, shown: NDArray[np.bool_] | None = None
) -> list[Any]:
    """Return the elements that represent calls, or those of ``shown`` (n,), and the path.

    Parameters
    ----------
    picture : Layout
    paint : Paint
        Its colours.
    path : int64 (k,)
        The nodes of the path that is drawn as a tube.
    p : Parameters
    shown : bool (n,), optional
        All by default.

    Returns
    -------
    list of Element
    """
    color, pale = paint.color, paint.pale
    found: list[Any] = [
        *_shells(picture, color, p),
        *_nodes(picture, color, pale, p),
        *_unfilled(picture, paint.light, p),
        _links(picture, paint.neutral["line"], p),
        *_dashes(picture, np.where(pale & (picture.call >= 0), color - paint.kinds, color), p),
        *_stacks(picture, color, p),
    ]
    if shown is not None and not shown.all():
        # No line begins at a hidden node.
        whole = shown & shown[np.maximum(picture.nodes.parent, 0)]
        found = [
            taken(element, np.flatnonzero((whole if element.kind == "link" else shown)[element.id]))
            for element in found
        ]
    if (picture.nodes.parent[path] >= 0).any():
        found.append(_path_tubes(picture, path, paint.neutral["path"], p))
    return [element for element in found if len(element)]


def surroundings(picture: Layout, paint: Paint, p: Parameters) -> list[Any]:
    """Return the surroundings of the tree: shadows on the floor, and rims of balls.

    Parameters
    ----------
    picture : Layout
    paint : Paint
        Its colours.
    p : Parameters

    Returns
    -------
    list of Element
    """
    return [
        *_shadows(picture, paint.neutral["surface"], p),
        *_horizons(picture, paint.neutral["line"]),
    ]


def meaning(picture: Layout, call: Ints) -> dict[str, Meaning]:
    """Return what the elements represent; ``call`` (n,) as numbered for pointing.

    Parameters
    ----------
    picture : Layout
    call : int64 (n,)
        Which call each node leads to; -1: none.

    Returns
    -------
    dict of str to Meaning
        By kind of element.
    """
    shared = Meaning(
        calls=((0, call),),
        values=(
            ("Repeats in a row", picture.iterations.astype(np.float64)),
            ("Calls in its subtree", picture.below.astype(np.float64)),
        ),
    )
    return dict.fromkeys(KINDS, shared)


def _colors(
    picture: Layout, colors: Coloring, faded: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.float32], dict[str, int]]:
    """Return each node's colour, the palette, and where its neutrals are."""
    kinds = len(colors.palette)
    pale = colors.palette.copy()
    pale[:, 3] *= _FADED
    shades = np.repeat(BASE[None], _SHADES, axis=0)
    shades[:, 3] *= np.linspace(0.7, 2.2, _SHADES)
    light = np.vstack([colors.palette, OTHER[None]])
    light[:, :3] += (1.0 - light[:, :3]) * _LIGHTER
    palette = np.vstack([colors.palette, pale, OTHER[None], GRID[None], _PATH[None], shades, light])
    neutral = {"other": 2 * kinds, "line": 2 * kinds + 1, "path": 2 * kinds + 2, "surface": 2 * kinds + 3}
    neutral["light"] = neutral["surface"] + _SHADES
    color = np.full(len(picture), neutral["other"], np.int32)
    known = picture.call >= 0
    color[known] = colors.of(picture.call[known])
    color[known & faded] += kinds
    return color, palette.astype(np.float32), neutral


def _shells(picture: Layout, color: NDArray[np.int32], p: Parameters) -> list[Any]:
    """Return the rings that the callees of open nodes stand on, and their cones' translucent surfaces."""
    # One or two callees need no ring to be recognised as callees of one caller.
    count = np.bincount(picture.nodes.parent[picture.nodes.parent >= 0], minlength=len(picture))
    open_ones = np.flatnonzero(
        (picture.nodes.opened == 1) & (count > (2 if p.opening > 0 and p.layout == "cone" else 0))
    )
    if p.shells == "none" or not len(open_ones):
        return []
    point = picture.circle(open_ones, np.linspace(0, 2 * np.pi, _CORNERS + 1), p)
    is_thin = p.opening > 0 and p.layout == "cone"
    width = np.clip(0.02 * picture.ring[open_ones], 0.006 if is_thin else 0.014, 0.03)
    inner = open_ones >= picture.whole
    width[inner] = np.minimum(width, 0.3 * picture.radius[open_ones])[inner]
    width = np.minimum(width, picture.thin[open_ones])
    which = open_ones
    if len(picture.column) and (on := picture.column[open_ones[open_ones < picture.whole]] > 0).any():
        # A cylinder has a ring at either end.
        low = np.flatnonzero(on)
        ends = point[low].copy()
        ends[:, :, 0 if p.recline else 2] += (1 if p.recline else -1) * picture.column[open_ones[low], None]
        point, which = np.concatenate([point, ends]), np.append(open_ones, open_ones[low])
        width = np.append(width, width[low])
    rings = Lines(
        "ring", point.reshape(-1, 3).astype(np.float32), (_CORNERS + 1) * np.arange(len(which) + 1),
        width.astype(np.float32), color[which], which,
    )  # fmt: skip
    if p.shells == "rings" or p.opening == 0 or p.layout == "bubble":
        return [rings]
    across = 2 * picture.ring[open_ones]
    foot = np.maximum(picture.rim[open_ones], 1e-9)
    return [
        rings,
        Marks(
            "cone", "shell", _float(picture.center[open_ones]), _extents(across, foot, p),
            color[open_ones], open_ones, "ghost", along="x" if p.recline else "z",
        ),
    ]  # fmt: skip


def _extents(across: Floats, along: Floats, p: Parameters) -> NDArray[np.float32]:
    order = [along, across, across] if p.recline else [across, across, along]
    return np.column_stack(order).astype(np.float32)


def _float(points: Floats) -> NDArray[np.float32]:
    return np.asarray(points, np.float32)


def _nodes(picture: Layout, color: NDArray[np.int32], faded: NDArray[np.bool_], p: Parameters) -> list[Marks]:
    """Return the nodes: balls, and closed subtrees as full cones below them."""
    along: Any = "x" if p.recline else "z"
    closed = np.flatnonzero(picture.closed)
    found = []
    size = 2 * picture.radius * np.where(picture.nodes.depth == 1, 0.8, 0.9)
    for kind, which, look in (
        ("node", np.flatnonzero(~faded), "solid"),
        ("node", np.flatnonzero(faded), "ghost"),
    ):
        if len(which):
            if p.opening == 0:
                flat = _extents(size[which], np.full(len(which), 0.02), p)
                found.append(Marks(kind, "disc", _float(picture.center[which]), flat, color[which], which,
                                   look, along=along))  # type: ignore[arg-type]  # fmt: skip
            else:
                found.append(Marks(kind, "sphere", _float(picture.center[which]), _float(size[which]),
                                   color[which], which, look))  # type: ignore[arg-type]  # fmt: skip
    if len(closed) and p.layout != "hyperbolic":
        across = 2 * SHARE * picture.disc[closed]
        if p.closed == "shape" and p.opening == 0:
            across = across * fill(picture)[closed]
        down = picture.skirt[closed]
        shape: Any = "shell" if p.opening > 0 else "disc"
        if p.opening == 0:
            down = np.full(len(closed), 0.01)
        found.append(
            Marks("closed subtree", shape, _float(picture.around[closed]), _extents(across, down, p),
                  color[closed], closed, "cluster", along=along)
        )  # fmt: skip
    return found


def fill(picture: Layout) -> Floats:
    """Return how far each closed cone is filled that shows its shape: the largest is full, float64 (n,).

    Parameters
    ----------
    picture : Layout

    Returns
    -------
    float64 (n,)
        On a square-root scale; 0 for what is not closed.
    """
    carried = picture.weights.place
    closed = picture.closed[: len(carried)]
    most = max(float(carried[closed].max(initial=0.0)), 1e-9)
    found = np.zeros(len(picture))
    found[: len(carried)] = np.where(closed, np.sqrt(carried / most), 0.0)
    # Those that are opened near the camera are weighed as one call of theirs.
    inner = np.flatnonzero(picture.closed[len(carried) :]) + len(carried)
    found[inner] = np.sqrt(picture.weights.each[picture.nodes.node[inner]] / most)
    return np.minimum(found, 1.0)


def _unfilled(picture: Layout, light: NDArray[np.int32], p: Parameters) -> list[Marks]:
    """Return what of the closed cones is not full: their upper parts, or flat the rings around the full."""
    closed = np.flatnonzero(picture.closed)
    if p.closed != "shape" or not len(closed):
        return []
    empty = 1.0 - fill(picture)[closed]
    closed, empty = closed[empty > 0.01], empty[empty > 0.01]
    along: Any = "x" if p.recline else "z"
    if p.opening == 0:
        # The full disc lies on the whole one.
        point, across = picture.around[closed].copy(), 2 * SHARE * picture.disc[closed]
        point[:, 0 if p.recline else 2] -= 0.006
        return [Marks("closed subtree", "disc", _float(point),
                      _extents(across, np.full(len(closed), 0.01), p), light[closed], closed,
                      along=along)]  # fmt: skip
    across = 2 * SHARE * _OVER * picture.disc[closed] * empty
    return [Marks("closed subtree", "shell", _float(picture.around[closed]),
                  _extents(across, picture.skirt[closed] * empty, p), light[closed], closed,
                  along=along)]  # fmt: skip


def _links(picture: Layout, color: int, p: Parameters) -> Lines:
    """Return the lines from callers to callees, wider where more calls go."""
    inner = np.flatnonzero(picture.nodes.parent >= 0)
    stops = [picture.center[picture.nodes.parent[inner]], picture.center[inner]]
    if len(picture.bend):
        stops.insert(1, picture.bend[inner])
    point = np.stack(stops, axis=1).reshape(-1, 3).astype(np.float32)
    width = picture.width[inner]
    return Lines(
        "link", point, len(stops) * np.arange(len(inner) + 1), width.astype(np.float32),
        np.full(len(inner), color, np.int32), inner,
    )  # fmt: skip


def _horizons(picture: Layout, color: int) -> list[Any]:
    """Return the rims of the balls that hold hyperbolic space: an equator, and the outline from the front."""
    if not len(picture.balls):
        return []
    turn = np.linspace(0, 2 * np.pi, _CORNERS + 1)
    c, s, none = np.cos(turn), np.sin(turn), np.zeros(_CORNERS + 1)
    circles = np.stack([np.column_stack(axes) for axes in ((c, s, none), (c, none, s))])
    point = picture.balls[:, None, None, :3] + picture.balls[:, None, None, 3:] * circles
    lines = 2 * len(picture.balls)
    return [
        Lines(
            "horizon", point.reshape(-1, 3).astype(np.float32), (_CORNERS + 1) * np.arange(lines + 1),
            np.full(lines, 0.012, np.float32), np.full(lines, color, np.int32), np.arange(lines),
        )
    ]  # fmt: skip


def _dashes(picture: Layout, color: NDArray[np.int32], p: Parameters) -> list[Lines]:
    """Return a dashed ring around each node that shows some of its callees and not others."""
    partly = np.flatnonzero(picture.missing > 0)
    if not len(partly):
        return []
    step = 2 * np.pi / _DASHES
    turn = (step * np.arange(_DASHES)[:, None] + np.linspace(0, 0.6 * step, 5)).ravel()
    around = np.zeros((len(turn), 3))
    around[:, [1, 2] if p.recline else [0, 1]] = np.column_stack([np.cos(turn), np.sin(turn)])
    point = picture.center[partly, None] + DASHED * picture.radius[partly, None, None] * around
    lines = len(partly) * _DASHES
    width = np.clip(0.16 * picture.radius[partly], 0.012, 0.05)
    width = np.minimum(np.minimum(width, 0.3 * picture.radius[partly]), picture.thin[partly])
    return [
        Lines(
            "partly shown", point.reshape(-1, 3).astype(np.float32), 5 * np.arange(lines + 1),
            np.repeat(width, _DASHES).astype(np.float32),
            np.repeat(color[partly], _DASHES).astype(np.int32), np.repeat(partly, _DASHES),
        )
    ]  # fmt: skip


def _stacks(picture: Layout, color: NDArray[np.int32], p: Parameters) -> list[Marks]:
    """Return the stacks of rings above nodes that repeat in a row: a ring for each factor of ten."""
    if p.opening == 0:
        return []
    repeat = np.flatnonzero(picture.iterations > 1)
    if not len(repeat):
        return []
    rings = np.minimum(1 + np.log10(picture.iterations[repeat]).astype(np.int64), 6)
    which = np.repeat(repeat, rings)
    step = np.arange(len(which)) - np.repeat(np.cumsum(rings) - rings, rings)
    radius = picture.radius[which]
    point = picture.center[which].copy()
    axis = 0 if p.recline else 2
    point[:, axis] += (-1 if p.recline else 1) * radius * (1.0 + 0.3 * step)
    return [
        Marks("repetition", "disc", _float(point), _extents(1.5 * radius, 0.16 * radius, p), color[which],
              which, along="x" if p.recline else "z")
    ]  # fmt: skip


def _shadows(picture: Layout, color: int, p: Parameters) -> list[Marks]:
    """Return the shadows that the upper cones throw on the floor, straight down."""
    if p.opening == 0 or p.recline:
        return []
    which = np.flatnonzero((picture.nodes.opened == 1) & (picture.ring > 0) & (picture.nodes.depth <= 6))
    floor = picture.floor
    step = np.minimum(picture.nodes.depth[which] - 1, _SHADES - 1)
    point = picture.center[which].copy()
    point[:, 2] = floor + 0.004 * picture.nodes.depth[which]
    across = 2 * picture.disc[which]
    return [
        Marks("shadow", "disc", _float(point), _extents(across, np.full(len(which), 0.003), p),
              (color + step).astype(np.int32), which)
    ]  # fmt: skip


def _path_tubes(picture: Layout, path: Ints, color: int, p: Parameters) -> Tubes:
    """Return the path of each thread as one tube from node to node; a path of one node has none."""
    at = beginnings(picture, path)
    each = [path[low:high] for low, high in pairwise(at.tolist()) if high - low > 1]
    ways = [_way(picture, nodes, p) for nodes in each]
    radius = np.concatenate([r for _, r in ways])
    return Tubes(
        "path", _float(np.concatenate([way for way, _ in ways])),
        np.column_stack([radius, radius]).astype(np.float32),
        np.cumsum([0, *(len(way) for way, _ in ways)]), np.full(len(each), color, np.int32),
        np.array([int(nodes[-1]) for nodes in each]), look="glow",
    )  # fmt: skip


def _way(picture: Layout, path: Ints, p: Parameters) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points (n, 3) and radii (n,) of a tube along a path."""
    way, width = picture.center[path], picture.radius[path]
    if p.opening == 0:
        # Above the links, which lie in the plan.
        way = way + ([-_ABOVE, 0.0, 0.0] if p.recline else [0.0, 0.0, _ABOVE])
    if len(picture.bend):
        bend = picture.bend[path] + [0.0, 0.0, _ABOVE]
        way = np.stack([bend, way], axis=1).reshape(-1, 3)[1:]
        width = np.repeat(width, 2)[1:]
    radius = np.full(len(way), 0.03) if p.opening == 0 else np.maximum(0.34 * width, 0.03)
    if (inner := path >= picture.whole).any():
        radius[inner] = np.minimum(radius, 0.34 * width)[inner]
    radius = np.minimum(radius, _TUBE * picture.thin[path]) if len(radius) == len(path) else radius
    if len(picture.balls):
        radius = 0.3 * width
    return way, radius
