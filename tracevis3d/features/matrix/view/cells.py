"""The bars of a matrix on its floor, what they add up to on its walls, and the texts around."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import BASE, PALETTES
from ....drawing.primitives import Axis, Callout, Legend, LegendEntry, Marks, Meaning
from ....drawing.shorthand import boxes, lines, texts
from ....layout.ticks import time_ticks
from ..findings import Finding
from ..table import Category, Floats, Ints
from .layout import GAP, HIGH, PLATE, WALL, Layout, shortened, value_ticks

_RAMP = 64
#: Share of a cell that is left free around a bar; ordered rows make a surface.
_FREE = 0.16
_HAIR = 0.015
#: Categories that are open farther have the names of their members.
_NAMED = 0.5


class Colors:
    """The colours of values, or of levels.

    Parameters
    ----------
    drawing : DrawingBuilder
        That they are added to.
    picture : Layout
    """

    def __init__(self, drawing: DrawingBuilder, picture: Layout) -> None:
        palette = PALETTES[picture.parameters.palette]
        # The lightest end of the ramp is invisible on paper, the darkest on a stage.
        self._first = drawing.color(palette.ramp(_RAMP))
        self._picture = picture
        self._levels = -1
        if picture.parameters.color == "third":
            many = len(picture.table.levels.names)
            ordered = picture.table.levels.what == "time" or many > len(palette.kinds)
            self._levels = drawing.color(palette.ramp(max(many, 2)) if ordered else palette.kinds)

    def of(self, value: Floats, level: Ints) -> NDArray[np.int32]:
        """Return palette indices of values, or of their levels.

        Parameters
        ----------
        value : float64 (n,)
        level : int64 (n,)

        Returns
        -------
        int32 (n,)
        """
        if self._levels >= 0:
            return np.asarray(self._levels + level, np.int32)
        return self.of_values(value)

    def of_values(self, value: Floats) -> NDArray[np.int32]:
        """Return palette indices of values, int32 (n,)."""
        share = self._picture.ramp.place(value)
        return np.asarray(self._first + np.rint(share * (_RAMP - 1)), np.int32)

    def legends(self) -> tuple[Legend, ...]:
        """Return what the colours mean."""
        picture, table = self._picture, self._picture.table
        at, text = picture.ramp.ticks(table.write, 5)
        said = Legend(
            table.of.capitalize(), ramp=(self._first, self._first + _RAMP - 1), ramp_tick=at, ramp_text=text
        )
        if self._levels < 0:
            return (said,)
        names = table.levels.names
        if table.levels.what == "time" or len(names) > 10:
            ends = (self._levels, self._levels + len(names) - 1)
            low, high = (units.duration(t) for t in picture.window)
            tick = (low, high) if table.levels.what == "time" else (names[0], names[-1])
            return (Legend(table.levels.what.capitalize(), ramp=ends, ramp_tick=(0.0, 1.0), ramp_text=tick),)
        entries = tuple(LegendEntry(name, self._levels + i) for i, name in enumerate(names))
        return (Legend(table.levels.what.capitalize(), entries),)


def bars(drawing: DrawingBuilder, picture: Layout, colors: Colors) -> None:
    """Add the bars, a box for each level of each cell.

    Flat, the boxes of a cell lie side by side and fill it; opened, they stand on each other; spread, each
    stands on a floor of its own. What is collapsed stands on each other, too.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    colors : Colors
    """
    table, p = picture.table, picture.parameters
    flat = table.flat
    row, column, level = np.nonzero(table.value > 0)
    value, whole = table.value[row, column, level], flat[row, column]
    low, size = np.zeros((len(row), 3)), np.zeros((len(row), 3))
    for rows in (False, True):
        for columns in (False, True):
            share = (1 - p.rows_open if rows else p.rows_open) * (
                1 - p.columns_open if columns else p.columns_open
            )
            if share > 0:
                corner, extent = _standing(picture, rows, columns)
                low += share * corner
                size += share * extent
    color = colors.of(whole if p.spread == 0 else value, level)
    levels = len(table.levels.names)
    time = np.stack([level / levels, (level + 1) / levels], axis=1) if table.levels.what == "time" else None
    more = {} if time is None else {"time": time.astype(np.float32), "window": picture.window}
    drawing.add(boxes("cell", low, size, color, **more))
    call = table.call[row, column, level]
    drawing.meaning["cell"] = meaning_of(picture, row, column, level, call)


def _standing(picture: Layout, rows: bool, columns: bool) -> tuple[Floats, Floats]:
    """Return corners and extents of the boxes where rows, columns, both or none are collapsed.

    Parameters
    ----------
    picture : Layout
    rows, columns : bool
        Whether they are.

    Returns
    -------
    (float64 (n, 3), float64 (n, 3))
        Of the cells with a value, in the order of the table.
    """
    table, u, p = picture.table, picture.open, picture.parameters
    row, column, level = np.nonzero(table.value > 0)
    below, whole = _stacked(table.value, rows, columns, levels=True)
    beneath, in_level = _stacked(table.value, rows, columns, levels=False)
    value, own = table.value[row, column, level], in_level[row, column, level]
    whole = whole[row, column, level]
    share, below = value / whole, below[row, column, level] / whole
    scale = picture.collapsed(rows, columns)
    free = 0.0 if table.rows.is_ordered and len(table.rows.names) > 1 and not rows else _FREE
    pitch = (
        picture.wide if columns else picture.pitch[0],
        picture.deep if rows else picture.pitch[1],
    )
    inner = (1 - free) * pitch[0]
    left = np.zeros(len(row)) if columns else picture.x(column)
    near = np.zeros(len(row)) if rows else picture.y(row)
    x = left + free / 2 * pitch[0] + (1 - u) * below * inner
    wide = inner * ((1 - u) * share + u)
    tall = picture.high * scale.place(whole)
    step = level_height(picture)
    lifted = u * 0.8 * step * scale.place(own)
    z = (
        u * p.spread * step * level
        + (1 - p.spread) * tall * below
        + p.spread * lifted * beneath[row, column, level] / own
    )
    rise = (1 - p.spread) * tall * share + p.spread * lifted * value / own
    rise = np.maximum(rise, PLATE if u < 1 else PLATE * share)
    n = len(row)
    low = np.stack([x, near + free / 2 * pitch[1], z], axis=1)
    return low, np.stack([wide, np.full(n, (1 - free) * pitch[1]), rise], axis=1)


def _stacked(value: Floats, rows: bool, columns: bool, levels: bool) -> tuple[Floats, Floats]:
    """Return what lies below each value in its stack, and the sum of the stack; like ``value``.

    Parameters
    ----------
    value : float64 (rows, columns, levels)
    rows, columns, levels : bool
        Which categories are stacked.

    Returns
    -------
    (float64 (rows, columns, levels), float64 (rows, columns, levels))
    """
    stacked = [axis for axis, on in enumerate((rows, columns, levels)) if on]
    kept = [axis for axis in range(3) if axis not in stacked]
    turned = np.transpose(value, kept + stacked)
    shape = turned.shape
    piles = turned.reshape(*shape[: len(kept)], -1)
    below = (np.cumsum(piles, axis=-1) - piles).reshape(shape)
    whole = np.broadcast_to(piles.sum(axis=-1, keepdims=True), piles.shape).reshape(shape)
    back = np.argsort(kept + stacked).tolist()
    return np.transpose(below, back), np.transpose(whole, back)


def meaning_of(picture: Layout, row: Ints, column: Ints, level: Ints, call: Ints) -> Meaning:
    """Return what cells mean: who with whom, when, how much.

    Parameters
    ----------
    picture : Layout
    row, column, level, call : int64 (n,)
        Of each cell.

    Returns
    -------
    Meaning
    """
    table, n = picture.table, len(row)
    value, whole = table.value[row, column, level], table.flat[row, column]
    return Meaning(
        calls=((0, call),) if (call >= 0).any() else (),
        values=(("calls", table.count[row, column, level].astype(np.float64)),),
        texts=(
            ("row", table.rows.names, row),
            ("column", table.columns.names, column),
            (table.levels.what or "all", table.levels.names, level),
            (table.of, tuple(table.write(v) for v in value.tolist()), np.arange(n)),
            ("of all levels", tuple(table.write(v) for v in whole.tolist()), np.arange(n)),
        ),
    )


def level_height(picture: Layout) -> float:
    """Return how far floors of levels lie apart when they are spread."""
    return 2.0 * HIGH * picture.parameters.relief / max(len(picture.table.levels.names), 1)


def sums_on_the_floor(drawing: DrawingBuilder, picture: Layout, colors: Colors) -> None:
    """Add the sums over levels to the floor, where the bars don't show them: they stand on floors of levels.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    colors : Colors
    """
    p, table = picture.parameters, picture.table
    if not p.spread or min(p.rows_open, p.columns_open) < 1:
        return
    row, column = np.nonzero(table.flat > 0)
    value, n = table.flat[row, column], len(row)
    low = np.stack([picture.x(column + 0.04), picture.y(row - 0.04), np.zeros(n)], axis=1)
    size = np.broadcast_to([0.92 * picture.pitch[0], 0.92 * picture.pitch[1], 0.4 * PLATE], (n, 3))
    drawing.add(boxes("sum of levels", low, size, colors.of_values(value)))
    drawing.meaning["sum of levels"] = Meaning(
        texts=(
            (table.rows.what, table.rows.names, row),
            (table.columns.what, table.columns.names, column),
            (table.of, tuple(table.write(v) for v in value.tolist()), np.arange(n)),
        )
    )


def floor(drawing: DrawingBuilder, picture: Layout) -> None:
    """Add the floor, and the walls' plates.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    """
    base = drawing.color(BASE)
    u, thin = picture.open, 0.02
    low, size = [(0.0, 0.0, -thin)], [(picture.wide, picture.deep, thin)]
    if picture.has_walls:
        stand, lie = u * WALL + (1 - u) * thin, (1 - u) * WALL + u * thin
        low.append((0.0, picture.deep + GAP, -thin * (1 - u)))
        size.append((picture.wide, lie, stand))
        low.append((-GAP - lie, 0.0, -thin * (1 - u)))
        size.append((lie, picture.deep, stand))
    drawing.add(boxes("plate", low, size, base))


