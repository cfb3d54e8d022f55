"""Curves from roof to roof: arcs from callers to callees, and the stacks at a moment with their trails."""

from __future__ import annotations

import numpy as np

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import parse
from ....drawing.primitives import Callout, Legend, LegendEntry, Marks, Meaning, Tubes
from ....trace.model import Trace
from ....trace.names import lane_title
from ....trace.profile import below_word, untimed_kind
from ..metrics import Floats, Ints, links
from ..stacks import Stack
from .buildings import roofs
from .layout import PLATE, Layout, Tile

#: Arcs lead from the lighter end to the darker one.
_FROM, _TO = parse("f2b134 b0413e")
_POINTS = 17
#: Flat arcs bow aside by this many scene units at most.
_ASIDE = 0.7
#: Colours of a stack from its root to its innermost call, and of the end of the trail.
_ROOT, _TIP, _RECENT, _FADED = parse("b9a3d9 54278f 2a9d8f d3ebe7")
_TRAIL, _LEAST, _SHADES = 24, 4, 8
#: Stacks whose innermost calls are named.
_NAMED = 3
#: Radii of stacks, and of the two ends of a trail.
_THICK, _YOUNG, _OLD = 0.075, 0.045, 0.012


def bows(start: Floats, end: Floats, u: float) -> Floats:
    """Return curves that rise above the roofs; flat, they bow aside, so that both ways can be distinguished.

    Parameters
    ----------
    start, end : float64 (k, 3)
    u : float
        How far the picture is opened, 0 to 1.

    Returns
    -------
    float64 (k, points, 3)
    """
    along = np.linspace(0.0, 1.0, _POINTS)[None, :, None]
    point: Floats = np.asarray(start[:, None] * (1 - along) + end[:, None] * along, np.float64)
    across = end - start
    far = np.hypot(across[:, 0], across[:, 1])
    bow = 4 * along[..., 0] * (1 - along[..., 0])
    point[..., 2] += bow * (u * (0.35 + 0.32 * far)[:, None] + PLATE)
    aside = ((1 - u) * np.minimum(0.14, _ASIDE / np.maximum(far, 1e-9)))[:, None]
    point[..., 0] -= bow * aside * across[:, 1:2]
    point[..., 1] += bow * aside * across[:, 0:1]
    return np.asarray(point)


def _tubes(kind: str, point: Floats, radius: Floats, color: Ints, end_color: Ints, source: int) -> Tubes:
    """Return a tube for each curve; ids count them."""
    k = len(point)
    each = np.repeat(radius, _POINTS)
    return Tubes(
        kind, point.reshape(-1, 3).astype(np.float32), np.stack([each, each], axis=1).astype(np.float32),
        _POINTS * np.arange(k + 1), color.astype(np.int32), np.arange(k), source=source,
        end_color=end_color.astype(np.int32),
    )  # fmt: skip


def arcs(drawing: DrawingBuilder, picture: Layout) -> int:
    """Add arcs from caller to callee, those with most calls; return how many pairs there are.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout

    Returns
    -------
    int
        On all copies of the map.
    """
    run, edges = picture.runs[-1], picture.edges()
    names, pairs, every = picture.names(), 0, []
    for tile in picture.tiles:
        window = None if tile.slice < 0 else (edges[tile.slice], edges[tile.slice + 1])
        source, target, many = links(run.trace, run.parts, window)
        pairs += len(many)
        chosen = np.argsort(-many, kind="stable")[: picture.parameters.arcs]
        every.append((tile, run.place[source[chosen]], run.place[target[chosen]], many[chosen]))
    calls = np.concatenate([one[3] for one in every])
    if not len(calls):
        return pairs
    points, radii = [], []
    for tile, source, target, many in every:
        top = roofs(picture, tile)
        points.append(tile.at(bows(top[source], top[target], picture.open)))
        radii.append(tile.scale * (0.015 + 0.06 * np.sqrt(many / calls.max())))
    first, k = drawing.color(np.stack([_FROM, _TO])), len(calls)
    drawing.add(
        _tubes(
            "arc", np.concatenate(points), np.concatenate(radii), np.full(k, first), np.full(k, first + 1),
            len(picture.runs) - 1,
        )
    )  # fmt: skip
    said = tuple(
        f"{names[s]} → {names[t]}"
        for _, source, target, _ in every
        for s, t in zip(source.tolist(), target.tolist(), strict=True)
    )
    drawing.meaning["arc"] = Meaning(
        values=(("calls", calls.astype(np.float64)),), texts=(("from and to", said, np.arange(k)),)
    )
    words = "from the caller", "to the callee"
    if below_word(untimed_kind(run.trace)) == "keeps":
        words = "from what keeps it", "to what is kept"
    drawing.explain(Legend("Arcs", tuple(LegendEntry(word, first + i) for i, word in enumerate(words))))
    return pairs


