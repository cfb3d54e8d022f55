"""Declarations of lists beside a view: its parts as rows with buttons, and its findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .actions import Choice

if TYPE_CHECKING:
    from ..drawing.frame import Frame
    from ..drawing.primitives import Drawing
    from ..drawing.viewpoints import Viewpoint
    from ..progress import Progress
    from ..trace.model import Trace

#: Rows that a list of findings has at most.
_MOST = 100


@dataclass(frozen=True)
class ListRow:
    """A part of a view.

    Attributes
    ----------
    key : str
        As the view's parameters name it.
    title : str
        Displayed name.
    place : int
        Its place in the drawing; -1: it is not drawn.
    """

    key: str
    title: str
    place: int = -1


@dataclass(frozen=True)
class RowLook:
    """The present state of a row.

    Attributes
    ----------
    active : bool
        Whether its title is written at full strength.
    before, after : tuple of (str, str)
        Buttons beside the title: what each does, a name of :attr:`RowList.choices`, and Blender's icon.
    text : str
        Written below the title, in full.
    """

    active: bool
    before: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()
    text: str = ""


@dataclass(frozen=True)
class RowList:
    """A list of a view's parts, kept with the view, in a panel of its own.

    Attributes
    ----------
    name : str
        One row, in the singular: in Blender the operator is ``tracevis3d.<name>_change``.
    title, sentence : str
        The panel's heading, and what its buttons do.
    rows : callable
        ``rows(traces, drawing, parameters)``: the rows, as the view was drawn.
    look : callable
        ``look(row, parameters)``, with the values of the parameters as they are now; quick.
    choices : tuple of Choice
        What buttons do.
    change : callable
        ``change(row, choice, rows, parameters)``: the parameters that a button changes.
    redraws : bool
        Whether a button redraws the view at once, and the 3D view turns to what is drawn then.
    """

    name: str
    title: str
    sentence: str
    rows: Callable[[Sequence[Trace], Drawing, Mapping[str, Any]], list[ListRow]]
    look: Callable[[ListRow, Mapping[str, Any]], RowLook]
    choices: tuple[Choice, ...]
    change: Callable[[ListRow, str, Sequence[ListRow], Mapping[str, Any]], dict[str, Any]]
    redraws: bool = False


def finding_list(find: Callable[[Trace, Mapping[str, Any]], list[tuple[str, str]]]) -> RowList:
    """Return the list of findings of a view that has a parameter ``finding``.

    Parameters
    ----------
    find : callable
        ``find(trace, parameters)``: kind and sentence of each finding, in order of their numbers.

    Returns
    -------
    RowList
    """

    def rows(traces: Sequence[Trace], _drawing: Drawing, parameters: Mapping[str, Any]) -> list[ListRow]:
        found = find(traces[0], parameters)[:_MOST]
        return [
            ListRow(str(number), f"{kind}: {sentence}", number)
            for number, (kind, sentence) in enumerate(found, 1)
        ]

    return RowList(
        "finding",
        "Findings",
        "Draw a finding alone, with its threads or blocks, in its time; or everything again",
        rows,
        _look,
        (Choice("SHOW", "Go There", "Draw this finding alone and look at it; again: draw everything"),),
        _change,
        redraws=True,
    )


def _look(row: ListRow, parameters: Mapping[str, Any]) -> RowLook:
    is_shown = parameters["finding"] == row.place
    icon = "ZOOM_PREVIOUS" if is_shown else "ZOOM_SELECTED"
    return RowLook(True, (("SHOW", icon),), text=row.title if is_shown else "")


def _change(
    row: ListRow, _choice: str, _every: Sequence[ListRow], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    return {"finding": 0 if parameters["finding"] == row.place else row.place}


@dataclass(frozen=True)
class ListedFinding:
    """A finding about the traces of a view, as text.

    Attributes
    ----------
    share : str
        How much of the whole it is.
    title : str
        What kind of finding it is.
    short : str
        What it is about, in a word.
    sentence : str
    calls : tuple of list of int
        For each trace the calls that show it.
    spans : tuple of (int, int) or None
        For each trace the time in which it shows, in nanoseconds; None: all of it.
    wanted : dict
        Parameters of the view that draw it alone.
    """

    share: str
    title: str
    short: str
    sentence: str
    calls: tuple[list[int], ...]
    spans: tuple[tuple[int, int] | None, ...]
    wanted: Mapping[str, Any]


@dataclass(frozen=True)
class Tour:
    """A drawing, with a viewpoint for each finding.

    Attributes
    ----------
    drawing : Drawing
        The scene of the tour.
    viewpoints : list of Viewpoint
        One for each finding, in order.
    """

    drawing: Drawing
    viewpoints: list[Viewpoint]


@dataclass(frozen=True)
class FindingList:
    """The findings in a view's traces: a list to step through.

    Attributes
    ----------
    traces : int
        How many traces the view has to have.
    find : callable
        ``find(traces, parameters, progress)``: the findings, the most important first.
    drawn : callable
        ``drawn(wanted, each, parameters)``: the parameters that draw one finding alone, from what it and
        each of the findings want; of None: those that draw all of the traces again.
    tour : callable
        ``tour(traces, parameters, frame, top, walk, progress)``: a drawing with viewpoints for the ``top``
        findings, or along the way from the match that ``walk`` names.
    """

    traces: int
    find: Callable[[Sequence[Trace], Mapping[str, Any], Progress], list[ListedFinding]]
    drawn: Callable[
        [Mapping[str, Any] | None, Sequence[Mapping[str, Any]], Mapping[str, Any]], dict[str, Any]
    ]
    tour: Callable[[Sequence[Trace], Mapping[str, Any], Frame, int, str, Progress], Tour]
