"""The view compare: two traces face to face, or three and more in a fan (TraceDiff, sections III and IV)."""

from __future__ import annotations

from collections.abc import Sequence

from ...drawing.frame import Frame
from ...drawing.primitives import Drawing
from ...progress import Progress
from ...trace.model import Trace
from ...views.calls.actions import with_actions
from ...views.calls.pull_apart import pull_apart
from ...views.view import View
from .actions import ALIGN_HERE, COMPARE_FROM_HERE, FIND_SIMILAR, FOCUS, MOVE_WINDOW
from .commands import COMMANDS
from .describe import describe
from .differences import DIFFERENCES
from .fan.view import draw_fan
from .tables import TABLES
from .view.base_drawing import base_drawing
from .view.detail import LevelOfDetail
from .view.parameters import Parameters, as_drawn

#: Where it is pulled apart.
_APART = {
    "thread": {"spacing": 6.0},
    "level": {"taper": 0.0, "gap": 3.4},
    "module": {"apart": 2.4},
}


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the comparison of two traces, or of more in a fan.

    Parameters
    ----------
    traces : two Traces, or more
    parameters : Parameters
    frame : Frame
    progress : Progress

    Returns
    -------
    Drawing

    Raises
    ------
    UsageError
        If a window is empty, or no call is called as ``focus`` or ``align`` says.
    """
    p = as_drawn(parameters, len(traces))
    if len(traces) > 2:
        return draw_fan(traces, p, frame, progress)
    drawing, sweep = base_drawing(traces, p, frame, progress)
    return sweep.finish(drawing, p)


VIEW = View(
    name="compare",
    title="Compare",
    sentence="Two traces face to face, or more in a fan: tubes join what matches, colours say what moved "
    "and what has no match",
    traces=(2, 12),
    parameters=Parameters,
    draw=draw,
    level_of_detail=LevelOfDetail,
    describe=describe,
    actions=with_actions(FOCUS, ALIGN_HERE, MOVE_WINDOW, pull_apart(_APART)),
    offers=(COMPARE_FROM_HERE, FIND_SIMILAR),
    findings=DIFFERENCES,
    commands=COMMANDS,
    tables=TABLES,
    docs="compare.md",
)