def walls(drawing: DrawingBuilder, picture: Layout, colors: Colors) -> None:
    """Add the sums on the walls: columns by levels at the back, rows by levels at the left.

    Flat, the walls lie folded out beside the floor.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    colors : Colors
    """
    if not picture.has_walls:
        return
    table, u = picture.table, picture.open
    levels = len(table.levels.names)
    step, free = WALL / levels, 0.1
    lie, stand = (1 - u) * (1 - free) * step + u * PLATE, u * (1 - free) * step + (1 - u) * PLATE
    for kind, axis, names in (("sum of a column", 0, table.columns), ("sum of a row", 1, table.rows)):
        sums = table.value.sum(axis=axis)
        place, level = np.nonzero(sums > 0)
        value = sums[place, level]
        # Standing, tiles hang on the inner side of the wall.
        out = GAP + (1 - u) * (level + free / 2) * step - u * PLATE
        z = u * (level + free / 2) * step
        n = len(place)
        if names is table.columns:
            x, y = picture.x(place + 0.04), picture.deep + out
            size = np.stack([np.full(n, 0.92 * picture.pitch[0]), np.full(n, lie), np.full(n, stand)], axis=1)
        else:
            x, y = -out - lie, picture.y(place - 0.04)
            size = np.stack([np.full(n, lie), np.full(n, 0.92 * picture.pitch[1]), np.full(n, stand)], axis=1)
        low = np.stack(np.broadcast_arrays(x, y, z), axis=1)
        more = {}
        if table.levels.what == "time":
            times = np.stack([level / levels, (level + 1) / levels], axis=1).astype(np.float32)
            more = {"time": times, "window": picture.window}
        drawing.add(boxes(kind, low, size, colors.of_values(value), **more))
        drawing.meaning[kind] = Meaning(
            texts=(
                (names.what, names.names, place),
                (table.levels.what, table.levels.names, level),
                (table.of, tuple(table.write(v) for v in value.tolist()), np.arange(n)),
            )
        )


