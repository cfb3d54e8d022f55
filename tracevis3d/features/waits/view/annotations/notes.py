"""The title and the notes of the view."""

from __future__ import annotations

import numpy as np

from ..... import units
from .....trace import profile
from .....trace.model import Trace
from .....trace.names import label_of_call, lane_title
from .....units import counted
from .....views.calls.clusters import note_of_rows
from ...outcomes import GAVE_UP, KINDS_OF_WAITING
from ...running import longest_quiet, time_running
from ...waits import Waits
from .. import correspondences as corr
from ..layout import Layout

#: What threads wait for, by :data:`...outcomes.KINDS_OF_WAITING`.
_WAIT = ("for what others hold", "for work", "for a signal or result", "sleep", "until a timeout")


def title(trace: Trace, waits: Waits) -> str:
    """Return a title if there are no findings: who runs most, and what the others wait for.

    Parameters
    ----------
    trace : Trace
    waits : Waits
        Those of the trace.

    Returns
    -------
    str
    """
    states = waits.time_by_state.sum(axis=0)
    if not states.any():
        return _without_waits(trace, waits)
    time = time_running(waits)
    most, first = int(time.argmax()), int(states.argmax())
    mostly = units.percentage(int(states[first]) / int(states.sum()))
    longest = units.duration(int(time[most]))
    return f"{lane_title(trace, most)} runs most, {longest}; {mostly} of all waiting is {_WAIT[first]}"


def _without_waits(trace: Trace, waits: Waits) -> str:
    """Return who begins and ends no call for longest, and where; in a profile who is sampled most."""
    if len(trace.samples):
        return _sampled_most(trace)
    quiet = longest_quiet(waits)
    lasts = quiet.end - quiet.start
    most = int(lasts.argmax()) if len(lasts) else -1
    if most < 0 or quiet.call[most] < 0:
        return "No waits recorded"
    who, longest = lane_title(trace, most), units.duration(int(lasts[most]))
    where = label_of_call(trace, int(quiet.call[most]))
    return f"{who} calls nothing for {longest} in {where}: it waits or computes (no waits recorded)"


def _sampled_most(trace: Trace) -> str:
    samples = trace.samples
    main = samples.kind == 0
    weight = np.bincount(samples.thread[main], samples.weight[main], len(trace.threads))
    whole = float(weight.sum())
    if whole <= 0:
        return "No waits recorded"
    most = int(weight.argmax())
    share = units.percentage(float(weight[most]) / whole)
    return f"{lane_title(trace, most)} has {share} of the samples (no waits recorded)"


def facts(trace: Trace, waits: Waits) -> str:
    """Return a note of the threads, the time, and how much of it threads wait.

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
    text = f"{trace.source.title}: {units.counted(threads, 'thread')}, {units.duration(trace.span_ns)}"
    if not len(waits.own):
        return text
    return f"{text}, {units.counted(len(waits.own), 'wait')} of {units.duration(waited)} in all"


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
    notes = [facts(trace, waits)]
    if not sum(cut.total for cut in picture.cuts):
        notes.append("no call lies in this window")
    if not len(waits.ops.wants) or not len(waits.own):
        notes.append("this recording has no waits: rules (--set rules=FILE) can name functions that wait")
    else:
        # Time ends sleep and what is given up, and nobody what never ends.
        outcomes, sleep = waits.outcomes, KINDS_OF_WAITING.index("sleep")
        nobody = (outcomes.state == sleep) | (outcomes.outcome == GAVE_UP) | outcomes.never_ended
        ended = waits.own[~nobody[waits.own]]
        unknown = int(np.count_nonzero(waits.woken_by[ended] < 0))
        if unknown:
            notes.append(f"the thread that ended {unknown:,} of {len(ended):,} waits is unknown")
        hidden = len(found) - len(chosen) - len(short)
        if hidden > 0:
            those = f"{counted(hidden, 'wait')} {'is' if hidden == 1 else 'are'}"
            notes.append(f"{those} shorter than {p.resolution:g} px or beyond tubes={p.tubes:,}")
    if picture.left_out:
        have = "has" if picture.left_out == 1 else "have"
        more = f"{picture.left_out:,} more thread{'' if picture.left_out == 1 else 's'}"
        notes.append(f"{more} {have} calls or waits here (threads=all)")
    several = [len(row.threads) for row in picture.rows if len(row.threads) > 1 and not row.rest]
    if several:
        rows = units.counted(len(several), "row")
        notes.append(f"{sum(several):,} threads share {rows} with those that do the same (groups=never)")
    merged = sum(int(cut.clusters.calls.sum()) for cut in picture.cuts)
    if merged:
        total = sum(cut.total for cut in picture.cuts)
        many = profile.counted_calls(trace, total)
        notes.append(f"{merged:,} of {many}, narrower than {p.resolution:g} px, are merged: paler bars")
    notes += filter(None, [note_of_rows(trace, picture.cuts)])
    if p.windows.strip():
        notes.append(f"windows of their own: {p.windows}")
    if p.fold > 0:
        notes.append(f"{p.fold:g} levels are folded")
    if p.taper > 0:
        notes.append("levels with less time are drawn lower")
    return (*notes, profile.note(trace), trace.problems.note())
