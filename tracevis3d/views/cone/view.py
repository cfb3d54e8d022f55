"""The call hierarchy as a cone tree (Robertson, Mackinlay, Card 1991), over SEAT's compact trace.

A caller is the tip of a cone, its callees stand around its foot, clockwise in the order of the calls; a
callee that repeats in a row stands there once, with how often. Seen from above, and flat (``opening`` 0), it
is the disc tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis.filters import stack as filtering
from ...analysis.filters.facts import Facts
from ...analysis.filters.reduce import reduced
from ...drawing.frame import Frame
from ...drawing.palettes import BASE, GRID, OTHER, PALETTES
from ...drawing.projection import fit
from ...drawing.words import (
    Camera,
    Drawing,
    Labels,
    Legend,
    LegendEntry,
    Lines,
    Marks,
    Meaning,
    Tubes,
)
from ...layout import ticks
from ...progress import Progress
from ...trace.model import Trace
from ..coloring import Coloring, coloring
from ..registry import View
from . import labels as names
from .composition import DASHED, Composition, compose, levels
from .parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Colour of the path's tube: the ink-like orange that no palette for kinds holds.
_PATH = np.array([0.93, 0.38, 0.09, 1.0], np.float32)
#: How far below the lowest node the floor lies, in scene units.
_FLOOR = 0.25
#: Sides of the box that must be in the picture, but for its depth, by those of the ball in it.
_OF_BALL = 0.84
#: Shades of the shadows: the deeper the call, the darker.
_SHADES = 6
#: How far the path lies above a flat tree.
_ABOVE = 0.08
#: Corners of a ring.
_CORNERS = 72
#: Dashes of the ring around a node of which some callees are shown.
_DASHES = 9
#: What of the faded is left.
_FADED = 0.28


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the cone tree of one trace.

    Parameters
    ----------
    traces : one Trace
    parameters : Parameters
    frame : Frame
    progress : Progress

    Raises
    ------
    UsageError
        If a thread, a filter or the focus doesn't exist.
    """
    (trace,) = traces
    p = _settled(parameters)
    progress(0.0, "finding distinct subtrees")
    whole, state, facts = trace, np.zeros(len(trace.calls), np.uint8), {}
    if p.filters.strip():
        stack = filtering.parse(p.filters)
        done = filtering.apply(stack, Facts(trace))
        facts, state = filtering.summary(stack, done), done.state
        trace = reduced(trace, done)
    progress(0.4, "choosing what to show")
    original = np.flatnonzero(state != filtering.HIDDEN)
    picture = compose(trace, p, original)
    progress(0.7, "placing cones")
    call = np.where(picture.call >= 0, original[picture.call], -1)
    there = picture.call >= 0
    area = np.bincount(
        trace.calls.function[picture.call[there]], picture.radius[there] ** 2, len(trace.functions)
    ).astype(np.float64)
    colors = coloring(trace, p.color, PALETTES[p.palette], p.entries, picture.threads, area)
    faded = np.zeros(len(picture), np.bool_)
    faded[call >= 0] = state[call[call >= 0]] >= filtering.FADED
    if facts:
        picture = replace(picture, missing=picture.missing + _hidden_callees(whole, state, call))
    # Linking parents are seen through, as what a filter fades is.
    pale = faded | picture.linking
    color, palette, neutral = _colors(picture, colors, pale)
    sunk = np.zeros(len(picture), np.bool_)
    sunk[call >= 0] = state[call[call >= 0]] == filtering.SUNK
    picture = _sink(picture, sunk, p)
    path = find_path(picture, p)
    elements: list[Any] = [
        *_shells(picture, color, p),
        *_nodes(picture, color, pale, p),
        _links(picture, neutral["line"], p),
        *_dashes(picture, np.where(pale & (call >= 0), color - len(colors.palette), color), p),
        *_stacks(picture, color, p),
        *_shadows(picture, neutral["surface"], p),
        *_horizons(picture, neutral["line"]),
    ]
    if len(path) > 1:
        elements.append(_path_tube(picture, path, neutral["path"], p))
    progress(0.9, "writing labels")
    camera = _camera(picture, p, frame)
    texts = names.labels(picture, camera, faded, path, p, frame)
    closed = picture.closed
    progress(1.0, "drawn")
    counted = picture.nodes.depth > 1
    return Drawing(
        palette=palette,
        elements=tuple(element for element in elements if len(element)),
        camera=camera,
        labels=tuple(group for group in texts if len(group)),
        legends=_legends(colors, picture, closed, neutral, len(path) > 1, bool(faded.any()), p),
        title=_title(whole),
        notes=_notes(whole, picture, facts, p),
        counts={
            "calls": len(whole.calls),
            "distinct_subtrees": len(picture.graph),
            "shown_nodes": int(np.count_nonzero(counted)),
            "closed_subtrees": int(np.count_nonzero(closed)),
            "hidden_calls": int(facts.get("hidden", 0)),
            "faded_calls": int(facts.get("faded", 0)),
            "sunk_calls": int(facts.get("sunk", 0)),
        },
        meaning={
            kind: Meaning(
                calls=((0, call),),
                values=(
                    ("Repeats in a row", picture.iterations.astype(np.float64)),
                    ("Calls in its subtree", picture.below.astype(np.float64)),
                ),
            )
            for kind in ("node", "closed subtree", "cone", "ring", "link", "repetition", "partly shown")
        },
    )


