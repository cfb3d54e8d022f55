"""An overlay of one region, put together: title and legend, rulers, callouts, names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..drawing.explanations import Explanations
from ..layout.sight.affine import Floats
from ..layout.sight.view_projection import ViewProjection
from .callouts import lay_callouts
from .heading import lay_legends, lay_title
from .items import Choices, Measure, Overlay, Rectangle, Theme
from .names import Prepared, Sight, lay_names
from .rulers import lay_rulers

#: How opaque the ground behind a heading is that data are scrolled below.
_HEADING = 0.93
#: How high a corner is with its buttons, as a multiple of its width.
_BUTTONS = 2.4


def compose(
    explained: Explanations,
    names: Prepared,
    eye: ViewProjection,
    free: Rectangle,
    focus: Floats,
    theme: Theme,
    measure: Measure,
    *,
    choices: Choices | None = None,
    before: Overlay | None = None,
    sight: Sight | None = None,
    covered: Callable[[Rectangle], float] | None = None,
    heading: bool = True,
    title: bool = True,
    corner: float = 0.0,
    taken: Sequence[Rectangle] = (),
) -> Overlay:
    """Lay what explains a drawing over a region of the window.

    Parameters
    ----------
    explained : Explanations
    names : Prepared
        Of ``explained.names``, or of those that stand in for them after zooming in.
    eye : ViewProjection
        The region's.
    free : Rectangle
        The part of the region, in pixels, that nothing covers.
    focus : float64 (3,)
        The point that the view is about.
    theme : Theme
    measure : Measure
    choices : Choices, optional
    before : Overlay, optional
        That of the picture before: names and callouts stay where they were while there is room.
    sight : Sight, optional
        Which points nothing stands before.
    covered : callable, optional
        Returns which share of a rectangle data is seen in.
    heading : bool
        Whether title and legends are shown: of several drawings in a region, only one's are.
    title : bool
        Whether title and facts are shown above the legends.
    corner : float
        Pixels at the upper right of ``free`` that something else lies on, with a column of buttons below it.
    taken : sequence of Rectangle
        Where other overlays of the region have texts.

    Returns
    -------
    Overlay
    """
    out = Overlay()
    out.taken += taken
    choices = choices or Choices()
    margin = theme.type
    inner = (free[0] + margin, free[1] + 0.5 * margin, free[2] - margin, free[3] - margin)
    if inner[2] - inner[0] < 8 * theme.type or inner[3] - inner[1] < 6 * theme.type:
        return out
    if heading:
        beside = (*inner[:2], inner[2] - corner, inner[3])
        y = lay_title(explained.title, explained.facts, beside, theme, measure, out) if title else inner[3]
        across = beside[2] - beside[0] if explained.reading is not None else 0.0
        panels = len(out.taken)
        lay_legends(explained.legends, explained.palette, inner, y, choices, theme, measure, out, across)
        if explained.reading is not None:
            # What is scrolled goes away below the heading.
            low = min([y, *(box[1] for box in out.taken[panels:])]) - 0.5 * margin
            band = (free[0], low, free[2] - corner, float(eye.height))
            out.fills.insert(0, (band, (*theme.ground, _HEADING)))
            out.taken.append(band)
    if corner:
        # Below the corner are buttons, which a callout would hide.
        out.taken.append((free[2] - corner, free[3] - _BUTTONS * corner, free[2], free[3]))
    lay_rulers(explained.axes, eye, inner, np.asarray(focus, np.float64), theme, measure, out)
    before = before or Overlay()
    lay_callouts(explained.callouts, eye, inner, theme, measure, out, before.places, covered)
    lay_names(
        names, eye, inner, theme, measure, out, before.names, sight, choices.names, before.young
    )  # fmt: skip
    return out
