"""Title, facts and legends at the top left of the window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..drawing.primitives import Legend
from ..layout.lettering import whole_phrase
from .items import Choices, Color, Measure, Overlay, Rectangle, Target, Theme, fitted
from .ramps import ramp_parts

#: Sizes of the type: of a legend's rows, of the widest panel, and of swatches.
_ROW, _WIDEST, _SWATCH = 1.55, 24.0, 0.85
_TITLE = 1.55
#: Maximum share of the height for legends.
_SHARE = 0.45
#: Of legends in lines: how many of these there are at most, the longest text in sizes of the type, and their
#: maximum share of the height.
_LINES, _LONGEST, _LOW = 3, 22.0, 0.16
#: Lightening of the row of an entry that is chosen or under the mouse.
_LIT = 0.16
_SEPARATOR = "   ·   "


def lay_title(
    title: str, facts: tuple[str, ...], free: Rectangle, theme: Theme, measure: Measure, out: Overlay
) -> float:
    """Add the title, and one line of facts below it.

    Parameters
    ----------
    title : str
    facts : tuple of str
        As many as fit into the line.
    free : Rectangle
    theme : Theme
    measure : Measure
    out : Overlay

    Returns
    -------
    float
        The lower edge of what was added.
    """
    left, _, right, top = free
    size, small = theme.type * _TITLE, theme.type
    room, y = right - left, top
    if words := whole_phrase(title, room / size, measure) or fitted(title, room, size, measure):
        y -= size
        out.put_plate(left, y, size, measure(words) * size, theme)
        out.write(words, left, y, size, (*theme.ink, 1.0), "title", measure(words) * size)
        out.taken.append(out.texts[-1].box)
        y -= 0.5 * size
    line = ""
    for fact in facts:
        longer = f"{line}{_SEPARATOR}{fact}" if line else fact
        if measure(longer) * small <= room:
            line = longer
        elif not line:
            line = fitted(fact, room, small, measure)
            break
    if line:
        y -= 0.9 * small
        out.put_plate(left, y, small, measure(line) * small, theme)
        out.write(line, left, y, small, (*theme.muted, 1.0), "fact", measure(line) * small)
        out.taken.append(out.texts[-1].box)
        y -= 0.6 * small
    return y


def lay_legends(
    legends: tuple[Legend, ...],
    palette: NDArray[np.float32],
    free: Rectangle,
    top: float,
    choices: Choices,
    theme: Theme,
    measure: Measure,
    out: Overlay,
    across: float = 0.0,
) -> None:
    """Add the legends as a list below the title, or as lines of entries one beside the other.

    Parameters
    ----------
    legends : tuple of Legend
    palette : float32 (k, 4)
    free : Rectangle
    top : float
        Where the list begins.
    choices : Choices
    theme : Theme
    measure : Measure
    out : Overlay
    across : float
        Pixels that lines may be wide; 0: a list.
    """
    if not legends:
        return
    size = theme.type
    row, pad, swatch = _ROW * size, 0.7 * size, _SWATCH * size
    left = free[0]
    if across and not any(legend.ramp for legend in legends):
        _lay_lines(legends, palette, (left, free[1], left + across, top), choices, theme, measure, out)
        return
    room = min(_WIDEST * size, free[2] - left)
    lowest = max(free[1] + 3 * size, free[3] - _SHARE * (free[3] - free[1]))
    if top - lowest < 2 * row or room < 8 * size:
        return
    most = max(int((top - lowest - 2 * pad) / row), 2)
    folded = _folded(legends, most) ^ choices.folded
    rows: list[tuple[int, int, str]] = []  # legend, entry (-1: its heading, -2: a ramp), words
    for k, legend in enumerate(legends):
        words = legend.title or ("Colours" if len(legends) > 1 or not rows else "")
        rows.append((k, -1, words))
        if k in folded:
            continue
        rows += [(k, i, entry.text) for i, entry in enumerate(legend.entries)]
        if legend.ramp is not None:
            rows.append((k, -2, ""))
    if len(rows) > most:
        rows = [*rows[: most - 1], (-1, -3, f"{len(rows) - most + 1} more")]
    inner = room - 2 * pad
    texts = [
        fitted(words, inner - (0 if entry < 0 else 1.6 * swatch), size, measure) for _, entry, words in rows
    ]
    wide = max(
        measure(text) * size + (1.6 * swatch if entry >= 0 else 1.4 * size if entry == -1 else 0)
        for (_, entry, _), text in zip(rows, texts)
    )
    if any(entry == -2 for _, entry, _ in rows):
        wide = max(wide, 13 * size)
    wide = min(wide, inner)
    panel = (left, top - 2 * pad - row * len(rows), left + wide + 2 * pad, top)
    out.fills.append((panel, theme.panel))
    out.taken.append(panel)
    out.targets.append(Target(panel, "panel", ()))
    y = top - pad
    for (k, entry, _), text in zip(rows, texts):
        y -= row
        base = y + 0.4 * size
        box = (panel[0], y, panel[2], y + row)
        x = left + pad
        if entry >= 0:
            _lay_entry(k, entry, legends[k], palette, box, pad, text, choices, theme, measure, out)
        elif entry == -2:
            _lay_ramp(k, legends[k], palette, (x, y, x + wide, y + row), choices, theme, measure, out)
        else:
            out.write(text, x, base, size, theme.panel_muted, "legend", measure(text) * size)
            if entry == -1:
                _lay_sign(k, k in folded, box, panel[2] - pad, theme, measure, out)


def _lay_entry(
    k: int, entry: int, legend: Legend, palette: NDArray[np.float32], box: Rectangle, pad: float, text: str,
    choices: Choices, theme: Theme, measure: Measure, out: Overlay,
) -> None:  # fmt: skip
    """Add an entry of legend ``k`` in a box."""
    size, swatch = theme.type, _SWATCH * theme.type
    x, base = box[0] + pad, box[1] + 0.4 * size
    chosen = (k, entry) in choices.chosen
    if chosen or (k, entry) in choices.lit:
        out.fills.append((box, (*theme.panel_ink[:3], _LIT)))
    if chosen:
        out.fills.append(((box[0], box[1], box[0] + 0.25 * pad, box[3]), theme.accent))
    shown = legend.entries[entry]
    low = base - 0.05 * size
    out.fills.append(((x, low, x + swatch, low + swatch), _solid(palette[shown.color])))
    if shown.look == "cluster":
        # Grooves, as clusters have.
        for at in (0.28, 0.62):
            groove = (x, low + at * swatch, x + swatch, low + (at + 0.12) * swatch)
            out.fills.append((groove, theme.panel))
    ink = theme.panel_ink if chosen or not choices.chosen else theme.panel_muted
    out.write(text, x + 1.6 * swatch, base, size, ink, "legend", measure(text) * size)
    out.targets.append(Target(box, "entry", (k, entry)))


def _lay_sign(
    k: int, folded: bool, box: Rectangle, right: float, theme: Theme, measure: Measure, out: Overlay
) -> None:
    """Add what says whether a legend is folded, where ``right`` is its right end, and can be clicked."""
    # A triangle would need a glyph that not all fonts have.
    sign, size = "+" if folded else "–", theme.type
    wide = measure(sign) * size
    out.write(sign, right - wide, box[1] + 0.4 * size, size, theme.panel_muted, "legend", wide)
    out.targets.append(Target(box, "legend", (k,)))


def _lay_lines(
    legends: tuple[Legend, ...], palette: NDArray[np.float32], free: Rectangle, choices: Choices,
    theme: Theme, measure: Measure, out: Overlay,
) -> None:  # fmt: skip
    """Add the legends as lines from the top of ``free``, each with its title; what has no room is left."""
    size = theme.type
    row, pad = _ROW * size, 0.6 * size
    if free[2] - free[0] < 8 * size or free[3] - free[1] < (_LINES + 2) * row:
        return
    most = min(_LINES, max(int(_LOW * (free[3] - free[1]) / row), 1))
    placed: list[tuple[int, int, str, float, float, float]] = []  # legend, entry, text, x, line, width
    x, line = 0.0, 0
    for k, legend in enumerate(legends):
        items = [(-1, legend.title or "colours")]
        if k not in choices.folded:
            items += [(i, entry.text) for i, entry in enumerate(legend.entries)]
        for entry, words in items:
            beside = 1.6 * _SWATCH * size if entry >= 0 else 1.4 * size
            text = fitted(words, _LONGEST * size, size, measure)
            wide = measure(text) * size + beside + 2 * pad
            if x and x + wide > free[2] - free[0]:
                x, line = 0.0, line + 1
            if line < most:
                placed.append((k, entry, text, x, line, wide))
            x += wide
    reach = max(at + wide for *_, at, _, wide in placed)
    lines = int(max(one[4] for one in placed)) + 1
    panel = (free[0], free[3] - row * lines, free[0] + reach, free[3])
    out.fills.append((panel, theme.panel))
    out.taken.append(panel)
    out.targets.append(Target(panel, "panel", ()))
    for k, entry, text, at, where, wide in placed:
        low = free[3] - (where + 1) * row
        box = (free[0] + at, low, free[0] + at + wide, low + row)
        if entry >= 0:
            _lay_entry(k, entry, legends[k], palette, box, pad, text, choices, theme, measure, out)
            continue
        base = low + 0.4 * size
        out.write(text, box[0] + pad, base, size, theme.panel_muted, "legend", measure(text) * size)
        _lay_sign(k, k in choices.folded, box, box[2] - pad, theme, measure, out)


def _folded(legends: tuple[Legend, ...], most: int) -> frozenset[int]:
    """Return which legends are folded at first, so that all take no more rows: the last ones."""
    rows = [1 + len(legend.entries) + (legend.ramp is not None) for legend in legends]
    found: set[int] = set()
    for k in range(len(legends) - 1, 0, -1):
        if sum(rows) <= most:
            break
        found.add(k)
        rows[k] = 1
    return frozenset(found)


def _lay_ramp(
    k: int, legend: Legend, palette: NDArray[np.float32], box: Rectangle, choices: Choices, theme: Theme,
    measure: Measure, out: Overlay,
) -> None:  # fmt: skip
    """Add the ramp of legend ``k``, the parts of which answer the mouse as entries do."""
    size = theme.type
    first, last = legend.ramp or (0, 0)
    x, y, wide, row = box[0], box[1], box[2] - box[0], box[3] - box[1]
    low, high = y + 0.62 * row, y + 0.95 * row
    steps = 32
    for s in range(steps):
        color = palette[round(first + (last - first) * s / (steps - 1))]
        a, b = x + wide * s / steps, x + wide * (s + 1) / steps
        out.fills.append(((a, low, b + 0.5, high), _solid(color)))
    for i, part in enumerate(ramp_parts(legend), len(legend.entries)):
        begin, end = part.selector.colors[0]
        a, b = (x + wide * (at - first) / (last - first + 1) for at in (begin, end + 1))
        out.targets.append(Target((a, low, b, high), "entry", (k, i)))
        if (k, i) in choices.chosen or (k, i) in choices.lit:
            ink = theme.accent if (k, i) in choices.chosen else theme.panel_ink
            thick = max(round(0.15 * size), 1)
            out.fills += [((a, low - thick, b, low), ink), ((a, high, b, high + thick), ink)]
    taken = -np.inf
    for at, text in zip(legend.ramp_tick, legend.ramp_text):
        across = measure(text) * size
        left = min(max(x + at * wide - across / 2, x), x + wide - across)
        if left >= taken + 0.5 * size:
            out.write(text, left, y + 0.05 * row, size, theme.panel_muted, "legend", across)
            taken = left + across


def _solid(color: NDArray[np.float32]) -> Color:
    r, g, b = (float(v) for v in color[:3])
    return r, g, b, 1.0
