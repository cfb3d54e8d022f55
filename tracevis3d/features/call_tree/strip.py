"""The strip of a whole trace: its numbers as text, its cells, and their picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...analysis.mural import mural
from ...analysis.subtrees import subtrees_of
from ...filters.stack import HIDDEN
from ...trace.cached_results import cached_with_trace
from ...trace.model import Trace
from ...units import counted, percentage
from ...views import filtering

#: Colours of the background, of shown calls and of hidden calls; the colour-blind see
#: the difference.
GROUND, SHOWN_COLOR, HIDDEN_COLOR = (0.08, 0.09, 0.11), (0.45, 0.78, 1.0), (0.88, 0.52, 0.16)


@dataclass(frozen=True)
class Strip:
    """The text about a whole trace.

    Attributes
    ----------
    headline : str
        Its numbers, in words.
    cells : str
        How full the cells are; :func:`~tracevis3d.analysis.mural.unpacked` reads it.
    """

    headline: str
    cells: str


@cached_with_trace(most=16)
def strip(trace: Trace, stack: str) -> Strip:
    """Return the strip of a trace under a filter stack; it is kept with the trace.

    Parameters
    ----------
    trace : Trace
    stack : str
        The filter stack; empty: nothing is hidden.

    Returns
    -------
    Strip

    Raises
    ------
    UsageError
        If the stack can't be read, or names what the trace hasn't.
    """
    if not len(trace.calls):
        return Strip("", "")
    calls, threads = trace.calls, int(np.count_nonzero(trace.threads.count))
    hidden = filtering.states(trace, stack) == HIDDEN if stack else np.zeros(len(calls), np.bool_)
    headline = (
        f"{len(calls):,} calls, {len(subtrees_of(trace)):,} distinct subtrees of "
        f"{len(trace.functions):,} functions, {counted(threads, 'thread')}, "
        f"{percentage(np.count_nonzero(hidden) / len(calls))} hidden"
    )
    return Strip(headline, mural(calls, hidden).packed())


def picture(shown: NDArray[np.uint8], hidden: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the picture of a strip's cells, roots first; rows that hold nothing are left out.

    A cell's brightness is that of all its calls; its colour mixes those of shown and hidden ones.

    Parameters
    ----------
    shown, hidden : uint8 (rows, width)
        As in :class:`~tracevis3d.analysis.mural.Mural`.

    Returns
    -------
    float32 (rows, width, 4)
        Red, green, blue, and 1.
    """
    full = np.flatnonzero((shown | hidden).any(axis=1))
    high = int(full[-1]) + 1 if len(full) else 1
    a, b = (cells[:high].astype(np.float32) / 255.0 for cells in (shown, hidden))
    both = a**2 + b**2
    share = np.divide(a**2, both, out=np.zeros_like(a), where=both > 0)[..., None]
    light = np.sqrt(np.clip(both, 0.0, 1.0))[..., None]
    color = share * np.array(SHOWN_COLOR, np.float32) + (1.0 - share) * np.array(HIDDEN_COLOR, np.float32)
    ground = np.array(GROUND, np.float32)
    made = np.ones((*a.shape, 4), np.float32)
    # The faintest cell must be visible: all cells with a call get at least a third of the range.
    made[..., :3] = ground + (color - ground) * np.where(light > 0, 0.33 + 0.67 * light, 0.0)
    return made


def cells_in(
    cells: NDArray[np.uint8], ground: tuple[float, ...], color: tuple[float, ...]
) -> NDArray[np.float32]:
    """Return the picture of a mural of one colour: the fuller a cell, the more of it.

    Parameters
    ----------
    cells : uint8 (rows, width)
        As :func:`~tracevis3d.analysis.time_mural.time_mural` returns; rows at the end that hold nothing are
        left out.
    ground, color : float (3,)
        Of an empty cell, and of a full one.

    Returns
    -------
    float32 (rows, width, 4)
        Red, green, blue, and 1.
    """
    full = np.flatnonzero(cells.any(axis=1))
    light = cells[: int(full[-1]) + 1 if len(full) else 1].astype(np.float32)[..., None] / 255.0
    made = np.ones((*light.shape[:2], 4), np.float32)
    low, high = np.array(ground, np.float32), np.array(color, np.float32)
    # The faintest cell must be visible.
    made[..., :3] = low + (high - low) * np.where(light > 0, 0.3 + 0.7 * light, 0.0)
    return made


def quads(
    pixels: NDArray[np.float32],
    ground: tuple[float, ...] = GROUND,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int32]]:
    """Return the cells of a picture that are not of the ground's colour as squares in the unit square.

    Parameters
    ----------
    pixels : float32 (rows, width, 4)
    ground : float (3,)
        Its colour.

    Returns
    -------
    corners : float32 (4 n, 3)
    colors : float32 (4 n, 4)
    triangles : int32 (2 n, 3)
    """
    high, wide, _ = pixels.shape
    row, column = np.nonzero((pixels[..., :3] != np.array(ground, np.float32)).any(axis=2))
    at = np.zeros((len(row), 4, 3), np.float32)
    at[..., 0] = (column[:, None] + np.array([0, 1, 1, 0])) / wide
    at[..., 1] = (row[:, None] + np.array([0, 0, 1, 1])) / high
    triangles = 4 * np.arange(len(row), dtype=np.int32)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    color = np.repeat(pixels[row, column], 4, axis=0)
    return (
        at.reshape(-1, 3),
        np.ascontiguousarray(color, np.float32),
        triangles.reshape(-1, 3).astype(np.int32),
    )


def part(
    first: int, last: int, calls: int, left: float, right: float, least: float
) -> tuple[float, float] | None:
    """Return where a part of a strip lies between its two ends.

    Parameters
    ----------
    first, last : int
        The first call of the part, and the one after its last.
    calls : int
        Of the whole strip.
    left, right : float
        Where the strip begins and ends.
    least : float
        How wide the part is at least.

    Returns
    -------
    (float, float) or None
        None if there is no such part.
    """
    if not 0 <= first < last or last > max(calls, 1):
        return None
    wide = (right - left) / calls
    a, b = left + wide * first, left + wide * last
    if b - a < least:
        a = min(max((a + b - least) / 2, left), right - least)
        b = a + least
    return a, b
