"""Names in the window: which are shown, how much of each, and where; none overlaps another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..drawing.primitives import Labels
from ..drawing.selector import Selector
from ..kernels.layout.naming import find_names
from ..kernels.layout.placing import place
from ..layout.sight.affine import Floats
from ..layout.sight.view_projection import ViewProjection
from .items import FEWEST, Measure, Overlay, Rectangle, Text, Theme, start_of

#: Maximum number of names on the screen, and of candidates tried.
MOST, _TRIED = 400, 2400
#: A name appears if it has this much more room than it needs, and stays until it no longer fits: it does not
#: flicker while the view moves.
_APPEARS = 1.15
#: Minimum width of a shortened name, in sizes of the type.
_SHORTEST = 3.2
#: Lists by height of those that keep their places.
_LISTS = 64
#: Half of a line's height, and the free room around it, in sizes of the type.
_HALF, _APART = 0.56, 0.1
#: Extra room with which a name is opaque; opacity otherwise, and of a shortened name.
_CLEAR, _FAINTEST, _SHORTENED = 1.3, 0.75, 0.9
#: Least height, in sizes of the type, of the line that the drawing gave a name: on an element, and beside it.
_LEAST_ON, _LEAST_BESIDE = 0.55, 0.3
#: Wider than any text, in sizes of the type.
_WIDER = 1e6
#: Bonus for a name that is already shown.
_STAYS = 1.5
#: Maximum distance, in lines, of a name on the ground from its element; pairs compared together.
_BESIDE, _AT_ONCE = 2.0, 1_000_000
#: Kinds of texts that are numbers of a scale, and of those that say what a part of the drawing is.
_SCALES, _SIGNS = frozenset({"ruler"}), frozenset({"trace letter"})
_DARK: tuple[float, float, float] = (0.08, 0.09, 0.11)
_LIGHT: tuple[float, float, float] = (1.0, 1.0, 1.0)

#: Returns which points (n, 3), at pixels (n, 2) and depths (n,), nothing stands before: bool (n,).
Sight = Callable[[Floats, Floats], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Names of a drawing, measured once.

    Attributes
    ----------
    group, row : int32 (n,)
        Which of the groups of :class:`.Labels`, and which of its texts.
    text : list of str
    width : float64 (n,)
        In type of size 1.
    anchor, end_low, end_high : float64 (n, 3)
        Where it stands, and the ends of its room; both are the anchor where nothing bounds it.
    top : float64 (n, 3)
        A line's height above the anchor.
    bound : bool (n,)
        Whether it has a room.
    align : int8 (n,)
    rank : float64 (n,)
    ink : float64 (n, 3)
        sRGB; negative: the theme's.
    on : int32 (n,)
        Palette index of what it stands on; -1: on the ground.
    small : bool (n,)
        Numbers of a scale, which are of use only from near.
    sign : bool (n,)
        What says which part of the drawing one sees: it is never cut away.
    shorter : dict
        Row -> what it says instead where there is less room, the longest first.
    """

    group: NDArray[np.int32]
    row: NDArray[np.int32]
    text: list[str]
    width: Floats
    anchor: Floats
    end_low: Floats
    end_high: Floats
    top: Floats
    bound: NDArray[np.bool_]
    align: NDArray[np.int8]
    rank: Floats
    ink: Floats
    on: NDArray[np.int32]
    small: NDArray[np.bool_]
    sign: NDArray[np.bool_]
    shorter: dict[int, tuple[str, ...]] = field(kw_only=True)

    def __len__(self) -> int:
        return len(self.text)

    def of_stretch(self, low: ArrayLike, high: ArrayLike) -> Prepared:
        """Return the names where only a stretch of the drawing is shown: what lies beside it has none.

        Parameters
        ----------
        low, high : float (3,)
            Infinite along axes of which all is shown.

        Returns
        -------
        Prepared
            As many names; those that are not shown have no height, and rooms end where the stretch does.
            What stands on an element, without a room of its own, is shown where it stands in the stretch.
        """
        begin, end = np.asarray(low, np.float64), np.asarray(high, np.float64)
        least, most = np.minimum(self.end_low, self.end_high), np.maximum(self.end_low, self.end_high)
        gone = self.bound & ((most <= begin) | (least >= end)).any(axis=1)
        on_element = ~self.bound & (self.on >= 0) & ~self.sign
        gone |= on_element & ((self.anchor < begin) | (self.anchor > end)).any(axis=1)
        bound = self.bound[:, None]
        low_end, high_end, anchor = (
            np.where(bound, np.clip(at, begin, end), at) for at in (self.end_low, self.end_high, self.anchor)
        )
        top = np.where(gone[:, None], anchor, self.top + (anchor - self.anchor))
        return replace(self, anchor=anchor, end_low=low_end, end_high=high_end, top=top)

    @cached_property
    def keys(self) -> list[tuple[int, int]]:
        """Group and row of each."""
        return list(zip(self.group.tolist(), self.row.tolist()))

    @cached_property
    def rows(self) -> dict[tuple[int, int], int]:
        """Key of each -> its row."""
        return {key: row for row, key in enumerate(self.keys)}

    @cached_property
    def least(self) -> Floats:
        """Least height of the line that the drawing gave each, in sizes of the type; float64 (n,)."""
        on_element = self.small | (self.ink[:, 0] >= 0)
        return np.where(on_element, _LEAST_ON, _LEAST_BESIDE)

    @cached_property
    def every(self) -> NDArray[np.bool_]:
        """That each may be shown; bool (n,)."""
        return np.ones(len(self), np.bool_)

    @cached_property
    def buffers(self) -> tuple[NDArray[np.int32], Floats]:
        """What :func:`.find_names` writes to."""
        return np.empty(len(self), np.int32), np.empty((len(self), 8))

    @cached_property
    def _starts(self) -> _Starts:
        """The starts of names that have been shortened so far."""
        return _Starts()

    def within(self, rows: NDArray[np.int32], room: Floats, measure: Measure) -> tuple[list[str], Floats]:
        """Return as much of some names as fits: the longest of their shorter texts, or their starts.

        Parameters
        ----------
        rows : int32 (m,)
        room : float64 (m,)
            In sizes of the type; less than all of each takes.
        measure : Measure

        Returns
        -------
        list of str
            Empty where none of the shorter texts fits, or not even four characters.
        float64 (m,)
            How wide they are in type of size 1.
        """
        return self._starts.longest(rows.tolist(), room, self.text, self.shorter, measure)