def _hidden_callees(whole: Trace, state: NDArray[np.uint8], call: Ints) -> Ints:
    """Return how many callees of each node filters hide where others are shown, int64 (n,)."""
    calls = whole.calls
    hidden = np.flatnonzero((state == filtering.HIDDEN) & (calls.parent >= 0))
    count = np.bincount(calls.parent[hidden], minlength=len(calls))
    every = np.bincount(calls.parent[calls.parent >= 0], minlength=len(calls))
    partly = (count > 0) & (count < every)
    return np.where(call >= 0, (count * partly)[call], 0)


def _settled(p: Parameters) -> Parameters:
    """Return the parameters with those that only cones have as the layout needs them."""
    if p.layout == "bubble":
        return replace(p, opening=0.0, recline=False)
    if p.layout == "hyperbolic":
        return replace(p, opening=1.0, recline=False, shells="none")
    return p


def find_path(picture: Composition, p: Parameters) -> Ints:
    """Return the shown nodes of the path drawn as a tube, callers first.

    From the first root each step goes to the shown callee with the most time, or calls, in all its
    repetitions; it ends where nothing below is shown.
    """
    if p.path == "none" or not len(picture):
        return np.empty(0, np.int64)
    nodes = picture.nodes
    if p.path == "focus":
        return picture.focus
    if p.path == "calls":
        weight = (picture.below * picture.iterations).astype(np.float64)
    else:
        calls = picture.trace.calls
        length = np.zeros(len(picture))
        known = picture.call >= 0
        length[known] = (calls.end - calls.start)[picture.call[known]]
        weight = length * picture.iterations
        roots = np.flatnonzero(nodes.parent < 0)
        np.add.at(weight, nodes.parent[nodes.depth == 2], weight[nodes.depth == 2])
        assert len(roots)
    best = np.full(len(picture), -1)
    # The heaviest callee of each node: ascending order, so the last one written is it.
    order = np.argsort(weight, kind="stable")
    order = order[nodes.parent[order] >= 0]
    best[nodes.parent[order]] = order
    roots = np.flatnonzero(nodes.parent < 0)
    path = [int(roots[np.argmax(weight[roots])])]
    while best[path[-1]] >= 0:
        path.append(int(best[path[-1]]))
    return np.array(path, np.int64)


def _colors(
    picture: Composition, colors: Coloring, faded: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.float32], dict[str, int]]:
    """Return each node's colour, the palette, and where its neutrals are."""
    kinds = len(colors.palette)
    pale = colors.palette.copy()
    pale[:, 3] *= _FADED
    shades = np.repeat(BASE[None], _SHADES, axis=0)
    shades[:, 3] *= np.linspace(0.7, 2.2, _SHADES)
    palette = np.vstack([colors.palette, pale, OTHER[None], GRID[None], _PATH[None], shades])
    neutral = {"other": 2 * kinds, "line": 2 * kinds + 1, "path": 2 * kinds + 2, "surface": 2 * kinds + 3}
    color = np.full(len(picture), neutral["other"], np.int32)
    known = picture.call >= 0
    color[known] = colors.of(picture.call[known])
    color[known & faded] += kinds
    return color, palette.astype(np.float32), neutral


