"""What an overlay is made of: texts, rectangles, lines, and the places that can be clicked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: A rectangle in pixels from the region's lower left corner: left, bottom, right, top.
Rectangle = tuple[float, float, float, float]
Color = tuple[float, float, float, float]
#: How opaque the plate behind a text on the scene is.
_PLATE = 0.72
#: Minimum number of characters of a shortened text.
FEWEST = 4
#: Letters of a word that are left out of a shortened text if there are no more of it.
_STUMP = 2
#: Returns the width of a text in type of size 1.
Measure = Callable[[str], float]


class Text(NamedTuple):
    """A line of text.

    Attributes
    ----------
    text : str
    left, baseline : float
        Pixels from the region's lower left corner.
    size : float
        Of the type, in pixels.
    color : (float, float, float, float)
        sRGB and alpha.
    kind : str
        ``title``, ``fact``, ``legend``, ``tick``, ``name``, ``callout``, or ``leaving``: a name that fades
        away.
    box : Rectangle
        What it covers.
    """

    text: str
    left: float
    baseline: float
    size: float
    color: Color
    kind: str
    box: Rectangle


@dataclass(frozen=True)
class Target:
    """A rectangle that answers the mouse: what it is, and which.

    Attributes
    ----------
    box : Rectangle
        In pixels of the region.
    kind : str
        What it is.
    index : tuple of int
        Which of its kind.
    """

    box: Rectangle
    kind: Literal["legend", "entry", "panel", "callout"]
    index: tuple[int, ...]


@dataclass
class Overlay:
    """An overlay of one region.

    Attributes
    ----------
    texts : list of Text
    fills : list of (Rectangle, Color)
        In the order in which they are drawn.
    lines : list of ((x, y), (x, y), width, Color)
    dots : list of (x, y, radius, Color)
    targets : list of Target
    taken : list of Rectangle
        Where no name may lie.
    places : dict
        Number of a callout -> which of the places that were tried it has.
    names : dict
        Key of a name -> what it says, of those that are shown: they stay, when the view moves, as long as
        there is room.
    lettered : dict
        Key of a name -> which of the texts it is, which of the rectangles is its plate (-1: it has none), and
        how many times it has the room and height that it needs.
    young : frozenset
        Keys of names that were shown so short a while ago that no other name may take their places.
    """

    texts: list[Text] = field(default_factory=list)
    fills: list[tuple[Rectangle, Color]] = field(default_factory=list)
    lines: list[tuple[tuple[float, float], tuple[float, float], float, Color]] = field(default_factory=list)
    dots: list[tuple[float, float, float, Color]] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    taken: list[Rectangle] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    names: dict[tuple[int, int], str] = field(default_factory=dict)
    lettered: dict[tuple[int, int], tuple[int, int, float]] = field(default_factory=dict)
    young: frozenset[tuple[int, int]] = frozenset()

    def write(
        self, text: str, left: float, baseline: float, size: float, color: Color, kind: str, wide: float
    ) -> None:
        """Add a line of text that is ``wide`` pixels wide.

        Parameters
        ----------
        text : str
        left, baseline : float
            Where it begins, in pixels of the region.
        size : float
            Of the type, in pixels.
        color : (r, g, b, a)
        kind : str
            What the line explains.
        wide : float
            Pixels.
        """
        box = (left, baseline - 0.25 * size, left + wide, baseline + 0.85 * size)
        self.texts.append(Text(text, left, baseline, size, color, kind, box))

    def put_plate(self, left: float, baseline: float, size: float, wide: float, theme: Theme) -> None:
        """Add a plate behind a line of text on the scene: lines and elements may run through it.

        Parameters
        ----------
        left, baseline : float
            Where the line begins, in pixels of the region.
        size : float
            Of the type, in pixels.
        wide : float
            Pixels.
        theme : Theme
            Has the plate's colour.
        """
        box = (left - 0.2 * size, baseline - 0.15 * size, left + wide + 0.2 * size, baseline + 0.9 * size)
        self.fills.append((box, (*theme.ground, _PLATE)))


@dataclass(frozen=True, eq=False)
class Choices:
    """What a person has chosen of an overlay.

    Attributes
    ----------
    folded : frozenset of int
        Legends that were folded or opened, other than they are at first.
    chosen : frozenset of (int, int)
        Legend and entry of what is not muted; none: nothing is muted.
    lit : frozenset of (int, int)
        Entries that the mouse is on.
    names : bool (n,) or None
        Which of the names are shown at all; None: each may be.
    """

    folded: frozenset[int] = frozenset()
    chosen: frozenset[tuple[int, int]] = frozenset()
    lit: frozenset[tuple[int, int]] = frozenset()
    names: NDArray[np.bool_] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What is the same for the same choices, as long as they are there."""
        return self.folded, self.chosen, self.lit, None if self.names is None else id(self.names)


