"""Cone trees: rings of discs that don't overlap, computed once per distinct subtree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..jit import inline, kernel
from .discs import enclose

_TURN = 2.0 * math.pi
#: Maximum number of bisection steps for a ring's radius, and the accepted spare angle.
_NARROWINGS = 40
_CLOSE = 5e-4
#: A smaller overlap, as a share of the squared distance, is a rounding error.
_ROUNDING = 1e-9
#: Steps by which a ring grows on which discs overlap that are not neighbours.
_WIDER = 1.01


@inline
def _smallest(r: Any, k: Any) -> Any:
    """Return the radius of the smallest ring on which all neighbours of ``k`` discs fit.

    The half angle of the largest chord is the unknown: with that the sum of all angles is concave, and its
    slope finite. So Newton's steps end on the side on which everything fits, whatever the radii.
    """
    total, widest = 0.0, 0.0
    last = r[k - 1]
    for i in range(k):
        total += r[i]
        widest = max(widest, last + r[i])
        last = r[i]
    # If all chords were alike; the ring is never smaller than that.
    sine = min(math.sin(math.pi / k) * widest * k / (2.0 * total), 1.0)
    half = math.asin(sine)
    for _ in range(_NARROWINGS):
        cosine = math.sqrt(max(1.0 - sine * sine, 0.0))
        excess, slope = -math.pi, 0.0
        for i in range(k):
            part = (last + r[i]) / widest
            last = r[i]
            if part == 1.0:
                excess += half
                slope += 1.0
            else:
                u = part * sine
                excess += math.asin(u)
                slope += part * cosine / math.sqrt(1.0 - u * u)
        if excess <= 0.0 and (excess > -_CLOSE or sine == 1.0):
            break
        half = min(max(half - excess / slope, 0.5 * half), 0.5 * math.pi)
        sine = math.sin(half) if half < 0.5 * math.pi else 1.0
    return 0.5 * widest / sine


@inline
def _stand(r: Any, base: Any, k: Any, radius: Any, x: Any, y: Any) -> Any:
    """Put the discs from ``base`` on on a ring, one behind the other, clockwise from +x; returns if they fit.

    What is left of the turn is shared out between them. Two that stand opposite each other stay there: more
    than half a turn would bring them together again. Angles are added by turning, which needs no more than a
    root for each disc.
    """
    spare, most = math.pi, 0.0
    last = r[base + k - 1]
    for i in range(base, base + k):
        u = 0.5 * (last + r[i]) / radius
        spare -= math.asin(min(u, 1.0))
        most = max(most, u)
        last = r[i]
    if k == 1:
        spare = 0.0
    if spare < -_ROUNDING:
        return False
    more = 2.0 * spare / k
    opposite = most > math.cos(0.25 * more)
    if opposite and k > 1:
        more = 2.0 * spare / (k - 1)
    more_c, more_s = math.cos(more), math.sin(more)
    c, s = 1.0, 0.0
    x[base], y[base] = radius, 0.0
    for i in range(base + 1, base + k):
        u = 0.5 * (r[i - 1] + r[i]) / radius
        turn_c, turn_s = 1.0 - 2.0 * u * u, 2.0 * u * math.sqrt(max(1.0 - u * u, 0.0))
        c, s = c * turn_c - s * turn_s, s * turn_c + c * turn_s
        if not (opposite and u >= most):
            c, s = c * more_c - s * more_s, s * more_c + c * more_s
        x[i], y[i] = radius * c, -radius * s
    return True


@inline
def _meet(r: Any, base: Any, k: Any, x: Any, y: Any, stack: Any) -> Any:
    """Whether discs on a ring overlap that are not neighbours.

    Only discs without a larger one between them can; those before that can still be met are on the stack. The
    largest comes first, so nothing reaches beyond it.
    """
    stack[0] = base
    for i in range(base, base + k):
        if r[i] > r[stack[0]]:
            stack[0] = i
    first = stack[0]
    top = np.int64(1)
    for step in range(1, k):
        i = first + step
        if i >= base + k:
            i -= k
        for s in range(top - 1):
            j = stack[s]
            dx, dy, both = x[i] - x[j], y[i] - y[j], r[i] + r[j]
            if dx * dx + dy * dy < both * both * (1.0 - _ROUNDING):
                return True
        while top > 1 and r[stack[top - 1]] <= r[i]:
            top -= 1
        stack[top] = i
        top += 1
    return False


@inline
def _rings(r: Any, k: Any, alone: Any, x: Any, y: Any, stack: Any) -> None:
    """Lay ``k`` discs around their caller: on one ring of radius ``alone`` or little more, if that is not 0.

    Else on rings around each other in their order, from the inside out: a spiral of them, with the first disc
    in the middle. Discs of one ring lie beyond all of the ring before; so only those of one ring can meet.
    """
    base = np.int64(0)
    inner, radius = 0.0, alone
    if alone == 0.0:
        x[0], y[0] = 0.0, 0.0
        inner = r[0]
        base = np.int64(1)
    while base < k:
        n = k - base
        widest = 0.0
        if alone == 0.0:
            # As many as fit by the sum of their angles.
            taken = 0.0
            n = np.int64(0)
            while base + n < k:
                wider = max(widest, r[base + n])
                taken += 2.0 * math.asin(r[base + n] / (inner + wider))
                if taken > _TURN and n > 0:
                    break
                widest = wider
                n += 1
            radius = inner + widest
        while not _stand(r, base, n, radius, x, y) or (n > 3 and _meet(r, base, n, x, y, stack)):
            # A small one between two large ones: a wider ring, with room between all, or fewer on it.
            if alone > 0.0:
                radius *= _WIDER
            else:
                n = max(n - 1 - n // 16, np.int64(1))
                widest = 0.0
                for i in range(base, base + n):
                    widest = max(widest, r[i])
                radius = inner + widest
        inner = radius + widest
        base += n


@inline
def _around(r: Any, k: Any, most: Any, x: Any, y: Any, stack: Any, place: Any) -> Any:
    """Lay ``k >= 2`` discs around their caller; ``place`` gets the disc around all: x, y and radius.

    Returns which of them stands in the middle, -1 for none: that one comes first in ``r``, ``x`` and ``y``
    then, and those before it one later.
    """
    if k == 2:
        # Two discs side by side: the disc around them is known.
        x[0], y[0], x[1], y[1] = r[1], 0.0, -r[0], 0.0
        place[0], place[1], place[2] = 0.0, 0.0, r[0] + r[1]
        return np.int64(-1)
    largest, second, least = np.int64(0), 0.0, r[0]
    for i in range(1, k):
        least = min(least, r[i])
        if r[i] > r[largest]:
            second = r[largest]
            largest = np.int64(i)
        else:
            second = max(second, r[i])
    # A much larger disc stands in the middle: a ring through its centre would be empty inside.
    central = r[largest] > 2.0 * second
    around = 0.0
    if k <= most:
        around = _smallest(r, k) if least < r[largest] else least / math.sin(math.pi / k)
        central &= 1.3 * (r[largest] + 2.0 * second) < around + r[largest]
    if central:
        around = 0.0
        big = r[largest]
        for i in range(largest, 0, -1):
            r[i] = r[i - 1]
        r[0] = big
    _rings(r, k, around, x, y, stack)
    if around > 0.0 and least == r[largest]:
        place[0], place[1], place[2] = 0.0, 0.0, around + least
    else:
        enclose(r, k, x, y, place)
    return largest if central else np.int64(-1)


@inline
def _ring_among(
    r: Any, base: Any, k: Any, radius: Any, other_x: Any, other_y: Any, reach: Any, others: Any, near: Any,
    x: Any, y: Any,
) -> Any:  # fmt: skip
    """Put discs from ``base`` on on a ring, clockwise, past what is in their way; returns how many fit.

    Each has the angle that it is seen in from the middle, so that none overlaps any other. Where nothing is
    in the way, what is left of the turn is shared out between them.
    """
    blocking = np.int64(0)
    widest, taken = 0.0, 0.0
    for i in range(base, base + k):
        widest = max(widest, r[i])
        taken += 2.0 * math.asin(min(r[i] / radius, 1.0))
    for o in range(others):
        away = math.sqrt(other_x[o] * other_x[o] + other_y[o] * other_y[o])
        if abs(away - radius) < reach[o] + widest:
            near[blocking] = o
            blocking += 1
    more = max(_TURN - taken, 0.0) / k if blocking == 0 else 0.0
    at, begin, last = 0.0, 0.0, 0.0
    for i in range(base, base + k):
        half = math.asin(min(r[i] / radius, 1.0))
        if i > base:
            at += last + half + more
        moved = True
        while moved:
            moved = False
            for n in range(blocking):
                o = near[n]
                away = math.sqrt(other_x[o] * other_x[o] + other_y[o] * other_y[o])
                apart = reach[o] + r[i]
                left = radius * radius + away * away - apart * apart
                if left >= 2.0 * radius * away:
                    continue
                if left <= -2.0 * radius * away:
                    return i - base
                free = math.acos(left / (2.0 * radius * away)) * (1.0 + _ROUNDING)
                # Angles run clockwise.
                turn = (at - math.atan2(-other_y[o], other_x[o])) % _TURN
                if turn > math.pi:
                    turn -= _TURN
                if abs(turn) < free * (1.0 - _ROUNDING):
                    at += free - turn
                    moved = True
            if at > 2.0 * _TURN:
                break
        if i == base:
            begin = at - half
        if at + half > (begin + _TURN if i > base else _TURN + half) * (1.0 + _ROUNDING):
            return i - base
        x[i], y[i] = radius * math.cos(at), -radius * math.sin(at)
        last = half
    return k


@inline
def _tuck(
    r: Any, k: Any, most: Any, other_x: Any, other_y: Any, reach: Any, others: Any, near: Any, x: Any, y: Any,
    stack: Any,
) -> Any:  # fmt: skip
    """Lay ``k`` discs around the middle, as near as they fit beside others that stand there.

    On one ring if it is nearer than all others; else on rings around each other in their order, from the
    inside out. Returns how far they reach.
    """
    widest, nearest, central = 0.0, math.inf, 0.0
    for i in range(k):
        widest = max(widest, r[i])
    for o in range(others):
        away = math.sqrt(other_x[o] * other_x[o] + other_y[o] * other_y[o])
        nearest = min(nearest, away - reach[o])
        if away < reach[o]:
            central = max(central, reach[o] - away)
    if k == 1 and widest <= nearest:
        x[0], y[0] = 0.0, 0.0
        return widest
    if 1 < k <= most and widest * k < math.pi * nearest:  # else they don't fit there
        ring = _smallest(r, k)
        if ring + widest <= nearest:
            _rings(r, k, ring, x, y, stack)
            far = 0.0
            for i in range(k):
                far = max(far, math.sqrt(x[i] * x[i] + y[i] * y[i]) + r[i])
            if far <= nearest:
                return far
    base, inner, far = np.int64(0), central, 0.0
    if central == 0.0 and r[0] <= nearest:
        x[0], y[0] = 0.0, 0.0
        base = np.int64(1)
        inner = far = r[0]
    while base < k:
        # As many as fit by the sum of their angles.
        n, taken, widest = np.int64(0), 0.0, 0.0
        while base + n < k:
            wider = max(widest, r[base + n])
            taken += 2.0 * math.asin(r[base + n] / (inner + wider))
            if taken > _TURN and n > 0:
                break
            widest = wider
            n += 1
        placed = _ring_among(r, base, n, inner + widest, other_x, other_y, reach, others, near, x, y)
        if placed == 0:
            # Nothing fits between the others: on to where the first of them ends.
            end = math.inf
            for o in range(others):
                away = math.sqrt(other_x[o] * other_x[o] + other_y[o] * other_y[o])
                if away + reach[o] > inner and away - reach[o] < inner + 2.0 * widest:
                    end = min(end, away + reach[o])
            inner = end if end < math.inf else inner + widest
            continue
        base += placed
        inner += 2.0 * widest
        far = inner
    return far


@kernel
def lay_cones(
    first: Any,
    child: Any,
    own: Any,
    flat: Any,
    gap: float,
    most: int,
    slope: float,
    radius: Any,
    ring: Any,
    x: Any,
    y: Any,
    r: Any,
    disc_x: Any,
    disc_y: Any,
    other_x: Any,
    other_y: Any,
    reach: Any,
    stack: Any,
    edge: Any,
    near: Any,
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
    flat : uint8 (m,)
        1 for a class that takes room at its own level alone. It stays clear of what its siblings have there,
        and not of all that is below them; 0 for all where the plan is to be free of overlaps.
    gap : float
        Room around the disc of each of several children, as a share of its node's radius.
    most : int
        More children than this are laid on several rings.
    slope : float
        What a class that is not flat has at its own level: its node, and beyond it this share of its ring,
        over which its lines run.
    radius : float64 (m,)
        Filled: radius of the disc around the node and all that is below it, its apex at the centre.
    ring : float64 (m,)
        Filled: distance of the farthest child's centre from the apex.
    x, y : float64 (e,)
        Filled: where each child's apex is, from its parent's. Children stand clockwise, seen from above
        (+z), in the order of the calls; one that is larger than the ring of the others stands in the middle.
        Beside others, flat ones stand as near as there is room between them.
    r, disc_x, disc_y, other_x, other_y, reach : float64 (degree + 1,)
    stack, edge, near : int64 (degree + 1,)
    place : float64 (3,)
        Working space, for the largest degree.
    """
    for c in range(len(first) - 1):
        at = first[c]
        total = first[c + 1] - at
        radius[c] = own[c]
        ring[c] = 0.0
        if total == 0:
            continue
        # Those that stand on the caller's ring: all, or those with something below them.
        k = np.int64(0)
        for i in range(at, at + total):
            if flat[child[i]] == 0:
                edge[k] = i
                k += 1
        tucked = total - k
        if k == 0:
            tucked = np.int64(0)
            for i in range(at, at + total):
                edge[k] = i
                k += 1
        far = 0.0
        if k == 1:
            x[edge[0]], y[edge[0]] = 0.0, 0.0
            radius[c] = max(own[c], radius[child[edge[0]]])
        else:
            for i in range(k):
                # In nodes: a share of the disc would grow without bounds over the levels.
                r[i] = radius[child[edge[i]]] + gap * own[child[edge[i]]]
            middle = _around(r, k, most, disc_x, disc_y, stack, place)
            for i in range(k):
                j = edge[i]
                if i <= middle:
                    j = edge[i - 1] if i > 0 else edge[middle]
                x[j], y[j] = disc_x[i] - place[0], disc_y[i] - place[1]
                far = max(far, x[j] * x[j] + y[j] * y[j])
            radius[c] = max(own[c], place[2])
        ring[c] = math.sqrt(far)
        if tucked == 0:
            continue
        for i in range(k):
            j = edge[i]
            d = child[j]
            other_x[i], other_y[i], reach[i] = x[j], y[j], own[d] + slope * ring[d]
        others = k
        k = np.int64(0)
        for i in range(at, at + total):
            if flat[child[i]] == 1:
                edge[k] = i
                r[k] = radius[child[i]] + gap * own[child[i]]
                k += 1
        far = _tuck(r, k, most, other_x, other_y, reach, others, near, disc_x, disc_y, stack)
        radius[c] = max(radius[c], far)
        for i in range(k):
            j = edge[i]
            x[j], y[j] = disc_x[i], disc_y[i]
            ring[c] = max(ring[c], math.sqrt(x[j] * x[j] + y[j] * y[j]))


