"""The interface of live views: new bars, their places, colours and texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...drawing.picked import Description
from ...drawing.primitives import Legend
from ...drawing.stream import LENGTH, Bars, Sections, StreamLabels
from ..growing import GrowingTrace
from .alarms import Alarm

#: Cells that the window is divided into, unless it is shown with fewer pixels, and the least: what is shorter
#: than a cell is merged.
CELLS, LEAST_CELLS = 1200, 400
#: Maximum factor of coarseness if there is too much data.
MOST_COARSE = 32


class LiveView(ABC):
    """A live view: a moving drawing of a trace that grows.

    Coordinates are those of :mod:`~...drawing.stream`: time, across, height.

    Parameters
    ----------
    growing : GrowingTrace
    window_ns : int
        Nanoseconds that it reaches back from now.

    Attributes
    ----------
    relaid : bool
        Set when bars that were given before lie elsewhere now; who has moved them clears it.
    recolored : bool
        The same of the palette.
    renewed : bool
        Set when all bars that were given before are void: those given next take their place.
    moving : bool
        Bars are on their way to where they belong: that continues while time stands still.
    coarse : int
        How much more is merged than what can't be seen anyway, for want of room.
    cells : int
        Cells that the window is divided into: see :data:`CELLS`.
    alarms : tuple of Alarm
        What goes wrong now, to be shown where it happens.
    hidden : int
        Calls, blocks or threads beyond what can be shown, in :attr:`hidden_what`'s words.
    """

    #: Where time runs to in the scene: with ``x`` *now* is at the right end, and across goes away from the
    #: reader; with ``y`` *now* is in front, and across goes to the right.
    along: ClassVar[Literal["x", "y"]] = "x"
    #: From the subject to the camera.
    direction: ClassVar[tuple[float, float, float]] = (0.42, -0.85, 0.32)
    hidden_what = ""
    #: Whether the sides of its bars are parallel to across and height.
    straight: ClassVar[bool] = True
    #: Where the edge that is now lies; None: at the bottom of :meth:`extent`.
    edge_height: ClassVar[float | None] = None

    def __init__(self, growing: GrowingTrace, window_ns: int) -> None:
        self.growing, self.window_ns = growing, window_ns
        self.relaid = self.recolored = True
        self.renewed = self.moving = False
        self.alarms: tuple[Alarm, ...] = ()
        self.hidden = 0
        self.coarse = 1
        self.cells = CELLS

    @property
    def cell_ns(self) -> int:
        """Nanoseconds of a cell: what is shorter is merged."""
        return max(self.window_ns * self.coarse // self.cells, 1)

    @property
    def beside(self) -> float:
        """Where texts beside *now* begin, along time."""
        return 0.18 if self.along == "x" else 0.08

    def time_of(self, when: int, now: int) -> float:
        """Return where a time lies along the time axis.

        Parameters
        ----------
        when, now : int
            That time, and the one that lies at 0, in nanoseconds.

        Returns
        -------
        float
            Scene units; the window is ``LENGTH`` long, and the past is negative.
        """
        return (when - now) * LENGTH / self.window_ns

    @abstractmethod
    def advance(self) -> Bars:
        """Return the bars that have come to their end since the last time."""

    @abstractmethod
    def ongoing(self, now: int) -> Bars:
        """Return the bars that are still going on at ``now``."""

    @abstractmethod
    def sections(self, given: Bars) -> Sections:
        """Return the cross-sections of bars at start and end, float32 (n, 2, 4, 2)."""

    @abstractmethod
    def palette(self) -> NDArray[np.float32]:
        """Return the colours that bars are given by index, sRGB and alpha, float32 (k, 4)."""

    @abstractmethod
    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the extent across, and in height, each as (low, high) in scene units."""

    @abstractmethod
    def labels(self, now: int) -> StreamLabels:
        """Return the texts; called a few times a second."""

    @abstractmethod
    def legend(self) -> Legend:
        """Return what the colours mean."""

    def lay_out(self) -> None:  # noqa: B027
        """Compute anew where bars lie; called when :attr:`relaid` is set, before they are placed."""

    def settle(self) -> None:  # noqa: B027
        """Give colours and places to what matters most now; called every few seconds."""

    def findings(self) -> list[str]:
        """Return what needs attention, a few words each, for the panel."""
        return []

    def facts(self) -> str:
        """Return a few words for the foot of the picture."""
        return ""

    def describe(self, bar: Bars, at: int, now: int) -> Description | None:
        """Return the description of a bar, for tooltips.

        Parameters
        ----------
        bar : Bars
            One of those that this view has returned.
        at, now : int
            The time under the mouse, and the one at the front edge, in nanoseconds.

        Returns
        -------
        Description or None
            None: there is no tooltip.
        """
        return None
