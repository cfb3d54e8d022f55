"""One legend for several drawings, in which a name has the same colour everywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Drawing, Legend, LegendEntry, Look

#: A share or an amount behind a name differs from drawing to drawing: ``parser 12 %``.
_AMOUNT = re.compile(r"\s+[<>≈~]?\s?[\d.,]+\s?(%|[kMG]i?B|B|ns|[µμ]s|ms|s|min|h)$")
#: Names of the entry for everything that has no colour of its own.
_OTHERS = re.compile(r"^\d+ others?$|^others?$")
_OTHER = "other"
#: Colours closer than this can't be distinguished.
_CLOSE = 0.12


@dataclass
class _Row:
    """A line of the shared legend."""

    name: str
    color: NDArray[np.float32]
    look: Look


def name_of(text: str) -> str:
    """Return the name in an entry of a legend, without its amount.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> name_of("parser 12 %"), name_of("20 other 1.4 %"), name_of("waits")
    ('parser', 'other', 'waits')
    """
    text = _AMOUNT.sub("", text)
    return _OTHER if _OTHERS.match(text) else text


def share(drawings: Sequence[Drawing]) -> tuple[list[Drawing], Drawing | None]:
    """Give each name in the drawings' legends the same colour everywhere, and remove these legends.

    Parameters
    ----------
    drawings : sequence of Drawing

    Returns
    -------
    list of Drawing
        Without the legends that at least two of them have; a name has the colour that it has in the first.
    Drawing or None
        What holds the shared legends, and nothing else; None if there are none.
    """
    counts: dict[str, int] = {}
    for drawing in drawings:
        for title in {legend.title for legend in drawing.legends if legend.ramp is None}:
            counts[title] = counts.get(title, 0) + 1
    shared = [title for title, count in counts.items() if count > 1]
    if not shared:
        return list(drawings), None
    rows: dict[str, dict[str, _Row]] = {title: {} for title in shared}
    out = []
    for drawing in drawings:
        palette = drawing.palette.copy()
        for legend in drawing.legends:
            if legend.title in rows and legend.ramp is None:
                _join(legend, palette, rows[legend.title])
        kept = tuple(legend for legend in drawing.legends if legend.title not in rows or legend.ramp)
        out.append(replace(drawing, palette=palette, legends=kept))
    colors: list[NDArray[np.float32]] = []
    legends = []
    for title, found in rows.items():
        entries = tuple(
            LegendEntry(row.name, len(colors) + i, row.look) for i, row in enumerate(found.values())
        )
        colors += [row.color for row in found.values()]
        legends.append(Legend(title, entries))
    first = drawings[0]
    empty = Drawing(np.array(colors, np.float32), (), first.camera, legends=tuple(legends))
    return out, empty


def _join(legend: Legend, palette: NDArray[np.float32], rows: dict[str, _Row]) -> None:
    """Give entries the colours of their names in ``rows``; add new names, in colours that are free."""
    new: list[tuple[str, LegendEntry]] = []
    mine = {entry.color for entry in legend.entries}
    before = palette.copy()
    for entry in legend.entries:
        name = name_of(entry.text)
        if name in rows:
            palette[entry.color] = rows[name].color
        else:
            new.append((name, entry))
    free = [before[i] for i in sorted(mine)]
    # Such entries are distinguished by pattern and transparency, not by colour.
    plain = [entry for entry in new if entry[1].look == "solid"]
    for name, entry in (entry for entry in new if entry[1].look != "solid"):
        rows[name] = _Row(name, before[entry.color].copy(), entry.look)
    for name, entry in plain:
        taken = [row.color for row in rows.values() if row.look == "solid"]
        choice = next((c for c in (before[entry.color], *free) if not _is_taken(c, taken)), None)
        if choice is None and _OTHER in rows:
            # There are more names than colours.
            palette[entry.color] = rows[_OTHER].color
            continue
        palette[entry.color] = before[entry.color] if choice is None else choice
        rows[name] = _Row(name, palette[entry.color].copy(), entry.look)


def _is_taken(color: NDArray[np.float32], taken: Sequence[NDArray[np.float32]]) -> bool:
    return any(float(np.abs(color[:3] - other[:3]).max()) < _CLOSE for other in taken)