def _sink(picture: Composition, sunk: NDArray[np.bool_], p: Parameters) -> Composition:
    """Move sunk nodes, with what is below them, half their cone away from where they would stand."""
    if not sunk.any():
        return picture
    nodes = picture.nodes
    shift = np.zeros(len(picture))
    for here in levels(nodes.depth)[1:]:
        above = nodes.parent[here]
        shift[here] = np.maximum(shift[above], np.where(sunk[here], 0.5 * picture.foot[above], 0.0))
    center = picture.center.copy()
    center[:, 0 if p.recline else 2] += shift if p.recline else -shift
    return replace(picture, center=center)


def _shells(picture: Composition, color: NDArray[np.int32], p: Parameters) -> list[Any]:
    """Return the rings that the callees of open nodes stand on, and their cones' translucent surfaces."""
    # One or two callees need no ring to be seen as those of one caller.
    count = np.bincount(picture.nodes.parent[picture.nodes.parent >= 0], minlength=len(picture))
    open_ones = np.flatnonzero((picture.nodes.opened == 1) & (count > (2 if p.opening > 0 else 0)))
    if p.shells == "none" or not len(open_ones):
        return []
    point = picture.circle(open_ones, np.linspace(0, 2 * np.pi, _CORNERS + 1), p)
    width = np.clip(0.02 * picture.ring[open_ones], 0.006 if p.opening > 0 else 0.014, 0.03)
    rings = Lines(
        "ring", point.reshape(-1, 3).astype(np.float32), (_CORNERS + 1) * np.arange(len(open_ones) + 1),
        width.astype(np.float32), color[open_ones], open_ones,
    )  # fmt: skip
    if p.shells == "rings" or p.opening == 0:
        return [rings]
    across = 2 * picture.ring[open_ones]
    foot = np.maximum(picture.foot[open_ones], 1e-4)
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


def _nodes(
    picture: Composition, color: NDArray[np.int32], faded: NDArray[np.bool_], p: Parameters
) -> list[Marks]:
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
        across = 2 * 0.92 * picture.disc[closed]
        down = picture.skirt[closed]
        shape: Any = "shell" if p.opening > 0 else "disc"
        if p.opening == 0:
            down = np.full(len(closed), 0.01)
        found.append(
            Marks("closed subtree", shape, _float(picture.around[closed]), _extents(across, down, p),
                  color[closed], closed, "cluster", along=along)
        )  # fmt: skip
    return found


def _links(picture: Composition, color: int, p: Parameters) -> Lines:
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


def _horizons(picture: Composition, color: int) -> list[Any]:
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


def _dashes(picture: Composition, color: NDArray[np.int32], p: Parameters) -> list[Lines]:
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
    return [
        Lines(
            "partly shown", point.reshape(-1, 3).astype(np.float32), 5 * np.arange(lines + 1),
            np.repeat(np.clip(0.16 * picture.radius[partly], 0.012, 0.05), _DASHES).astype(np.float32),
            np.repeat(color[partly], _DASHES).astype(np.int32), np.repeat(partly, _DASHES),
        )
    ]  # fmt: skip


def _stacks(picture: Composition, color: NDArray[np.int32], p: Parameters) -> list[Marks]:
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


def _shadows(picture: Composition, color: int, p: Parameters) -> list[Marks]:
    """Return the shadows that the upper cones throw on the floor, straight down."""
    if p.opening == 0 or p.recline:
        return []
    which = np.flatnonzero((picture.nodes.opened == 1) & (picture.ring > 0) & (picture.nodes.depth <= 6))
    floor = float(picture.center[:, 2].min()) - _FLOOR
    step = np.minimum(picture.nodes.depth[which] - 1, _SHADES - 1)
    point = picture.center[which].copy()
    point[:, 2] = floor + 0.004 * picture.nodes.depth[which]
    across = 2 * picture.disc[which]
    return [
        Marks("shadow", "disc", _float(point), _extents(across, np.full(len(which), 0.003), p),
              (color + step).astype(np.int32), which)
    ]  # fmt: skip