def stacks(drawing: DrawingBuilder, picture: Layout, found: list[Stack]) -> None:
    """Add the stacks as arches from roof to roof, and trails of where their innermost calls were before.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    found : list of Stack
    """
    run, tile = picture.runs[-1], Tile()
    trace, top, source = run.trace, roofs(picture, tile), len(picture.runs) - 1
    first = drawing.color(_between(_ROOT, _TIP))
    faded = drawing.color(_between(_RECENT, _FADED))
    hops = [(stack, k) for stack in found for k in range(len(stack.part) - 1)]
    if hops:
        start, end = (
            top[run.place[np.array([stack.part[k + more] for stack, k in hops])]] for more in (0, 1)
        )
        shade = np.array([[k, k + 1] for _, k in hops]) / [[len(stack.part) - 1] for stack, _ in hops]
        color = first + np.rint(shade * (_SHADES - 1)).astype(np.int64)
        drawing.add(
            _tubes(
                "stack", bows(start, end, picture.open), np.full(len(hops), _THICK), color[:, 0], color[:, 1],
                source,
            )
        )  # fmt: skip
        call = np.array([stack.call[k + 1] for stack, k in hops], np.int64)
        drawing.meaning["stack"] = _meaning(trace, source, call, [stack.thread for stack, _ in hops])
    # Of many threads each has a short trail.
    most = max(_TRAIL // max(len(found), 1), _LEAST)
    steps = [(stack, k) for stack in found for k in range(min(len(stack.trail) - 1, most))]
    if steps:
        end, start = (
            top[run.place[np.array([stack.trail[k + more] for stack, k in steps])]] for more in (0, 1)
        )
        age = np.array([k for _, k in steps]) / most
        color = faded + np.rint(age * (_SHADES - 1)).astype(np.int64)
        radius = _YOUNG + (_OLD - _YOUNG) * age
        drawing.add(_tubes("trail", bows(start, end, picture.open), radius, color, color, source))
        titles = tuple(lane_title(trace, stack.thread) for stack, _ in steps)
        drawing.meaning["trail"] = Meaning(texts=(("thread", titles, np.arange(len(steps))),))
    _tips(drawing, picture, found, first + _SHADES - 1)
    drawing.explain(
        Legend(
            "Stack",
            (
                LegendEntry("from the root", first),
                LegendEntry("to the innermost call", first + _SHADES - 1),
                LegendEntry("where it was before, fading", faded),
            ),
        )
    )


def _between(low: Floats, high: Floats) -> Floats:
    share = np.linspace(0.0, 1.0, _SHADES)[:, None]
    return np.asarray(low + (high - low) * share, np.float32)


def _meaning(trace: Trace, source: int, call: Ints, threads: list[int]) -> Meaning:
    titles = tuple(lane_title(trace, thread) for thread in threads)
    return Meaning(calls=((source, call),), texts=(("thread", titles, np.arange(len(titles))),))


def _tips(drawing: DrawingBuilder, picture: Layout, found: list[Stack], color: int) -> None:
    """Mark the roofs that innermost calls are in, and name them."""
    if not found:
        return
    run = picture.runs[-1]
    tip = roofs(picture, Tile())[run.place[np.array([stack.part[-1] for stack in found])]]
    n, call = len(found), np.array([stack.call[-1] for stack in found], np.int64)
    size = np.full(n, 0.24, np.float32)
    drawing.add(
        Marks(
            "innermost call", "sphere", (tip + np.array([0.0, 0.0, 0.05])).astype(np.float32), size,
            np.full(n, color, np.int32), np.arange(n),
        )
    )  # fmt: skip
    threads = [stack.thread for stack in found]
    drawing.meaning["innermost call"] = _meaning(run.trace, len(picture.runs) - 1, call, threads)
    label = run.trace.functions.label
    for i, stack in enumerate(found[:_NAMED]):
        x, y, z = tip[i].tolist()
        drawing.point_out(
            Callout(
                label[int(run.trace.calls.function[call[i]])], lane_title(run.trace, stack.thread),
                (x, y, z + 0.1), float(n - i), color, ((len(picture.runs) - 1, int(call[i])),),
            )
        )  # fmt: skip


def said_of(picture: Layout, found: list[Stack], moment: int) -> str:
    """Return what the stacks say, in one sentence.

    Parameters
    ----------
    picture : Layout
    found : list of Stack
    moment : int
        Nanoseconds.

    Returns
    -------
    str
    """
    trace, when = picture.runs[-1].trace, units.duration(moment)
    if not found:
        return f"At {when} no thread is in a call"
    one = found[0]
    label = trace.functions.label[int(trace.calls.function[one.call[-1]])]
    others = f", and {units.counted(len(found) - 1, 'other thread')} in calls" if len(found) > 1 else ""
    through = units.counted(len(one.part), "part")
    return f"At {when} {lane_title(trace, one.thread)} is in {label}, through {through}{others}"


#: How many parts trails go back.
TRAIL = _TRAIL
