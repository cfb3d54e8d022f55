"""Districts, buildings, arcs and names of a city."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import QUIET, Colors, parse
from ....drawing.primitives import Legend, LegendEntry, Marks, Meaning, Tubes
from ....drawing.shorthand import boxes, texts
from ....layout.scales import Scale
from ..metrics import Floats, Ints, links, name_of, writer
from ..treemap import District
from .layout import PLATE, Layout

_RAMP = 64
#: Share of its ground that a building fills: the same for all, so that areas stay in proportion.
_FOOT = 0.82
#: Largest factor of growth and shrinkage on the colour ramp.
_TIMES = 4.0
_SHRINKS, _SAME, _GROWS = parse("2166ac d9d9d9 c0392b")
#: Arcs lead from the lighter end to the darker one.
_FROM, _TO = parse("f2b134 b0413e")
_POINTS = 17
#: Flat arcs bow aside by this many scene units at most.
_ASIDE = 0.7
#: Width of a character, and maximum share of a roof's depth for a name.
_CHARACTER, _ROOF = 0.52, 0.7
#: Minimum number of letters of a shortened name, and the share of the greatest height from which a building
#: is a tower.
_LETTERS, _TOWER = 7, 0.4
#: Minimum width and depth of a district with a name.
_NAMED = (1.2, 0.6)
_PLINTH = parse("8a93a0")[0]


def districts(drawing: DrawingBuilder, picture: Layout) -> None:
    """Add a plinth for each district, and the names of the large ones at their front edges.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    """
    shades = [
        np.array([*(_PLINTH[:3] + (1 - _PLINTH[:3]) * light), 1.0]) for light in (0.82, 0.7, 0.58, 0.46)
    ]
    first = drawing.color(np.array(shades, np.float32))
    low, size, color, names = [], [], [], []
    waiting: list[District] = [picture.city]
    titles, anchors, ranks, rooms = [], [], [], []
    while waiting:
        one = waiting.pop()
        waiting += one.districts.values()
        x, y, wide, deep = one.place
        edge = 0.004 * (wide + deep) if one.depth else -0.1
        floor = float(picture.plinth(max(one.depth - 1, 0))) if one.depth else -PLATE
        top = float(picture.plinth(one.depth))
        low.append((x + edge, y + edge, floor - (0.01 if not one.depth else 0.0)))
        size.append((max(wide - 2 * edge, 0.01), max(deep - 2 * edge, 0.01), max(top - floor, PLATE)))
        color.append(first + min(one.depth, len(shades) - 1))
        names.append(one.name or "all")
        if one.depth and wide > _NAMED[0] and deep > _NAMED[1]:
            titles.append(one.name)
            anchors.append((x + edge + 0.06, y + edge + 0.45 * picture.text, top + 0.012))
            ranks.append(1e3 * wide * deep / (1 + one.depth))
            rooms.append(wide - 2 * edge - 0.1)
    drawing.add(boxes("district", low, size, np.array(color)))
    ids = np.arange(len(names))
    drawing.meaning["district"] = Meaning(texts=(("district", tuple(names), ids),))
    drawing.write(
        texts(
            "district", titles, anchors, picture.text, rank=ranks,
            room=rooms, align=-1, up=(0.0, 1.0, 0.0),
        )
    )  # fmt: skip


def depths(city: District, buildings: int) -> Ints:
    """Return the depth of the district that each building stands in.

    Parameters
    ----------
    city : District
    buildings : int
        How many there are.

    Returns
    -------
    int64 (buildings,)
    """
    found, waiting = np.zeros(buildings, np.int64), [city]
    while waiting:
        one = waiting.pop()
        waiting += one.districts.values()
        found[one.buildings] = one.depth
    return found


def footprints(picture: Layout) -> tuple[Floats, Floats]:
    """Return corner and extents of the buildings on the ground, each float64 (buildings, 2).

    Parameters
    ----------
    picture : Layout

    Returns
    -------
    (float64 (n, 2), float64 (n, 2))
        Each fills the same share of its ground.
    """
    ground = np.array(picture.ground, np.float64).reshape(-1, 4)
    side = np.sqrt(_FOOT)
    return ground[:, :2] + ground[:, 2:] * (1 - side) / 2, ground[:, 2:] * side


def buildings(drawing: DrawingBuilder, picture: Layout) -> NDArray[np.int32]:
    """Add the buildings, floor by floor, and what the colours mean; return the colours.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout

    Returns
    -------
    int32 (buildings,)
        Palette indices.
    """
    corner, extent = footprints(picture)
    n, many = picture.slices.shape
    base = picture.plinth(depths(picture.city, n))
    whole = np.maximum(picture.slices.sum(axis=1), 1e-300)
    below = (np.cumsum(picture.slices, axis=1) - picture.slices) / whole[:, None]
    share = picture.slices / whole[:, None]
    share[picture.slices.sum(axis=1) == 0, 0] = 1.0
    rise = picture.rise(picture.value)
    part, floor = np.nonzero(share > 0)
    low = np.column_stack([corner[part], base[part] + (rise[:, None] * below)[part, floor]])
    size = np.column_stack([extent[part], (rise[:, None] * share)[part, floor]])
    color, legend = _colors(drawing, picture)
    more = {}
    if many > 1:
        time = np.stack([floor / many, (floor + 1) / many], axis=1).astype(np.float32)
        more = {"time": time, "window": (0, max(picture.runs[-1].trace.span_ns, 1))}
    source = len(picture.runs) - 1
    drawing.add(boxes("building", low, size, color[part], id=part.astype(np.int64), source=source, **more))
    drawing.meaning["building"] = _meaning(picture)
    drawing.explain(legend)
    if picture.before is not None:
        over = picture.rise(picture.before) - rise
        gone = np.flatnonzero(over > 0.02)
        if len(gone):
            low = np.column_stack([corner[gone], (base + rise)[gone]])
            size = np.column_stack([extent[gone], over[gone]])
            drawing.add(boxes("before", low, size, color[gone], id=gone, look="ghost"))
            drawing.meaning["before"] = drawing.meaning["building"]
    return color


def _meaning(picture: Layout) -> Meaning:
    p, every = picture.parameters, np.arange(len(picture.path))
    run, n = picture.runs[-1], len(picture.path)
    shown = dict.fromkeys((p.height, p.area, p.color, "calls", "functions"))
    rows: list[tuple[str, tuple[str, ...], Ints]] = [("part", tuple(picture.names()), every)]
    for metric in shown:
        if metric != "none":
            values = run.of(metric, n).tolist()
            write = writer(metric, run.trace)
            rows.append((name_of(metric, run.trace), tuple(map(write, values)), every))
    if picture.before is not None:
        write = writer(p.height, run.trace)
        rows.append(
            (f"{name_of(p.height, run.trace)} before", tuple(map(write, picture.before.tolist())), every)
        )
    return Meaning(calls=((len(picture.runs) - 1, picture.call),), texts=tuple(rows))


def _colors(drawing: DrawingBuilder, picture: Layout) -> tuple[NDArray[np.int32], Legend]:
    """Return the palette index of each building, and what it means."""
    p = picture.parameters
    if picture.before is not None:
        return _change_colors(drawing, picture)
    first = drawing.color(QUIET.ramp(_RAMP))
    run = picture.runs[-1]
    write = writer(p.color, run.trace)
    value = run.of(p.color, len(picture.path))
    scale = Scale.over("linear" if p.color == "age" else "log", value)
    color = first + np.rint(scale.place(value) * (_RAMP - 1)).astype(np.int32)
    at, said = scale.ticks(write, 5)
    title = name_of(p.color, run.trace).capitalize()
    return color, Legend(title, ramp=(first, first + _RAMP - 1), ramp_tick=at, ramp_text=said)


def _change_colors(drawing: DrawingBuilder, picture: Layout) -> tuple[NDArray[np.int32], Legend]:
    assert picture.before is not None
    half = _RAMP // 2
    share = np.linspace(0, 1, half)[:, None]
    ramp: Colors = np.vstack([_SHRINKS + (_SAME - _SHRINKS) * share, _SAME + (_GROWS - _SAME) * share])
    first = drawing.color(ramp.astype(np.float32))
    least = 1e-3 * max(float(picture.value.max()), float(picture.before.max()), 1e-300)
    times = np.log((picture.value + least) / (picture.before + least)) / np.log(_TIMES)
    place = np.clip((times + 1) / 2, 0.0, 1.0)
    measure = name_of(picture.parameters.height, picture.runs[-1].trace)
    title = f"{measure.capitalize()}, second run to first"
    said = f"1/{_TIMES:g} or less", "the same", f"{_TIMES:g} × or more"
    legend = Legend(title, ramp=(first, first + _RAMP - 1), ramp_tick=(0.0, 0.5, 1.0), ramp_text=said)
    return first + np.rint(place * (_RAMP - 1)).astype(np.int32), legend


def roofs(picture: Layout) -> Floats:
    """Return the middle of each roof, float64 (buildings, 3)."""
    corner, extent = footprints(picture)
    n = len(picture.path)
    top = picture.plinth(depths(picture.city, n)) + picture.rise(picture.value)
    return np.column_stack([corner + extent / 2, top])


def arcs(drawing: DrawingBuilder, picture: Layout) -> int:
    """Add arcs from caller to callee, those with most calls; return how many pairs there are.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout

    Returns
    -------
    int
    """
    run = picture.runs[-1]
    source, target, many = links(run.trace, run.parts)
    chosen = np.argsort(-many, kind="stable")[: picture.parameters.arcs]
    if not len(chosen):
        return len(many)
    u, top = picture.open, roofs(picture)
    start, end = top[run.place[source[chosen]]], top[run.place[target[chosen]]]
    along = np.linspace(0.0, 1.0, _POINTS)[None, :, None]
    point = start[:, None] * (1 - along) + end[:, None] * along
    across = end - start
    far = np.hypot(across[:, 0], across[:, 1])
    bow = 4 * along[..., 0] * (1 - along[..., 0])
    # Opened, an arc rises above the roofs; flat, it bows aside, so that both ways can be distinguished.
    point[..., 2] += bow * (u * (0.35 + 0.32 * far)[:, None] + PLATE)
    aside = ((1 - u) * np.minimum(0.14, _ASIDE / np.maximum(far, 1e-9)))[:, None]
    point[..., 0] -= bow * aside * across[:, 1:2]
    point[..., 1] += bow * aside * across[:, 0:1]
    k = len(chosen)
    share = np.sqrt(many[chosen] / many[chosen].max())
    radius = np.repeat((0.015 + 0.06 * share)[:, None], _POINTS, axis=1).ravel()
    first = drawing.color(np.stack([_FROM, _TO]))
    drawing.add(
        Tubes(
            "arc", point.reshape(-1, 3).astype(np.float32),
            np.stack([radius, radius], axis=1).astype(np.float32), _POINTS * np.arange(k + 1),
            np.full(k, first, np.int32), np.arange(k), source=len(picture.runs) - 1,
            end_color=np.full(k, first + 1, np.int32),
        )
    )  # fmt: skip
    names = picture.names()
    pairs = [
        f"{names[run.place[s]]} → {names[run.place[t]]}"
        for s, t in zip(source[chosen].tolist(), target[chosen].tolist(), strict=True)
    ]
    drawing.meaning["arc"] = Meaning(
        values=(("calls", many[chosen].astype(np.float64)),),
        texts=(("from and to", tuple(pairs), np.arange(k)),),
    )
    drawing.explain(
        Legend("Arcs", (LegendEntry("from the caller", first), LegendEntry("to the callee", first + 1)))
    )
    return len(many)


def names(drawing: DrawingBuilder, picture: Layout, colors: NDArray[np.int32], top: int, mark: int) -> None:
    """Write the names of the highest buildings above their roofs, and mark one.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    colors : int32 (buildings,)
        Palette indices of the roofs.
    top : int
        The one that the title is about; -1: none.
    mark : int
        Palette index.
    """
    at, (_, extent) = roofs(picture), footprints(picture)
    order = np.argsort(-picture.value, kind="stable")[: picture.parameters.labels]
    u, text = picture.open, picture.text
    words = [picture.path[i][-1] for i in order.tolist()]
    # A name lies on its roof, shortened if necessary; only names of towers are above the roofs.
    tall = np.minimum(0.9 * text, _ROOF * extent[order, 1])
    letters = np.minimum([len(word) for word in words], _LETTERS)
    fits = (extent[order, 0] >= _CHARACTER * tall * letters) & (tall >= 0.6 * text)
    tower = u * picture.scale.place(picture.value[order]) > _TOWER
    rank = 1.0 + picture.value[order] / max(float(picture.value.max()), 1e-300) * 1e6
    if top >= 0:
        fits &= order != top
        point = at[top][None] + np.array([0.0, 0.0, 0.01])
        size = np.full(1, 0.9 * text, np.float32)
        drawing.add(
            Marks(
                "finding", "cone", point.astype(np.float32), size, np.full(1, mark, np.int32),
                np.zeros(1, np.int64),
            )
        )  # fmt: skip
    lying, standing = np.flatnonzero(fits), np.flatnonzero(~fits & (tower | (order == top)))
    on = at[order] + np.array([0.0, 0.0, 0.012])
    flat = texts(
        "building",
        [words[i] for i in lying],
        on[lying],
        tall[lying],
        rank=rank[lying],
        room=extent[order[lying], 0],
        up=(0.0, 1.0, 0.0),
    )
    drawing.write(replace(flat, background=colors[order[lying]].astype(np.int32)))
    above = at[order] + np.array([0.0, (1 - u) * 1.2 * text, 0.02 + u * 0.6 * text])
    above[order == top] += np.array([0.0, 0.0, u * 1.1 * text])
    drawing.write(
        texts(
            "building", [words[i] for i in standing], above[standing], 0.9 * text, rank=rank[standing],
            up=(0.0, 1 - u, u),
        )
    )  # fmt: skip