class _Starts:
    """Texts that stand in for names where there is less room, and how wide they are; measured once."""

    def __init__(self) -> None:
        self._slot: dict[int, int] = {}
        self._texts: list[str] = []
        self._width: list[float] = []
        self._first: list[int] = [0]
        self._fewest: list[int] = []
        self._arrays: tuple[Floats, ...] = ()

    def longest(
        self,
        rows: list[int],
        room: Floats,
        names: list[str],
        shorter: dict[int, tuple[str, ...]],
        measure: Measure,
    ) -> tuple[list[str], Floats]:
        """Return the longest text of each of some rows that fits, and its width: see Prepared.within."""
        slots = self._slot
        if new := [row for row in rows if row not in slots]:
            for row in dict.fromkeys(new):
                self._add(row, names[row], shorter.get(row, ()), measure)
            width = np.array(self._width)
            slot = np.repeat(np.arange(len(slots)), np.diff(self._first))
            key = slot * _WIDER + np.minimum(width, _WIDER / 2)
            self._arrays = np.maximum.accumulate(key), width, np.array(self._first), np.array(self._fewest)
        key, width, first, fewest = self._arrays
        which = np.array([slots[row] for row in rows], np.int64)
        # The rows' texts lie behind each other, each wider than the one before: one search for all of them.
        last = np.searchsorted(key, which * _WIDER + np.minimum(room, _WIDER / 2), "right") - 1
        fits = last - first[which] + 1 >= fewest[which]
        texts = self._texts
        found = [texts[k] if one else "" for k, one in zip(last.tolist(), fits.tolist())]
        return found, np.where(fits, width[last], 0.0)

    def _add(self, row: int, name: str, shorter: tuple[str, ...], measure: Measure) -> None:
        starts = shorter[::-1] or tuple(start_of(name, k) for k in range(1, len(name) + 1))
        self._slot[row] = len(self._slot)
        self._texts += starts
        self._width += map(measure, starts)
        self._first.append(len(self._texts))
        self._fewest.append(1 if shorter else FEWEST)


