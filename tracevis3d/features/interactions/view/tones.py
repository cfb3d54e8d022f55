"""The colours of pairs of elements: by the layers that they go against, or by how two runs differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.palettes import parse
from ....drawing.primitives import Callout
from ..headline import joint_counts
from ..layers import layers
from ..phases import describe
from .layout import Drum, Floats, Layout, vector
from .parameters import Parameters

#: What differs between two runs, in the order of :data:`DIFFERENCES`; what is the same is grey.
DIFFERENCES = ("same in both", "only in A", "only in B", "moved", "more often in A", "more often in B")
COLORS = parse("aab1bb 2f6fd0 e07b00 7a3fb0 86aae6 f0b35e")
#: Calls are more often in one run if they are so many times as many, and so many more.
_TIMES, _MORE = 1.25, 10
#: Sectors have the colour of differences that are at least this share of the largest one.
_LARGE = 0.05
#: Differences that are callouts, at most, and slices of the axis: they stand in the busiest.
_CALLOUTS, _SLICES = 3, 24


def resolved(color: str, traces: int) -> str:
    """Return what the colour of calls shows, where that depends on the number of traces.

    Parameters
    ----------
    color : str
        The parameter.
    traces : int
        How many are drawn.

    Returns
    -------
    str
    """
    if color == "auto":
        return "difference" if traces > 1 else "direction"
    return "direction" if color == "difference" and traces == 1 else color


def steps(colors: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """Return a ramp (size, 4) of equally long steps, one of each colour.

    Parameters
    ----------
    colors : float32 (k, 4)
    size : int

    Returns
    -------
    float32 (size, 4)
    """
    return np.asarray(colors[np.arange(size) * len(colors) // size])


def place_of(step: NDArray[np.integer], count: int) -> Floats:  # type: ignore[type-arg]
    """Return where on such a ramp the middle of each step lies, 0 to 1.

    Parameters
    ----------
    step : int (n,)
    count : int
        How many steps there are.

    Returns
    -------
    float64 (n,)
    """
    return np.asarray((step + 0.5) / count, np.float64)


def of_pairs(picture: Layout, drum: Drum, p: Parameters) -> Floats | None:
    """Return where on the ramp each pair's colour lies, float64 (pairs,); None where it has two ends.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    p : Parameters
        ``color`` as :func:`resolved`.

    Returns
    -------
    float64 (pairs,) or None
    """
    if p.color == "layers":
        return against_layers(picture, drum).astype(np.float64)
    if p.color == "difference":
        return place_of(differences(picture, drum), len(DIFFERENCES))
    return None


def differences(picture: Layout, drum: Drum) -> NDArray[np.int64]:
    """Return in what each pair of a drum differs between the two runs, int64 (pairs,).

    Parameters
    ----------
    picture : Layout
        Of two drums.
    drum : Drum
        One of them.

    Returns
    -------
    int64 (pairs,)
        Indices of :data:`DIFFERENCES`.
    """
    code, kind, _ = _of_both(picture)
    mine = drum.found.caller.astype(np.int64) * drum.found.elements + drum.found.callee
    return kind[np.searchsorted(code, mine)]


def _of_both(picture: Layout) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of both drums, as numbers, in what each differs, and by how many calls."""
    found = [d.found for d in picture.drums]
    code, (a, b) = joint_counts(found, [d.counts for d in picture.drums])
    kind = np.zeros(len(code), np.int64)
    much = np.abs(a - b) >= _MORE
    kind[(a >= _TIMES * b) & much] = 4
    kind[(b >= _TIMES * a) & much] = 5
    kind[(a > 0) & (b == 0)] = 1
    kind[(b > 0) & (a == 0)] = 2
    # Calls of what has moved have moved with it.
    status = presence(picture, [d.found.activity(d.counts) for d in picture.drums])
    moved = status[picture.hierarchy.node] == 2
    ends = np.divmod(code, max(found[0].elements, 1))
    kind[((kind == 1) | (kind == 2)) & (moved[ends[0]] | moved[ends[1]])] = 3
    return code, kind, np.abs(a - b)


