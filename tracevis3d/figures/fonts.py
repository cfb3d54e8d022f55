"""Fonts of a figure: which one has which letter, and only the letters that are used."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import UsageError


class Font:
    """A font file.

    Parameters
    ----------
    path : Path
    number : int
        For a name of its own in the figure.
    """

    def __init__(self, path: Path, number: int) -> None:
        self.path = path
        self.name = f"F{number}"
        self.used: set[str] = set()

    @cached_property
    def _file(self) -> Any:
        return _font_tools().TTFont(self.path, lazy=True)

    @cached_property
    def letters(self) -> dict[int, str]:
        """Code point -> glyph."""
        found: dict[int, str] = self._file.getBestCmap()
        return found

    @property
    def names(self) -> tuple[str, str]:
        """Its family and subfamily, such as Noto Sans and Regular."""
        table = self._file["name"]
        return str(table.getBestFamilyName() or ""), str(table.getBestSubFamilyName() or "")

    @property
    def family(self) -> str:
        """What people call it."""
        return self.names[0] or self.path.stem

    @property
    def is_true_type(self) -> bool:
        """Whether its outlines are TrueType's, which a PDF can hold."""
        return "glyf" in self._file

    @property
    def cap_height(self) -> float:
        """Height of a capital letter, in heights of the font."""
        table = self._file["OS/2"]
        # Old tables lack it.
        high = getattr(table, "sCapHeight", 0) or 0.7 * self._file["head"].unitsPerEm
        return float(high / self._file["head"].unitsPerEm)

    def advance(self, text: str) -> float:
        """Return how wide a text is, in heights of the font."""
        widths = self._file["hmtx"].metrics
        glyphs = (self.letters.get(ord(letter), ".notdef") for letter in text)
        return float(sum(widths[glyph][0] for glyph in glyphs) / self._file["head"].unitsPerEm)

    def subset(self, flavor: str | None) -> bytes:
        """Return a font file with the letters that were used.

        Parameters
        ----------
        flavor : {"woff2", None}
            None: plain TrueType.

        Returns
        -------
        bytes
        """
        from fontTools import subset

        options = subset.Options()
        options.flavor = flavor
        options.name_IDs = ["*"]  # the licence text stays in the font
        options.notdef_outline = True
        options.drop_tables += ["FFTM"]  # time stamps of font editors
        options.layout_features = ["kern", "mark", "mkmk", "ccmp", "locl"]
        file = _font_tools().TTFont(self.path, recalcTimestamp=False)
        maker = subset.Subsetter(options)
        maker.populate(unicodes=sorted(map(ord, self.used)))
        maker.subset(file)
        file.flavor = flavor
        out = io.BytesIO()
        file.save(out)
        return out.getvalue()


def need_font_tools() -> None:
    """Raise unless fontTools is there.

    Raises
    ------
    UsageError
        If it is missing.
    """
    _font_tools()


def _font_tools() -> Any:
    try:
        from fontTools import ttLib
    except ImportError:
        raise UsageError(
            "fontTools is needed for .svg, .pdf and --font: pip install 'tracevis3d[figures]'"
        ) from None
    return ttLib


class Fonts:
    """The fonts of a figure, the usual one first.

    Parameters
    ----------
    files : sequence of Path
        Those that are tried for a letter, in order.

    Raises
    ------
    UsageError
        If fontTools is not installed.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        _font_tools()
        self.all = [Font(path, number) for number, path in enumerate(files)]

    @property
    def usual(self) -> Font:
        """That of most letters."""
        return self.all[0]

    @property
    def used(self) -> list[Font]:
        """Those that :meth:`runs` has returned."""
        return [font for font in self.all if font.used]

    def runs(self, text: str) -> list[tuple[Font, str]]:
        """Return a text in pieces of one font each; a letter that none has gets the usual one.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of (Font, str)
        """
        pieces: list[tuple[Font, str]] = []
        for letter in text:
            font = self._font_of(letter, pieces[-1][0] if pieces else self.usual)
            font.used.add(letter)
            if pieces and pieces[-1][0] is font:
                pieces[-1] = (font, pieces[-1][1] + letter)
            else:
                pieces.append((font, letter))
        return pieces

    def _font_of(self, letter: str, last: Font) -> Font:
        for font in (self.usual, last, *self.all):
            if ord(letter) in font.letters:
                return font
        return self.usual
