"""Declarations of actions on a view and its elements: from a state to a change, without Blender.

An action is the same whatever triggers it: an entry in an element's menu, a click, the wheel. Blender's
operators, menus and mouse realise what views declare, and know none of them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..drawing.primitives import Vector
from ..errors import UsageError
from ..progress import Progress, silent

if TYPE_CHECKING:
    from ..drawing.picked import PickedElement
    from ..trace.model import Trace

Ints = NDArray[np.int64]

#: From where to where along an axis.
Range = tuple[float, float]
#: What leads to an action. ``drag`` is along time, ``drop`` of an element to any place, ``wheel`` is the
#: wheel with Ctrl, ``home`` the key Home, ``heighten`` the keys W and S with Shift.
Trigger = Literal["menu", "click", "ctrl click", "double click", "drag", "drop", "wheel", "home", "heighten"]
#: Why what needs the trace of a view can't be done, and what to do.
NOT_IN_MEMORY = "The trace is not in memory: rebuild the view"


class ViewOfState(Protocol):
    """What actions know of the view that they are taken in."""

    @property
    def name(self) -> str:
        """The word on the command line."""
        ...

    @property
    def parameters(self) -> type:
        """A dataclass of the view's parameters."""
        ...


@dataclass(frozen=True)
class State:
    """A view and the element under the mouse: the state that an action starts from.

    Attributes
    ----------
    view : ViewOfState
        A :class:`.view.View`.
    traces : tuple of Trace
    parameters : dict
        Values of all of the view's parameters.
    filters : str
        The view's filter stack, as text.
    source, call : int
        The call that it is about, and of which of the traces; -1: of none.
    element : PickedElement or None
        What is pointed at.
    selection : dict
        One of the traces -> its selected calls, int64 (n,).
    choice : str
        Which of :attr:`Action.choices`.
    other : Trace or None
        The other trace that it is about, for actions that ask for one.
    goal : dict
        The values of the parameters that the view is on its way to, which ``parameters`` show a part of; the
        same where it stands still.
    matched : dict
        One of the traces -> the call of it that the element is matched with, of those that are drawn.
    span : (int, int) or None
        Nanoseconds that the mouse was dragged along.
    extend : bool
        Whether what is selected is to stay so (Shift).
    share : float or None
        Where along the view's :class:`.time_window.TimeAxis` the element was met, 0 to 1; None: it has none.
    point : Vector
        For the wheel: where on the ground the mouse is, in the drawing's coordinates. For a dropped element:
        where it was dropped, at its own distance from the reader.
    target : PickedElement or None
        What an element was dropped on.
    amount : float
        For the wheel, and where something becomes higher: the zoom factor.
    progress : Progress
    """

    view: ViewOfState
    traces: tuple[Trace, ...]
    parameters: Mapping[str, Any]
    filters: str = ""
    source: int = 0
    call: int = -1
    element: PickedElement | None = None
    selection: Mapping[int, Ints] = field(default_factory=dict)
    choice: str = ""
    other: Trace | None = None
    goal: Mapping[str, Any] = field(default_factory=dict)
    matched: Mapping[int, int] = field(default_factory=dict)
    span: tuple[int, int] | None = None
    extend: bool = False
    share: float | None = None
    point: Vector = (0.0, 0.0, 0.0)
    target: PickedElement | None = None
    amount: float = 1.0
    progress: Progress = silent

    @property
    def trace(self) -> Trace:
        """The trace that it is about; a UsageError says that it is not in memory.

        Raises
        ------
        UsageError
            If it is not in memory.
        """
        if self.source >= len(self.traces):
            raise UsageError(NOT_IN_MEMORY)
        return self.traces[self.source]


@dataclass(frozen=True)
class NewFigure:
    """A view to add.

    Attributes
    ----------
    view : str
    traces : tuple of Trace
    parameters : dict
    above : bool
        It stands above the others, so that equal times are aligned, and all are in sight; else beside them.
    """

    view: str
    traces: tuple[Trace, ...]
    parameters: Mapping[str, Any]
    above: bool = False


@dataclass(frozen=True, eq=False)
class Change:
    """The result of an action; parts that are not given stay.

    Attributes
    ----------
    parameters : dict
        New values of some of the view's parameters.
    filters : str or None
        Its new filter stack.
    selected : int64 (n,) or None
        The calls to select of the trace that the state is about.
    span : (int, int) or None
        The range of time to select of that trace, in nanoseconds.
    windows : dict
        One of the traces -> the window of time to show of it; None: all of it.
    figure : NewFigure or None
        A view to add.
    between : callable or None
        ``between(share)``: values of parameters on the way to the new ones, for a share of it from 0 to 1;
        None: the view changes at once.
    seconds : float
        How long the way takes.
    patience : float
        Seconds that drawing the view may take for the way to be shown.
    message : str
        What came of it, in a few words.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    filters: str | None = None
    selected: Ints | None = None
    span: tuple[int, int] | None = None
    windows: Mapping[int, tuple[int, int] | None] = field(default_factory=dict)
    figure: NewFigure | None = None
    between: Callable[[float], Mapping[str, Any]] | None = None
    seconds: float = 0.0
    patience: float = 0.15
    message: str = ""


@dataclass(frozen=True)
class Choice:
    """One of several things that an action can be about; a line in its submenu.

    Attributes
    ----------
    name : str
        The word that the action is given.
    title : str
        The line in the submenu.
    sentence : str
        Its tooltip.
    """

    name: str
    title: str
    sentence: str


def _always(_state: State) -> bool:
    return True


def _to_all(_view: str, _trace: Trace) -> bool:
    return True


@dataclass(frozen=True)
class Action:
    """An action on a view or on one of its elements.

    Attributes
    ----------
    name : str
        In Blender it is the operator ``tracevis3d.<name>``. Of actions of the same name the view's own one
        goes before those that other views offer.
    label, sentence : str
        For menus.
    run : callable
        ``run(state) -> Change``; raises :class:`..errors.UsageError` where it can't be done.
    icon : str
        The name of one of Blender's icons.
    triggers : tuple of str
        See :data:`Trigger`; of a view's actions with a trigger the first that applies is run.
    applies : callable
        ``applies(state)``: whether it can be run, for triggers other than the menu; quick.
    offered : callable
        ``offered(view, trace)``: whether menus of the view with that name have it for a trace; quick.
    about : {"call", "view"}
        Whether it needs a call.
    choices : tuple of Choice
    drag : callable or None
        ``drag(own, whole, begin, now)``: the range along the axis of time that dragging an element, which has
        a range of its own on the ``whole`` axis, from one place to another selects; None: what the mouse has
        passed.
    asks_for_trace : bool
        It is about a second trace too, which :attr:`State.other` holds.
    takes_time : bool
        It runs beside the window, and reports its progress.
    group : int
        Entries of a menu stand together by their groups.
    """

    name: str
    label: str
    sentence: str
    run: Callable[[State], Change]
    icon: str = "NONE"
    triggers: tuple[Trigger, ...] = ("menu",)
    applies: Callable[[State], bool] = _always
    offered: Callable[[str, Trace], bool] = _to_all
    about: Literal["call", "view"] = "call"
    choices: tuple[Choice, ...] = ()
    drag: Callable[[Range, Range, float, float], Range] | None = None
    asks_for_trace: bool = False
    takes_time: bool = False
    group: int = 0
