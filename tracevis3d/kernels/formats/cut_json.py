# ruff: noqa: SIM109 (comparing with a tuple takes Numba longer to compile)
"""Where a damaged JSON text can be cut so that what stands before it is whole."""

from __future__ import annotations

import numpy as np

from ..jit import kernel

_QUOTE, _COMMA, _OPEN_LIST, _BACKSLASH, _CLOSE_LIST, _OPEN_MAP, _CLOSE_MAP = 34, 44, 91, 92, 93, 123, 125


@kernel
def find_cut(data, stack, out):  # type: ignore[no-untyped-def]
    """Find the last place of a text that ends a value of a list or map.

    Parameters
    ----------
    data : uint8 (bytes,)
    stack : uint8 (depth,)
        Filled: what closes the brackets that are open there, the outermost first.
    out : int64 (2,)
        Filled: the length to keep, and how many brackets are open there.

    Returns
    -------
    bool
        False if brackets nest deeper than ``stack`` is long.
    """
    depth = np.int64(0)
    keep = np.int64(0)
    in_string = False
    i = np.int64(0)
    while i < len(data):
        byte = data[i]
        if in_string:
            if byte == _BACKSLASH:
                i += 1
            elif byte == _QUOTE:
                in_string = False
        elif byte == _QUOTE:
            in_string = True
        elif byte == _COMMA:
            keep = i
        elif byte == _OPEN_LIST or byte == _OPEN_MAP:
            if depth == len(stack):
                return False
            # "[" and "]", "{" and "}" are two apart.
            stack[depth] = byte + 2
            depth += 1
            keep = i + 1
        elif byte == _CLOSE_LIST or byte == _CLOSE_MAP:
            depth -= 1
            keep = i + 1
            if depth <= 0:
                depth = np.int64(0)
                break
        i += 1
    out[0] = keep
    out[1] = depth
    return True
