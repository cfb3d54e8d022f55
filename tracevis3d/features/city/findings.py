"""The main finding of a city, in one sentence."""

from __future__ import annotations

import numpy as np

from ... import units
from ...trace.model import Trace
from .metrics import Floats, Parts, name_of, writer

#: Share of the measure that few parts have.
_MOST = 0.9
#: Smaller relative changes count as none.
_SAME = 0.1


def summary(parts: Parts, value: Floats, metric: str, trace: Trace) -> tuple[str, int]:
    """Return a sentence about the part with most of a measure, and how unevenly that is distributed.

    Parameters
    ----------
    parts : Parts
    value : float64 (parts,)
    metric : str
        A key of :data:`.metrics.METRICS`.
    trace : Trace
        What is measured.

    Returns
    -------
    (str, int)
        The sentence, and the part.
    """
    top = int(value.argmax())
    name, what, n = parts.name(top), name_of(metric, trace), len(value)
    if metric in ("callers", "callees"):
        verb = "is called by" if metric == "callers" else "calls"
        return f"{name} {verb} {units.counted(int(value[top]), 'other part')} of {n - 1:,}", top
    if metric in ("age", "none") or not value.sum() > 0:
        plural = f"{parts.what}es" if parts.what.endswith("s") else f"{parts.what}s"
        return f"{n:,} {plural} are called", top
    ordered = np.sort(value)[::-1]
    few = int(np.searchsorted(np.cumsum(ordered), _MOST * ordered.sum() * (1 - 1e-12))) + 1
    share = units.percentage(float(value[top] / value.sum()))
    plural = f"{parts.what}es" if parts.what.endswith("s") else f"{parts.what}s"
    sentence = f"{name} has {share} of the {what}"
    if few > 1:
        sentence += f"; {few:,} of {n:,} {plural} have {units.percentage(_MOST)}"
    return sentence, top


def change(names: list[str], before: Floats, after: Floats, metric: str, trace: Trace) -> tuple[str, int]:
    """Return a sentence about the part that changed most between two runs.

    Parameters
    ----------
    names : list of str
    before, after : float64 (parts,)
    metric : str
    trace : Trace
        The second run.

    Returns
    -------
    (str, int)
    """
    delta = after - before
    top = int(np.abs(delta).argmax())
    write, what = writer(metric, trace), name_of(metric, trace)
    if abs(delta[top]) <= _SAME * max(before[top], after[top]):
        return f"No part changes by more than {units.percentage(_SAME)} in {what}", top
    verb = "grows" if delta[top] > 0 else "shrinks"
    return f"{names[top]} {verb} most in {what}: {write(before[top])} to {write(after[top])}", top
