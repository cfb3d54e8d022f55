"""The first element that a ray meets: boxes, discs and swept tubes, through a tree of bounds over them.

The tree is implicit: node ``i`` of a level covers the nodes ``[i * WIDTH, (i + 1) * WIDTH)`` of the next one,
and those of the last level cover this many elements, in an order in which neighbours lie near each other. Its
bounds are (lowest x, y, z, highest x, y, z).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..jit import inline, kernel

#: Children of a node.
WIDTH = 8
_INF = np.inf


@kernel
def box_bounds(
    low: NDArray[np.float32], size: NDArray[np.float32], order: NDArray[np.int32], bounds: NDArray[np.float32]
) -> None:
    """Write the bounds of each :data:`WIDTH` boxes.

    Parameters
    ----------
    low, size : float32 (n, 3)
    order : int32 (n,)
    bounds : float32 (ceil(n / WIDTH), 6)
        Filled.
    """
    n = len(order)
    for node in range(len(bounds)):
        for axis in range(3):
            least, most = np.float32(np.inf), np.float32(-np.inf)
            for k in range(node * WIDTH, min(node * WIDTH + WIDTH, n)):
                i = order[k]
                least = min(least, low[i, axis])
                most = max(most, low[i, axis] + size[i, axis])
            bounds[node, axis], bounds[node, axis + 3] = least, most


@kernel
def tube_bounds(
    middle: NDArray[np.float32],
    across: NDArray[np.float32],
    piece: NDArray[np.int32],
    order: NDArray[np.int32],
    bounds: NDArray[np.float32],
) -> None:
    """Write the bounds of each :data:`WIDTH` pieces of tubes.

    Parameters
    ----------
    middle, across, piece, order
        As :func:`pick_tube` takes them.
    bounds : float32 (ceil(k / WIDTH), 6)
        Filled.
    """
    n = len(order)
    for node in range(len(bounds)):
        for axis in range(3):
            least, most = np.float32(np.inf), np.float32(-np.inf)
            for k in range(node * WIDTH, min(node * WIDTH + WIDTH, n)):
                for end in range(2):
                    i = piece[order[k], end]
                    half = abs(across[i, axis]) + abs(across[i, axis + 3])
                    least = min(least, middle[i, axis] - half)
                    most = max(most, middle[i, axis] + half)
            bounds[node, axis], bounds[node, axis + 3] = least, most


@kernel
def merge_bounds(bounds: NDArray[np.float32], merged: NDArray[np.float32]) -> None:
    """Write the bounds of each :data:`WIDTH` nodes.

    Parameters
    ----------
    bounds : float32 (nodes, 6)
    merged : float32 (ceil(nodes / WIDTH), 6)
        Filled.
    """
    n = len(bounds)
    for node in range(len(merged)):
        for axis in range(3):
            least, most = np.float32(np.inf), np.float32(-np.inf)
            for k in range(node * WIDTH, min(node * WIDTH + WIDTH, n)):
                least = min(least, bounds[k, axis])
                most = max(most, bounds[k, axis + 3])
            merged[node, axis], merged[node, axis + 3] = least, most


@kernel
def surface(bounds: NDArray[np.float32]) -> float:
    """Return the sum of the half surfaces of ``bounds``: how often rays of all directions meet them."""
    total = 0.0
    for i in range(len(bounds)):
        x = bounds[i, 3] - bounds[i, 0]
        y = bounds[i, 4] - bounds[i, 1]
        z = bounds[i, 5] - bounds[i, 2]
        total += x * y + y * z + z * x
    return total


@inline
def _meets(
    x0: float, y0: float, z0: float, x1: float, y1: float, z1: float, ray: NDArray[np.float64], far: float
) -> float:
    """Return where the ray enters a box made larger by the ray's own width there; infinite if it doesn't."""
    # The ray is as wide at the box as it is at the box's far side.
    reach = 0.0
    grow = ray[6]
    if ray[7] > 0.0:
        for axis in range(3):
            a, b = (x0, x1) if axis == 0 else (y0, y1) if axis == 1 else (z0, z1)
            d = ray[3 + axis]
            reach += max((a - ray[axis]) * d, (b - ray[axis]) * d)
        grow += ray[7] * max(reach, 0.0)
    enter, leave = ray[8], far
    for axis in range(3):
        a, b = (x0, x1) if axis == 0 else (y0, y1) if axis == 1 else (z0, z1)
        a, b = a - grow - ray[axis], b + grow - ray[axis]
        d = ray[3 + axis]
        if abs(d) < 1e-12:
            if a > 0.0 or b < 0.0:
                return _INF
        else:
            a, b = a / d, b / d
            enter = max(enter, min(a, b))
            leave = min(leave, max(a, b))
    return enter if enter <= leave else _INF


@inline
def _begin(stack: NDArray[np.int64], n: int) -> int:
    """Put the root of a tree over ``n`` elements on the stack; return how much of that is used."""
    if n == 0:
        return 0
    stack[0], stack[1] = 0, 0
    return 2


@inline
def _next_leaf(
    ray: NDArray[np.float64],
    bounds: NDArray[np.float32],
    level: NDArray[np.int64],
    stack: NDArray[np.int64],
    top: int,
    far: float,
) -> tuple[int, int]:
    """Return the next leaf that the ray meets before ``far`` (or -1), and the use of the stack."""
    last = len(level) - 2
    while top > 0:
        top -= 2
        storey, node = stack[top], stack[top + 1]
        row = level[storey] + node
        if (
            _meets(
                bounds[row, 0], bounds[row, 1], bounds[row, 2],
                bounds[row, 3], bounds[row, 4], bounds[row, 5], ray, far,
            ) == _INF
        ):  # fmt: skip
            continue
        if storey == last:
            return node, top
        count = level[storey + 2] - level[storey + 1]
        for child in range(node * WIDTH, min(node * WIDTH + WIDTH, count)):
            stack[top], stack[top + 1] = storey + 1, child
            top += 2
    return -1, top


@kernel
def pick_box(
    ray: NDArray[np.float64],
    low: NDArray[np.float32],
    size: NDArray[np.float32],
    start: NDArray[np.float32],
    end: NDArray[np.float32],
    now: float,
    order: NDArray[np.int32],
    bounds: NDArray[np.float32],
    level: NDArray[np.int64],
    stack: NDArray[np.int64],
    met: NDArray[np.float64],
) -> int:
    """Return the first box that a ray meets; ``met[0]`` is set to where.

    Parameters
    ----------
    ray : float64 (9,)
        Origin, unit direction, the ray's radius at its origin and how much it grows per unit, and how far
        from the origin it begins.
    low, size : float32 (n, 3)
    start, end : float32 (n,) or (0,)
        When each box comes and is whole; while it grows it is shorter along x.
    now : float
        1 shows everything.
    order : int32 (n,)
    bounds : float32 (nodes, 6)
        The levels, from the root on.
    level : int64 (levels + 1,)
        First node of each level in ``bounds``.
    stack : int64 (at least levels * WIDTH * 2,)
        Working space.
    met : float64 (1,)
        The distance beyond which nothing is searched for; written.

    Returns
    -------
    int
        -1 if it meets none.
    """
    best, n = -1, len(order)
    timed = now < 1.0 and len(start) > 0
    top = _begin(stack, n)
    while True:
        node, top = _next_leaf(ray, bounds, level, stack, top, met[0])
        if node < 0:
            break
        for k in range(node * WIDTH, min(node * WIDTH + WIDTH, n)):
            i = order[k]
            long = float(size[i, 0])
            if timed:
                if start[i] > now:
                    continue
                lasts = end[i] - start[i]
                if lasts > 0.0:
                    long *= min((now - start[i]) / lasts, 1.0)
            x, y, z = float(low[i, 0]), float(low[i, 1]), float(low[i, 2])
            at = _meets(x, y, z, x + long, y + size[i, 1], z + size[i, 2], ray, met[0])
            if at < met[0]:
                met[0], best = at, i
    return best


@inline
def _disc_meets(
    low: NDArray[np.float32],
    size: NDArray[np.float32],
    i: int,
    axis: int,
    ray: NDArray[np.float64],
    far: float,
) -> float:
    """Return where the ray, as wide as it is at the disc's middle, enters a disc; infinite if it doesn't."""
    grow = ray[6]
    if ray[7] > 0.0:
        reach = 0.0
        for k in range(3):
            reach += (low[i, k] + 0.5 * size[i, k] - ray[k]) * ray[3 + k]
        grow += ray[7] * max(reach, 0.0)
    enter, leave = ray[8], far
    # With half axes of length 1 the disc is round: |p + t v| <= 1.
    vv, pv, pp = 0.0, 0.0, -1.0
    for k in range(3):
        half = 0.5 * float(size[i, k]) + grow
        from_middle, d = ray[k] - (low[i, k] + 0.5 * float(size[i, k])), ray[3 + k]
        if k != axis:
            half = max(half, 1e-12)
            vv += (d / half) ** 2
            pv += from_middle * d / half**2
            pp += (from_middle / half) ** 2
        elif abs(d) < 1e-12:
            if abs(from_middle) > half:
                return _INF
        else:
            a, b = (-half - from_middle) / d, (half - from_middle) / d
            enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    if vv < 1e-24:
        return enter if pp <= 0.0 and enter <= leave else _INF
    root = pv * pv - vv * pp
    if root < 0.0:
        return _INF
    root = np.sqrt(root)
    enter, leave = max(enter, (-pv - root) / vv), min(leave, (-pv + root) / vv)
    return enter if enter <= leave else _INF


@kernel
def pick_disc(
    ray: NDArray[np.float64],
    low: NDArray[np.float32],
    size: NDArray[np.float32],
    axis: int,
    order: NDArray[np.int32],
    bounds: NDArray[np.float32],
    level: NDArray[np.int64],
    stack: NDArray[np.int64],
    met: NDArray[np.float64],
) -> int:
    """Return the first disc that a ray meets; ``met[0]`` is set to where.

    Parameters
    ----------
    ray, order, bounds, level, stack, met
        As :func:`pick_box` takes them.
    low, size : float32 (n, 3)
        The boxes around the discs.
    axis : {0, 1, 2}
        Across which axis they are round.

    Returns
    -------
    int
        -1 if it meets none.
    """
    best, n = -1, len(order)
    top = _begin(stack, n)
    while True:
        node, top = _next_leaf(ray, bounds, level, stack, top, met[0])
        if node < 0:
            break
        for k in range(node * WIDTH, min(node * WIDTH + WIDTH, n)):
            i = order[k]
            at = _disc_meets(low, size, i, axis, ray, met[0])
            if at < met[0]:
                met[0], best = at, i
    return best


@inline
def _piece_meets(
    middle: NDArray[np.float32], across: NDArray[np.float32], a: int, b: int, ray: NDArray[np.float64]
) -> Any:
    """Return where the ray is nearest to a piece of a tube, if it passes within its section."""
    ax, ay, az = middle[a, 0] - ray[0], middle[a, 1] - ray[1], middle[a, 2] - ray[2]
    sx = float(middle[b, 0]) - middle[a, 0]
    sy = float(middle[b, 1]) - middle[a, 1]
    sz = float(middle[b, 2]) - middle[a, 2]
    dx, dy, dz = ray[3], ray[4], ray[5]
    ss = sx * sx + sy * sy + sz * sz
    sd = sx * dx + sy * dy + sz * dz
    da = dx * ax + dy * ay + dz * az
    sa = sx * ax + sy * ay + sz * az
    # The nearest points of a line and a piece of one (the direction has length 1).
    det = ss - sd * sd
    share = 0.0
    if det > 1e-12 * max(ss, 1e-30):
        share = min(max((sd * da - sa) / det, 0.0), 1.0)
    elif ss > 0.0:
        # Along the ray: its near end.
        share = 0.0 if sd > 0.0 else 1.0
    t = da + share * sd
    if t < ray[8]:
        return _INF
    # From the ray to the axis of the tube, and how far the section reaches in that direction.
    nx = ax + share * sx - t * dx
    ny = ay + share * sy - t * dy
    nz = az + share * sz - t * dz
    far = np.sqrt(nx * nx + ny * ny + nz * nz)
    slack = ray[6] + ray[7] * t
    if far <= slack:
        return t
    reach = 0.0
    for side in range(2):
        c = 3 * side
        ux = across[a, c] + share * (across[b, c] - across[a, c])
        uy = across[a, c + 1] + share * (across[b, c + 1] - across[a, c + 1])
        uz = across[a, c + 2] + share * (across[b, c + 2] - across[a, c + 2])
        part = (ux * nx + uy * ny + uz * nz) / far
        reach += part * part
    return t if far <= np.sqrt(reach) + slack else _INF


@kernel
def pick_tube(
    ray: NDArray[np.float64],
    middle: NDArray[np.float32],
    across: NDArray[np.float32],
    piece: NDArray[np.int32],
    order: NDArray[np.int32],
    bounds: NDArray[np.float32],
    level: NDArray[np.int64],
    stack: NDArray[np.int64],
    met: NDArray[np.float64],
) -> int:
    """Return the piece of a tube that a ray meets first; ``met[0]`` is set to where.

    What is met is the section's silhouette: exact where the ray is straight across the tube, and a little
    behind the surface.

    Parameters
    ----------
    ray, order, bounds, level, stack, met
        As :func:`pick_box` takes them.
    middle : float32 (m, 3)
        Middles of the sections.
    across : float32 (m, 6)
        The two half axes of each section, as vectors.
    piece : int32 (k, 2)
        The two sections between which each piece lies; the same twice for a ball.

    Returns
    -------
    int
        -1 if it meets none.
    """
    best, n = -1, len(order)
    top = _begin(stack, n)
    while True:
        node, top = _next_leaf(ray, bounds, level, stack, top, met[0])
        if node < 0:
            break
        for k in range(node * WIDTH, min(node * WIDTH + WIDTH, n)):
            i = order[k]
            at = _piece_meets(middle, across, piece[i, 0], piece[i, 1], ray)
            if at < met[0]:
                met[0], best = at, i
    return best


@kernel
def curve_keys(
    low: NDArray[np.float32], size: NDArray[np.float32], origin: NDArray[np.float32], scale: np.float32,
    key: NDArray[np.int64],
) -> None:  # fmt: skip
    """Write where the middle of each box lies on a space-filling curve (Morton's), 10 bits an axis.

    Parameters
    ----------
    low, size : float32 (n, 3)
    origin : float32 (3,)
    scale : float32
        Grid cells per unit.
    key : int64 (n,)
        Written; below 2 ** 30.
    """
    for i in range(len(key)):
        code = 0
        for axis in range(3):
            v = int((low[i, axis] + np.float32(0.5) * size[i, axis] - origin[axis]) * scale)
            v = min(max(v, 0), 1023)
            v = (v | (v << 16)) & 0x030000FF
            v = (v | (v << 8)) & 0x0300F00F
            v = (v | (v << 4)) & 0x030C30C3
            v = (v | (v << 2)) & 0x09249249
            code |= v << axis
        key[i] = code


@kernel
def sort_keys(
    key: NDArray[np.int64], order: NDArray[np.int32], spare: NDArray[np.int32], count: NDArray[np.int64]
) -> None:
    """Write the order of ascending keys.

    Parameters
    ----------
    key : int64 (n,)
        Below 2 ** 30.
    order : int32 (n,)
        Filled; equal keys keep their order.
    spare : int32 (n,)
    count : int64 (1025,)
        Working space.
    """
    n = len(key)
    for i in range(n):
        order[i] = i
    for turn in range(3):
        shift = 10 * turn
        for b in range(1025):
            count[b] = 0
        for i in range(n):
            count[((key[i] >> shift) & 1023) + 1] += 1
        for b in range(1024):
            count[b + 1] += count[b]
        # After an odd number of passes the result is in the other array.
        for k in range(n):
            i = order[k] if turn != 1 else spare[k]
            b = (key[i] >> shift) & 1023
            if turn != 1:
                spare[count[b]] = i
            else:
                order[count[b]] = i
            count[b] += 1
    for k in range(n):
        order[k] = spare[k]
