"""The title and the notes of the view."""

from __future__ import annotations

import numpy as np

from ..... import units
from .....trace import profile
from .....trace.model import Trace
from ...waits import Waits
from .. import correspondences as corr
from ..layout import Layout


def title(trace: Trace, waits: Waits) -> str:
    """Return a note of the shown threads, time, and how much of it threads wait.

    Parameters
    ----------
    trace : Trace
    waits : Waits
        Those of the trace.

    Returns
    -------
    str
    """
    threads = int(np.count_nonzero(trace.threads.count))
    waited = int(waits.waited.sum())
    text = f"{trace.source.name}: {units.counted(threads, 'thread')}, {units.duration(trace.span_ns)}"
    if not len(waits.own):
        return f"{text}, no waits recorded (a thread that calls nothing may wait or compute)"
    return f"{text}, {len(waits.own):,} waits of {units.duration(waited)} together"


def notes(picture: Layout, found: corr.Shown, chosen: corr.Shown, short: corr.Shown) -> tuple[str, ...]:
    """Return notes about omitted and merged elements, and about shapes; empty texts add no information.

    Parameters
    ----------
    picture : Layout
    found : Shown
        The correspondences in the window.
    chosen : Shown
        Those that are drawn.
    short : Shown
        Those that are too short to be drawn one by one.

    Returns
    -------
    tuple of str
    """
    p, trace, waits = picture.parameters, picture.trace, picture.waits
    notes = []
    if not sum(cut.total for cut in picture.cuts):
        notes.append("no call lies in this window")
    if not len(waits.ops.wants) or not len(waits.own):
        notes.append("this recording has no waits: rules (--set rules=FILE) can name functions that wait")
    else:
        unknown = int(np.count_nonzero(waits.woken_by[waits.own] < 0))
        if unknown:
            notes.append(f"the thread that ended {unknown:,} of {len(waits.own):,} waits is unknown")
        hidden = len(found) - len(chosen) - len(short)
        if hidden > 0:
            notes.append(f"{hidden:,} waits are shorter than {p.resolution:g} px or beyond tubes={p.tubes:,}")
    if picture.left_out:
        notes.append(f"{picture.left_out:,} more threads have calls or waits here (threads=all)")
    merged = sum(int(cut.clusters.calls.sum()) for cut in picture.cuts)
    if merged:
        total = sum(cut.total for cut in picture.cuts)
        notes.append(
            f"{merged:,} of {total:,} calls, narrower than {p.resolution:g} px, are merged: paler bars"
        )
    if p.windows.strip():
        notes.append(f"windows of their own: {p.windows}")
    if p.fold > 0:
        notes.append(f"{p.fold:g} levels are folded")
    if p.taper > 0:
        notes.append("levels with less time are drawn lower")
    return (*notes, profile.note(trace), trace.problems.note())