def names(drawing: DrawingBuilder, picture: Layout) -> None:
    """Write the names of rows at the right, of columns in front, of levels on the wall.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    """
    table, text = picture.table, picture.text
    flat = table.flat
    x = picture.x(np.arange(len(table.columns.names)) + 0.5)
    y = picture.y(np.arange(len(table.rows.names)) - 0.5)
    rows = np.stack([np.full(len(y), picture.wide + 0.15), y, np.zeros(len(y))], axis=1)
    columns = np.stack([x, np.full(len(x), -0.15), np.zeros(len(x))], axis=1)
    p = picture.parameters
    # Names lie on the floor: where rows are narrow the most important ones have room.
    if p.rows_open > _NAMED:
        drawing.write(
            texts(
                "row", _written(table.rows), rows, text, rank=1 + flat.sum(axis=1), align=-1,
                up=(0.0, 1.0, 0.0),
            )
        )  # fmt: skip
    if p.columns_open > _NAMED:
        drawing.write(
            texts(
                "column", _written(table.columns), columns, text, rank=1 + flat.sum(axis=0), align=1,
                right=(0.0, 1.0, 0.0), up=(-1.0, 0.0, 0.0),
            )
        )  # fmt: skip
    titles = [
        (f"all {len(one.names):,} " if share <= _NAMED else "")
        + (one.what if one.what.startswith("what") else f"{one.what}s{' of ' if one.of else ''}{one.of}")
        for one, share in ((table.rows, p.rows_open), (table.columns, p.columns_open))
    ]
    at = [(picture.wide + 0.15, -1.2 * text, 0.0), (-0.9 * text, -0.15, 0.0)]
    drawing.write(
        texts("row title", titles[:1], at[:1], text, rank=1e9, align=-1, up=(0.0, 1.0, 0.0)),
        texts(
            "column title",
            titles[1:],
            at[1:],
            text,
            rank=1e9,
            align=1,
            right=(0.0, 1.0, 0.0),
            up=(-1.0, 0.0, 0.0),
        ),
    )
    if picture.has_walls:
        drawing.measure(_level_axis(picture))
    # On the way between two states heights have no scale.
    still = {p.rows_open, p.columns_open} <= {0.0, 1.0}
    if picture.high > 0.3 and p.spread == 0 and still:
        drawing.measure(_height_axis(picture))


