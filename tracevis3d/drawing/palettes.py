"""Colours: sets for kinds, ramps for quantities, and how they are assigned.

All colours are sRGB as they are to appear on the screen.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Colors = NDArray[np.float32]

# Samples of matplotlib's colour maps (public domain), evenly spaced; cividis by Nunez et al. 2018 looks the
# same to people with and without a colour deficiency, viridis nearly so. Both grow lighter steadily.
_CIVIDIS = (
    "00224e 00285b 002e6a 053371 1a386f 273e6e 32436d 3b496c 434e6c 4b546c 535a6d 5a5f6e 61656f "
    "686a71 6f7073 767676 7d7c78 848279 8c8878 938e78 9b9476 a39a74 aba072 b4a76f bcae6c c4b468 "
    "cdbb63 d5c25e dec958 e7d150 f0d846 f9e03a fee838"
)
_VIRIDIS = (
    "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26828e 21918c 1fa088 28ae80 3fbc73 5ec962 "
    "84d44b addc30 d8e219 fde725"
)
# From blue over green to red, as in the papers.
_RAINBOW = "0000ff 0080ff 00ffff 00ff80 00ff00 80ff00 ffff00 ff8000 ff0000"

# Paul Tol's muted set and Okabe & Ito's set (without black): made to be distinguished with any colour vision.
# Ordered so that neighbours differ with any colour vision, and in grey print.
_MUTED = "4477aa ddcc77 44aa99 88ccee 117733 cc6677 882255 999933 aa4499 332288"
_OKABE_ITO = "0072b2 e69f00 009e73 56b4e9 d55e00 f0e442 cc79a7"
_SATURATED = "1f4fd8 e03131 2f9e44 f59f00 7048e8 0fa3b1 d6336c 74b816 a0522d 495057"


@dataclass(frozen=True)
class Palette:
    """A set of colours for kinds and a ramp for quantities that go together.

    Attributes
    ----------
    words : str
        What it is, for menus.
    kinds : float32 (n, 4)
    anchors : float32 (m, 4)
        Samples of the ramp, from low to high, evenly spaced.
    """

    words: str
    kinds: Colors
    anchors: Colors

    def ramp(self, n: int) -> Colors:
        """Return ``n`` colours from the low end of the ramp to its high end, shape (n, 4)."""
        at = np.linspace(0.0, 1.0, n)
        given = np.linspace(0.0, 1.0, len(self.anchors))
        return np.stack([np.interp(at, given, self.anchors[:, c]) for c in range(4)], axis=1).astype(
            np.float32
        )


def parse(text: str) -> Colors:
    """Return the colours of hexadecimal texts separated by blanks, shape (n, 4)."""
    rgb = np.array([[int(word[i : i + 2], 16) for i in (0, 2, 4)] for word in text.split()], np.float32)
    return np.hstack([rgb / np.float32(255), np.ones((len(rgb), 1), np.float32)]).astype(np.float32)


PALETTES: dict[str, Palette] = {
    "muted": Palette(
        "Tol's muted colours and cividis, safe with any colour vision", parse(_MUTED), parse(_CIVIDIS)
    ),
    "vivid": Palette(
        "Okabe and Ito's colours and viridis, safe with any colour vision", parse(_OKABE_ITO), parse(_VIRIDIS)
    ),
    "paper": Palette(
        "saturated colours and the rainbow, as in the papers", parse(_SATURATED), parse(_RAINBOW)
    ),
}

#: Where most have a small value, and a quiet colour.
QUIET = Palette("from light grey to dark blue", parse(_MUTED), parse("dfe3e8 b4c4d6 6d93bd 2f5f93 14365c"))

#: Colour of everything without a legend entry of its own.
OTHER: Colors = parse("b9bcc1")[0]
#: Lines of grids and rulers: middle grey, visible on white and on black.
GRID: Colors = np.array([0.55, 0.57, 0.6, 0.55], np.float32)
#: Surfaces that carry data, such as the terraces of lanes.
BASE: Colors = np.array([0.55, 0.57, 0.6, 0.16], np.float32)


@dataclass
class Paint:
    """A palette under construction.

    Attributes
    ----------
    parts : list of float32 (k, 4)
        Red, green, blue and alpha, as they were added.
    size : int
        The sum of their lengths.
    """

    parts: list[Colors] = field(default_factory=list)
    size: int = 0

    def add(self, colors: Colors) -> int:
        """Add colours; return the index of the first."""
        first = self.size
        self.parts.append(np.asarray(colors, np.float32).reshape(-1, 4))
        self.size += len(self.parts[-1])
        return first

    @property
    def palette(self) -> Colors:
        """All colours, float32 (k, 4)."""
        return np.vstack([np.empty((0, 4), np.float32), *self.parts])


def cycle(n: int, colors: int) -> NDArray[np.int32]:
    """Return one of ``colors`` colours for each of ``n`` things in a ring, no two neighbours alike.

    The last is a neighbour of the first (SyncTrace, section IV-A1, lets colours repeat only for threads that
    are not adjacent). With fewer than three colours a ring of odd length can't be coloured so.

    Parameters
    ----------
    n : int
        How many things.
    colors : int
        How many colours; at least 1.

    Returns
    -------
    int32 (n,)
    """
    given = np.arange(n, dtype=np.int32) % np.int32(colors)
    if n > colors > 2 and n % colors == 1:
        given[-1] = 1  # the one before has the last colour, the first has colour 0
    return given
