"""A strip that shows all of a trace: the information mural that SEAT wished for (Jerding; thesis, chapter 8).

Columns are the calls in their order, rows their depths, and brightness says how many calls share a cell: so
however long the trace is, nothing of it is left out.
"""

from __future__ import annotations

import base64
import binascii
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
    """How full each cell of the strip is.

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
        return base64.b85encode(zlib.compress(np.stack([self.shown, self.hidden]).tobytes())).decode()


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
    wanted = 2 * HEIGHT * WIDTH
    try:
        # A stored text may unpack to any size: at most a strip is read.
        stored = zlib.decompressobj().decompress(base64.b85decode(text), wanted + 1)
    except (ValueError, zlib.error, binascii.Error):
        return None
    if len(stored) != wanted:
        return None
    shown, hidden = np.frombuffer(stored, np.uint8).reshape(2, HEIGHT, WIDTH)
    return Mural(shown, hidden)
