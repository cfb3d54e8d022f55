"""The frame of a picture: its size in pixels, and on paper."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import UsageError

_MM_PER = {"mm": 1.0, "cm": 10.0, "in": 25.4}
_LIMIT = 32_768
_PRINT_DPI = 300.0


@dataclass(frozen=True)
class Frame:
    """Size of a picture in pixels, and dots per inch for print.

    Attributes
    ----------
    width, height : int
        Pixels.
    dpi : float
        Dots per inch.
    """

    width: int = 1920
    height: int = 1080
    dpi: float = 96.0

    @property
    def least_text(self) -> float:
        """Height in pixels that a line of text needs to be read: on a screen, or printed at ``dpi``."""
        return 7.0 * max(1.0, self.height / 1080, self.dpi / 150)

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
        pixels = [round(n if u == "px" else n * _MM_PER[u] / 25.4 * dpi) for n, u in sides]
        for side in pixels:
            if not 16 <= side <= _LIMIT:
                raise UsageError(
                    f"--size {text} at {dpi:g} dpi has a side of {side:,} pixels: "
                    f"16 to {_LIMIT:,} can be rendered"
                )
        return cls(pixels[0], pixels[1], dpi)
