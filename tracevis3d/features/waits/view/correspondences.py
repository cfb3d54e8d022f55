"""Who waits for whom: funnels from waits to releases, wait markers, and the critical path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....drawing.links import Link
from ....drawing.primitives import Element, Lines, Marks, Meaning, Tubes, Wedges
from ....trace.build import innermost
from ....trace.names import named_threads
from ....units import read_time
from ..correspondences import every_release
from ..critical_path import RUNS, STARTS, WAITS
from ..outcomes import INFERRED, KINDS_OF_WAITING
from ..waits import INFERRED as HELD_INFERRED
from .calls import THICK
from .geometry import funnels
from .layout import Layout

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

#: A funnel's throat, and its thickness at the mouth, in scene units.
_THROAT, _MOUTH = 0.017, 0.05
#: Width of the line from a wait that is no delay, in scene units.
_LINE = 0.03
#: Width of the end of a curve on paper, in scene units.
_STEM = 0.035
#: Diameter of the sphere at a release.
_TIP = 0.13
#: Number of funnels from which on they are thinner.
_MANY = 150
#: The kind of the shapes of short waits.
MERGED = "aggregated"
#: The kind of funnels that lead nowhere.
OPEN = "wait in vain"
#: How far below the core's axis a funnel ends that leads nowhere, in scene units.
_OPEN_END = -1.2
#: Sides of a funnel in the straight forms shrink with this power of the rest of the way.
_POWER = 12.0
#: Nested markers: how far they reach beyond the row, each waiting thread's further, in scene units.
_REACH, _NEST, _NESTS = 0.035, 0.02, 5
_START = 0.035
#: What is no delay has a line in place of a funnel: sleep, waits that timed out, and having nothing to do.
_IDLE, *_NO_DELAY = (KINDS_OF_WAITING.index(kind) for kind in ("idle", "sleep", "timeout"))
#: How far behind the rows correspondences lie on paper, in scene units.
_BEHIND = 0.2
#: Funnels that pass an object's lane narrow sooner.
_POWER_THROUGH = 40.0


@dataclass(frozen=True, eq=False)
class Shown:
    """The correspondences that can be seen: those whose wait lies in its row's window, at least in part.

    Attributes
    ----------
    wait, release : int64 (k,)
        Rows of the operations.
    time : int64 (k,)
        When the release happens.
    row, release_row : int64 (k,)
        Rows of the picture.
    inside : bool (k,)
        Whether the release lies in its row's window.
    low, high : float64 (k,)
        The wait in its row's window, shares from 0 to 1.
    at : float64 (k,)
        The release in its row's window.
    out, release_out : float64 (k,)
        Distances outward of both ends: waits open at the edge of the first level, so that no funnel hides the
        stack that waits; releases are where the call is that releases.
    alone : bool (k,)
        Whether the wait is long enough to be seen by itself.
    ended : bool (k,)
        Whether anybody ended it; else the release is where its holder got what it is for.
    """

    wait: Ints
    release: Ints
    time: Ints
    row: Ints
    release_row: Ints
    inside: NDArray[np.bool_]
    low: Floats
    high: Floats
    at: Floats
    out: Floats
    release_out: Floats
    alone: NDArray[np.bool_]
    ended: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.wait)

    def only(self, which: Ints | NDArray[np.bool_]) -> Shown:
        """Return some of them."""
        return Shown(*(getattr(self, name)[which] for name in self.__dataclass_fields__))


def shown(picture: Layout) -> Shown:
    """Find the correspondences to draw (SyncTrace, section IV-C: none whose wait is out of sight)."""
    waits, ops = picture.waits, picture.waits.ops
    if picture.parameters.releases == "every":
        pairs = every_release(ops)
        keep = ~ops.nested[pairs.wait] & ops.blocked[pairs.wait]
        keep &= ops.thread[pairs.wait] != ops.thread[pairs.release]
    else:
        pairs = waits.woke
        keep = ~ops.nested[pairs.wait]
    wait, release, time = pairs.wait[keep], pairs.release[keep], pairs.time[keep]
    vain, holding = _never_ended(picture)
    ended = np.arange(len(wait) + len(vain)) < len(wait)
    wait, release = np.concatenate([wait, vain]), np.concatenate([release, holding])
    time = np.concatenate([time, ops.end[vain]])
    row, release_row = picture.row_of[ops.thread[wait]], picture.row_of[ops.thread[release]]
    here = (row >= 0) & (release_row >= 0)
    here[here] &= ops.end[wait[here]] > picture.low[row[here]]
    here[here] &= ops.start[wait[here]] < picture.high[row[here]]
    wait, release, time, row, release_row, ended = (
        x[here] for x in (wait, release, time, row, release_row, ended)
    )
    low = np.clip(picture.share(row, ops.start[wait]), 0.0, 1.0)
    high = np.clip(picture.share(row, ops.end[wait]), 0.0, 1.0)
    at = picture.share(release_row, time)
    inside = (at >= 0.0) & (at <= 1.0)
    resolution = np.array([cut.resolution for cut in picture.cuts], np.int64)
    return Shown(
        wait, release, time, row, release_row, inside, low, high, np.clip(at, 0.0, 1.0),
        np.zeros(len(wait)),
        outward(picture, ops.call[release], ops.thread[release], time),
        ops.lasted[wait] >= resolution[row] if len(wait) else np.zeros(0, np.bool_), ended,
    )  # fmt: skip


def _never_ended(picture: Layout) -> tuple[Ints, Ints]:
    """Return the waits that nobody ended, and where the holder of each one's object acquired it."""
    waits, ops, held = picture.waits, picture.waits.ops, picture.waits.held
    rows = np.flatnonzero(waits.outcomes.never_ended & ~ops.nested & (waits.held_by >= 0))
    found: list[tuple[int, int]] = []
    for row in rows[np.diff(ops.first)[rows] > 0].tolist():
        low, high = np.searchsorted(held.object, np.array([0, 1]) + ops.object[ops.first[row]])
        mine = low + np.flatnonzero((held.thread[low:high] == waits.held_by[row])
                                    & (held.end[low:high] >= ops.end[row]))  # fmt: skip
        if len(mine):
            found.append((row, int(held.acquire[mine[-1]])))
    pairs = np.array(found, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def outward(picture: Layout, call: Ints, thread: Indices, time: Ints) -> Floats:
    """Return how far out the call is that waits or releases; that around an instant if it is no call.

    Parameters
    ----------
    picture : Layout
    call : int64 (n,)
        -1: none.
    thread : int32 (n,)
        Threads that are shown.
    time : int64 (n,)
        Nanoseconds.

    Returns
    -------
    float64 (n,)
    """
    calls, threads = picture.trace.calls, picture.trace.threads
    found = innermost(calls, threads.first, threads.count, thread, time)
    call = np.where(call >= 0, call, found)
    if not len(calls):
        return np.zeros(len(call))
    level = np.where(call >= 0, calls.depth[np.maximum(call, 0)], 0).astype(np.int64)
    inner, outer = picture.out(level - 1), picture.out(level)
    # On a row of several threads no call is shown.
    several = picture.several[picture.row_of[thread]]
    return np.where((level > 0) & ~several, (inner + outer) / 2, 0.0)


def tubes(picture: Layout, which: Shown, color: Indices, through: Floats | None) -> list[Element]:
    """Return the funnels of ``which``, and a sphere at each release that is in sight.

    ``through`` (k, 3) are points that they pass, in place of being drawn to the core's axis.

    Parameters
    ----------
    picture : Layout
    which : Shown
        The correspondences that are drawn.
    color : int32 (k,)
        Of each of them.
    through : float64 (k, 3) or None
        None: they are drawn to the core's axis.

    Returns
    -------
    list of Element
    """
    theatre, p = picture.theatre, picture.parameters
    front = THICK + 0.01
    left = theatre.place(which.row, which.low, which.out, front)
    right = theatre.place(which.row, which.high, which.out, front)
    idle = no_delay(picture, which)
    wide = np.maximum(np.linalg.norm(right - left, axis=1), 1e-9)
    share = np.minimum(_LINE / wide, 1.0) * (1 - p.paper) + p.paper
    left[idle] = (right + (left - right) * share[:, None])[idle]
    # A release outside the window is drawn at its edge, on the level of the marker (section IV-C).
    end = theatre.place(which.release_row, which.at, which.release_out, front)
    core = theatre.core((which.high + which.at) / 2)
    if through is not None:
        core = 2 * through - (right + end) / 2
    sooner = _POWER if through is None else _POWER_THROUGH
    power = p.paper * funnels.PAPER_POWER + (1 - p.paper) * sooner
    made: list[Element] = []
    thin = max(min((_MANY / max(len(which), 1)) ** 0.5, 1.0), 0.35)
    loud, guessed = np.ones(len(which), np.bool_), inferred(picture, which)
    if p.waits == "state":
        loud = picture.waits.ops.asks[which.wait]
    for inside, shouts in ((True, True), (True, False), (False, True), (False, False)):
        part = np.flatnonzero((which.inside == inside) & (loud == shouts))
        if not len(part):
            continue
        look = "solid" if inside and shouts and p.paper < 0.5 else "ghost"
        kind = "correspondence" if inside else "correspondence out of sight"
        if p.paper > 0:
            # Wide shapes lie behind narrow ones.
            part = part[np.argsort(which.low[part] - which.high[part], kind="stable")]
            corner, _ = funnels.ribbons(left[part], right[part], core[part], end[part], power, 0.006)
            # On paper shapes lie behind the rows, as on the page below them: they are seen in the core.
            depth = p.paper * (_BEHIND - 0.05 * np.arange(len(part)) / max(len(part), 1))
            corner[..., 1] += np.repeat(depth, funnels.SAMPLES)[:, None].astype(np.float32)
            point, first, owner = funnels.pieces(guessed[part])
            of = part[owner]
            made.append(Wedges(kind, corner[point], first, color[of], which.wait[of], look))  # type: ignore[arg-type]
        if p.paper < 1:
            made.append(_swept(left[part], right[part], core[part], end[part], power, thin * (1 - p.paper),
                               color[part], which.wait[part], kind, look, guessed[part]))  # fmt: skip
    seen = np.flatnonzero(which.inside & which.ended)
    size = np.full(len(seen), _TIP * thin, np.float32)
    made.append(Marks("release", "sphere", end[seen].astype(np.float32), size, color[seen], which.wait[seen]))
    return made


def inferred(picture: Layout, which: Shown) -> NDArray[np.bool_]:
    """Return of which waits it is only the most likely thread that ended them, or holds what they are for.

    Parameters
    ----------
    picture : Layout
    which : Shown

    Returns
    -------
    bool (k,)
    """
    waits = picture.waits
    held = waits.held_by_source[which.wait] == HELD_INFERRED
    return np.asarray(np.where(which.ended, waits.outcomes.how[which.wait] == INFERRED, held), np.bool_)


def open_funnels(picture: Layout, waits: Ints, color: int) -> Tubes | None:
    """Return a funnel for each of ``waits`` that leads nowhere: nobody ends them.

    Parameters
    ----------
    picture : Layout
    waits : int64 (n,)
        Rows of the operations.
    color : int
        Index into the palette.

    Returns
    -------
    Tubes or None
    """
    ops, theatre = picture.waits.ops, picture.theatre
    if not len(waits) or picture.parameters.paper >= 1.0:
        return None
    row, front = picture.row_of[ops.thread[waits]], np.full(len(waits), THICK + 0.01)
    low = np.clip(picture.share(row, ops.start[waits]), 0.0, 1.0)
    high = np.clip(picture.share(row, ops.end[waits]), 0.0, 1.0)
    left, right = (theatre.place(row, share, np.zeros(len(waits)), front) for share in (low, high))
    # It bends as if to another thread, and ends in the air.
    core = theatre.core(high)
    end = core + np.array([0.0, 0.0, _OPEN_END])
    return _swept(
        left, right, core, end, funnels.PAPER_POWER, 1.0, np.full(len(waits), color, np.int32), waits,
        OPEN, "solid",
    )  # fmt: skip


def stems(picture: Layout, which: Shown, color: Indices) -> Wedges | None:
    """Return, on paper, the last piece of each curve, over the releasing row, up to its ball.

    Parameters
    ----------
    picture : Layout
    which : Shown
        The correspondences that are drawn.
    color : int32 (k,)
        Of each of them.

    Returns
    -------
    Wedges or None
        None where rows are straight: there the funnels themselves end at the balls.
    """
    part = np.flatnonzero(which.inside & which.ended)
    if picture.parameters.paper < 1.0 or not len(part):
        return None
    row, at = which.release_row[part], which.at[part]
    theatre = picture.theatre
    half = np.full(len(part), _STEM / theatre.width / 2)
    zero = np.zeros(len(part))
    corner, first = theatre.blocks(
        row, at - half, at + half, zero, which.release_out[part], zero + THICK, zero + THICK + 0.006
    )
    return Wedges("correspondence", corner, first, color[part], which.wait[part])


def _swept(
    left: Floats, right: Floats, core: Floats, end: Floats, power: float, share: float, color: Indices,
    ids: Ints, kind: str, look: str, dashed: NDArray[np.bool_] | None = None,
) -> Tubes:  # fmt: skip
    """Return funnels with round sections, whose width lies along time."""
    path = funnels.middles(left, right, core, end, power)
    n = len(path)
    radius = np.empty((n, funnels.SAMPLES, 2), np.float32)
    half = np.linalg.norm(right - left, axis=1) / 2
    radius[:, :, 0] = half[:, None] * funnels.widths(power) + _THROAT * share
    radius[:, :, 1] = (_MOUTH - _THROAT) * funnels.widths(3.0)[None] * share + _THROAT * share
    point, first, owner = funnels.pieces(np.zeros(n, np.bool_) if dashed is None else dashed)
    return Tubes(
        kind, path.reshape(-1, 3)[point].astype(np.float32), radius.reshape(-1, 2)[point], first,
        color[owner], ids[owner], side=(1.0, 0.0, 0.0), level=True,
        look=look,  # type: ignore[arg-type]
    )  # fmt: skip


def no_delay(picture: Layout, which: Shown) -> NDArray[np.bool_]:
    """Return which correspondences are drawn as lines, as their waits delay nobody.

    Parameters
    ----------
    picture : Layout
    which : Shown

    Returns
    -------
    bool (k,)
        All are false where colours tell threads or objects, not what is waited for.
    """
    if picture.parameters.waits != "state":
        return np.zeros(len(which), np.bool_)
    state, call = picture.waits.outcomes.state[which.wait], picture.waits.ops.call[which.wait]
    # Who waits for work within a call may need what another makes; between its calls a thread has none.
    return np.asarray(np.isin(state, _NO_DELAY) | ((state == _IDLE) & (call < 0)))


def several(picture: Layout, which: Shown, color: Indices) -> list[Marks]:
    """Return a sign over each wait for several objects: a diamond for all, a cone for any of them.

    Parameters
    ----------
    picture : Layout
    which : Shown
        The correspondences that are drawn.
    color : int32 (k,)
        Of each of them.

    Returns
    -------
    list of Marks
    """
    ops, theatre = picture.waits.ops, picture.theatre
    many = np.diff(ops.first)[which.wait] > 1
    made = []
    for shape, all_ in (("diamond", True), ("cone", False)):
        part = np.flatnonzero(many & (ops.all[which.wait] == all_))
        reach = picture.reach(which.row[part]) if len(part) else np.empty(0)
        at = theatre.place(which.row[part], (which.low + which.high)[part] / 2, reach, THICK + _TIP)
        size = np.full(len(part), 1.4 * _TIP, np.float32)
        kind = "wait for several"
        made.append(Marks(kind, shape, at.astype(np.float32), size, color[part], which.wait[part]))  # type: ignore[arg-type]
    return [marks for marks in made if len(marks)]


def markers(picture: Layout, which: Shown, color: Indices) -> list[Wedges]:
    """Return the wait markers: the wait's time on the releasing thread's row, its start shaded.

    Markers of several waiting threads on one row are nested: each further thread's is larger.

    Parameters
    ----------
    picture : Layout
    which : Shown
        The correspondences that are drawn.
    color : int32 (k,)
        Of each of them.

    Returns
    -------
    list of Wedges
    """
    ops = picture.waits.ops
    low = np.clip(picture.share(which.release_row, ops.start[which.wait]), 0.0, 1.0)
    high = np.clip(picture.share(which.release_row, ops.end[which.wait]), 0.0, 1.0)
    seen = high > low
    rank = _ranks(which.release_row, which.row)
    reach = picture.reach(which.release_row) if len(which) else np.empty(0)
    theatre = picture.theatre
    pad = (_REACH + (rank % _NESTS) * _NEST) / out_units(picture, which.release_row)
    back = -0.03 - 0.012 * (rank % _NESTS)
    made = []
    part = np.flatnonzero(seen)
    if len(part):
        row = which.release_row[part]
        inner, outer = -pad[part], (reach + pad)[part]
        corner, first = theatre.blocks(
            row, low[part], high[part], inner, outer, back[part] - 0.008, back[part]
        )
        made.append(Wedges("wait marker", corner, first, color[part], which.wait[part], "ghost"))
        # A marker whose start is out of sight has no start shading (section IV-C).
        begun = part[picture.share(which.release_row[part], ops.start[which.wait[part]]) >= 0]
        row = which.release_row[begun]
        stop = np.minimum(low[begun] + _START / theatre.width, high[begun])
        corner, first = theatre.blocks(
            row, low[begun], stop, -pad[begun], (reach + pad)[begun], back[begun], back[begun] + 0.012
        )
        made.append(Wedges("wait start", corner, first, color[begun], which.wait[begun]))
    return made


def out_units(picture: Layout, row: Ints) -> Floats:
    """Return how many scene units a unit outward is on rows, float64 (n,).

    Parameters
    ----------
    picture : Layout
    row : int64 (n,)

    Returns
    -------
    float64 (n,)
    """
    theatre = picture.theatre
    first, last = theatre.sector[row].T
    bent = np.where(last > first, theatre.level, theatre.main_level)
    return np.maximum((1 - theatre.paper) * theatre.stretch[row] + theatre.paper * bent, 1e-9)


def _ranks(group: Ints, thing: Ints) -> Ints:
    """Return the place of each thing among the distinct things of its group."""
    if not len(group):
        return np.empty(0, np.int64)
    pairs, back = np.unique(np.stack([group, thing]), axis=1, return_inverse=True)
    first = np.searchsorted(pairs[0], pairs[0], side="left")
    return np.asarray((np.arange(pairs.shape[1]) - first)[back.reshape(-1)], np.int64)


def aggregated(picture: Layout, which: Shown, colors: Indices) -> Wedges:
    """Return the shapes of waits too short to be seen, one for each cluster and releasing row (Eq. 8).

    A cluster is a run of such waits of one thread that are less than the resolution apart. Its shape reaches
    from the cluster's start and end to the first and the last of its releases.

    Parameters
    ----------
    picture : Layout
    which : Shown
        Those that are too short to be drawn one by one.
    colors : int32 (rows,)
        Of each row's thread.

    Returns
    -------
    Wedges
    """
    which, first = _clusters(picture, which)
    if not len(first):
        none = np.empty(0, np.int64)
        return Wedges(MERGED, np.empty((0, 4, 3), np.float32), np.zeros(1, np.int64),
                      none.astype(np.int32), none)  # fmt: skip
    row, release_row = which.row[first], which.release_row[first]
    low, high = np.minimum.reduceat(which.low, first), np.maximum.reduceat(which.high, first)
    least, most = np.minimum.reduceat(which.at, first), np.maximum.reduceat(which.at, first)
    out = np.minimum.reduceat(which.out, first)
    release_out = np.minimum.reduceat(which.release_out, first)
    theatre = picture.theatre
    corner, begin = funnels.bands(
        theatre.place(row, low, out, THICK), theatre.place(row, high, out, THICK),
        theatre.core((low + high + least + most) / 4), theatre.place(release_row, least, release_out, THICK),
        theatre.place(release_row, most, release_out, THICK), 0.006,
    )  # fmt: skip
    corner[..., 1] += 0.01 + _BEHIND * picture.parameters.paper  # below those that are drawn by themselves
    strips = funnels.STRIPS
    ids = np.repeat(np.arange(len(first), dtype=np.int64), strips)
    return Wedges(MERGED, corner, begin, np.repeat(colors[row], strips).astype(np.int32), ids, "ghost")


def _clusters(picture: Layout, which: Shown) -> tuple[Shown, Ints]:
    """Return short waits ordered by their clusters, and the first of each cluster."""
    ops = picture.waits.ops
    order = np.lexsort((ops.start[which.wait], which.release_row, which.row))
    which = which.only(order)
    start, end = ops.start[which.wait], ops.end[which.wait]
    resolution = np.array([cut.resolution for cut in picture.cuts], np.int64)
    pair = which.row * len(picture.rows) + which.release_row
    new = np.ones(len(which), np.bool_)
    if len(which):
        new[1:] = (pair[1:] != pair[:-1]) | (start[1:] - end[:-1] > 8 * resolution[which.row[1:]])
    return which, np.flatnonzero(new)


def merged_meaning(picture: Layout, which: Shown) -> Meaning:
    """Return what the shapes of :func:`aggregated` represent: how many waits, how long, for what.

    Parameters
    ----------
    picture : Layout
    which : Shown
        Those that are too short to be drawn one by one.

    Returns
    -------
    Meaning
    """
    ops, title = picture.waits.ops, picture.trace.threads.title
    titles = [title(t) for t in range(len(picture.trace.threads))]
    which, first = _clusters(picture, which)
    if not len(first):
        return Meaning()
    lasted, bounds = ops.lasted[which.wait], np.append(first, len(which))
    some = np.diff(ops.first)[which.wait] > 0
    object = np.where(some, np.append(ops.object, -1)[ops.first[which.wait]], -1)
    least, most = np.minimum.reduceat(object, first), np.maximum.reduceat(object, first)
    waiting = ops.thread[which.wait[first]].astype(np.int64)
    releasing = ops.thread[which.release[first]].astype(np.int64)
    return Meaning(
        values=(
            ("waits", np.diff(bounds).astype(np.float64)),
            ("waited (ns)", np.add.reduceat(lasted, first).astype(np.float64)),
            ("longest (ns)", np.maximum.reduceat(lasted, first).astype(np.float64)),
        ),
        texts=(
            ("waiting thread", titles, waiting),
            ("released by", titles, releasing),
            ("for", [*ops.objects, "several objects"], np.where(least == most, least, len(ops.objects))),
        ),
        links=(
            Link("wait", which.wait, first=bounds),
            Link("thread", waiting, role="related", answers=False),
        ),
    )


def rail(picture: Layout, color: int) -> tuple[Lines, int]:
    """Return the critical path as a rail through the scene, and its length in steps.

    Parameters
    ----------
    picture : Layout
    color : int
        Index into the palette.

    Returns
    -------
    (Lines, int)
    """
    p, waits = picture.parameters, picture.waits
    end = named_threads(picture.trace, p.path_end, "path_end") if p.path_end.strip() else None
    at = read_time("path_at", p.path_at) if p.path_at.strip() else None
    path = waits.path(None if end is None else int(end[0]), at)
    ops, theatre = waits.ops, picture.theatre
    row = picture.row_of[path.thread] if len(path) else np.empty(0, np.int64)
    seen = np.flatnonzero((row >= 0) & (path.end > picture.low[row]) & (path.start < picture.high[row]))
    points: list[Floats] = []
    firsts = [0]

    def add(line: Floats) -> None:
        points.append(line)
        firsts.append(firsts[-1] + len(line))

    for i in seen.tolist():
        r = np.array([row[i]])
        low, high = np.clip(picture.share(np.repeat(r, 2), np.array([path.start[i], path.end[i]])), 0, 1)
        hop = -1
        if path.what[i] == WAITS and waits.woken_by[path.wait[i]] >= 0:
            hop = int(picture.row_of[waits.woken_by[path.wait[i]]])
        elif path.what[i] == STARTS and i > 0:
            hop = int(picture.row_of[path.thread[i - 1]])
        if path.what[i] == RUNS or hop < 0 or hop == row[i]:
            n = int(theatre.sections(r, np.array([low]), np.array([high]))[0])
            share = np.linspace(low, high, n)
            add(theatre.place(np.repeat(r, n), share, np.full(n, -_RAIL_OUT), np.full(n, THICK + 0.03)))
            continue
        before = float(np.clip(picture.share(np.array([hop]), path.start[i : i + 1])[0], 0.0, 1.0))
        a = theatre.place(np.array([hop]), np.array([before]), np.array([-_RAIL_OUT]), THICK + 0.03)
        b = theatre.place(r, np.array([high]), np.array([-_RAIL_OUT]), THICK + 0.03)
        add(funnels.paths(a, theatre.core(np.array([(before + high) / 2])), b)[0])
    del ops
    point = np.concatenate(points) if points else np.empty((0, 3))
    n = len(firsts) - 1
    width = np.full(n, 0.045, np.float32)
    lines = Lines(
        "critical path", point.astype(np.float32), np.array(firsts, np.int64), width,
        np.full(n, color, np.int32), path.wait[seen] if n else np.empty(0, np.int64), "glow",
    )  # fmt: skip
    return lines, len(path)


#: The rail runs before the first level, in units of its height.
_RAIL_OUT = 0.35


def object_lanes(picture: Layout, objects: Sequence[int], first_color: int) -> tuple[list[Element], Floats]:
    """Return the lanes of objects in the core: lines along time, thicker where threads queue.

    Parameters
    ----------
    picture : Layout
    objects : sequence of int
        Those that get a lane.
    first_color : int
        The palette index of the first one's colour; the others follow.

    Returns
    -------
    elements : list
        A line for each object, and a bead for each time in which threads wait for it.
    anchor : float64 (objects, 2)
        y and z of each lane; on paper a ring around the centre.
    """
    n = len(objects)
    around = np.pi * (np.arange(n) + 0.5) / max(n, 1) - np.pi / 2
    radius = 0.42 * (picture.theatre.zero if picture.parameters.paper == 1.0 else 3.0)
    y0, z0 = picture.theatre.axis
    anchor = np.stack([y0 - 0.25 * np.cos(around), z0 + radius * np.sin(around)], axis=1)
    if picture.parameters.paper > 0 or not n:
        return [], anchor
    queue, span = picture.waits.queues, float(picture.high[0] - picture.low[0])
    point = np.zeros((n, 2, 3))
    point[:, 1, 0] = picture.theatre.width
    point[:, :, 1:] = anchor[:, None]
    ids = np.array(objects, np.int64)
    color = (first_color + np.arange(n)).astype(np.int32)
    made: list[Element] = [
        Lines("object", point.reshape(-1, 3).astype(np.float32), np.arange(n + 1, dtype=np.int64) * 2,
              np.full(n, 0.02, np.float32), color, ids, "glow")
    ]  # fmt: skip
    beads: list[Floats] = []
    colors, owners = [], []
    for i, o in enumerate(objects):
        low, high = np.searchsorted(queue.object, [o, o + 1])
        time, length = queue.time[low:high], queue.length[low:high]
        busy = np.flatnonzero((length > 0) & (np.append(time[1:], time[-1:]) > time))
        start = np.clip((time[busy] - picture.low[0]) / span, 0, 1)
        end = np.clip((np.append(time[1:], time[-1:])[busy] - picture.low[0]) / span, 0, 1)
        thick = 0.02 + 0.025 * length[busy]
        block = np.empty((len(busy), 2, 4, 3))
        block[:, 0, :, 0] = start[:, None] * picture.theatre.width
        block[:, 1, :, 0] = end[:, None] * picture.theatre.width
        for k, (dy, dz) in enumerate(((-1, -1), (-1, 1), (1, 1), (1, -1))):
            block[:, :, k, 1] = anchor[i, 0] + (dy * thick)[:, None]
            block[:, :, k, 2] = anchor[i, 1] + (dz * thick)[:, None]
        beads.append(block.reshape(-1, 4, 3))
        colors += [color[i]] * len(busy)
        owners += [o] * len(busy)
    corner = np.concatenate(beads).astype(np.float32)
    made.append(
        Wedges("queue", corner, np.arange(len(owners) + 1, dtype=np.int64) * 2, np.array(colors, np.int32),
               np.array(owners, np.int64))
    )  # fmt: skip
    return made, anchor


__all__ = ["Shown", "aggregated", "markers", "object_lanes", "rail", "several", "shown", "tubes"]
