"""Texts in front of a live view's camera: title, foot and legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.frame import Frame
from ...drawing.primitives import Legend
from ..camera import Pane, View
from ..text.glyphs import typeface
from .texts import Srgb, TextMesh

FRAME = Frame(1920, 1080)
#: Characters of an entry of the legend.
_LONGEST = 60


class Sheet:
    """The texts on the pane in front of the camera, in pixels of the frame.

    Parameters
    ----------
    view : View
        The camera's.
    """

    def __init__(self, view: View) -> None:
        self._pane, self.mesh = Pane.of(view), TextMesh()
        self.mesh.flat = True

    def put(self, text: str, left: float, base: float, size: float, srgb: Srgb, room: float = 0.0) -> float:
        """Write a text.

        Parameters
        ----------
        text : str
        left, base : float
            Where its baseline begins.
        size : float
            Line height.
        srgb : sequence of float
        room : float
            It is shortened to this; 0: it isn't.

        Returns
        -------
        float
            How long it is, before it is shortened.
        """
        unit = self._pane.unit
        at = self._pane.local(np.array([[left, base]]))[0]
        self.mesh.add(text, at, size * unit, srgb, room * unit, -1)
        return self.mesh.width(typeface()) / unit

    def patch(self, left: float, base: float, srgb: Any) -> None:
        """Fill a small square.

        Parameters
        ----------
        left, base : float
            It begins there, 3 pixels lower.
        srgb : sequence of float
        """
        corner = np.array(
            [[left, base - 3], [left + 18, base - 3], [left + 18, base + 15], [left, base + 15]]
        )
        self.mesh.patch(self._pane.local(corner), srgb)


def title_and_foot(view: View, title: str, notes: Sequence[str], ink: Srgb, muted: Srgb) -> Sheet:
    """Return a sheet with the title, and notes at the foot.

    Parameters
    ----------
    view : View
    title : str
    notes : sequence of str
        Empty ones are left out.
    ink, muted : sequence of float
        sRGB of the title and of the notes.

    Returns
    -------
    Sheet
    """
    sheet, wide = Sheet(view), FRAME.width - 120
    sheet.put(title, 60, FRAME.height - 74, 44, ink, wide)
    sheet.put("  ·  ".join(note for note in notes if note), 60, 40, 25, muted, wide)
    return sheet


def legend_sheet(view: View, legend: Legend, palette: NDArray[np.float32], ink: Srgb) -> Sheet:
    """Return a sheet with the legend, in two rows at most.

    Parameters
    ----------
    view : View
    legend : Legend
        Entries without room are left out.
    palette : float32 (k, 4)
        sRGB.
    ink : sequence of float
        sRGB of the texts.

    Returns
    -------
    Sheet
    """
    sheet = Sheet(view)
    left, base = 60.0, FRAME.height - 124.0
    for entry in legend.entries:
        wanted = 46 + 14.5 * min(len(entry.text), _LONGEST)
        if left + wanted > FRAME.width - 60:
            left, base = 60.0, base - 34
            if base < FRAME.height - 170:
                break
        sheet.patch(left, base, palette[min(entry.color, len(palette) - 1), :3])
        left += 28 + sheet.put(entry.text[:_LONGEST], left + 26, base, 28, ink) + 26
    return sheet