def _written(category: Category) -> list[str]:
    return [shortened(name) for name in category.names]


def _level_axis(picture: Layout) -> Axis:
    """Return the ruler of levels, at the right end of the wall at the back."""
    u, levels = picture.open, picture.table.levels
    angle = u * math.pi / 2
    along = (0.0, math.cos(angle), math.sin(angle))
    origin = (picture.wide + 0.05, picture.deep + GAP, 0.0)
    if levels.what == "time":
        low, high = picture.window
        found = time_ticks(low, high, 6)
        at = tuple((t - low) / (high - low) * WALL for t in found.at)
        title = found.titled()
        return Axis(
            origin, along, WALL, at, found.text, title=title, outward=(1.0, 0.0, 0.0), height=picture.text
        )
    step = WALL / len(levels.names)
    at = tuple((i + 0.5) * step for i in range(len(levels.names)))
    written = tuple(map(shortened, levels.names))
    return Axis(
        origin, along, WALL, at, written, outward=(1.0, 0.0, 0.0), height=min(picture.text, 0.9 * step)
    )


def _height_axis(picture: Layout) -> Axis:
    p = picture.parameters
    scale = picture.collapsed(p.rows_open == 0, p.columns_open == 0)
    at = value_ticks(scale)
    places = tuple(float(v) * picture.high for v in scale.place(np.array(at)))
    # Beside the wall at the left, not in front of what it shows.
    beside = 0.1 + (GAP + (1 - picture.open) * WALL if picture.has_walls else 0.0)
    return Axis(
        (-beside, 0.0, 0.0), (0.0, 0.0, 1.0), picture.high, places, tuple(map(picture.table.write, at)),
        title=picture.table.of, outward=(-1.0, 0.0, 0.0), height=picture.text,
    )  # fmt: skip


