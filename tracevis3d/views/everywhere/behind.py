"""Tracks and the mural as a wall behind another view, on its axis of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...drawing.builder import DrawingBuilder
from ...drawing.frame import Frame
from ...drawing.primitives import Axis, Drawing
from ...errors import UsageError
from ...trace.model import Trace
from ..time_window import WIDTH

#: Height of each track on the wall and of the whole wall, relative to the view before it, and the least
#: height of a track in scene units.
_EACH, _HIGH, _LEAST = 0.2, 0.6, 0.9
#: Distance behind the view, and above what is before it.
_BACK, _ABOVE = 0.3, 0.5


@dataclass(frozen=True)
class Wall:
    """Where a wall stands.

    Attributes
    ----------
    window : (int, int)
        Nanoseconds: along x, from 0 to :data:`.time_window.WIDTH`.
    y, low, high : float
        How far back it stands, and from where to where it is high.
    text : float
        Line height, in scene units.
    frame : Frame
        Of the picture.
    """

    window: tuple[int, int]
    y: float
    low: float
    high: float
    text: float
    frame: Frame


#: Draws what a user asked for on a wall: ``draw(drawing, trace, what, wall)``.
Backdrop = Callable[[DrawingBuilder, Trace, str, Wall], None]


def with_wall(drawing: Drawing, trace: Trace, what: str, frame: Frame, backdrop: Backdrop) -> Drawing:
    """Return a drawing with a wall behind it, higher than all that stands before it.

    Parameters
    ----------
    drawing : Drawing
        With a ruler of time along x.
    trace : Trace
    what : str
        Names of tracks, or ``mural``.
    frame : Frame
        Of the picture.
    backdrop : Backdrop

    Returns
    -------
    Drawing

    Raises
    ------
    UsageError
        If the drawing has no such ruler, or the trace no such track.
    """
    ruler = next((axis for axis in drawing.axes if _runs_right(axis)), None)
    if ruler is None or ruler.window is None:
        raise UsageError(f"behind={what}: this picture has no ruler of time from left to right")
    camera = drawing.camera
    tall = camera.high[2] - camera.low[2]
    low = camera.high[2] + _ABOVE
    parts = len([word for word in what.split(",") if word.strip()])
    high = low + max(min(_EACH * parts, _HIGH) * tall, _LEAST * parts)
    wall = Wall(ruler.window, camera.high[1] + _BACK, low, high, ruler.height, frame)
    made = DrawingBuilder()
    made.color(drawing.palette)
    backdrop(made, trace, what, wall)
    elements = tuple(replace(element, kind=f"{element.kind} behind") for element in made.elements)
    meaning = {f"{kind} behind": each for kind, each in made.meaning.items()}
    box = (camera.low[0], camera.low[1], camera.low[2]), (camera.high[0], wall.y, high + 1.5 * wall.text)
    return replace(
        drawing,
        palette=made.paint.palette,
        elements=(*drawing.elements, *elements),
        labels=(*drawing.labels, *made.labels),
        axes=(*drawing.axes, *made.axes),
        legends=(*drawing.legends, *made.legends),
        notes=(*drawing.notes, *made.notes),
        meaning={**drawing.meaning, **meaning},
        camera=replace(camera, low=box[0], high=box[1], all_of_it=None),
    )


def _runs_right(axis: Axis) -> bool:
    """Return whether a ruler shows time along x, from 0 to the width of all views of time."""
    straight = axis.direction[0] > 0 and not any(axis.direction[1:])
    return axis.window is not None and straight and axis.origin[0] == 0 and abs(axis.length - WIDTH) < 1e-6
