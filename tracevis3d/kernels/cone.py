"""Cone trees: rings of discs that don't overlap, computed once per distinct subtree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .jit import inline, kernel

_TURN = 2.0 * math.pi
#: Most steps by which a ring's radius is narrowed down, and the spare angle that is close enough.
_NARROWINGS = 40
_CLOSE = 1e-3
#: Steps towards the centre of a disc around discs.
_CENTRINGS = 16


@inline
def _around(r: Any, base: Any, k: Any, first: Any, radius: Any, angle: Any, stack: Any) -> Any:
    """Lay ``k`` discs, those from ``base`` on, on a ring; return the angle that they take.

    The disc ``first`` comes first; it is the largest, so nothing reaches beyond it. Each of the others is put
    as near behind the ones before it as it fits. Only discs without a larger one behind them can be in the
    way; these are on the stack.
    """
    angle[base + first] = 0.0
    stack[0] = first
    top = np.int64(1)
    taken = 0.0
    for step in range(1, k):
        n = first + step
        if n >= k:
            n -= k
        i = base + n
        at = 0.0
        for s in range(top - 1, -1, -1):
            j = base + stack[s]
            at = max(at, angle[j] + 2.0 * math.asin(min((r[i] + r[j]) / (2.0 * radius), 1.0)))
        while top > 1 and r[base + stack[top - 1]] <= r[i]:
            top -= 1
        stack[top] = n
        top += 1
        angle[i] = at
        taken = max(taken, at + 2.0 * math.asin(min((r[i] + r[base + first]) / (2.0 * radius), 1.0)))
    return taken


@inline
def _spread(base: Any, k: Any, first: Any, taken: Any, angle: Any) -> None:
    """Put what is left of the turn between all discs of a ring alike, and turn the one at ``base`` to 0."""
    spare = max(_TURN - taken, 0.0) / k
    for step in range(k):
        n = first + step
        if n >= k:
            n -= k
        angle[base + n] += spare * step
    start = angle[base]
    for n in range(k):
        angle[base + n] -= start


@inline
def _largest(r: Any, base: Any, k: Any) -> Any:
    """Return which of the discs is the largest, from ``base`` on."""
    largest = np.int64(0)
    for n in range(k):
        if r[base + n] > r[base + largest]:
            largest = np.int64(n)
    return largest


@inline
def _one_ring(r: Any, k: Any, angle: Any, stack: Any) -> Any:
    """Find the radius of the smallest ring that holds ``k`` discs in their order, and their angles on it."""
    base = np.int64(0)
    equal = True
    total = 0.0
    for i in range(k):
        total += r[i]
        equal &= r[i] == r[0]
    if equal:
        for i in range(k):
            angle[i] = _TURN * i / k
        return r[0] / math.sin(math.pi / k)
    largest = _largest(r, base, k)
    second = 0.0
    for i in range(k):
        if i != largest:
            second = max(second, r[i])
    low = (r[largest] + second) / 2.0
    radius = low
    taken = _around(r, base, k, largest, radius, angle, stack)
    if taken > _TURN:
        # The angle taken falls with the radius: false position, with the end that stays halved (Illinois).
        over = taken - _TURN
        high = max(total / 3.0, low * 1.01)
        under = _around(r, base, k, largest, high, angle, stack) - _TURN
        while under > 0.0:
            low, over = high, under
            high *= 1.5
            under = _around(r, base, k, largest, high, angle, stack) - _TURN
        radius, room = high, under
        stayed = 0
        for _ in range(_NARROWINGS):
            if room > -_CLOSE:
                break
            middle = (low * under - high * over) / (under - over)
            excess = _around(r, base, k, largest, middle, angle, stack) - _TURN
            if excess > 0.0:
                low, over = middle, excess
                if stayed == 1:
                    under *= 0.5
                stayed = 1
            else:
                high, under = middle, excess
                radius, room = middle, excess
                if stayed == 2:
                    over *= 0.5
                stayed = 2
        taken = _around(r, base, k, largest, radius, angle, stack)
    _spread(base, k, largest, taken, angle)
    return radius


@inline
def _rings(r: Any, k: Any, at: Any, x: Any, y: Any, angle: Any, stack: Any) -> None:
    """Lay ``k`` discs on rings around each other in their order, from the inside out: a spiral of them.

    Discs of one ring lie beyond all of the ring before; so only those of one ring can meet.
    """
    x[at], y[at] = 0.0, 0.0
    inner = r[0]
    base = np.int64(1)
    while base < k:
        widest = r[base]
        stop = base + 1
        taken = 0.0
        while stop < k:
            wider = max(widest, r[stop])
            taken += 2.0 * math.asin(min((r[stop - 1] + r[stop]) / (2.0 * (inner + wider)), 1.0))
            closing = 2.0 * math.asin(min((r[stop] + r[base]) / (2.0 * (inner + wider)), 1.0))
            if taken + closing > _TURN:
                break
            widest = wider
            stop += 1
        # Neighbours fit; where a small one stands between large ones, those may still meet.
        n = np.int64(stop - base)
        while True:
            widest = 0.0
            for i in range(base, base + n):
                widest = max(widest, r[i])
            largest = _largest(r, base, n)
            taken = _around(r, base, n, largest, inner + widest, angle, stack)
            if taken <= _TURN or n == 1:
                break
            n = max(n - 1 - n // 16, np.int64(1))
        _spread(base, n, largest, taken, angle)
        radius = inner + widest
        for i in range(base, base + n):
            x[at + i] = radius * math.cos(angle[i])
            y[at + i] = -radius * math.sin(angle[i])
        inner = radius + widest
        base += n


@inline
def _shift(values: Any, base: Any, which: Any) -> None:
    """Put one value before those before it."""
    moved = values[base + which]
    for i in range(which, 0, -1):
        values[base + i] = values[base + i - 1]
    values[base] = moved


@inline
def _shift_back(values: Any, base: Any, which: Any) -> None:
    """Put the first value behind the ``which`` values that follow it."""
    moved = values[base]
    for i in range(which):
        values[base + i] = values[base + i + 1]
    values[base + which] = moved


@inline
def centre(r: Any, k: Any, at: Any, x: Any, y: Any, place: Any) -> None:
    """Find a disc around ``k`` discs: ``place`` gets x, y and the radius.

    It is close to the smallest one, and never too small: of the centres tried the best is taken, with the
    radius that it needs.
    """
    cx, cy = 0.0, 0.0
    place[0], place[1], place[2] = 0.0, 0.0, math.inf
    for step in range(_CENTRINGS):
        far = -1.0
        which = at
        for i in range(k):
            d = math.hypot(x[at + i] - cx, y[at + i] - cy) + r[i]
            if d > far:
                far = d
                which = at + i
        if far < place[2]:
            place[0], place[1], place[2] = cx, cy, far
        # Towards the farthest disc, by less each time (Badoiu and Clarkson).
        cx += (x[which] - cx) / (step + 2.0)
        cy += (y[which] - cy) / (step + 2.0)


@kernel
def lay_cones(
    first: Any,
    child: Any,
    own: Any,
    gap: float,
    most: int,
    radius: Any,
    ring: Any,
    x: Any,
    y: Any,
    r: Any,
    angle: Any,
    stack: Any,
    place: Any,
) -> None:
    """Lay the children of each class around its apex, children before parents.

    Parameters
    ----------
    first : int64 (m + 1,)
    child : int32 (e,)
        The children of class ``c`` are ``child[first[c]:first[c + 1]]``, each below ``c``.
    own : float64 (m,)
        Radius of the class's own node.
    gap : float
        Share by which discs are kept larger than what they hold.
    most : int
        More children than this are laid on several rings.
    radius : float64 (m,)
        Filled: radius of the disc around the node and all that is below it, its apex at the centre.
    ring : float64 (m,)
        Filled: distance of the farthest child's centre from the apex.
    x, y : float64 (e,)
        Filled: where each child's apex is, from its parent's. Children stand clockwise, seen from above
        (+z), in the order of the calls; one that is larger than the ring of the others stands in the middle.
    r, angle : float64 (degree,)
    stack : int64 (degree,)
    place : float64 (3,)
        Working space, for the largest degree.
    """
    for c in range(len(first) - 1):
        at = first[c]
        k = first[c + 1] - at
        for i in range(k):
            r[i] = radius[child[at + i]] * (1.0 + gap)
        radius[c] = own[c]
        ring[c] = 0.0
        if k == 1:
            x[at], y[at] = 0.0, 0.0
            radius[c] = max(own[c], r[0])
        if k < 2:
            continue
        if k == 2:
            # Side by side; the disc around them is known.
            x[at], y[at], x[at + 1], y[at + 1] = r[1], 0.0, -r[0], 0.0
            ring[c] = max(r[0], r[1])
            radius[c] = max(own[c], r[0] + r[1])
            continue
        largest = _largest(r, np.int64(0), k)
        second = 0.0
        for i in range(k):
            if i != largest:
                second = max(second, r[i])
        # A much larger child stands in the middle: a ring through its centre would be empty inside.
        central = r[largest] > 2.0 * second
        if k <= most:
            around = _one_ring(r, k, angle, stack)
            for i in range(k):
                x[at + i] = around * math.cos(angle[i])
                y[at + i] = -around * math.sin(angle[i])
            central &= 1.3 * (r[largest] + 2.0 * second) < around + r[largest]
        if central:
            _shift(r, np.int64(0), largest)
        if central or k > most:
            _rings(r, k, at, x, y, angle, stack)
        if central:
            _shift_back(x, at, largest)
            _shift_back(y, at, largest)
            _shift_back(r, np.int64(0), largest)
        centre(r, k, at, x, y, place)
        far = 0.0
        for i in range(at, at + k):
            x[i] -= place[0]
            y[i] -= place[1]
            far = max(far, math.hypot(x[i], y[i]))
        ring[c] = far
        radius[c] = max(own[c], place[2])


@kernel
def choose_nodes(
    first: Any,
    child: Any,
    worth: Any,
    radius: Any,
    x: Any,
    y: Any,
    focus: Any,
    weight: float,
    smallest: float,
    heap_key: Any,
    heap: Any,
    node: Any,
    parent: Any,
    edge: Any,
    depth: Any,
    place_x: Any,
    place_y: Any,
    distance: Any,
    opened: Any,
    roots: int,
) -> Any:
    """Open the nodes that matter most, one after the other, until the budget is used up.

    A node's degree of interest is its own worth less its distance from the focus (Furnas): ``worth -
    weight * distance``. Of the closed nodes the most interesting one is opened if all its children fit; those
    on the way to the focus come first.

    Parameters
    ----------
    first : int64 (m + 1,)
    child : int32 (e,)
    worth, radius : float64 (m,)
    x, y : float64 (e,)
        As :func:`lay_cones` fills them.
    focus : int64 (f,)
        The path of the focus: ordinals of edges from the first root on; may be empty.
    weight : float
        How much a step away from the focus costs.
    smallest : float
        Nodes with a disc smaller than this stay closed.
    heap_key : float64 (budget,)
    heap : int64 (budget,)
        Working space.
    node : int32 (budget,)
    parent : int64 (budget,)
    edge : int64 (budget,)
    depth : int32 (budget,)
    place_x, place_y : float64 (budget,)
    distance : int32 (budget,)
    opened : uint8 (budget,)
        The shown nodes: class, which shown node calls it, by which edge, depth, place, steps from the
        focus's path, whether its children are shown. The first ``roots`` of ``node``, ``parent`` (-1),
        ``edge`` (-1), ``depth``, ``place_x``, ``place_y`` and ``distance`` are filled before.
    roots : int

    Returns
    -------
    int
        How many nodes are shown.
    """
    budget = len(node)
    shown = np.int64(roots)
    size = np.int64(0)
    for i in range(roots):
        key = worth[node[i]] - weight * distance[i]
        if len(focus) > 0 and distance[i] == 0:
            key = math.inf
        at = size
        size += 1
        while at > 0 and heap_key[(at - 1) // 2] < key:
            heap_key[at] = heap_key[(at - 1) // 2]
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap_key[at] = key
        heap[at] = i
        opened[i] = 0
    while size > 0:
        i = heap[0]
        size -= 1
        if size > 0:
            key = heap_key[size]
            last = heap[size]
            at = np.int64(0)
            while True:
                below = 2 * at + 1
                if below >= size:
                    break
                if below + 1 < size and heap_key[below + 1] > heap_key[below]:
                    below += 1
                if heap_key[below] <= key:
                    break
                heap_key[at] = heap_key[below]
                heap[at] = heap[below]
                at = below
            heap_key[at] = key
            heap[at] = last
        c = node[i]
        low, high = first[c], first[c + 1]
        if low == high or shown + (high - low) > budget:
            continue
        if radius[c] < smallest and distance[i] > 0:
            continue
        opened[i] = 1
        for k in range(low, high):
            j = shown
            shown += 1
            node[j] = child[k]
            parent[j] = i
            edge[j] = k
            depth[j] = depth[i] + 1
            place_x[j] = place_x[i] + x[k]
            place_y[j] = place_y[i] + y[k]
            opened[j] = 0
            away = distance[i] + 1
            if distance[i] == 0 and depth[i] < len(focus) and focus[depth[i]] == k - low:
                away = distance[i]
            distance[j] = away
            if first[child[k] + 1] > first[child[k]]:
                key = worth[child[k]] - weight * away
                if len(focus) > 0 and away == 0:
                    key = math.inf
                at = size
                size += 1
                while at > 0 and heap_key[(at - 1) // 2] < key:
                    heap_key[at] = heap_key[(at - 1) // 2]
                    heap[at] = heap[(at - 1) // 2]
                    at = (at - 1) // 2
                heap_key[at] = key
                heap[at] = j
    return shown
