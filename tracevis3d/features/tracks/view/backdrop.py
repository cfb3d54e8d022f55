"""Tracks, or the mural, as a wall behind another view on the same axis of time."""

from __future__ import annotations

from dataclasses import replace

from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import BASE
from ....drawing.primitives import Axis, Legend, LegendEntry
from ....drawing.shorthand import boxes, texts
from ....trace.model import Trace
from ....views.everywhere.behind import Wall
from ....views.time_window import WIDTH
from ..tracks import Track, chosen
from . import mural
from .colors import band_colors
from .layout import SHARE, Layout, cell_edges
from .parameters import Parameters
from .wall import Strip, draw_strips, ruler, strips_of

#: Thickness of the wall and of what is on it.
_PLATE = 0.05
#: Columns of pixels a cell of the mural has.
_COARSE = 2.0


def backdrop(drawing: DrawingBuilder, trace: Trace, what: str, wall: Wall) -> None:
    """Draw tracks of a trace on a wall, above each other.

    Parameters
    ----------
    drawing : DrawingBuilder
        What they are added to.
    trace : Trace
    what : str
        Names of tracks with commas between them; ``mural`` for the mural.
    wall : Wall

    Raises
    ------
    UsageError
        If the trace has no such track.
    InputError
        If nothing changes over time in it.
    """
    words = [word for word in (word.strip() for word in what.split(",")) if word]
    names = [word for word in words if word != "mural"]
    p = Parameters(tracks=", ".join(names), opening=0.0)
    tracks: tuple[Track, ...] = chosen(trace, p.tracks, p.palette) if names else ()
    cells = wall.frame.width * SHARE[0]
    edges = cell_edges(wall.window, cells / p.resolution)
    picture = Layout(trace, p, tracks, wall.window, edges, wall.text, wall.frame)
    parts = len(tracks) + ("mural" in words)
    room = 1.5 * wall.text
    each = max((wall.high - wall.low) / parts - room, 0.3)
    base = drawing.color(BASE)
    floors = [wall.low + i * (each + room) for i in range(parts)][::-1]
    plates = [(0.0, wall.y, floor - 0.03) for floor in floors]
    drawing.add(boxes("terrace", plates, [(WIDTH, _PLATE, 0.03)] * parts, base))
    titles = [track.title for track in tracks]
    strips = [
        replace(one, floor=floor, height=each, front=wall.y, back=wall.y + _PLATE)
        for one, floor in zip(strips_of(picture) if tracks else (), floors, strict=False)
    ]
    colors = [band_colors(drawing, track, p.palette) for track in tracks]
    draw_strips(drawing, [(picture, one) for one in strips], colors)
    drawing.measure(*(ruler(picture, one) for one in strips))
    _explain(drawing, strips, colors)
    if "mural" in words:
        found = mural.mural_of(trace, wall.window, int(cells / _COARSE))
        mural.add(drawing, found, p.palette, (wall.y, floors[-1], floors[-1] + each), 0.0)
        titles.append(f"All calls, {found.deepest} deep")
        drawing.measure(
            Axis((-0.05, wall.y, floors[-1]), (0.0, 0.0, 1.0), each, (0.5 * each / found.deepest, each),
                 ("1", str(found.deepest)), outward=(-1.0, 0.0, 0.0), height=0.85 * wall.text)
        )  # fmt: skip
        drawing.note(f"mural behind: {mural.NOTE}")
    anchor = [(0.0, wall.y, floor + each + 0.7 * wall.text) for floor in floors]
    drawing.write(texts("track", titles, anchor, wall.text, room=WIDTH, rank=1e8, align=-1))


def _explain(drawing: DrawingBuilder, strips: list[Strip], colors: list[list[int]]) -> None:
    """Add the legend of the first strip of several bands: more would take the picture's room."""
    for one, color in zip(strips, colors, strict=True):
        if len(one.track.bands) > 1:
            entries = zip(one.track.bands, color, strict=True)
            drawing.explain(
                Legend(one.track.title, tuple(LegendEntry(band.name or "unnamed", c) for band, c in entries))
            )
            return