def of_sectors(picture: Layout, activity: list[NDArray[np.float64]]) -> NDArray[np.int64]:
    """Return in what the calls of each node differ between two runs: as that of its pairs that differs most.

    Parameters
    ----------
    picture : Layout
        Of two drums.
    activity : list of float64 (elements,)
        Calls that each element takes part in, of each trace.

    Returns
    -------
    int64 (nodes,)
        Indices of :data:`DIFFERENCES`. Small differences don't count beside the largest, and containers
        differ only if one run never calls what is in them.
    """
    h = picture.hierarchy
    code, kind, change = _of_both(picture)
    large = np.flatnonzero((kind > 0) & (change >= _LARGE * change[kind > 0].max(initial=0)))
    large = large[np.argsort(change[large], kind="stable")]
    of_node = np.zeros(len(h), np.int64)
    # The largest is written last.
    ends = np.stack(np.divmod(code[large], max(h.elements, 1)), axis=1).reshape(-1)
    of_node[h.node[ends]] = np.repeat(kind[large], 2)
    status = presence(picture, activity)
    return np.where(status >= 0, status + 1, of_node)


def callouts(picture: Layout, ramp: tuple[int, int]) -> tuple[Callout, ...]:
    """Tell who calls whom much more often in one run: where the busiest slice of that run's drum is.

    Parameters
    ----------
    picture : Layout
        Of two drums.
    ramp : (int, int)
        Palette indices of the ramp of differences.

    Returns
    -------
    tuple of Callout
        The largest differences first.
    """
    found = [d.found for d in picture.drums]
    code, times = joint_counts(found, [d.counts for d in picture.drums])
    kind = [differences(picture, d) for d in picture.drums]
    change = np.abs(times[1] - times[0])
    chosen: list[Callout] = []
    for i in np.argsort(-change, kind="stable").tolist():
        more = picture.drums[int(times[1, i] > times[0, i])]
        pair = np.flatnonzero(
            more.found.caller.astype(np.int64) * more.found.elements + more.found.callee == code[i]
        )
        if not len(pair) or len(chosen) == _CALLOUTS:
            break
        if more.bend.length <= 0 or not kind[more.source][pair[0]]:
            continue
        at = more.low + np.flatnonzero(more.found.pair[more.low : more.high] == pair[0])
        slices, edge = np.histogram(more.at(at), bins=_SLICES, range=(0.0, 1.0))
        busiest = int(np.argmax(slices))
        inside = at[(more.at(at) >= edge[busiest]) & (more.at(at) <= edge[busiest + 1])]
        row = int(inside[len(inside) // 2])
        node = picture.hierarchy.node[more.found.callee[pair[0]]]
        point = more.bend.mantle(picture.sectors.middle[[node]], more.at(np.array([row])))[0]
        place = float(place_of(kind[more.source][pair], len(DIFFERENCES))[0])
        many = " and ".join(f"{int(n):,} in {side}" for n, side in zip(times[:, i], "AB", strict=True))
        words = describe(picture.hierarchy, more.found, int(pair[0]))
        color = ramp[0] + round(place * (ramp[1] - ramp[0]))
        call = (more.source, int(more.found.call[row]))
        chosen.append(Callout(words, f"calls: {many}", vector(point), float(change[i]), color, (call,)))
    return tuple(chosen)


def against_layers(picture: Layout, drum: Drum) -> NDArray[np.bool_]:
    """Return which pairs of a drum call against the layers, bool (pairs,).

    Parameters
    ----------
    picture : Layout
    drum : Drum
        Its counts are read.

    Returns
    -------
    bool (pairs,)
    """
    found = drum.found
    return layers(picture.hierarchy, found.caller, found.callee, drum.counts)[1]


def presence(picture: Layout, activity: list[NDArray[np.float64]]) -> NDArray[np.int32]:
    """Return where each node is called: -1 in both traces, 0 in A alone, 1 in B alone, 2 moved.

    An element of one trace alone has moved if there is one of the same name elsewhere in the other alone.

    Parameters
    ----------
    picture : Layout
    activity : list of float64 (elements,)
        Calls that each element takes part in, of each trace.

    Returns
    -------
    int32 (nodes,)
    """
    h = picture.hierarchy
    here = []
    first, stop = h.first_element()
    for active in activity:
        total = np.concatenate([[0], np.cumsum(active > 0)])
        here.append(total[stop] - total[first] > 0)
    status = np.where(here[0] & here[1], -1, np.where(here[0], 0, np.where(here[1], 1, -1))).astype(np.int32)
    leaves = h.node
    names = [{h.name[i] for i in leaves.tolist() if status[i] == s} for s in (0, 1)]
    moved = names[0] & names[1]
    for i in leaves.tolist():
        if status[i] >= 0 and h.name[i] in moved:
            status[i] = 2
    return status
