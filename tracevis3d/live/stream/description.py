"""The description of a bar, for tooltips."""

from __future__ import annotations

from ...drawing.picked import Description
from ...drawing.stream import Bars
from ...formats.names import split
from ...units import duration
from ..growing import GrowingTrace


def short(name: str) -> str:
    """Return the label of a function's name."""
    return split(name).label


def describe_call(growing: GrowingTrace, bar: Bars, function: int, count: int, now: int) -> Description:
    """Return the description of a call, or of ``count`` short ones that are drawn as one bar.

    Parameters
    ----------
    growing : GrowingTrace
        It knows the name even when the call itself was dropped.
    bar : Bars
        One.
    function : int
        That of the call, or of the longest one.
    count : int
        Number of merged calls; 0: it is one call.
    now : int
        What ends then has not ended yet, in the trace's nanoseconds.

    Returns
    -------
    Description
    """
    begin, end = (int(t) for t in bar.time[0])
    (name, *_) = (*growing.functions(function)[:1], "(function unknown)")
    parts = split(name)
    file = parts.file.replace("\\", "/").rpartition("/")[2]
    place = f"{file}:{parts.line}" if file and parts.line else file
    where = " · ".join(filter(None, [*(text for _, text in parts.containers[-1:]), place]))
    begun = ("begun", f"{duration(max(now - begin, 0))} ago, at {duration(begin, 4)}")
    if count > 1:
        rest = [("longest", parts.label), begun, ("in all", duration(end - begin))]
        return Description(f"{count:,} short calls", where, rest)
    lasts = ("so far" if end >= now else "duration", duration(end - begin, 4))
    if count:
        # It is drawn longer than it was, to be visible.
        lasts = ("duration", f"at most {duration(end - begin)}")
    return Description(parts.label, where, [begun, lasts])
