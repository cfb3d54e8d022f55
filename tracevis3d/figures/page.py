"""A figure as a page: a picture, shapes below and above it, and texts. No Blender, no file format."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

RGB = tuple[float, float, float]
#: Where a text lies: pixels (x, y) = (e + a u + c v, f + b u + d v) of a point u to the right and v above the
#: beginning of its baseline, in heights of the font. In the order a, b, c, d, e, f.
Matrix = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, eq=False)
class Patch:
    """A filled polygon.

    Attributes
    ----------
    points : float64 (k, 2)
        Pixels from the lower left corner.
    srgb : (float, float, float)
    """

    points: NDArray[np.float64]
    srgb: RGB


@dataclass(frozen=True, eq=False)
class Shape:
    """An element of the data: an area, its edge, or both.

    Attributes
    ----------
    outlines : tuple of float64 (k, 2)
        Pixels from the lower left corner; what lies in any of them is filled.
    srgb : (float, float, float) or None
        None: not filled.
    name : str
        What it shows, for those who edit the figure.
    edge : (srgb, width) or None
        Width in pixels, half of it on each side of the outlines.
    closed : bool
        Whether the edge also joins the last point to the first.
    """

    outlines: tuple[NDArray[np.float64], ...]
    srgb: RGB | None
    name: str = ""
    edge: tuple[RGB, float] | None = None
    closed: bool = True

    def as_rectangle(self) -> tuple[float, float, float, float] | None:
        """Return left, bottom, right and top if it is one upright rectangle."""
        if len(self.outlines) != 1 or len(self.outlines[0]) != 4 or not self.closed:
            return None
        (left, bottom), (right, low), (far, top), (near, high) = self.outlines[0].tolist()
        if (near, low, far, high) == (left, bottom, right, top):
            return left, bottom, right, top
        return None


@dataclass(frozen=True)
class Text:
    """A line of text.

    Attributes
    ----------
    text : str
    matrix : Matrix
    srgb : (float, float, float)
    """

    text: str
    matrix: Matrix
    srgb: RGB


@dataclass(frozen=True, eq=False)
class Panel:
    """A page on a page: its lower left corner in pixels, and a name for its parts.

    Attributes
    ----------
    left, bottom : int
        The lower left corner, in pixels of the figure.
    page : Page
    name : str
        Identifies the panel's parts in the file.
    """

    left: int
    bottom: int
    page: Page
    name: str


@dataclass(frozen=True, eq=False)
class Page:
    """A figure.

    Attributes
    ----------
    width, height : int
        Pixels.
    dpi : float
        Pixels per inch.
    title : str
    description : str
        What is shown, for those who can't see it.
    recipe : str
        How it is made again: see :mod:`.recipe`; empty: that is not kept.
    background : (float, float, float) or None
        None: transparent.
    picture : bytes
        A PNG of the page's size with the data, transparent beside them; empty: there is none.
    data : list of Shape
        Data as shapes, on the picture.
    below, above : list of Patch
        Shapes below and above the picture, later ones on earlier ones.
    texts : list of Text
    panels : list of Panel
    """

    width: int
    height: int
    dpi: float
    title: str
    description: str
    recipe: str
    background: RGB | None
    picture: bytes
    data: list[Shape] = field(default_factory=list)
    below: list[Patch] = field(default_factory=list)
    above: list[Patch] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)

    def all_texts(self) -> list[Text]:
        """Return its texts and those of its panels."""
        return [*self.texts, *(text for panel in self.panels for text in panel.page.all_texts())]


def straight(text: str, left: float, baseline: float, size: float, srgb: RGB) -> Text:
    """Return a text that is written from left to right, ``size`` pixels of type.

    Parameters
    ----------
    text : str
    left, baseline : float
        Where it begins, in pixels.
    size : float
        Of the type, in pixels.
    srgb : (r, g, b)
        0 to 1.

    Returns
    -------
    Text
    """
    return Text(text, (size, 0.0, 0.0, size, left, baseline), srgb)


def line(start: NDArray[np.float64], end: NDArray[np.float64], width: float, srgb: RGB) -> Patch:
    """Return a straight line as a polygon.

    Parameters
    ----------
    start, end : float64 (2,)
        Pixels.
    width : float
        Pixels.
    srgb : (float, float, float)

    Returns
    -------
    Patch
    """
    along = end - start
    length = max(float(np.hypot(along[0], along[1])), 1e-9)
    across = np.array([-along[1], along[0]]) / length * width / 2
    return Patch(np.array([start - across, end - across, end + across, start + across]), srgb)