def prepare(names: tuple[Labels, ...], palette: NDArray[np.float32], measure: Measure) -> Prepared:
    """Measure the names of a drawing.

    Parameters
    ----------
    names : tuple of Labels
    palette : float32 (k, 4)
        Colours that they may stand on.
    measure : Measure

    Returns
    -------
    Prepared
    """
    columns: list[list[Any]] = [[] for _ in range(14)]
    texts: list[str] = []
    shorter: dict[int, tuple[str, ...]] = {}
    bright = palette[:, :3] @ np.array([0.2126, 0.7152, 0.0722]) if len(palette) else np.ones(1)
    for g, group in enumerate(names):
        n = len(group)
        anchor = group.anchor.astype(np.float64)
        room = group.room.astype(np.float64)
        bound = np.isfinite(room)
        span = np.where(bound, room, 0.0)[:, None] * _unit(group.right)
        before, after = {-1: (0.0, 1.0), 0: (0.5, 0.5), 1: (1.0, 0.0)}[group.align]
        ink = np.full((n, 3), -1.0)
        if len(group.background):
            dark = bright[np.clip(group.background, 0, len(bright) - 1)] < 0.55
            ink = np.where(dark[:, None], _LIGHT, _DARK)
        shorter.update((len(texts) + i, instead) for i, instead in enumerate(group.shorter) if instead)
        texts += group.text
        for column, values in zip(
            columns,
            (
                np.full(n, g, np.int32),
                np.arange(n, dtype=np.int32),
                np.array([measure(text) for text in group.text], np.float64),
                anchor,
                anchor - before * span,
                anchor + after * span,
                anchor + group.height.astype(np.float64)[:, None] * _unit(group.up),
                bound,
                np.full(n, group.align, np.int8),
                group.rank.astype(np.float64),
                ink,
                group.background if len(group.background) else np.full(n, -1, np.int32),
                np.full(n, group.kind in _SCALES),
                np.full(n, group.kind in _SIGNS),
            ),
        ):
            column.append(values)
    shapes = [(0,), (0,), (0,), (0, 3), (0, 3), (0, 3), (0, 3), (0,), (0,), (0,), (0, 3), (0,), (0,), (0,)]
    kinds = [
        np.int32, np.int32, float, float, float, float, float, np.bool_, np.int8, float, float, np.int32,
        np.bool_, np.bool_,
    ]  # fmt: skip
    found = [
        np.concatenate(column) if column else np.empty(shape, kind)
        for column, shape, kind in zip(columns, shapes, kinds)
    ]
    group_of, row, width, *others = found
    return Prepared(group_of, row, texts, width, *others, shorter=shorter)


