"""Names in the window: which are shown, how much of each, and where; none overlaps another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..drawing.primitives import Labels
from ..drawing.selector import Selector
from ..kernels.layout.placing import place
from ..layout.sight.affine import Floats
from ..layout.sight.view_projection import ViewProjection
from .items import Color, Measure, Overlay, Rectangle, Theme, fitted

#: Names on the screen at once, and candidates that are tried, at most.
MOST, _TRIED = 400, 2400
#: A name appears where it has so much more room than it needs, and stays until it no longer fits: it does not
#: flicker while the view moves.
_APPEARS = 1.15
#: With so much more room than it needs a name is drawn in full strength.
_CLEAR, _FAINTEST = 1.3, 0.7
#: Least height, in sizes of the type, of the line that the drawing gave a name: on an element, and beside it.
_LEAST_ON, _LEAST_BESIDE = 0.75, 0.3
#: How much a name that is shown counts in its favour.
_STAYS = 1.5
#: A name on the ground is of an element no farther away than so many lines of it; pairs compared at once.
_BESIDE, _AT_ONCE = 2.0, 1_000_000
#: Kinds of texts that are numbers of a scale.
_SCALES = frozenset({"ruler"})
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

    def __len__(self) -> int:
        return len(self.text)


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
    columns: list[list[Any]] = [[] for _ in range(13)]
    texts: list[str] = []
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
            ),
        ):
            column.append(values)
    shapes = [(0,), (0,), (0,), (0, 3), (0, 3), (0, 3), (0, 3), (0,), (0,), (0,), (0, 3), (0,), (0,)]
    kinds = [
        np.int32, np.int32, float, float, float, float, float, np.bool_, np.int8, float, float, np.int32,
        np.bool_,
    ]  # fmt: skip
    found = [
        np.concatenate(column) if column else np.empty(shape, kind)
        for column, shape, kind in zip(columns, shapes, kinds)
    ]
    group_of, row, width, *others = found
    return Prepared(group_of, row, texts, width, *others)


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
    """
    if not len(names):
        return
    size = theme.type
    left, bottom, right, top = free
    at, depth = eye.project(names.anchor)
    above, _ = eye.project(names.top)
    with np.errstate(invalid="ignore"):
        high = np.hypot(*(above - at).T)
        least = np.where(names.ink[:, 0] >= 0, _LEAST_ON, _LEAST_BESIDE) * size
        least[names.small] = _LEAST_ON * size
        # Cheap tests first: of many names few are in sight.
        possible = np.flatnonzero((high >= least) & (np.True_ if allowed is None else allowed))
    low_end, _ = eye.project(names.end_low[possible])
    high_end, _ = eye.project(names.end_high[possible])
    bound = names.bound[possible]
    a, b = np.minimum(low_end, high_end), np.maximum(low_end, high_end)
    x0, x1 = np.clip(a[:, 0], left, right), np.clip(b[:, 0], left, right)
    wide = names.width[possible] * size
    place_x, place_y = at[possible, 0].copy(), at[possible, 1]
    # Where the room runs across the screen rather than along it only its height counts.
    steep = bound & (np.abs(high_end - low_end)[:, 1] > np.abs(high_end - low_end)[:, 0])
    room = np.where(bound & ~steep, x1 - x0, np.inf)
    room = np.where(steep, 1.5 * high[possible], room)
    shown_width = np.minimum(wide, room)
    align = names.align[possible]
    # A name stays in sight as long as a part of its element is: it slides along it.
    slides = bound & ~steep
    start = np.where(
        align < 0, place_x, np.where(align > 0, place_x - shown_width, place_x - shown_width / 2)
    )
    with np.errstate(invalid="ignore"):
        start = np.where(slides, np.clip(start, x0, np.maximum(x1 - shown_width, x0)), start)
        fits = np.where(slides | steep, room / np.maximum(wide, 1e-9), np.inf)
        fits = np.minimum(fits, high[possible] / least[possible])
        inside = (
            (start >= left) & (start + shown_width <= right)
            & (place_y - 0.6 * size >= bottom) & (place_y + 0.6 * size <= top)
        )  # fmt: skip
    keys = list(zip(names.group[possible].tolist(), names.row[possible].tolist()))
    known = np.array([key in before for key in keys], np.bool_) if before else np.zeros(len(keys), np.bool_)
    # Shortened to a few characters a name may still stand where all of it does not fit.
    shortest = np.minimum(wide, 4.5 * size)
    enough = np.where(slides, room >= shortest * np.where(known, 1.0, _APPEARS), True) & (fits > 0)
    rows = np.flatnonzero(inside & enough)
    if sight is not None and len(rows):
        rows = rows[sight(at[possible[rows]], depth[possible[rows]])]
    order = np.lexsort((rows, -names.rank[possible[rows]] * np.where(known[rows], _STAYS, 1.0)))[:_TRIED]
    rows = rows[order]
    if not len(rows):
        return
    fixed = np.array(out.taken, np.float32).reshape(-1, 4)
    box = np.column_stack(
        [start[rows], place_y[rows] - 0.6 * size, start[rows] + shown_width[rows], place_y[rows] + 0.6 * size]
    ).astype(np.float32)
    kept = np.zeros(len(fixed) + len(box), np.bool_)
    place(np.ascontiguousarray(np.concatenate([fixed, box])), len(fixed), 0.25 * size, MOST, kept)
    for i in rows[kept[len(fixed) :]].tolist():
        row = int(possible[i])
        text = names.text[row]
        if wide[i] > room[i]:
            text = fitted(text, float(room[i]), size, measure)
            if not text:
                continue
        across = min(float(wide[i]), measure(text) * size)
        ink = names.ink[row]
        strength = min(max((float(fits[i]) - 1) / (_CLEAR - 1), 0.0), 1.0)
        color: Color = (
            *((float(ink[0]), float(ink[1]), float(ink[2])) if ink[0] >= 0 else theme.ink),
            _FAINTEST + (1 - _FAINTEST) * strength if text == names.text[row] else 0.85,
        )
        out.write(text, float(start[i]), float(place_y[i]) - 0.35 * size, size, color, "name", across)
        out.names[keys[i]] = text


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
