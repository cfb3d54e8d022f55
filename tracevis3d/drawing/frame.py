"""The frame of a picture: its size in pixels and on paper, and the type it is set in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ..errors import UsageError

_MM_PER = {"mm": 1.0, "cm": 10.0, "in": 25.4}
_LIMIT = 32_768
_PRINT_DPI = 300.0
_POINTS_PER_INCH = 72.0
#: Smallest type of a figure, as a share of its usual one: journals ask for 5 points or more beside 7.
_SMALLEST = 5 / 7
#: A line's height, in heights of its type.
_LEADING = 1.2
#: Width in mm of figures that take so many columns of a printed page, and the type that journals ask for.
_COLUMNS, _TYPE_OF_COLUMNS = {"1": 88.0, "1.5": 134.0, "2": 180.0}, 7.0
_SHAPE = 9 / 16


@dataclass(frozen=True)
class Frame:
    """Size of a picture in pixels, dots per inch for print, and its type.

    Attributes
    ----------
    width, height : int
        Pixels.
    dpi : float
        Dots per inch.
    points : float
        Size of the type in points; 0: by the picture's size.
    font : str
        A font's file, or its family; empty: the usual one.
    straight : bool
        Seen straight from the front, whatever the drawing's camera: the style is ``flat``.
    pixels_per_unit : float
        What a unit along the ruler of time takes in the picture, once that was measured; 0: not yet.
    """

    width: int = 1920
    height: int = 1080
    dpi: float = 96.0
    points: float = 0.0
    font: str = ""
    straight: bool = field(default=False, repr=False)
    pixels_per_unit: float = field(default=0.0, repr=False)

    @property
    def type_size(self) -> float:
        """Size of the type in pixels; 0: by the picture's size."""
        return self.points * self.dpi / _POINTS_PER_INCH

    @property
    def least_text(self) -> float:
        """Height in pixels that a line of text needs to be read: on a screen, or printed at ``dpi``.

        Views write about twice as high.
        """
        if self.points:
            return _LEADING / 2 * self.type_size
        return 7.0 * max(1.0, self.height / 1080, self.dpi / 150)

    @property
    def least_line(self) -> float:
        """Height in pixels of the lowest line of text that is printed."""
        return max(self.least_text, _LEADING * _SMALLEST * self.type_size)

    @classmethod
    def parse(cls, text: str, dpi: float | None = None) -> Frame:
        """Read ``1920x1080``, ``180mmx100mm``, ``18cmx10cm`` or ``7inx4in``.

        Without ``dpi`` a size in pixels is for a screen (96), one on paper for print (300).

        Parameters
        ----------
        text : str
            Width and height with their unit; without one, pixels.
        dpi : float, optional
            Dots per inch, 1 to 10,000.

        Returns
        -------
        Frame

        Raises
        ------
        UsageError
            If the text is not such a size, or a side is not between 16 and 32,768 pixels.
        """
        match = re.fullmatch(r"\s*([\d.]+)\s*(mm|cm|in|px)?\s*[x×]\s*([\d.]+)\s*(mm|cm|in|px)?\s*", text)
        try:
            if match is None:
                raise ValueError
            unit = match[4] or match[2] or "px"
            sides = [(float(match[1]), match[2] or unit), (float(match[3]), unit)]
        except ValueError:
            raise UsageError(
                f"--size {text!r} is not a size such as 1920x1080, 180mmx100mm or 7inx4in"
            ) from None
        if dpi is None:
            dpi = cls.dpi if all(unit == "px" for _, unit in sides) else _PRINT_DPI
        if not 1 <= dpi <= 10_000:
            raise UsageError(f"--dpi {dpi:g} is not between 1 and 10,000")
        pixels = [round(min(n if u == "px" else n * _MM_PER[u] / 25.4 * dpi, 1e9)) for n, u in sides]
        for side in pixels:
            if not 16 <= side <= _LIMIT:
                raise UsageError(
                    f"--size {text} at {dpi:g} dpi has a side of {side:,} pixels: "
                    f"16 to {_LIMIT:,} can be rendered"
                )
        return cls(pixels[0], pixels[1], dpi)

    @classmethod
    def of_columns(cls, text: str, dpi: float | None = None) -> Frame:
        """Return the frame of a figure that takes some columns of a printed page, with type of 7 points.

        Parameters
        ----------
        text : str
            ``1`` (88 mm wide), ``1.5`` (134 mm) or ``2`` (180 mm), and perhaps a height: ``2x60mm``.
        dpi : float, optional
            Dots per inch; default 300.

        Returns
        -------
        Frame

        Raises
        ------
        UsageError
            If the text is not such a width, or the height not a length.

        Examples
        --------
        >>> Frame.of_columns("1x66mm", 100)
        Frame(width=346, height=260, dpi=100, points=7.0, font='')
        """
        columns, _, height = text.replace(" ", "").partition("x")
        if columns not in _COLUMNS:
            raise UsageError(f"--columns {text}: {', '.join(_COLUMNS)} is expected, or a height too: 2x60mm")
        wide = _COLUMNS[columns]
        try:
            frame = cls.parse(f"{wide:g}mmx{height or f'{wide * _SHAPE:g}mm'}", dpi)
        except UsageError as error:
            raise UsageError(str(error).replace("--size", f"--columns {text}:")) from None
        return replace(frame, points=_TYPE_OF_COLUMNS)

    def set_in(self, points: str | float = 0.0, font: str = "") -> Frame:
        """Return the same frame with other type.

        Parameters
        ----------
        points : str or float
            ``7pt`` or 7; 0 or nothing: as it is.
        font : str
            A font's file, or its family; empty: as it is.

        Returns
        -------
        Frame

        Raises
        ------
        UsageError
            If the size is not between 3 and 72 points.

        Examples
        --------
        >>> Frame(800, 600, 300).set_in("7.2pt").type_size
        30.0
        """
        size = str(points).strip().removesuffix("pt")
        try:
            value = float(size or 0)
        except ValueError:
            value = -1.0
        if value and not 3 <= value <= 72:
            raise UsageError(f"--font-size {points}: 3 to 72 points are expected, such as 7pt")
        return replace(self, points=value or self.points, font=font or self.font)
