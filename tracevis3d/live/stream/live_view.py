"""What all live views have in common: rows that flow, where they lie, colours and texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...drawing.palettes import OTHER, PALETTES, parse
from ...formats.names import split
from ...units import duration
from ..growing import GrowingTrace

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Section = NDArray[np.float32]

#: Cells that the window is divided into, unless it is shown with fewer pixels, and the least: what is shorter
#: is taken together.
CELLS, LEAST_CELLS = 1200, 400
#: How much coarser it may get when too much comes.
MOST_COARSE = 32
#: Scene units that names beside the front edge may be long.
BESIDE = 2.4
#: Scene units that the window is long.
LENGTH = 16.0


@dataclass(frozen=True, eq=False)
class Rows:
    """Bars along time. What their numbers mean, and so where they lie, is the view's own affair.

    Attributes
    ----------
    time : int64 (n, 2)
        Start and end in the trace's nanoseconds.
    key : int32 (n,)
        Which lane, place or pair.
    value : float32 (n, 3)
        What else decides where it lies.
    kind : int32 (n, 2)
        Kind at the start and at the end, of which :meth:`LiveView.colors` says the colour.
    """

    time: Ints
    key: NDArray[np.int32]
    value: Floats
    kind: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.key)

    def __getitem__(self, part: slice | NDArray[np.bool_]) -> Rows:
        return Rows(self.time[part], self.key[part], self.value[part], self.kind[part])

    @classmethod
    def empty(cls, n: int = 0) -> Rows:
        """Return ``n`` rows of zeros."""
        return cls(
            np.zeros((n, 2), np.int64),
            np.zeros(n, np.int32),
            np.zeros((n, 3), np.float32),
            np.zeros((n, 2), np.int32),
        )

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Return all rows of ``parts``."""
        if not parts:
            return cls.empty()
        columns = zip(*((r.time, r.key, r.value, r.kind) for r in parts), strict=True)
        return cls(*(np.concatenate(c) for c in columns))


def rows(
    time: NDArray[np.integer[Any]],
    key: NDArray[np.integer[Any]],
    kind: NDArray[np.integer[Any]],
    *values: NDArray[Any],
) -> Rows:
    """Return rows of columns of any dtype; ``kind`` is (n,) or (n, 2), ``values`` are up to three."""
    n = len(key)
    value = np.zeros((n, 3), np.float32)
    for i, column in enumerate(values):
        value[:, i] = column
    both = np.asarray(kind, np.int32)
    if both.ndim == 1:
        both = np.repeat(both[:, None], 2, axis=1)
    return Rows(np.asarray(time, np.int64).reshape(-1, 2), np.asarray(key, np.int32), value, both)


@dataclass(frozen=True)
class Text:
    """A text in the scene.

    Attributes
    ----------
    text : str
    across, height : float
        Where its left end's baseline lies, in the view's coordinates.
    size : float
        Line height in scene units.
    time : int or None
        Nanoseconds of the moment at which it stands, and flows along with; None: it stays at the front edge.
    room : float
        Scene units that it may be long; 0: no bound.
    align : {-1, 0, 1}
        Which end is at the place: left, middle, right.
    far : bool
        Without a time: it stays at the far edge of the window.
    kind : int
        Of what it is written on; -1: on the ground.
    warns : bool
        It tells of something that somebody should look at.
    """

    text: str
    across: float
    height: float
    size: float
    time: int | None = None
    room: float = 0.0
    align: Literal[-1, 0, 1] = -1
    far: bool = False
    kind: int = -1
    warns: bool = False


@dataclass(frozen=True)
class Subject:
    """What somebody points at, for who is to be told of it: a block, or a call site.

    Attributes
    ----------
    address, size : int
        Of a block; -1: it is none.
    site : str
    """

    address: int = -1
    size: int = -1
    site: str = ""


@dataclass
class Said:
    """What is said of a bar.

    Attributes
    ----------
    title, where : str
        What it is, and in smaller type where it belongs.
    rows : list of (str, str)
        Labels and texts.
    subject : Subject or None
    """

    title: str
    where: str = ""
    rows: list[tuple[str, str]] = field(default_factory=list)
    subject: Subject | None = None


@dataclass
class Kinds:
    """Colours of things of which nobody knows beforehand how much each will matter.

    What has most time in the window gets the colours; who has one keeps it as long as he is among those.

    Attributes
    ----------
    names : list of str
    """

    names: list[str] = field(default_factory=list)
    _number: dict[str, int] = field(default_factory=dict)
    _weight: NDArray[np.float64] = field(default_factory=lambda: np.zeros(64))
    _holder: list[int] = field(default_factory=lambda: [-1] * 10)

    def number(self, name: str) -> int:
        """Return the number of a kind."""
        found = self._number.setdefault(name, len(self.names))
        if found == len(self.names):
            self.names.append(name)
            if found >= len(self._weight):
                self._weight = np.concatenate([self._weight, np.zeros(len(self._weight))])
        return found

    def weigh(self, kind: NDArray[np.integer[Any]], weight: NDArray[np.floating[Any]]) -> None:
        """Count how much of each kind there is."""
        if len(kind):
            self._weight += np.bincount(kind, weight, len(self._weight))

    def settle(self) -> bool:
        """Give the colours to those who matter most now; return whether any has changed hands."""
        known = len(self.names)
        weight = self._weight[:known]
        # A colour is lost only to one who has clearly more.
        favoured = weight.copy()
        held = [k for k in self._holder if k >= 0]
        favoured[held] *= 2.0
        best = set(np.argsort(-favoured, kind="stable")[: len(self._holder)].tolist())
        best = {k for k in best if weight[k] > 0.004 * max(float(weight.sum()), 1e-9)}
        before = list(self._holder)
        self._holder = [k if k in best else -1 for k in self._holder]
        for kind in sorted(best - set(self._holder), key=lambda k: -weight[k]):
            self._holder[self._holder.index(-1)] = kind
        # What was long ago matters less and less.
        self._weight *= 0.7
        return before != self._holder

    @property
    def held(self) -> list[tuple[int, str]]:
        """Colour (from 0 on) and name of the kinds that have one."""
        return [(i, self.names[k]) for i, k in enumerate(self._holder) if k >= 0]

    def colors(self) -> NDArray[np.float32]:
        """Return the sRGB colour of each kind, float32 (kinds, 3)."""
        found = np.tile(OTHER[:3], (max(len(self.names), 1), 1)).astype(np.float32)
        for i, kind in enumerate(self._holder):
            if kind >= 0:
                found[kind] = PALETTES["muted"].kinds[i, :3]
        return found


