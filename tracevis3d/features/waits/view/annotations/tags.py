"""Names of waits on plates in front of everything: for whom, for how long, for what."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..... import units
from .....drawing.frame import Frame
from .....drawing.primitives import Labels, Wedges
from .....drawing.projection import Projection, fit
from ..correspondences import Shown, no_delay
from ..layout import SHARE, Layout

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

_LONGEST = 22
#: Line height, as a share of that of other texts, and width of a letter, as a share of a line's height.
_HEIGHT, _LETTER = 0.86, 0.53
#: How far a plate reaches beyond its text, in line heights; how much wider it may be than its wait.
_PAD, _WIDER = 0.35, 1.15
#: Shortest distance of plates from what is nearest to the camera, and of texts from plates.
_BEFORE, _ON = 0.15, 0.012


def short(text: str) -> str:
    """Return a thread's name, shortened, without what is in brackets behind it."""
    text = text.split(" (")[0]
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def called(picture: Layout, thread: int, beside: int) -> str:
    """Return the name of a thread beside another, with its id if both have the same name.

    Parameters
    ----------
    picture : Layout
    thread : int
        Its number.
    beside : int
        The thread that it stands beside.

    Returns
    -------
    str
    """
    threads = picture.trace.threads
    name = short(threads.name[thread]) or str(threads.tid[thread])
    alike = thread != beside and threads.name[thread] == threads.name[beside]
    return f"{name} ({threads.tid[thread]})" if alike and threads.name[thread] else name


def spoken(picture: Layout, which: Shown, i: int) -> tuple[str, ...]:
    """Return the texts of a wait, the most important first.

    Parameters
    ----------
    picture : Layout
    which : Shown
        Correspondences.
    i : int
        Which of them.

    Returns
    -------
    tuple of str
    """
    ops, threads = picture.waits.ops, picture.trace.threads
    wait, release = int(which.wait[i]), int(ops.thread[which.release[i]])
    lasted = units.duration(int(ops.lasted[wait]))
    who = called(picture, release, int(ops.thread[wait]))
    what = ops.of(wait)
    if ops.asks[wait] and len(what) == 1:
        # Several threads may have held it, one after the other: the last release says little.
        return f"{lasted} for {short(what[0])}", lasted
    long = f"{lasted} for {who}"
    # Objects named like the thread add no information.
    new = len(what) == 1 and threads.title(int(ops.thread[wait])) not in what[0] and who not in what[0]
    if len(what) > 1:
        return f"{long} · {'all' if ops.all[wait] else 'any'} of {len(what)}", long, lasted
    return (*((f"{long} · {what[0]}",) if new and len(what[0]) <= _LONGEST else ()), long, lasted)