def marks(drawing: DrawingBuilder, picture: Layout, found: tuple[Finding, ...], mark: int) -> None:
    """Mark findings at their cells.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    found : tuple of Finding
    mark : int
        Palette index.
    """
    shown = [one for one in found if one.row >= 0 and one.column >= 0]
    if not shown:
        return
    point = np.array([place_of(picture, one) for one in shown])
    n, height = len(shown), picture.text
    size = np.full(n, 0.9 * height, np.float32)
    drawing.add(
        Marks("finding", "cone", point.astype(np.float32), size, np.full(n, mark, np.int32), np.arange(n))
    )
    for i, one in enumerate(shown):
        x, y, z = point[i].tolist()
        if one.short:
            at = x, y, z + 0.5 * height * picture.open
            drawing.point_out(Callout(one.short, one.where, at, float(n - i), mark))
    drawing.meaning["finding"] = Meaning(
        texts=(("finding", tuple(one.sentence for one in shown), np.arange(n)),)
    )


def place_of(picture: Layout, finding: Finding) -> Floats:
    """Return the top of the bar where a finding is.

    Parameters
    ----------
    picture : Layout
    finding : Finding

    Returns
    -------
    float64 (3,)
    """
    # Flat, a mark stands at the cell's corner, not upon its colour.
    p = picture.parameters
    if min(p.rows_open, p.columns_open) < 1:
        return _on_stack(picture, finding)
    aside = 0.5 * picture.open
    x = float(picture.x(np.array(finding.column + aside)))
    y = float(picture.y(np.array(finding.row - 1.0 + aside)))
    value = picture.table.flat[finding.row, finding.column]
    tall = picture.high * float(picture.scale.place([value])[0])
    if p.spread > 0:
        top = picture.open * level_height(picture) * len(picture.table.levels.names)
        tall = (1 - p.spread) * tall + p.spread * top
    return np.array([x, y, tall + PLATE])


def _on_stack(picture: Layout, finding: Finding) -> Floats:
    """Return the top of the stack that a finding's cell is in, where categories are collapsed."""
    p, found = picture.parameters, np.zeros(3)
    row, column, _ = np.nonzero(picture.table.value > 0)
    inside = np.ones(len(row), np.bool_)
    inside &= (row == finding.row) | (p.rows_open == 0)
    inside &= (column == finding.column) | (p.columns_open == 0)
    for rows in (False, True):
        for columns in (False, True):
            share = (1 - p.rows_open if rows else p.rows_open) * (
                1 - p.columns_open if columns else p.columns_open
            )
            if share > 0:
                low, size = _standing(picture, rows, columns)
                low, size = low[inside], size[inside]
                middle = (low + size / 2).mean(axis=0)
                found += share * np.array([middle[0], middle[1], (low + size)[:, 2].max() + PLATE])
    return found


def grid(drawing: DrawingBuilder, picture: Layout, color: int) -> None:
    """Add lines that lead from names to their rows and columns.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    color : int
        Palette index.
    """
    p = picture.parameters
    if picture.table.rows.is_ordered or min(p.rows_open, p.columns_open) < 1:
        return
    r, c = len(picture.table.rows.names), len(picture.table.columns.names)
    y, x = picture.y(np.arange(r) - 0.5), picture.x(np.arange(c) + 0.5)
    points = [((0.0, float(v), 0.0), (picture.wide, float(v), 0.0)) for v in y]
    points += [((float(v), 0.0, 0.0), (float(v), picture.deep, 0.0)) for v in x]
    drawing.add(lines("grid", points, _HAIR, color))