@dataclass(frozen=True)
class Theme:
    """Sizes and colours of an overlay.

    Attributes
    ----------
    scale : float
        Of Blender's interface: pixels per point.
    size : float
        Of the type of names and legends, in points.
    ink, muted : sRGB
        Texts on the scene's background, and lesser ones.
    ground : sRGB
        The scene's background.
    panel, panel_ink, panel_muted : Color
        What legends and callouts lie on, and their texts.
    accent : Color
        Marks of callouts.
    """

    scale: float = 1.0
    size: float = 12.0
    ink: tuple[float, float, float] = (0.10, 0.11, 0.13)
    muted: tuple[float, float, float] = (0.40, 0.42, 0.45)
    ground: tuple[float, float, float] = (1.0, 1.0, 1.0)
    panel: Color = (0.17, 0.18, 0.20, 1.0)
    panel_ink: Color = (0.95, 0.96, 0.97, 1.0)
    panel_muted: Color = (0.70, 0.73, 0.77, 1.0)
    accent: Color = (0.84, 0.37, 0.0, 1.0)

    @property
    def type(self) -> float:
        """Size of the type in pixels: never below 11, which is the least that is easily read."""
        return max(self.size * self.scale, 11.0)


def fitted(text: str, room: float, size: float, measure: Measure) -> str:
    """Return ``text``, or its start and an ellipsis, so that it is no wider than ``room`` pixels.

    Parameters
    ----------
    text : str
    room : float
        Pixels.
    size : float
        Of the type, in pixels.
    measure : Measure

    Returns
    -------
    str
        Empty if not even four characters fit.

    Examples
    --------
    >>> fitted("read_the_file", 80, 10, len)
    'read_th…'
    >>> fitted("read_the_file", 30, 10, len)
    ''
    """
    if measure(text) * size <= room:
        return text
    return shortened(text, room / size, measure)[0]


def wrapped(text: str, room: float, size: float, measure: Measure) -> list[str]:
    """Return a text in one line that fits into a room, or in two of about the same width.

    Parameters
    ----------
    text : str
    room : float
        In pixels.
    size : float
        Of the type, in pixels.
    measure : Measure

    Returns
    -------
    list of str
        The second line is shortened where both together take more.

    Examples
    --------
    >>> wrapped("held by img_0 115 ms, img_6 72.9 ms", 24, 1, len)
    ['held by img_0 115', 'ms, img_6 72.9 ms']
    >>> wrapped("short", 20, 1, len)
    ['short']
    """
    words = text.split(" ")
    if measure(text) * size <= room or len(words) == 1:
        return [fitted(text, room, size, measure)]
    halves = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words))]
    widths = [tuple(measure(half) * size for half in both) for both in halves]
    evenly = min(range(len(halves)), key=lambda k: max(widths[k]))
    if max(widths[evenly]) <= room:
        return list(halves[evenly])
    # As much as fits goes into the first line.
    most = max((k for k in range(len(halves)) if widths[k][0] <= room), default=0)
    return [fitted(half, room, size, measure) for half in halves[most]]


def shortened(text: str, room: float, measure: Measure) -> tuple[str, float]:
    """Return the start of a text and an ellipsis, so that both fit into a room.

    Parameters
    ----------
    text : str
        Wider than the room.
    room : float
        In sizes of the type.
    measure : Measure

    Returns
    -------
    str
        Empty if not even four characters fit.
    float
        How wide that is, in type of size 1.

    Examples
    --------
    >>> shortened("read_the_file", 8, len)
    ('read_th…', 8)
    >>> shortened("352 ms for work", 9, len)
    ('352 ms…', 7)
    """

    def wide(characters: int) -> float:
        return measure(start_of(text, characters))

    fits = bisect_right(range(1, len(text) + 1), room, key=wide)
    return (start_of(text, fits), wide(fits)) if fits >= FEWEST else ("", 0.0)


def start_of(text: str, characters: int) -> str:
    """Return the start of a text with an ellipsis: so many characters, or fewer where a word would be cut.

    Parameters
    ----------
    text : str
    characters : int

    Returns
    -------
    str

    Examples
    --------
    >>> start_of("352 ms for work", 12)
    '352 ms for…'
    """
    cut = text[:characters]
    word = cut.rfind(" ") + 1
    # One or two letters of a word say nothing.
    if word > FEWEST and characters - word <= _STUMP and text[characters : characters + 1].strip():
        cut = cut[:word]
    return cut.rstrip(" .:") + "…"
