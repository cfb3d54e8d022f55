"""The palette of the live memory: used, idle and merged blocks, districts of call sites, and curves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.palettes import parse

#: Indices: in use; shades of idle blocks; the same of merged ones, each in two shades for its ribs; districts
#: of call sites in turn; curves.
IN_USE, IDLE, SHADES = 0, 1, 12
MERGED, MERGED_SHADES = IDLE + SHADES, 5
DISTRICTS = MERGED + 2 * (1 + MERGED_SHADES)
CURVES = DISTRICTS + 2


def palette() -> NDArray[np.float32]:
    """Return the colours, sRGB and alpha, float32 (k, 4)."""
    use, young, old = parse("ffd966 6fa8dc 3d4f8f")
    merged, resting, rested = parse("d8d9dc 9fa3aa 5f646d")
    idle = young + (old - young) * np.linspace(0, 1, SHADES)[:, None]
    grey = resting + (rested - resting) * np.linspace(0, 1, MERGED_SHADES)[:, None]
    light = np.concatenate([merged[None], grey])
    dark = light * [0.72, 0.72, 0.72, 1.0]
    ribs = np.stack([light, dark], axis=1).reshape(-1, 4)
    rest = parse("8a8f98 c9ccd2 55c7a5 e8863a c77dd6")
    return np.asarray(np.concatenate([use[None], idle, ribs, rest]), np.float32)


def color_of(
    height: NDArray[np.floating[Any]],
    age: NDArray[np.int64],
    alone: NDArray[np.bool_],
    second: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the colours of items.

    Parameters
    ----------
    height : float (n,)
        Share of the greatest one.
    age : int64 (n,)
        Nanoseconds without a touch; 0: in use.
    alone : bool (n,)
        Whether an item is one block.
    second : int64 (n,)
        1 for every second rib of merged items, else 0.

    Returns
    -------
    int64 (n,)
        Indices into the palette.
    """
    idle = age > 0
    block = np.where(idle, IDLE + np.minimum((height * SHADES).astype(np.int64), SHADES - 1), IN_USE)
    shade = np.minimum((height * MERGED_SHADES).astype(np.int64), MERGED_SHADES - 1)
    merged = MERGED + 2 * np.where(idle, 1 + shade, 0) + second
    return np.where(alone, block, merged)
