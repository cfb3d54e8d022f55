"""The declaration of a view, from which the command line, panels, menus and docs are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..parameters import Values, read
from ..trace.cached_results import cached_with_traces
from .actions import Action
from .calls.actions import CALL_ACTIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..command_line.command import Command
    from ..drawing.frame import Frame
    from ..drawing.picked import Description, PickedElement
    from ..drawing.primitives import Drawing
    from ..live.growing import GrowingTrace
    from ..live.stream.alarms import Watcher
    from ..live.stream.live_view import LiveView
    from ..progress import Progress
    from ..tables.declaration import TableDeclaration
    from ..trace.model import Trace
    from .describe import StoredNames
    from .detail import LevelOfDetail, SpatialLevelOfDetail
    from .everywhere.behind import Backdrop
    from .lists import FindingList, RowList
    from .time_window import TimeAxis


class PhaseTimes(NamedTuple):
    """The phases of a run: when each begins and ends, in nanoseconds, and what it does."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    does: tuple[str, ...]


def suits_calls(trace: Trace) -> float:
    """Return how well views of calls suit a trace: not at all where there are none."""
    return 0.5 if len(trace.calls) else 0.0


def _nothing_set(_view: Any, _settings: Any) -> None:
    """Live views without settings."""


@dataclass(frozen=True)
class LiveForm:
    """A view's form for a trace that is still growing.

    Attributes
    ----------
    sentence : str
        What it shows.
    make : callable
        ``make(growing, window_ns) -> LiveView``; the window is the length of time that is shown.
    settings : type or None
        A dataclass declared with :func:`tracevis3d.parameters.parameter`: what can be set of this live view
        alone.
    apply : callable
        ``apply(live view, settings)`` gives it such settings; called when it is made and after each change.
    wheel : callable or None
        ``wheel(live view, across, factor)``: the settings that a notch of the wheel with Ctrl leads to, where
        the mouse is at ``across`` in scene units; the defaults of those settings show all again.
    remade : bool
        Another length of the window makes the live view again.
    alarms : callable or None
        ``alarms(growing)``: what looks for trouble in any feed, whatever view shows it; see
        :class:`..live.stream.alarms.Watcher`.
    """

    sentence: str
    make: Callable[[GrowingTrace, int], LiveView]
    settings: type | None = None
    apply: Callable[[Any, Any], None] = _nothing_set
    wheel: Callable[[Any, float, float], dict[str, Any]] | None = None
    remade: bool = False
    alarms: Callable[[GrowingTrace], Watcher] | None = None


def _describe(
    element: PickedElement, traces: Sequence[Trace | StoredNames], parameters: Any = None
) -> list[Description]:
    from .describe import describe

    return describe(element, traces, parameters)


@dataclass(frozen=True)
class View:
    """A way to look at one or more traces.

    Attributes
    ----------
    name : str
        The word on the command line, and the function of the Python package.
    title : str
        For menus.
    sentence : str
        What it shows.
    traces : (least, most)
        How many traces it takes.
    parameters : type
        A dataclass whose fields are declared with :func:`tracevis3d.parameters.parameter`.
    draw : callable
        ``draw(traces, parameters, frame, progress) -> Drawing``.
    level_of_detail : callable or None
        ``level_of_detail(traces, parameters, frame)``: a :class:`.detail.LevelOfDetail` or a
        ``SpatialLevelOfDetail``.
    describe : callable
        ``describe(element, traces, parameters)``: what an element says of itself, a list of
        :class:`..drawing.picked.Description`; see :func:`.describe.describe`.
    actions : tuple of Action
        What can be done with it and its elements.
    offers : tuple of Action
        What it can do with a call of any other view.
    lists : tuple of RowList
        Lists of its parts, in panels of their own.
    findings : FindingList or None
        What there is to be found in its traces.
    time_axis : TimeAxis or None
        Where its times lie if not along x.
    suits : callable
        ``suits(trace)``: how well it shows a trace at first sight, 0 (there is nothing to show) to 1.
    in_window : callable or None
        ``in_window(line)``: values of parameters, other than the usual ones, with which it is easily read in
        a window: ``line`` is the height of a line of the window's type, as a share of the width that the
        drawing has there.
    live : LiveForm or None
        Its form for a trace that is still growing.
    commands : tuple of Command
        What belongs to it on the command line. Of ours they are those of the package that :mod:`.own` names.
    tables : tuple of TableDeclaration
        What its analysis finds, as tables for queries.
    phases : callable or None
        ``phases(trace)``: the phases of its run, one after another, for other views.
    runs_right : bool
        Time runs along x, from 0 to :data:`.time_window.WIDTH`: tracks can stand behind it.
    backdrop : callable or None
        Draws what stands behind other views: see :data:`.everywhere.behind.Backdrop`.
    docs : str
        The page of the documentation that explains it, such as ``threads.md``; empty: none but the table.
    icon : str
        The name of one of Blender's icons, for menus.
    """

    name: str
    title: str
    sentence: str
    traces: tuple[int, int]
    parameters: type
    draw: Callable[[Sequence[Trace], Any, Frame, Progress], Drawing]
    level_of_detail: Callable[[Sequence[Trace], Any, Frame], LevelOfDetail | SpatialLevelOfDetail] | None = (
        None
    )
    describe: Callable[[PickedElement, Sequence[Trace | StoredNames], Any], list[Description]] = _describe
    actions: tuple[Action, ...] = CALL_ACTIONS
    offers: tuple[Action, ...] = ()
    lists: tuple[RowList, ...] = ()
    findings: FindingList | None = None
    time_axis: TimeAxis | None = None
    suits: Callable[[Trace], float] = suits_calls
    in_window: Callable[[float], Mapping[str, Any]] | None = None
    live: LiveForm | None = None
    commands: tuple[Command, ...] = ()
    tables: tuple[TableDeclaration, ...] = ()
    phases: Callable[[Trace], PhaseTimes] | None = None
    runs_right: bool = False
    backdrop: Backdrop | None = None
    docs: str = ""
    icon: str = "NONE"


@cached_with_traces(most=8)
def level_of_detail_of(
    traces: Sequence[Trace], view: View, values: Values, frame: Frame
) -> LevelOfDetail | SpatialLevelOfDetail | None:
    """Return the level of detail of a view of traces; those requested last are kept.

    Parameters
    ----------
    traces : list of Trace
    view : View
    values : Values
        Of its parameters.
    frame : Frame
        Of its picture.

    Returns
    -------
    LevelOfDetail, SpatialLevelOfDetail or None
        None if the view has no detail.

    Raises
    ------
    TraceVisError
        If the view can't be drawn with these values.
    """
    make = view.level_of_detail
    return None if make is None else make(traces, read(view.parameters, dict(values)), frame)
