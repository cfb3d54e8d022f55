"""A strip that shows all of a trace: the information mural that SEAT wished for (Jerding; thesis, chapter 8).

Columns are the calls in their order, rows their depths, and brightness says how many calls share a cell: so
however long the trace is, nothing of it is left out.
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.trace.mural import count_cells
from ..trace.model import Calls

#: Number of cells of the strip.
WIDTH, HEIGHT = 384, 24


@dataclass(frozen=True, eq=False)
class Mural:
    """The occupancy of each cell of the strip.

    Attributes
    ----------
    shown, hidden : uint8 (height, width)
        0 for none, 255 for a cell that holds all calls of its column; by the square root of their share,
        so that rare calls are seen. The first row is the root calls'.
    """

    shown: NDArray[np.uint8]
    hidden: NDArray[np.uint8]

    def packed(self) -> str:
        """Return it as text, a few thousand characters; :func:`unpacked` reads it."""
        return packed_cells(np.stack([self.shown, self.hidden]))


def mural(calls: Calls, hidden: NDArray[np.bool_]) -> Mural:
    """Return the strip of a trace in linear time.

    Parameters
    ----------
    calls : Calls
        ``depth`` is read.
    hidden : bool (n,)
        The calls that filters hide.

    Returns
    -------
    Mural
    """
    n = len(calls)
    depth = np.ascontiguousarray(calls.depth, np.int32)
    counts = np.zeros((2, HEIGHT, WIDTH), np.int64)
    count_cells(depth, hidden, int(depth.max(initial=HEIGHT)), counts)
    share = counts / max(n / WIDTH, 1.0)
    shown, left_out = np.minimum(np.ceil(255 * np.sqrt(share)), 255).astype(np.uint8)
    return Mural(shown, left_out)


def unpacked(text: str) -> Mural | None:
    """Return the strip that :meth:`Mural.packed` wrote; None if the text is none."""
    cells = unpacked_cells(text, (2, HEIGHT, WIDTH))
    return None if cells is None else Mural(*cells)


def packed_cells(cells: NDArray[np.uint8]) -> str:
    """Return the cells of a mural as text, a few thousand characters; :func:`unpacked_cells` reads it.

    Parameters
    ----------
    cells : uint8 (...)

    Returns
    -------
    str
    """
    return base64.b85encode(zlib.compress(cells.tobytes())).decode()


def unpacked_cells(text: str, shape: tuple[int, ...]) -> NDArray[np.uint8] | None:
    """Return the cells that :func:`packed_cells` wrote.

    Parameters
    ----------
    text : str
    shape : tuple of int

    Returns
    -------
    uint8 of this shape, or None
        None if the text holds no cells of this shape.
    """
    wanted = math.prod(shape)
    try:
        # A stored text may unpack to any size: no more than the cells are read.
        stored = zlib.decompressobj().decompress(base64.b85decode(text), wanted + 1)
    except (ValueError, zlib.error, binascii.Error):
        return None
    return np.frombuffer(stored, np.uint8).reshape(shape) if len(stored) == wanted else None