@kernel
def choose_nodes(
    first: Any,
    child: Any,
    interest: Any,
    x: Any,
    y: Any,
    link: Any,
    sibling: Any,
    weight: float,
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
    given: int,
    budget: int,
) -> Any:
    """Open the nodes that matter most, one after the other, until the budget is used up.

    A node's degree of interest is its own worth less its distance from the focus (Furnas 1986): ``worth -
    weight * distance``. Of the closed nodes the most interesting one is opened if all its children fit. Nodes
    that are given are there anyway, each with its given children alone until it is opened itself.

    Parameters
    ----------
    first : int64 (m + 1,)
    child : int32 (e,)
    interest : float64 (m,)
    x, y : float64 (e,)
        As :func:`lay_cones` fills them.
    link : int64 (n,)
        The first given child of each given node, by its edge; -1: none.
    sibling : int64 (n,)
        The given child of the same node that follows each, by their edges; -1: none.
    weight : float
        How much a step away from the focus costs.
    heap_key : float64 (n,)
    heap : int64 (n,)
        Working space.
    node : int32 (n,)
    parent : int64 (n,)
    edge : int64 (n,)
    depth : int32 (n,)
    place_x, place_y : float64 (n,)
    distance : int32 (n,)
    opened : uint8 (n,)
        The shown nodes: class, which shown node calls it, by which edge, depth, place, steps from the focus,
        whether its children are shown (0: no, 1: all, 2: those that are given). The first ``given`` of
        each are filled before: the roots, and then others, each after its parent.
    given : int
    budget : int
        The most nodes, those that are given among them.

    Returns
    -------
    int
        How many nodes are shown.
    """
    shown = np.int64(given)
    size = np.int64(0)
    for i in range(shown):
        key = interest[node[i]] - weight * distance[i]
        at = size
        size += 1
        while at > 0 and heap_key[(at - 1) // 2] < key:
            heap_key[at] = heap_key[(at - 1) // 2]
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap_key[at] = key
        heap[at] = i
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
        there = np.int64(0)
        at = link[i] if i < given else np.int64(-1)
        while at >= 0:
            there += 1
            at = sibling[at]
        if low == high or shown + (high - low) - there > budget:
            continue
        opened[i] = 1
        known = link[i] if i < given else np.int64(-1)
        for k in range(low, high):
            if known >= 0 and edge[known] == k:
                known = sibling[known]
                continue
            j = shown
            shown += 1
            node[j] = child[k]
            parent[j] = i
            edge[j] = k
            depth[j] = depth[i] + 1
            place_x[j] = place_x[i] + x[k]
            place_y[j] = place_y[i] + y[k]
            opened[j] = 0
            distance[j] = distance[i] + 1
            if first[child[k] + 1] > first[child[k]]:
                key = interest[child[k]] - weight * distance[j]
                at = size
                size += 1
                while at > 0 and heap_key[(at - 1) // 2] < key:
                    heap_key[at] = heap_key[(at - 1) // 2]
                    heap[at] = heap[(at - 1) // 2]
                    at = (at - 1) // 2
                heap_key[at] = key
                heap[at] = j
    return shown


@kernel
def count_levels(first: Any, child: Any, levels: Any) -> None:
    """Count the levels of calls below each node.

    Parameters
    ----------
    first : int64 (m + 1,)
        Edges of each node; children come before their parents.
    child : int32 (e,)
    levels : int64 (m,)
        Zeros; the result.
    """
    for i in range(len(first) - 1):
        for k in range(first[i], first[i + 1]):
            levels[i] = max(levels[i], levels[child[k]] + 1)