class LiveView(ABC):
    """A live view.

    Coordinates are time, across and height. ``along`` says where time runs to: ``x`` has *now* at the right
    end and across going away from the reader; ``y`` has *now* in front and across going to the right.

    Attributes
    ----------
    growing : GrowingTrace
    window_ns : int
    relaid : bool
        Set when rows that were given before lie elsewhere now; who has moved them clears it.
    recolored : bool
        The same of colours.
    renewed : bool
        Set when all rows that were given before are void: those given next take their place.
    moving : bool
        Things are on their way to where they belong: that goes on while time stands still.
    coarse : int
        How much more is taken together than what can't be seen anyway, for want of room.
    cells : int
        Cells that the window is divided into: see :data:`CELLS`.
    hidden : int
        Calls, blocks or threads beyond what can be shown, in :attr:`hidden_what`'s words.
    """

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
        self.hidden = 0
        self.coarse = 1
        self.cells = CELLS

    @property
    def cell_ns(self) -> int:
        """What is shorter is taken together."""
        return max(self.window_ns * self.coarse // self.cells, 1)

    @abstractmethod
    def advance(self) -> Rows:
        """Return the rows that have come to their end since the last time."""

    @abstractmethod
    def front(self, now: int) -> Rows:
        """Return the rows that are still going on at ``now``."""

    @abstractmethod
    def sections(self, given: Rows) -> Section:
        """Return where rows lie: across and height of four corners at start and end, float32 (n, 2, 4, 2)."""

    @abstractmethod
    def colors(self) -> NDArray[np.float32]:
        """Return the sRGB colour of each kind, float32 (kinds, 3)."""

    @abstractmethod
    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return from where to where it reaches across, and in height."""

    @abstractmethod
    def texts(self, now: int) -> list[Text]:
        """Return names, to be set a few times a second."""

    @abstractmethod
    def legend(self) -> list[tuple[str, NDArray[np.float32]]]:
        """Return what the colours mean: a text and the sRGB colour of each."""

    def lay_out(self) -> None:  # noqa: B027
        """Decide anew where things lie; called when :attr:`relaid` is set, before the rows are placed."""

    def settle(self) -> None:  # noqa: B027
        """Called every few seconds: give colours and places to what matters most now."""

    def findings(self) -> list[str]:
        """Return what somebody should look at, a few words each, for the panel."""
        return []

    def facts(self) -> str:
        """Return a few words for the foot of the picture."""
        return ""

    def tell(self, row: Rows, at: int, now: int) -> Said | None:
        """Return what is said of a row to who points at it; None: nothing.

        Parameters
        ----------
        row : Rows
            One of those that this has given.
        at, now : int
            The moment under the mouse, and the one at the front edge.
        """
        return None


def boxes(across: NDArray[Any], height: NDArray[Any]) -> Section:
    """Return the sections of straight boxes; ``across`` and ``height`` are (n, 2), from and to."""
    n = len(across)
    out: Section = np.empty((n, 2, 4, 2), np.float32)
    out[:, :, :, 0] = across[:, None, [0, 1, 1, 0]]
    out[:, :, :, 1] = height[:, None, [0, 0, 1, 1]]
    return out


def short(name: str) -> str:
    """Return the label of a function's name."""
    return split(name).label


def said_of_call(growing: GrowingTrace, row: Rows, function: int, count: int, now: int) -> Said:
    """Return what is said of a call, or of ``count`` short ones that are drawn as one bar.

    Parameters
    ----------
    growing : GrowingTrace
        Knows the name, also when the call itself is forgotten.
    row : Rows
    function : int
        That of the call, or of the longest one.
    count : int
        0: it is one call.
    now : int
        What ends then has not ended yet.
    """
    begin, end = (int(t) for t in row.time[0])
    (name, *_) = (*growing.functions(function)[:1], "(function unknown)")
    parts = split(name)
    file = parts.file.replace("\\", "/").rpartition("/")[2]
    place = f"{file}:{parts.line}" if file and parts.line else file
    where = " · ".join(filter(None, [*(text for _, text in parts.containers[-1:]), place]))
    begun = ("begun", f"{duration(max(now - begin, 0))} ago, at {duration(begin, 4)}")
    if count > 1:
        rest = [("longest", parts.label), begun, ("in all", duration(end - begin))]
        return Said(f"{count:,} short calls", where, rest)
    lasts = ("so far" if end >= now else "duration", duration(end - begin, 4))
    if count:
        # It is drawn longer than it was, to be seen at all.
        lasts = ("duration", f"at most {duration(end - begin)}")
    return Said(parts.label, where, [begun, lasts])


def colors(text: str) -> NDArray[np.float32]:
    """Return sRGB colours (n, 3) of hexadecimal texts."""
    return parse(text)[:, :3]