def _path_tube(picture: Composition, path: Ints, color: int, p: Parameters) -> Tubes:
    """Return the path as one tube from node to node."""
    way, width = picture.center[path], picture.radius[path]
    if p.opening == 0:
        # Above the links, which lie in the plan.
        way = way + ([-_ABOVE, 0.0, 0.0] if p.recline else [0.0, 0.0, _ABOVE])
    if len(picture.bend):
        bend = picture.bend[path] + [0.0, 0.0, _ABOVE]
        way = np.stack([bend, way], axis=1).reshape(-1, 3)[1:]
        width = np.repeat(width, 2)[1:]
    radius = np.full(len(way), 0.03) if p.opening == 0 else np.maximum(0.34 * width, 0.03)
    if len(picture.balls):
        radius = 0.3 * width
    return Tubes(
        "path", _float(way), np.column_stack([radius, radius]).astype(np.float32), np.array([0, len(way)]),
        np.array([color], np.int32), np.array([int(path[-1])]), look="glow",
    )  # fmt: skip


def _camera(picture: Composition, p: Parameters, frame: Frame) -> Camera:
    if len(picture.balls):
        elevation = np.radians(p.elevation)
        middle, far = picture.balls[:, :3], picture.balls[:, 3:]
        # A ball has no corners: a smaller box fills the picture with it.
        far = far * [_OF_BALL, 1.0, _OF_BALL]
        low, high = (middle - far).min(axis=0), (middle + far).max(axis=0)
        return Camera(
            direction=(0.0, -float(np.cos(elevation)), float(np.sin(elevation))),
            low=(float(low[0]), float(low[1]), float(low[2])),
            high=(float(high[0]), float(high[1]), float(high[2])),
            lens=70.0,
        )
    elevation = np.radians(p.elevation)
    if p.recline:
        side = np.radians(90 * (1 - p.opening) + 18 * p.opening)
        elevation *= p.opening
        direction = (-np.sin(side) * np.cos(elevation), -np.cos(side) * np.cos(elevation), np.sin(elevation))
        direction = direction if p.opening else (-1.0, 0.0, 0.0)
        up = (0.0, 0.0, 1.0)
    else:
        elevation = np.radians(90 * (1 - p.opening)) + elevation * p.opening
        direction = (0.0, -float(np.cos(elevation)), float(np.sin(elevation)))
        up = (0.0, 0.0, 1.0) if p.opening else (0.0, 1.0, 0.0)
    points = _outline(picture, p)
    low, high = points.min(axis=0), points.max(axis=0)
    x, y, z = (float(v) for v in direction)
    camera = Camera(
        direction=(x, y, z),
        low=(float(low[0]), float(low[1]), float(low[2])),
        high=(float(high[0]), float(high[1]), float(high[2])),
        up=up,
        projection="perspective" if p.opening else "orthographic",
        lens=100.0,
    )
    return camera if p.opening == 0 or p.recline else _without_corners(camera, points, frame)


def _outline(picture: Composition, p: Parameters) -> Floats:
    """Return points that must be in the picture, and hold all that is drawn in their middle, (n, 3)."""
    balls = picture.radius[:, None, None] * np.concatenate([np.eye(3), -np.eye(3)])
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    wide = np.flatnonzero((picture.ring > 0) if p.opening and p.shells != "none" else picture.disc > 0)
    closed = np.flatnonzero(picture.closed)
    foot = replace(picture, ring=0.92 * picture.disc, foot=picture.skirt) if p.opening else picture
    points = [
        (picture.center[:, None] + balls).reshape(-1, 3),
        picture.circle(wide, turn, p).reshape(-1, 3),
        foot.circle(closed, turn, p).reshape(-1, 3),
    ]
    if p.opening and not p.recline:
        roots = np.flatnonzero(picture.nodes.parent < 0)
        floor = replace(picture, ring=picture.disc).circle(roots, turn, p)
        floor[:, :, 2] = picture.center[:, 2].min() - _FLOOR
        points.append(floor.reshape(-1, 3))
    return np.concatenate(points)


def _without_corners(camera: Camera, points: Floats, frame: Frame) -> Camera:
    """Let the camera's box be no higher and wider than what the camera sees of the points in it.

    The box around a tree of cones has corners far from everything, for which the camera would step back.
    """
    near, far = camera.low[1], camera.high[1]
    seen = fit(camera, frame, names.SHARE)
    # Twice: what is seen changes as the camera comes nearer.
    for _ in range(2):
        way = points - seen.eye
        front, back = (seen.eye + way * ((y - seen.eye[1]) / way[:, 1])[:, None] for y in (near, far))
        low, high = front.min(axis=0), front.max(axis=0)
        top = max(float(back[:, 2].max()), float(low[2]) + 1e-3)
        camera = replace(camera, low=(float(low[0]), near, float(low[2])), high=(float(high[0]), far, top))
        seen = fit(camera, frame, names.SHARE)
    return camera


