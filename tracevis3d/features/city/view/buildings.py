"""Districts, buildings and glyphs of a city."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import QUIET, Colors, parse
from ....drawing.primitives import Legend, LegendEntry, Marks, Meaning
from ....drawing.shorthand import boxes, lines, texts
from ....layout.scales import Scale
from ..metrics import Floats, Ints, name_of, writer
from ..rule_file import Rule
from ..treemap import District
from .layout import PLATE, Layout, Tile

_RAMP = 64
#: Share of its ground that a building fills: the same for all, so that areas stay in proportion.
_FOOT = 0.82
#: Largest factor of growth and shrinkage on the colour ramp.
_TIMES = 4.0
_SHRINKS, _SAME, _GROWS = parse("2166ac d9d9d9 c0392b")
#: Width of a character in line heights, about.
_CHARACTER = 0.5
#: Minimum width and depth of a district with a name.
_NAMED = (1.2, 0.6)
_PLINTH = parse("8a93a0")[0]
#: Buildings in which nothing happens in a slice of time.
_IDLE = parse("eceef1")[0]
#: Frames of what was: their colour and width, and the least difference in height that has one.
_FRAME = parse("454b54")[0]
_LINE, _DIFFERS = 0.022, 0.04


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
        if one.depth and wide > _NAMED[0] and deep > _NAMED[1] and len(picture.tiles) == 1:
            titles.append(one.name)
            anchors.append((x + edge + 0.06, y + edge + 0.45 * picture.text, top + 0.012))
            ranks.append(1e3 * wide * deep / (1 + one.depth))
            rooms.append(wide - 2 * edge - 0.1)
    if picture.open < 0.5:
        # From above a building covers what lies on the ground.
        free = _free(picture, np.array(anchors).reshape(-1, 3), np.array([len(title) for title in titles]))
        kept = np.flatnonzero(free).tolist()
        titles, ranks, rooms = [titles[i] for i in kept], [ranks[i] for i in kept], [rooms[i] for i in kept]
        anchors = [anchors[i] for i in kept]
    ids, copies = np.arange(len(names)), len(picture.tiles)
    lows = np.concatenate([tile.at(np.array(low)) for tile in picture.tiles])
    sizes = np.concatenate([tile.scale * np.array(size) for tile in picture.tiles])
    drawing.add(boxes("district", lows, sizes, np.tile(color, copies), id=np.tile(ids, copies)))
    drawing.meaning["district"] = Meaning(texts=(("district", tuple(names), ids),))
    drawing.write(
        texts(
            "district", titles, anchors, picture.text, rank=ranks,
            room=rooms, align=-1, up=(0.0, 1.0, 0.0),
        )
    )  # fmt: skip


def _free(picture: Layout, anchor: Floats, letters: Ints) -> NDArray[np.bool_]:
    """Return which names of districts no building covers."""
    corner, extent = footprints(picture)
    low = anchor[:, :2] - [0.0, 0.45 * picture.text]
    high = low + np.column_stack([_CHARACTER * picture.text * letters, np.full(len(low), picture.text)])
    inside = (corner[None] < high[:, None]) & ((corner + extent)[None] > low[:, None])
    return np.asarray(~inside.all(axis=2).any(axis=1))


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
    color, legends = _colors(drawing, picture)
    if len(picture.tiles) > 1:
        part, floor = np.tile(np.arange(n), many), np.repeat(np.arange(many), n)
        lows, sizes = [], []
        for tile in picture.tiles:
            rise = picture.rise(picture.value_on(tile))
            lows.append(tile.at(np.column_stack([corner, base])))
            sizes.append(tile.scale * np.column_stack([extent, rise]))
        low, size = np.concatenate(lows), np.concatenate(sizes)
        tint = color[part]
        tint[picture.slices[part, floor] == 0] = drawing.color(_IDLE)
    else:
        whole = np.maximum(picture.slices.sum(axis=1), 1e-300)
        below = (np.cumsum(picture.slices, axis=1) - picture.slices) / whole[:, None]
        share = picture.slices / whole[:, None]
        share[picture.slices.sum(axis=1) == 0, 0] = 1.0
        rise = picture.rise(picture.value)
        part, floor = np.nonzero(share > 0)
        low = np.column_stack([corner[part], base[part] + (rise[:, None] * below)[part, floor]])
        size = np.column_stack([extent[part], (rise[:, None] * share)[part, floor]])
        tint = color[part]
    more = {}
    if many > 1:
        time = np.stack([floor / many, (floor + 1) / many], axis=1).astype(np.float32)
        more = {"time": time, "window": picture.window}
    source = len(picture.runs) - 1
    drawing.add(boxes("building", low, size, tint, id=part.astype(np.int64), source=source, **more))
    drawing.meaning["building"] = _meaning(picture)
    drawing.explain(*legends)
    if picture.before is not None:
        _frames(drawing, picture, np.column_stack([corner, base]), extent)
    return color


def _frames(drawing: DrawingBuilder, picture: Layout, low: Floats, extent: Floats) -> None:
    """Add frames that show how high buildings were in the first run, where that can be seen.

    Every engine shows lines alike; faces that one looks through are opaque in Workbench.
    """
    assert picture.before is not None
    was, now = picture.rise(picture.before), picture.rise(picture.value)
    other = np.flatnonzero(np.abs(was - now) > _DIFFERS)
    if not len(other):
        return
    # Around what is higher now the frame lies on its walls.
    out = 0.012
    x = np.column_stack([low[other, 0] - out, low[other, 0] + extent[other, 0] + out])
    y = np.column_stack([low[other, 1] - out, low[other, 1] + extent[other, 1] + out])
    top, foot = low[other, 2] + was[other], low[other, 2] + np.minimum(now, was)[other]
    around = [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)]
    ring = np.stack([np.column_stack([x[:, i], y[:, k], top]) for i, k in around], axis=1)
    posts = np.concatenate(
        [
            np.stack([np.column_stack([x[:, i], y[:, k], z]) for z in (foot, top)], axis=1)
            for i, k in around[:4]
        ]
    )
    stands = np.tile(was[other] > now[other], 4)
    color = drawing.color(_FRAME)
    drawing.add(lines("before", ring, _LINE, color, id=other))
    if stands.any():
        drawing.add(lines("before", posts[stands], _LINE, color, id=np.tile(other, 4)[stands]))
    drawing.meaning["before"] = drawing.meaning["building"]


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


def _colors(drawing: DrawingBuilder, picture: Layout) -> tuple[NDArray[np.int32], list[Legend]]:
    """Return the palette index of each building, and what it means."""
    color, legend = (_change_colors if picture.before is not None else _measure_colors)(drawing, picture)
    entries, legends = [], [legend]
    for rule, which in ruled(picture):
        if rule.hue:
            own = drawing.color(parse(rule.hue)[0])
            color[which] = own
            entries.append(LegendEntry(rule.says, own))
    if entries:
        legends.append(Legend("Rules", tuple(entries)))
    return color, legends


def ruled(picture: Layout) -> list[tuple[Rule, Ints]]:
    """Return the rules of the file, each with the buildings that it applies to: the first that fits.

    Parameters
    ----------
    picture : Layout

    Returns
    -------
    list of (Rule, int64 (k,))
    """
    n, names = len(picture.path), picture.names()
    free, found = np.ones(n, np.bool_), []
    for rule in picture.rules.rules:
        fits = rule.fits(names, lambda field: picture.runs[-1].of(field, n)) & free
        free &= ~fits
        found.append((rule, np.flatnonzero(fits)))
    return found


def _measure_colors(drawing: DrawingBuilder, picture: Layout) -> tuple[NDArray[np.int32], Legend]:
    p = picture.parameters
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


def roofs(picture: Layout, tile: Tile) -> Floats:
    """Return the middle of each roof on the map that a tile is a copy of.

    Parameters
    ----------
    picture : Layout
    tile : Tile

    Returns
    -------
    float64 (buildings, 3)
    """
    corner, extent = footprints(picture)
    n = len(picture.path)
    top = picture.plinth(depths(picture.city, n)) + picture.rise(picture.value_on(tile))
    return np.column_stack([corner + extent / 2, top])


def glyphs(drawing: DrawingBuilder, picture: Layout) -> None:
    """Add the glyphs upon the roofs that the file of rules asks for.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    """
    run, n = picture.runs[-1], len(picture.path)
    _, extent = footprints(picture)
    room = 0.8 * np.sqrt(extent.min(axis=1) * float(np.median(extent.min(axis=1))))
    shape_of = {number: rule.glyph for number, (rule, _) in enumerate(ruled(picture)) if rule.glyph}
    drawn: list[tuple[str, str, Ints, Floats, int]] = []
    entries, gray = [], drawing.color(_FRAME)
    if field := picture.rules.glyph:
        value = run.of(field, n)
        which = np.flatnonzero(value > 0)
        size = 0.06 + 0.5 * np.sqrt(value[which] / max(float(value.max()), 1e-300))
        size = np.minimum(size, np.maximum(0.9 * extent[which].min(axis=1), 0.06))
        drawn.append(("glyph", "sphere", which, size, gray))
        entries.append(LegendEntry(f"ball: {name_of(field, run.trace)}", gray))
    for number, (rule, which) in enumerate(ruled(picture)):
        if number in shape_of:
            color = drawing.color(parse(rule.hue)[0]) if rule.hue else gray
            drawn.append((f"glyph {number + 1}", rule.glyph, which, np.maximum(room[which], 0.12), color))
            entries.append(LegendEntry(f"{rule.glyph}: {rule.says}", color))
    for kind, shape, which, size, color in drawn:
        if not len(which):
            continue
        # Behind the names; balls at the right, shapes of rules at the left.
        aside = np.array([0.25 if kind == "glyph" else -0.25, 0.27]) * extent[which]
        points, sizes = [], []
        for tile in picture.tiles:
            at = roofs(picture, tile)[which]
            at[:, :2] += aside
            points.append(tile.at(at) + np.array([0.0, 0.0, 0.01]))
            sizes.append(tile.scale * size)
        copies = len(picture.tiles)
        drawing.add(
            Marks(
                kind, shape, np.concatenate(points).astype(np.float32),  # type: ignore[arg-type]
                np.concatenate(sizes).astype(np.float32), np.full(copies * len(which), color, np.int32),
                np.tile(which, copies), source=len(picture.runs) - 1,
            )
        )  # fmt: skip
        drawing.meaning[kind] = drawing.meaning["building"]
    if entries:
        drawing.explain(Legend("Glyphs", tuple(entries)))
