"""The colours of tracks: quiet for single series, shades of one for causes, an icicle's for modules."""

from __future__ import annotations

import numpy as np

from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import OTHER, PALETTES, Colors, parse
from ..tracks import Track

#: A single series: quiet.
_QUIET = parse("6f8196")[0]
#: Bands of waits, from what matters most to what matters least.
_SHADES = {"waits": parse("a93226 f5c6ac")}
#: The colour of what a reader should notice.
FINDING: Colors = np.array([0.93, 0.38, 0.09, 1.0], np.float32)


def band_colors(drawing: DrawingBuilder, track: Track, palette: str) -> list[int]:
    """Add the colours of a track's bands to a drawing; return their palette indices.

    Parameters
    ----------
    drawing : DrawingBuilder
    track : Track
    palette : str
        That modules take theirs from.

    Returns
    -------
    list of int
        One for each band.
    """
    if track.key in _SHADES:
        ends, named = _SHADES[track.key], max(sum(band.color >= 0 for band in track.bands), 1)
        share = np.linspace(0.0, 1.0, max(named, 2))[:, None].astype(np.float32)
        first = drawing.color(ends[0] + (ends[1] - ends[0]) * share)
    elif track.key == "modules":
        first = drawing.color(PALETTES[palette].kinds)
    else:
        return [drawing.color(_QUIET)] * len(track.bands)
    other = drawing.color(OTHER)
    return [first + band.color if band.color >= 0 else other for band in track.bands]
