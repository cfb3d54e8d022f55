"""The primitives of a drawing: plain arrays of positions, colours and ids.

Coordinates are scene units (about a metre): x to the right (usually time), y away from the reader, z up.
Colours are indices into the drawing's one palette, so an element's colour *is* its legend's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .links import Link, Relation
from .selector import Selector

Vector = tuple[float, float, float]

#: How an element's surface looks: ``solid`` for what represents one thing, ``cluster`` for what represents
#: many, ``ghost`` for context (translucent), ``glow`` for lit elements, ``gloss`` for shiny ones
#: (in engines with reflections).
Look = Literal["solid", "cluster", "ghost", "glow", "gloss"]


@dataclass(frozen=True, eq=False)
class Boxes:
    """Axis-parallel boxes of one kind.

    Attributes
    ----------
    kind : str
        What they are, in the singular (``call``, ``cluster``); the key in reports.
    low, size : float32 (n, 3)
        Corner with the smallest coordinates, and extents (never negative).
    color : int32 (n,)
        Index into ``Drawing.palette``.
    id : int64 (n,)
        What each represents, in the id space of ``kind`` (for a call its index in ``Trace.calls``).
    time : float32 (n, 2)
        Start and end as shares of the drawn time window (0 to 1), for films; may be (0, 2): always there.
    look : {"solid", "ghost", ...}
        How the surface looks; see :data:`Look`.
    source : int
        Which of the view's traces the ids belong to.
    count : int64 (n,) or (0,)
        How many calls each represents; empty: one.
    window : (int, int) or None
        Nanoseconds that the times 0 and 1 represent.
    """

    kind: str
    low: NDArray[np.float32]
    size: NDArray[np.float32]
    color: NDArray[np.int32]
    id: NDArray[np.int64]
    time: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 2), np.float32))
    look: Look = "solid"
    source: int = 0
    count: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    window: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self.low)


@dataclass(frozen=True, eq=False)
class Tubes:
    """Swept tubes; the points of tube ``i`` are the slice ``[first[i], first[i + 1])``.

    Attributes
    ----------
    kind : str
        What they are, in the singular; the key in reports.
    point : float32 (m, 3)
    radius : float32 (m, 2)
        Half width and half height of the elliptical section at each point: along ``side`` and across it.
    first : int64 (n + 1,)
    color : int32 (n,)
    id : int64 (n,)
    side : Vector
        The direction that the section's width keeps to as far as the path allows.
    level : bool
        The width lies along ``side`` exactly, wherever the path turns: sections of wide tubes can't cross
        each other then.
    look : Look
        How the surface looks; see :data:`Look`.
    source : int
        Which of the view's traces the ids belong to.
    gloss : float32 (n,) or (0,)
        How bright the light on the crest of wide tubes is in every engine, 0 to 1; empty: there is none.
    end_color : int32 (n,) or (0,)
        Colour at the last point, which that of the first turns into on the way; empty: one colour.
    time : float32 (n,) or (0,)
        When each appears in a film, as a share of the drawn time window; empty: always there.
    """

    kind: str
    point: NDArray[np.float32]
    radius: NDArray[np.float32]
    first: NDArray[np.int64]
    color: NDArray[np.int32]
    id: NDArray[np.int64]
    side: Vector = (1.0, 0.0, 0.0)
    level: bool = False
    look: Look = "solid"
    source: int = 0
    gloss: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    end_color: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    time: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))

    def __len__(self) -> int:
        return len(self.first) - 1


@dataclass(frozen=True, eq=False)
class Lines:
    """Polylines of constant width; the points of line ``i`` are the slice ``[first[i], first[i + 1])``.

    Attributes
    ----------
    kind : str
        What they are, in the singular; the key in reports.
    point : float32 (m, 3)
    first : int64 (n + 1,)
    width : float32 (n,)
        Scene units.
    color : int32 (n,)
    id : int64 (n,)
    look : Look
        How the surface looks; see :data:`Look`.
    source : int
        Which of the view's traces the ids belong to.
    """

    kind: str
    point: NDArray[np.float32]
    first: NDArray[np.int64]
    width: NDArray[np.float32]
    color: NDArray[np.int32]
    id: NDArray[np.int64]
    look: Look = "solid"
    source: int = 0

    def __len__(self) -> int:
        return len(self.first) - 1


@dataclass(frozen=True, eq=False)
class Marks:
    """Round solids at points: small signs, or as large as ``size`` says.

    Attributes
    ----------
    kind : str
        What they are, in the singular; the key in reports.
    shape : {"sphere", "diamond", "cone", "pin", "disc", "shell"}
        A ``cone`` has its tip at the point and widens upward, a ``pin`` stands on it; a ``disc`` is a flat
        cylinder around it; a ``shell`` is a cone without a floor that hangs from the point and widens
        downward.
    point : float32 (n, 3)
    size : float32 (n,) or (n, 3)
        Diameter in scene units, or extents along x, y and z.
    color : int32 (n,)
    id : int64 (n,)
    look : Look
        How the surface looks; see :data:`Look`.
    source : int
        Which of the view's traces the ids belong to.
    along : {"x", "z"}
        The axis that ``disc`` and ``shell`` are round about; what is said of down above is +x then.
    """

    kind: str
    shape: Literal["sphere", "diamond", "cone", "pin", "disc", "shell"]
    point: NDArray[np.float32]
    size: NDArray[np.float32]
    color: NDArray[np.int32]
    id: NDArray[np.int64]
    look: Look = "solid"
    source: int = 0
    along: Literal["x", "z"] = "z"

    def __len__(self) -> int:
        return len(self.point)


@dataclass(frozen=True, eq=False)
class Wedges:
    """Bent blocks: quadrangles swept along paths; those of block ``i`` are ``[first[i], first[i + 1])``.

    Attributes
    ----------
    kind : str
        What they are, in the singular; the key in reports.
    corner : float32 (m, 4, 3)
        The four corners of each section, in the same order all along.
    first : int64 (n + 1,)
        A block has two sections or more.
    color : int32 (n,)
    id : int64 (n,)
    look : Look
        How the surface looks; see :data:`Look`.
    source : int
        Which of the view's traces the ids belong to.
    time : float32 (n, 2) or (0, 2)
        Start and end as shares of the time that the drawing shows, for pointing at times; a film shows
        all blocks from its beginning.
    window : (int, int) or None
        Nanoseconds at shares 0 and 1, where time runs along x.
    """

    kind: str
    corner: NDArray[np.float32]
    first: NDArray[np.int64]
    color: NDArray[np.int32]
    id: NDArray[np.int64]
    look: Look = "solid"
    source: int = 0
    time: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 2), np.float32))
    window: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self.first) - 1


@dataclass(frozen=True, eq=False)
class Image:
    """A picture on a surface of any shape, one point to a pixel. Its colours are its own.

    Attributes
    ----------
    kind : str
        What it shows, in the singular; the key in reports.
    point : float32 (rows, columns, 3)
        Where the middle of each pixel lies; 2 rows and columns at least.
    pixel : uint8 (rows, columns, 4)
        sRGB and alpha: how much of the pixel is covered. Where nothing is, there is no surface.
    time : float32 (rows,) or (0,)
        When each row appears in a film, as a share of the drawn time window; empty: always there.
    source : int
        Which of the view's traces it is about.
    """

    kind: str
    point: NDArray[np.float32]
    pixel: NDArray[np.uint8]
    time: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    source: int = 0

    def __len__(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class Labels:
    """Texts in the scene. Where two would overlap in a picture the higher ``rank`` wins.

    Attributes
    ----------
    kind : str
        What they name, in the singular; the key in reports.
    text : tuple of str (n)
    anchor : float32 (n, 3)
        Middle of the text's left end, middle or right end, by ``align``.
    height : float32 (n,)
        Line height in scene units.
    room : float32 (n,)
        The text is shortened with an ellipsis, or left out, to fit this width; inf: no bound.
    rank : float32 (n,)
        Importance.
    align : {-1, 0, 1}
        Anchor at the left end, the middle, the right end.
    right, up : Vector
        The plane the text is written on.
    background : int32 (n,) or (0,)
        Palette index of what the text lies on (it is drawn in the ink that contrasts); empty: on the ground.
    source : int
        Which of the view's traces it is about.
    id : int64 (n,) or (0,)
        Of the element that each is the name of, of the kind ``kind``, where a click on the name does what one
        on the element would; empty: a click does nothing.
    shorter : tuple of tuple of str (n) or ()
        What each says instead where there is less room, the longest first: a text that has such is never cut.
    """

    kind: str
    text: tuple[str, ...]
    anchor: NDArray[np.float32]
    height: NDArray[np.float32]
    room: NDArray[np.float32]
    rank: NDArray[np.float32]
    align: Literal[-1, 0, 1] = 0
    right: Vector = (1.0, 0.0, 0.0)
    up: Vector = (0.0, 0.0, 1.0)
    background: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    source: int = 0
    id: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    shorter: tuple[tuple[str, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.text)

    def only(self, rows: NDArray[np.int64]) -> Labels:
        """Return some of the texts, int64 (k,), in this order."""
        return replace(
            self,
            text=tuple(self.text[i] for i in rows.tolist()),
            anchor=self.anchor[rows],
            height=self.height[rows],
            room=self.room[rows],
            rank=self.rank[rows],
            background=self.background[rows] if len(self.background) else self.background,
            id=self.id[rows] if len(self.id) else self.id,
            shorter=tuple(self.shorter[i] for i in rows.tolist()) if self.shorter else (),
        )


@dataclass(frozen=True)
class Axis:
    """A ruler in the scene.

    Attributes
    ----------
    origin, direction : Vector
        Where it starts, and its unit direction.
    length : float
    tick : tuple of float
        Distances from the origin of the labelled ticks.
    text : tuple of str
        One per tick; units stand in the texts or the title.
    minor : tuple of float
        Distances of the ticks without text.
    title : str
    outward : Vector
        The direction in which ticks and texts stand off.
    height : float
        Line height of the texts, in scene units.
    grid : float
        Length of grid lines drawn from each labelled tick against ``outward``; 0: none.
    window : (int, int) or None
        Nanoseconds at its two ends where it measures time: zoomed in, it gets finer ticks. None: only the
        ticks it has.
    """

    origin: Vector
    direction: Vector
    length: float
    tick: tuple[float, ...]
    text: tuple[str, ...]
    minor: tuple[float, ...] = ()
    title: str = ""
    outward: Vector = (0.0, 0.0, -1.0)
    height: float = 0.3
    grid: float = 0.0
    window: tuple[int, int] | None = None


@dataclass(frozen=True)
class Callout:
    """A short statement about a point of the scene that should be noticed first.

    Attributes
    ----------
    text : str
        What is there, in a few words.
    detail : str
        The numbers, in one line; may be empty.
    point : Vector
        Where its leader line ends.
    rank : float
        Importance.
    color : int
        Palette index of its mark; -1: none of its own.
    calls : tuple of (int, int)
        Those that show it: which of the view's traces, and the call.
    spans : tuple of (int, int, int)
        When it is to be seen: which of the view's traces, and from which nanosecond to which.
    inferred : bool
        Whether it is only the most likely explanation: its leader line is dashed.
    """

    text: str
    detail: str
    point: Vector
    rank: float = 0.0
    color: int = -1
    calls: tuple[tuple[int, int], ...] = ()
    spans: tuple[tuple[int, int, int], ...] = ()
    inferred: bool = False


@dataclass(frozen=True)
class Stretch:
    """A part of a trace's time, such as a phase, for the time strip.

    Attributes
    ----------
    source : int
        Which of the view's traces.
    start, end : int
        Nanoseconds.
    text : str
        What it is called, in as few letters as can be.
    color : int
        Palette index.
    """

    source: int
    start: int
    end: int
    text: str
    color: int


@dataclass(frozen=True)
class LegendEntry:
    """One line of a legend: the palette index and what it means.

    Attributes
    ----------
    text : str
        What the colour means.
    color : int
        Index into ``Drawing.palette``.
    look : Look
        How the swatch looks; see :data:`Look`.
    stands_for : Selector or None
        The elements that it is about; None: those in its colour.
    """

    text: str
    color: int
    look: Look = "solid"
    stands_for: Selector | None = None

    @property
    def selector(self) -> Selector:
        """The elements that it is about."""
        return self.stands_for or Selector(colors=((self.color, self.color),))


@dataclass(frozen=True)
class Legend:
    """The meaning of colours: either entries, or a ramp of consecutive palette indices.

    Attributes
    ----------
    title : str
    entries : tuple of LegendEntry
    ramp : (first, last) or None
        Palette indices of a continuous colour map, both included.
    ramp_tick, ramp_text
        Positions along the ramp (0 to 1) and their texts.
    """

    title: str
    entries: tuple[LegendEntry, ...] = ()
    ramp: tuple[int, int] | None = None
    ramp_tick: tuple[float, ...] = ()
    ramp_text: tuple[str, ...] = ()


@dataclass(frozen=True)
class Camera:
    """The camera of the drawing; the scene moves it back until ``low``..``high`` fits the frame.

    Attributes
    ----------
    direction : Vector
        From the subject towards the camera.
    up : Vector
    projection : {"perspective", "orthographic"}
    lens : float
        Focal length in mm for a 36 mm wide sensor.
    low, high : Vector
        The box that must be in the picture.
    whole : bool
        The picture also holds the rulers and texts that stand outside the box.
    all_of_it : (Vector, Vector) or None
        The box of all that is drawn, behind which the wall stands, where ``low``..``high`` is a part of it.
    reading : Vector or None
        From the subject towards where a window first looks from, as wide as it is high enough to be read: of
        a high drawing the lower part. None: as the camera does, at all of it.
    wall : bool
        A surface behind the data takes their shadows. A map on a plate of its own needs none: it would stand
        upright at its far edge, with the shadow of what lies before it.
    """

    direction: Vector
    low: Vector
    high: Vector
    up: Vector = (0.0, 0.0, 1.0)
    projection: Literal["perspective", "orthographic"] = "perspective"
    lens: float = 85.0
    whole: bool = True
    all_of_it: tuple[Vector, Vector] | None = None
    reading: Vector | None = None
    wall: bool = True


Element = Boxes | Tubes | Lines | Marks | Wedges | Image


@dataclass(frozen=True, eq=False)
class Meaning:
    """What elements of a kind represent, where their ids are not calls themselves.

    Attributes
    ----------
    calls : tuple of (int, int64 (ids,))
        A view's trace, and for each id the call of it that belongs to the element; -1: none.
    values : tuple of (str, float or int (ids,))
        More values of each id: a title and values. Titles that end in ``(ns)`` and ``(bytes)`` are
        shown in human units.
    texts : tuple of (str, sequence of str, int (ids,))
        Texts of each id: a title, texts, and the text of each id; -1: none.
    links : tuple of Link
        What each id shows beside calls: elements that show the same are highlighted together.
    """

    calls: tuple[tuple[int, NDArray[np.int64]], ...] = ()
    values: tuple[tuple[str, NDArray[np.floating[Any] | np.integer[Any]]], ...] = ()
    texts: tuple[tuple[str, Sequence[str], NDArray[np.integer[Any]]], ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, eq=False)
class Drawing:
    """The content of a picture, as plain arrays.

    Attributes
    ----------
    palette : float32 (k, 4)
        sRGB and alpha, 0 to 1, as they are to appear on the screen.
    elements : tuple of Boxes, Tubes, Lines, Marks, Wedges and Images
    labels, axes, legends
    camera : Camera
    title : str
        A line for the top of the picture; what is shown.
    notes : tuple of str
        Short facts for the foot of the picture (counts, resolution, what was left out).
    counts : dict
        What the report says beyond the numbers of elements (such as ``calls in clusters``).
    meaning : dict
        Kind of element -> what its ids represent; ``"<kind>:<source>"`` for those of one trace, where ids of
        several traces mean different things. Boxes of the kinds ``call`` and ``cluster`` need none:
        their ids are calls, those of clusters the longest of each.
    cameras : dict
        Name -> other places to look from; they stand in the scene beside ``camera``.
    facts : tuple of (str, tuple of (str, str))
        Tables for a panel beside the picture: a title, and rows of a label and a text.
    callouts : tuple of Callout
        What is to be seen first, with leader lines in the window; most important first.
    uncovered : tuple of str
        Kinds of elements that printed callouts keep off: always, as off names beside the data, or for boxes
        where another place is not much farther.
    stretches : tuple of Stretch
        Parts of the time, such as phases.
    relations : tuple of Relation
        Which of the things that links show belong together.
    pixels_per_unit : float
        What a unit along the first ruler of time was taken to take in the picture, where what is narrower
        than a pixel is merged; 0: nothing depends on it.
    """

    palette: NDArray[np.float32]
    elements: tuple[Element, ...]
    camera: Camera
    labels: tuple[Labels, ...] = ()
    axes: tuple[Axis, ...] = ()
    legends: tuple[Legend, ...] = ()
    title: str = ""
    notes: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    meaning: dict[str, Meaning] = field(default_factory=dict)
    cameras: dict[str, Camera] = field(default_factory=dict)
    facts: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    callouts: tuple[Callout, ...] = ()
    uncovered: tuple[str, ...] = ()
    stretches: tuple[Stretch, ...] = ()
    relations: tuple[Relation, ...] = ()
    pixels_per_unit: float = 0.0

    def meaning_of(self, element: Element) -> Meaning | None:
        """Return what the ids of one of the elements represent; None if that is not declared."""
        return self.meaning.get(f"{element.kind}:{element.source}") or self.meaning.get(element.kind)

    def calls_of(self, element: Element) -> NDArray[np.int64] | None:
        """Return the call of each item of one of the elements, -1 where there is none; None: of no item."""
        if isinstance(element, Image):
            return None
        meaning = self.meaning_of(element)
        of = dict(meaning.calls).get(element.source) if meaning is not None else None
        if of is None:
            return element.id if element.kind in ("call", "cluster") else None
        inside = (element.id >= 0) & (element.id < len(of))
        return np.where(inside, of[np.where(inside, element.id, 0)], -1)
