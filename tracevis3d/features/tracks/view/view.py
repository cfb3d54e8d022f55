"""Any series over the one time axis: as a wall of strips, a tube of loads, or a path of two series.

Strips are those of Instruments and Paraver, the folded ones horizon graphs (Heer, Kong and Agrawala 2009);
the tube is a Kiviat diagram (Kolence and Kiviat 1973) that is swept along time, the path ParaGraph's phase
portrait (Heath and Etheridge 1991) with time as its third axis.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.frame import Frame
from ....drawing.primitives import Drawing
from ....progress import Progress
from ....trace import profile
from ....trace.model import Trace
from ....views.view import View
from ..findings import findings
from ..loads import MOST, loads_of
from . import mural, path, tube, wall
from .backdrop import backdrop
from .colors import FINDING
from .describe import describe
from .detail import LevelOfDetail
from .layout import compose
from .parameters import Parameters


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the tracks of one trace.

    Parameters
    ----------
    traces : one Trace
    parameters : Parameters
    frame : Frame
        Of the picture: it determines how wide a cell of time is.
    progress : Progress

    Returns
    -------
    Drawing

    Raises
    ------
    InputError
        If nothing changes over time in the trace.
    UsageError
        If the window is empty, or the trace has no such track.
    """
    profile.check_order(traces, "tracks")
    (trace,) = traces
    progress(0.0, "following the series")
    picture = compose(trace, parameters, frame)
    found = findings(picture.tracks, picture.window, picture.edges)
    progress(0.5, "building them")
    drawing = DrawingBuilder()
    mark = drawing.color(FINDING)
    shown = found[: parameters.findings]
    said = found[0].sentence if found else ""
    if parameters.form == "tube":
        about, loads = loads_of(trace, picture.tracks, parameters.spokes, picture.window, parameters.palette)
        camera, said = tube.draw(drawing, picture, about, loads)
        if about.endswith("thread runs") and len(loads) == MOST:
            drawing.note(f"the {MOST} busiest threads of {int(np.count_nonzero(trace.threads.count)):,}")
    elif parameters.form == "path":
        camera, said = path.draw(drawing, picture)
    elif parameters.form == "mural":
        camera, said = mural.draw(drawing, picture, mark)
    else:
        camera = wall.draw(drawing, picture, shown, mark)
    step = (picture.window[1] - picture.window[0]) / (len(picture.edges) - 1)
    drawing.note(trace.source.title)
    if parameters.form == "mural":
        drawing.note(f"a cell is {units.duration(step)} wide ({parameters.resolution:g} px): {mural.NOTE}")
    drawing.note(
        ""
        if parameters.form == "mural"
        else f"a cell is {units.duration(step)} wide ({parameters.resolution:g} px) and shows the mean"
        + (", pale above it the highest value" if parameters.peaks and parameters.form == "wall" else ""),
        trace.problems.note(),
    )
    title = said or f"{units.counted(len(picture.tracks), 'track')}, nothing changes"
    progress(1.0, "drawn")
    return drawing.finish(camera, title, tracks=len(picture.tracks))


def _suits(trace: Trace) -> float:
    """Return how well it shows a trace at first sight: best where there are counters and nothing else."""
    if len(trace.calls):
        return 0.4
    return 0.6 if not len(trace.memory) and len(trace.counters) else 0.0


VIEW = View(
    name="tracks",
    title="Tracks",
    sentence="Series over time: counters, threads that run or wait, memory, rates: as strips, a tube, a path",
    traces=(1, 1),
    parameters=Parameters,
    draw=draw,
    level_of_detail=LevelOfDetail,
    describe=describe,
    suits=_suits,
    backdrop=backdrop,
    docs="tracks.md",
)
