"""Colours of blocks: by kind, bright where they were just touched, and apart from their neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.palettes import OTHER, PALETTES, Paint, parse
from ....drawing.primitives import Legend, LegendEntry
from ....drawing.selector import Selector
from ....trace.cached_results import cached_with_trace
from ....trace.model import Trace
from ..findings import GRID, cohorts
from ..summary import moment, name_of
from .arrangement import Order, arranged, memory_use, order_of
from .layout import Layout
from .story import members, story

Indices = NDArray[np.int32]

#: Blue and green of Memcov Viz (figure 2.16).
_TURN = parse("3b6fb6 4e9a51")
#: What a picture about one finding lights.
_STORY = np.array([0.84, 0.37, 0.0, 1.0], np.float32)
#: Colour and degree of fading of idle memory; darkening of every second neighbour, and lightening of ribs.
_FADED, _FADE, _DARKER, _RIB = np.array([0.80, 0.81, 0.83]), 0.6, 0.88, 0.35
#: Shades of one kind: by whether it is merged, whether it is idle, and which neighbour or rib it is.
_SHADES = 8


@dataclass(frozen=True, eq=False)
class BlockColors:
    """Colours of items.

    Attributes
    ----------
    kind : int32 (items,)
        Of each item; ``grey`` where it is of several.
    first : int
        Palette index of the first kind's first shade.
    grey : int
    legends : tuple of Legend
    """

    kind: Indices
    first: int
    grey: int
    legends: tuple[Legend, ...]

    def shade(self, item: NDArray[np.int64], alone: NDArray[np.bool_], idle: NDArray[np.bool_],
              second: NDArray[np.bool_]) -> Indices:  # fmt: skip
        """Return palette indices of pieces of items.

        Parameters
        ----------
        item : int64 (n,)
            That of each piece.
        alone : bool (n,)
            Whether it is one block.
        idle : bool (n,)
            Whether it is a piece without a touch.
        second : bool (n,)
            Every second item, so that neighbours differ.

        Returns
        -------
        int32 (n,)
        """
        shade = 4 * ~alone + 2 * idle + second
        return (self.first + _SHADES * self.kind[item] + shade).astype(np.int32)


def block_colors(picture: Layout, paint: Paint) -> BlockColors:
    """Choose the kinds, and put their shades into the palette.

    Parameters
    ----------
    picture : Layout
    paint : Paint
        It gets the colours.

    Returns
    -------
    BlockColors
    """
    p, items, use = picture.parameters, picture.items, picture.use
    chosen = PALETTES[p.palette]
    most = min(p.entries, len(chosen.kinds))
    entries: list[str]
    found = story(use, p)
    if found is not None:
        colors = _STORY[None]
        inside = members(use, found)[picture.arrangement.pyramid.order]
        counted = np.concatenate([[0], np.cumsum(inside)])
        share = counted[items.stop] - counted[items.first]
        kind = np.where(2 * share >= np.maximum(items.stop - items.first, 1), 0, 1).astype(np.int32)
        entries, title = [name_of(found, use)], "This finding"
    elif p.color == "turn":
        colors = _TURN
        kind = np.where(items.alone, np.arange(len(items)) % 2, 2).astype(np.int32)
        entries, title = ["a block", "its neighbour"], "Blocks"
    elif p.color == "none":
        colors = chosen.kinds[:1]
        kind, entries, title = np.zeros(len(items), np.int32), ["a block"], "Blocks"
    else:
        entries, title, mine, changes = _ranked(picture.trace, order_of(p, picture.window), p.color, most)
        colors = chosen.kinds[: len(entries)]
        same = changes[items.first] == changes[items.stop - 1] if len(items) else np.zeros(0, np.bool_)
        kind = np.where(same, mine[items.first] if len(items) else 0, len(entries)).astype(np.int32)
    grey = len(colors)
    if p.merged == "grey" or p.color == "turn":
        kind = np.where(items.alone, kind, grey).astype(np.int32)
    first = paint.add(_shades(np.vstack([colors, OTHER[None]])))

    def of(kinds: range, *shades: int) -> Selector:
        """Return the blocks of some kinds in some shades; of none: in all."""
        begin = [first + _SHADES * kind for kind in kinds]
        if not shades:
            return Selector(tuple((b, b + _SHADES - 1) for b in begin))
        return Selector(tuple((b + shade, b + shade + 1) for b in begin for shade in shades))

    lines = [
        LegendEntry(text, first + _SHADES * i, stands_for=of(range(i, i + 1)))
        for i, text in enumerate(entries)
    ]
    if (items.alone & (kind == grey)).any():
        lines.append(LegendEntry("others", first + _SHADES * grey, stands_for=of(range(grey, grey + 1))))
    if found is not None:
        # One colour is lit, everything else is grey: that needs no more words.
        return BlockColors(kind, first, grey, (Legend(title, tuple(lines[:1])),))
    legends = [Legend(title, tuple(lines))]
    signs = []
    if (~items.alone).any():
        text = "several blocks, each too narrow to be seen"
        several = of(range(grey + 1), 4, 6)
        signs.append(LegendEntry(text, first + _SHADES * grey + 4, "cluster", several))
    accessed = "accessed or allocated" if len(use.blocks.access) else "allocated"
    unit = f"{picture.recent:,} records" if not use.has_times else units.duration(picture.recent)
    used, idle = of(range(grey + 1), 0, 4), of(range(grey + 1), 2, 6)
    signs.append(LegendEntry(f"{accessed} within the last {unit}", first, stands_for=used))
    signs.append(LegendEntry("idle since then", first + 2, stands_for=idle))
    legends.append(Legend("Shades", tuple(signs)))
    return BlockColors(kind, first, grey, tuple(legends))


@cached_with_trace(most=4)
def _ranked(
    trace: Trace, by: Order, color: str, most: int
) -> tuple[list[str], str, Indices, NDArray[np.int64]]:
    """Return the names of the kinds that get colours, what kinds are, and of each position the kind's place.

    Last comes how often the kind changes before a position: an item between two changes is of one kind.
    """
    order = arranged(trace, *by).pyramid.order
    size = memory_use(trace).blocks.size
    of, names, title = _kinds(trace, color)
    weight = np.bincount(of[order], size[order], len(names))
    best = np.argsort(-weight, kind="stable")[:most]
    best = best[weight[best] > 0]
    rank = np.full(len(names) + 1, len(best), np.int32)
    rank[best] = np.arange(len(best))
    mine = rank[of[order]]
    changes = np.concatenate([[0], np.cumsum(mine[1:] != mine[:-1])]) if len(mine) else np.zeros(1, np.int64)
    return [names[i] for i in best.tolist()], title, mine, changes


def _kinds(trace: Trace, color: str) -> tuple[Indices, list[str], str]:
    """Return the kind of each block, the kinds' names, and their meaning."""
    use = memory_use(trace)
    if color == "thread":
        of = trace.memory.thread[use.blocks.row].astype(np.int32)
        threads = [trace.threads.title(t) for t in range(len(trace.threads))]
        return np.where(of < 0, len(threads), of).astype(np.int32), [*threads, "thread unknown"], "Threads"
    if color == "cohort":
        of, keys = cohorts(use.blocks)
        end = use.blocks.end
        names = []
        for key in keys.tolist():
            born, died = divmod(key, GRID + 1)
            until = ", not freed" if died == GRID else f" to {moment((died + 1) * end // GRID, use)}"
            names.append(f"{moment(born * end // GRID, use)}{until}")
        return of, names, "Same lifetime, from"
    share = use.blocks.sums(use.sites.of_block, len(use.sites), lambda part: use.blocks.size[part])
    names = [f"{name}  {units.byte_size(n)}" for name, n in zip(use.sites.name, share.tolist(), strict=True)]
    return use.sites.of_block, names, "Call site, bytes allocated"


def _shades(colors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the shades of each colour, (kinds * _SHADES, 4)."""
    out = np.repeat(colors[:, None], _SHADES, axis=1).astype(np.float64)
    for shade in range(_SHADES):
        together, idle, second = bool(shade & 4), bool(shade & 2), bool(shade & 1)
        rgb = out[:, shade, :3]
        if idle:
            rgb += _FADE * (_FADED - rgb)
        if second and together:
            rgb += _RIB * (1.0 - rgb)
        elif second:
            rgb *= _DARKER
    return out.reshape(-1, 4).astype(np.float32)
