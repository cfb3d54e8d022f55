"""Names of buildings, and callouts at those that matter most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.primitives import Callout, Marks
from ....drawing.shorthand import texts
from ..metrics import ADDITIVE, Floats, Ints, name_of, writer
from .buildings import footprints, roofs
from .layout import PLATE, WIDE, Layout, camera

#: Width of a character, and maximum share of a roof's depth for a name.
_CHARACTER, _ROOF = 0.52, 0.7
#: So many times as many buildings as are called out are tried: those that are hidden are not.
_TRIED = 4
#: A change is called out from this share of the largest one on.
_LEAST_CHANGE = 0.01
#: Largest names on roofs, in line heights.
_LARGE = 1.5
#: Minimum number of letters of a shortened name, and the share of the greatest height from which a building
#: is a tower.
_LETTERS, _TOWER = 7, 0.4


def names(drawing: DrawingBuilder, picture: Layout, colors: NDArray[np.int32], top: int, mark: int) -> None:
    """Write the names of the highest buildings on or above their roofs, and mark one.

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
    if len(picture.tiles) > 1:
        _tile_names(drawing, picture, top, mark)
        return
    at, (_, extent) = roofs(picture, picture.tiles[0]), footprints(picture)
    # Above towers also the frames of what they were, and glyphs.
    clear = np.zeros(len(at))
    if picture.before is not None:
        clear = np.maximum(picture.rise(picture.before) - picture.rise(picture.value), 0.0)
    if picture.rules.glyph or any(rule.glyph for rule in picture.rules.rules):
        clear = clear + 0.35 * picture.open
    called_out = _point_out(drawing, picture, at, clear, mark) if top >= 0 else []
    order = np.argsort(-picture.value, kind="stable")
    order = order[~np.isin(order, called_out)][: picture.parameters.labels]
    u, text = picture.open, picture.text
    words = [picture.path[i][-1] for i in order.tolist()]
    # A name lies on its roof, shortened if necessary; only names of towers are above the roofs.
    length = np.array([max(len(word), 1) for word in words])
    whole = np.clip(0.85 * extent[order, 0] / (_CHARACTER * length), 0.9 * text, _LARGE * text)
    tall = np.minimum(whole, _ROOF * extent[order, 1])
    letters = np.minimum(length, _LETTERS)
    fits = (extent[order, 0] >= _CHARACTER * tall * letters) & (tall >= 0.6 * text)
    tower = u * picture.scale.place(picture.value[order]) > _TOWER
    rank = 1.0 + picture.value[order] / max(float(picture.value.max()), 1e-300) * 1e6
    if top >= 0:
        point = at[top][None] + np.array([0.0, 0.0, 0.01 + clear[top]])
        _mark(drawing, point, text, mark)
    lying, standing = np.flatnonzero(fits), np.flatnonzero(~fits & tower)
    # Arcs end in the middle of roofs.
    aside = (picture.parameters.arcs > 0) * np.maximum(0.5 * extent[order, 1] - 0.75 * tall, 0.0)
    on = at[order] + np.array([0.0, 0.0, 0.012])
    on[:, 1] -= aside
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
    above[:, 2] += clear[order]
    drawing.write(
        texts(
            "building", [words[i] for i in standing], above[standing], 0.9 * text, rank=rank[standing],
            up=(0.0, 1 - u, u),
        )
    )  # fmt: skip


def _tile_names(drawing: DrawingBuilder, picture: Layout, top: int, mark: int) -> None:
    """Write the time of each small city in front of it, with its highest building, and mark the finding."""
    edges, text = picture.edges(), picture.text
    said, anchors, rooms = [], [], []
    for tile in picture.tiles:
        value = picture.value_on(tile)
        best = int(value.argmax())
        begin = units.duration(edges[tile.slice])
        said.append(f"{begin}: {picture.path[best][-1]}" if value[best] > 0 else begin)
        anchors.append((tile.left, tile.near - 0.75 * text, PLATE))
        rooms.append(1.05 * tile.scale * WIDE)
    drawing.write(
        texts("slice", said, anchors, 0.9 * text, rank=1e9, room=rooms, align=-1, up=(0.0, 1.0, 0.0))
    )
    if top >= 0:
        tile = picture.tiles[int(picture.slices[top].argmax())]
        point = tile.at(roofs(picture, tile)[top][None]) + np.array([0.0, 0.0, 0.01])
        _mark(drawing, point, text, mark)


def hidden(picture: Layout, roof: Floats, which: Ints) -> NDArray[np.bool_]:
    """Return which buildings' roofs have another building between their middle and the camera.

    Parameters
    ----------
    picture : Layout
        Of one map.
    roof : float64 (buildings, 3)
        The middles of roofs.
    which : int64 (n,)
        Buildings.

    Returns
    -------
    bool (n,)
    """
    corner, extent = footprints(picture)
    low = np.column_stack([corner, np.zeros(len(corner))])
    high = np.column_stack([corner + extent, roof[:, 2]])
    towards = np.asarray(camera(picture).direction, np.float64)
    towards = np.where(np.abs(towards) < 1e-9, 1e-9, towards)
    # Where the ray from each roof enters and leaves each building, along each axis.
    ends = (np.stack([low, high])[:, None] - roof[which][:, None]) / towards
    enters, leaves = ends.min(axis=0).max(axis=2), ends.max(axis=0).min(axis=2)
    blocks = (np.maximum(enters, 0.0) < leaves - 1e-6) & (which[:, None] != np.arange(len(low)))
    return np.asarray(blocks.any(axis=1))


def _point_out(drawing: DrawingBuilder, picture: Layout, at: Floats, clear: Floats, mark: int) -> list[int]:
    """Call out the buildings with most of the measure, or with the largest changes; return which."""
    p, value, run = picture.parameters, picture.value, picture.runs[-1]
    write, what = writer(p.height, run.trace), name_of(p.height, run.trace)
    weight = value if picture.before is None else np.abs(value - picture.before)
    order = np.argsort(-weight, kind="stable")[: _TRIED * p.findings]
    least = 0.0 if picture.before is None else _LEAST_CHANGE * float(weight.max(initial=0.0))
    order = order[(weight[order] > 0) & (weight[order] >= least) & ~hidden(picture, at, order)]
    found: list[int] = order[: p.findings].tolist()
    for rank, i in enumerate(found):
        name, now = picture.path[i][-1], write(float(value[i]))
        if picture.before is not None:
            said, detail = f"{name}: {write(float(picture.before[i]))} → {now}", what
        elif p.height in ADDITIVE and value.sum() > 0:
            said, detail = f"{name}: {units.percentage(float(value[i] / value.sum()))}", f"{what} {now}"
        else:
            said, detail = name, f"{what}: {now}"
        x, y, z = at[i].tolist()
        call = int(picture.call[i])
        drawing.point_out(
            Callout(
                said, detail, (x, y, z + float(clear[i]) + 0.02), float(len(found) - rank), mark,
                ((len(picture.runs) - 1, call),) if call >= 0 else (),
            )
        )  # fmt: skip
    return found


def _mark(drawing: DrawingBuilder, point: Floats, text: float, color: int) -> None:
    """Add the mark of the finding: float64 (1, 3)."""
    size = np.full(1, 0.9 * text, np.float32)
    place, colors = point.astype(np.float32), np.full(1, color, np.int32)
    drawing.add(Marks("finding", "cone", place, size, colors, np.zeros(1, np.int64)))