def lay_names(
    names: Prepared,
    eye: ViewProjection,
    free: Rectangle,
    theme: Theme,
    measure: Measure,
    out: Overlay,
    before: dict[tuple[int, int], str],
    sight: Sight | None = None,
    allowed: NDArray[np.bool_] | None = None,
    young: Collection[tuple[int, int]] = (),
) -> None:
    """Add the names that are shown to ``out``; they keep off what it has ``taken``.

    Parameters
    ----------
    names : Prepared
    eye : ViewProjection
    free : Rectangle
        Names lie in it.
    theme : Theme
    measure : Measure
    out : Overlay
    before : dict
        ``Overlay.names`` of the picture before: those names stay while there is room.
    sight : Sight, optional
        Which points are in sight; all if left out.
    allowed : bool (n,), optional
        Which names may be shown; all if left out.
    young : collection of (int, int)
        Names of ``before`` whose places no other name takes, however important it is.
    """
    if not len(names):
        return
    size = theme.type
    known = np.zeros(len(names), np.bool_)
    known[[names.rows[key] for key in before if key in names.rows]] = True
    row, found = names.buffers
    frame = np.array([eye.width, eye.height, *free, size], np.float64)
    shown = names.every if allowed is None else allowed
    count = find_names(
        eye.matrix, frame, names.anchor, names.end_low, names.end_high, names.top, names.width, names.least,
        names.bound, names.align, names.small, shown, known, _APPEARS, _SHORTEST, row, found,
    )  # fmt: skip
    rows, at = row[:count], found[:count]
    if sight is not None and count:
        seen = sight(at[:, :2], at[:, 2])
        rows, at = rows[seen], at[seen]
    old = np.ones(len(names), np.bool_)
    old[[names.rows[key] for key in young if key in names.rows]] = False
    weight = -names.rank[rows] * np.where(known[rows], _STAYS, 1.0)
    order = np.lexsort((rows, weight, old[rows]))[:_TRIED]
    rows, at = rows[order], at[order]
    kept = _placed(at, _HALF * size, _APART * size, out.taken)
    rows, at = rows[kept], at[kept]
    room, width = at[:, 6] / size, names.width[rows]
    strength = _FAINTEST + (1 - _FAINTEST) * np.clip((at[:, 7] - 1) / (_CLEAR - 1), 0.0, 1.0)
    said: list[str] = list(map(names.text.__getitem__, rows.tolist()))
    short = np.flatnonzero(width > room)
    if len(short):
        of_whole, width, strength = width, width.copy(), strength.copy()
        starts, width[short] = names.within(rows[short], room[short], measure)
        for k, start in zip(short.tolist(), starts):
            said[k] = start
        strength[short] = _SHORTENED
        # It stands in the room as the whole would.
        spare = np.minimum(of_whole, room) - width
        at[short, 3] += (spare * size * (names.align[rows] + 1) / 2)[short]
        if not all(starts):
            kept = np.array(list(map(bool, said)))
            rows, at, width, strength = rows[kept], at[kept], width[kept], strength[kept]
            said = [text for text in said if text]
    left, low, wide = at[:, 3], at[:, 4] - 0.35 * size, width * size
    plate = np.full(len(rows), -1)
    for k in np.flatnonzero(names.ink[rows, 0] < 0).tolist():
        plate[k] = len(out.fills)
        out.put_plate(float(left[k]), float(low[k]), size, float(wide[k]), theme)
    ink = np.where(names.ink[rows] < 0, theme.ink, names.ink[rows])
    # As ``out.write`` does, of hundreds in each picture: no line of Python runs for each.
    colors = map(tuple, np.column_stack([ink, strength]).tolist())
    boxes = map(tuple, np.column_stack([left, low - 0.25 * size, left + wide, low + 0.85 * size]).tolist())
    keys = list(map(names.keys.__getitem__, rows.tolist()))
    out.names.update(zip(keys, said))
    number = range(len(out.texts), len(out.texts) + len(rows))
    out.lettered.update(zip(keys, zip(number, plate.tolist(), at[:, 7].tolist())))
    lines = zip(said, left.tolist(), low.tolist(), repeat(size), colors, repeat("name"), boxes)
    out.texts.extend(map(Text._make, lines))


def _placed(at: Floats, half: float, margin: float, taken: Sequence[Rectangle]) -> NDArray[np.bool_]:
    """Return which lines of text, of :func:`.find_names`, are shown: the first come keeps its place."""
    fixed = np.array(taken, np.float32).reshape(-1, 4)
    start, y = at[:, 3], at[:, 4]
    box = np.column_stack([start, y - half, start + at[:, 5], y + half]).astype(np.float32)
    kept = np.zeros(len(fixed) + len(box), np.bool_)
    head, after = np.empty(_LISTS, np.int32), np.empty(len(kept), np.int32)
    place(np.concatenate([fixed, box]), len(fixed), margin, MOST, head, after, kept)
    return kept[len(fixed) :]


def standing_on(
    names: Prepared, selectors: Iterable[Selector], boxes: Sequence[tuple[Floats, Floats]]
) -> NDArray[np.bool_]:
    """Return which names are those of some elements: they stand on their colours, or beside them.

    Parameters
    ----------
    names : Prepared
    selectors : iterable of Selector
        What the elements are.
    boxes : sequence of (float64 (m, 3), float64 (m, 3))
        Lowest and highest coordinates of the elements.

    Returns
    -------
    bool (n,)
    """
    found = np.zeros(len(names), np.bool_)
    for selector in selectors:
        found |= (names.on >= 0) & selector.has_color(names.on)
    low, high = (np.concatenate([np.empty((0, 3)), *(box[k] for box in boxes)]) for k in (0, 1))
    ground = np.flatnonzero(names.on < 0)
    if not len(low):
        return found
    near = _BESIDE * np.linalg.norm(names.top - names.anchor, axis=1)
    for begin in range(0, len(ground), max(_AT_ONCE // len(low), 1)):
        some = ground[begin : begin + max(_AT_ONCE // len(low), 1)]
        at, reach = names.anchor[some, None], near[some, None, None]
        found[some] = ((low - reach <= at) & (at <= high + reach)).all(axis=2).any(axis=1)
    return found


def _unit(vector: tuple[float, float, float]) -> Floats:
    v = np.asarray(vector, np.float64)
    return v / max(float(np.linalg.norm(v)), 1e-12)
