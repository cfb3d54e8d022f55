"""The times in which a call itself runs, and nothing that it calls."""

from __future__ import annotations

import numpy as np

from .....trace.model import Calls


def longest_own_stretch(calls: Calls, call: int) -> tuple[int, int]:
    """Return the start and end, nanoseconds, of the longest time that ``call`` runs without calling.

    Parameters
    ----------
    calls : Calls
    call : int

    Returns
    -------
    (int, int)
    """
    below = np.arange(call + 1, call + int(calls.extent[call]))
    children = below[calls.parent[below] == call]
    begin = np.concatenate([[calls.start[call]], calls.end[children]])
    end = np.concatenate([calls.start[children], [calls.end[call]]])
    longest = int(np.argmax(end - begin))
    return int(begin[longest]), int(end[longest])