def _legends(
    colors: Coloring, picture: Composition, closed: NDArray[np.bool_], neutral: dict[str, int], path: bool,
    faded: bool, p: Parameters,
) -> tuple[Legend, ...]:  # fmt: skip
    found = [colors.legend] if colors.legend else []
    entries = []
    if path:
        words = {"duration": "most time", "calls": "most calls", "focus": "way to the focus"}[p.path]
        entries.append(LegendEntry(f"tube: {words}", neutral["path"], "glow"))
    if closed.any() and p.layout != "hyperbolic":
        shape = "cone" if p.opening > 0 else "large disc"
        entries.append(LegendEntry(f"{shape}: closed subtree, +calls below", neutral["other"]))
    elif closed.any():
        entries.append(LegendEntry("+calls: below a closed subtree", neutral["other"]))
    if (picture.missing > 0).any():
        entries.append(LegendEntry("dashed ring: partly shown, ~callees not shown", neutral["other"]))
    if picture.linking.any():
        entries.append(LegendEntry("pale: leads to the focus", len(colors.palette), "ghost"))
    if p.shells != "none":
        words = "bubble: all below one call" if p.layout == "bubble" else "ring: callees of one call"
        entries.append(LegendEntry(words, neutral["other"]))
    if faded:
        entries.append(LegendEntry("pale: faded by a filter", len(colors.palette), "ghost"))
    if entries:
        found.append(Legend("Tree", tuple(entries)))
    return tuple(found)


def _title(trace: Trace) -> str:
    name = trace.source.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "trace"
    return f"{name}: call tree of {len(trace.calls):,} calls"


def _notes(trace: Trace, picture: Composition, facts: dict[str, Any], p: Parameters) -> tuple[str, ...]:
    shown = int(np.count_nonzero(picture.nodes.depth > 1))
    stood = int(picture.iterations[picture.nodes.depth > 1].sum())
    notes = [
        f"{len(picture.graph):,} distinct subtrees; {shown:,} places of the tree are shown "
        f"(the most interesting by {p.interest}), with repeats {stood:,} calls",
        _order_in_words(picture, p),
    ]
    if p.size != "none":
        scale = "square root" if p.size in ("duration", "self") else "logarithm"
        from .parameters import QUANTITIES

        notes.append(f"size of a node: {QUANTITIES[p.size]}, {scale}")
    if facts:
        notes.append(
            f"filters: {facts['hidden']:,} calls hidden, {facts['faded']:,} faded, {facts['sunk']:,} sunk"
        )
    if len(picture.threads) < np.count_nonzero(trace.threads.count):
        notes.append(
            f"{len(picture.threads):,} of {int(np.count_nonzero(trace.threads.count)):,} threads are drawn"
        )
    if trace.problems:
        mended = sum(problem.count for problem in trace.problems.values())
        notes.append(f"{ticks.count(mended)} records were mended or left out: {', '.join(trace.problems)}")
    return tuple(notes)


def _order_in_words(picture: Composition, p: Parameters) -> str:
    if p.layout == "bubble":
        return "callees stand clockwise in the order of the calls, from the line to their caller on"
    if p.layout == "hyperbolic":
        moved = picture.focus.size or p.facing.strip()
        middle = "the focus" if moved else "the first call with several callees"
        return (
            f"{middle} is in the middle of the ball; lengths shrink towards its rim, which is infinitely far"
        )
    if picture.focus.size or p.facing.strip():
        return "the cones are turned so that the focus is in front"
    return "callees stand clockwise in the order of the calls, from the right"


VIEW = View(
    name="cone",
    title="Cone tree",
    sentence="The call hierarchy as a cone tree: callees stand around the foot of their caller's cone",
    traces=(1, 1),
    parameters=Parameters,
    draw=draw,
)

__all__ = ["VIEW", "Labels", "Parameters", "draw", "find_path"]