def tags(picture: Layout, which: Shown, color: Indices, frame: Frame) -> tuple[Wedges | None, Labels | None]:
    """Return plates and texts for the waits that have room for them, the longest first.

    Plates stand where the camera sees the middle of their wait, in front of everything else.

    Parameters
    ----------
    picture : Layout
    which : Shown
        The correspondences that are drawn.
    color : int32 (k,)
        Of each of them.
    frame : Frame
        Of the picture.

    Returns
    -------
    Wedges or None, Labels or None
    """
    if picture.parameters.paper > 0 or not len(which):
        return None, None
    view = fit(picture.camera, frame, SHARE)
    height = max(_HEIGHT * picture.text * picture.pixels_per_unit, picture.least_text)
    middle, chosen = _with_room(picture, which, view, height)
    if not chosen:
        return None, None
    rows = np.array([i for i, _, _ in chosen], np.int64)
    lasted = picture.waits.ops.lasted[which.wait[rows]]
    near = _nearest(picture, view)
    depth = (middle[rows] - view.eye) @ view.forward
    if view.perspective:
        point = view.eye + (middle[rows] - view.eye) * (near / depth)[:, None]
    else:
        point = middle[rows] + (near - depth)[:, None] * view.forward
    # Scene units of a pixel there.
    unit = 2 * view.tangent * (near if view.perspective else 1.0) / frame.width
    along = np.array([1.0, 0.0, 0.0])
    up = np.cross(along, view.forward)
    up /= np.linalg.norm(up)
    half = np.array([width for _, _, width in chosen]) * unit / 2
    tall = 0.62 * height * unit
    corner = np.empty((len(rows), 2, 4, 3))
    for side, sign in ((0, -1.0), (1, 1.0)):
        for k, (v, back) in enumerate(((-1.0, 0.0), (-1.0, 1.0), (1.0, 1.0), (1.0, 0.0))):
            corner[:, side, k] = (
                point + sign * half[:, None] * along + v * tall * up + (0.5 + back) * _ON * view.forward
            )
    first = np.arange(len(rows) + 1, dtype=np.int64) * 2
    plates = Wedges(
        "wait plate", corner.reshape(-1, 4, 3).astype(np.float32), first,
        color[rows].astype(np.int32), which.wait[rows],
    )  # fmt: skip
    size = np.full(len(rows), height * unit, np.float32)
    names = Labels(
        "wait", tuple(text for _, (text, *_), _ in chosen),
        (point - 0.5 * _ON * view.forward).astype(np.float32), size,
        (2 * half).astype(np.float32), (1e6 + 1e-3 * lasted).astype(np.float32), 0,
        up=(float(up[0]), float(up[1]), float(up[2])), background=color[rows].astype(np.int32),
        shorter=tuple(tuple(texts[1:]) for _, texts, _ in chosen),
    )  # fmt: skip
    return plates, names


def _with_room(
    picture: Layout, which: Shown, view: Projection, height: float
) -> tuple[Floats, list[tuple[int, tuple[str, ...], float]]]:
    """Choose the waits whose texts have room, the longest first.

    Parameters
    ----------
    picture : Layout
    which : Shown
    view : Projection
    height : float
        Of the texts, in pixels.

    Returns
    -------
    float64 (k, 3)
        The middle of each wait.
    list of (int, tuple of str, float)
        Which wait, its texts from the longest that fits on, and that one's width in pixels.
    """
    reach = picture.reach(which.row) / 2
    low, high, middle = (
        picture.theatre.place(which.row, share, reach, 0.0)
        for share in (which.low, which.high, (which.low + which.high) / 2)
    )
    wide = np.abs(view.pixels(high)[:, 0] - view.pixels(low)[:, 0])
    at = view.pixels(middle)
    lasted = picture.waits.ops.lasted[which.wait]
    taken: list[tuple[float, float, float]] = []
    chosen: list[tuple[int, tuple[str, ...], float]] = []
    idle = no_delay(picture, which)
    for i in np.argsort(-lasted, kind="stable").tolist():
        if idle[i]:
            continue
        x, y = at[i].tolist()
        texts = spoken(picture, which, i)
        for k, text in enumerate(texts):
            width = (len(text) * _LETTER + 2 * _PAD) * height
            if width > _WIDER * wide[i]:
                continue
            if any(abs(y - b) < 1.25 * height and abs(x - a) < (width + w) / 2 for a, b, w in taken):
                continue
            taken.append((x, y, width))
            chosen.append((i, texts[k:], width))
            break
    return middle, chosen


def _nearest(picture: Layout, view: Projection) -> float:
    """Return a distance from the camera that lies before all rows."""
    n = len(picture.rows)
    rows, ends = np.repeat(np.arange(n), 4), np.tile([0.0, 1.0, 0.0, 1.0], n)
    reach = picture.reach(rows) * np.tile([0.0, 0.0, 1.0, 1.0], n)
    points = np.vstack(
        [picture.theatre.place(rows, ends, reach, 0.1), picture.theatre.core(np.array([0.0, 1.0]))]
    )
    return float(((points - view.eye) @ view.forward).min()) - _BEFORE
