"""The description of an element of a view: one function for tooltips, panels and ``--json``.

Where a trace is in memory it is asked; else what is kept beside the elements will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from .. import units
from ..analysis.measures import calls_by_function, self_time_of
from ..drawing.picked import Description, PickedElement
from ..errors import TraceVisError
from ..layout.cut import cut_index
from ..trace.model import Trace
from ..trace.names import FunctionWords, label_of_call, place_of, words_of
from ..trace.profile import bare_kind, calls_word, counted_calls, share_of
from .calls.clusters import call_under, calls_inside
from .element_metadata import CALLS

#: A call with more direct callees only shows its self time if that is already known.
_FEW = 100_000
#: What was recorded with a call is shown if it begins within this many bytes of the unpacked file ...
_NEAR = 1 << 24
#: ... in this many rows, of this many characters.
_ROWS, _LONGEST = 5, 60
#: Title of the row with the number of calls that an element represents.
_MANY = "calls"


class StoredNames(Protocol):
    """The stored names of a trace that is not in memory: those that views have shown."""

    def function(self, function: int) -> FunctionWords | None:
        """Return the name of a function; None if it is not stored."""
        ...

    def thread(self, thread: int) -> str:
        """Return the title of a thread."""
        ...


def describe(
    element: PickedElement, traces: Sequence[Trace | StoredNames], parameters: Any = None
) -> list[Description]:
    """Return the descriptions of an element: one for each call that it represents.

    Parameters
    ----------
    element : PickedElement
    traces : sequence of Trace or StoredNames
        Those of the view; the names alone of what is not in memory.
    parameters : object
        Those of the view; not needed here, for views that describe elements in their own way.

    Returns
    -------
    list of Description
        At least one.
    """
    found = []
    for source, call in element.calls.items():
        trace = traces[source] if source < len(traces) else None
        if isinstance(trace, Trace) and call < len(trace.calls):
            said = _cluster(trace, call, element) if element.kind == "cluster" else describe_call(trace, call)
        else:
            said = _stored(trace if not isinstance(trace, Trace) else None, source, element)
        if len(traces) > 1 and element.kind not in CALLS:
            said.title = f"{'AB'[source] if source < 2 else source + 1}  {said.title}"
        found.append(said)
    rows = [*element.texts, *(_value(title, value) for title, value in element.values)]
    rows = [(title, text) for title, text in rows if text]
    if not found:
        return [Description(element.kind.capitalize(), rows=rows)]
    if element.kind not in CALLS:
        many = next((value for title, value in element.values if title == _MANY), 0)
        if np.isfinite(many) and many > 1:
            # The rows above describe the call that the element leads to.
            found[0].rows.insert(0, ("one of", f"{units.count(int(many))} calls"))
            rows = [(title, text) for title, text in rows if title != _MANY]
        found[-1].rows.append(("shown as", element.kind if element.kind not in ("tube", "line") else "match"))
    known = {title for title, _ in found[-1].rows}
    found[-1].rows += [(title, text) for title, text in rows if title not in known]
    return found


def describe_call(trace: Trace, call: int) -> Description:
    """Return the description of a call of a trace.

    Parameters
    ----------
    trace : Trace
    call : int

    Returns
    -------
    Description
        Its function, and in rows when it was called, how long it took with what it calls and without, and
        where in the trace it is; in a profile of samples its share of them.
    """
    calls, threads = trace.calls, trace.threads
    function, thread = int(calls.function[call]), int(calls.thread[call])
    said = describe_function(words_of(trace, function))
    start, lasted = int(calls.start[call]), int(calls.end[call] - calls.start[call])
    share = share_of(trace, call)
    if share is not None:
        # Neither durations nor numbers of calls were recorded.
        said.rows = [("start", units.exact_duration(start))] if trace.samples.are_timed else []
        said.rows += [
            (bare_kind(share.kind), str(share)),
            ("depth", units.count(int(calls.depth[call]))),
            ("thread", threads.title(thread)),
        ]
        return said
    said.rows = [
        ("start", units.exact_duration(start)),
        ("duration", f"{units.exact_duration(lasted)}{_share(lasted, trace.span_ns)}"),
    ]
    own = self_time(trace, call)
    if own is not None:
        said.rows.append(("self time", f"{units.exact_duration(own)}{_share(own, lasted)}"))
    many = occurrences(trace, function)
    said.rows += [
        ("depth", units.count(int(calls.depth[call]))),
        ("calls below", units.count(int(calls.extent[call]) - 1)),
        ("count", f"{units.counted(many, 'call')} of this function"),
        ("thread", f"{threads.title(thread)}, {units.counted(int(threads.count[thread]), 'call')}"),
        *_recorded(trace, call),
    ]
    return said


def _recorded(trace: Trace, call: int) -> list[tuple[str, str]]:
    """Return what was recorded with a call, such as its call site, parameters and result.

    Nothing where that is far into the file, so that a tooltip would have to wait for it, or can't be read.
    """
    record = trace.calls.record
    if not len(record) or not 0 <= int(record[call]) <= _NEAR:
        return []
    try:
        given = trace.arguments(call)
    except TraceVisError:
        return []
    plain = [(title, value) for title, value in given.items() if isinstance(value, (str, int, float))]
    plain += [("recorded", " ".join(map(str, value))) for value in given.values() if isinstance(value, list)]
    texts = [(str(title), " ".join(str(value).split())) for title, value in plain[:_ROWS]]
    return [(title, text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…") for title, text in texts]


def describe_function(words: FunctionWords) -> Description:
    """Return the description of a function: its label, and its place in the source."""
    return Description(words.label, " · ".join(filter(None, [words.module, place_of(words)])))


def self_time(trace: Trace, call: int) -> int | None:
    """Return the self time of a call in nanoseconds; None if computing it would take too long.

    Parameters
    ----------
    trace : Trace
    call : int
        Its index.

    Returns
    -------
    int or None
        Nanoseconds.
    """
    if self_time_of.is_known(trace):
        return int(self_time_of(trace)[call])
    index, calls = cut_index(trace), trace.calls
    place = index.position(call)
    first, stop = int(index.child[place]), int(index.child[place + 1])
    # The end of the thread's last level counts as the first child of the next one.
    if stop - first > _FEW:
        return None
    children = index.order[first:stop]
    children = children[calls.parent[children] == call]
    return int(calls.end[call] - calls.start[call] - (calls.end[children] - calls.start[children]).sum())


def occurrences(trace: Trace, function: int) -> int:
    """Return how many calls a function has; counted once for all functions.

    Parameters
    ----------
    trace : Trace
    function : int
        Its index.

    Returns
    -------
    int
    """
    return int(calls_by_function(trace)[function])


def _cluster(trace: Trace, longest: int, element: PickedElement) -> Description:
    """Return the contents of a cluster, and the call at the place where it was met."""
    calls = trace.calls
    many = int(element.facts.get("count", 0)) or calls_inside(trace, element)
    said = Description(counted_calls(trace, many) if many else f"Several {calls_word(trace)}")
    if (span := element.span) is not None:
        said.rows.append(("from", f"{units.exact_duration(span[0])} for {units.duration(span[1] - span[0])}"))
    said.rows += [
        ("longest", _brief(trace, longest)),
        ("thread", trace.threads.title(int(calls.thread[longest]))),
    ]
    here = call_under(trace, element)
    if here >= 0:
        said.rows.append(("here", f"{_brief(trace, here)}, depth {int(calls.depth[here])}"))
    return said


def _brief(trace: Trace, call: int) -> str:
    calls = trace.calls
    lasted = units.duration(int(calls.end[call] - calls.start[call]))
    return f"{label_of_call(trace, call)}, {lasted}"


def _stored(names: StoredNames | None, source: int, element: PickedElement) -> Description:
    """Return the stored metadata of an element whose trace is not in memory."""
    # For an element with calls of several traces, only those of the first are kept.
    facts = element.facts if source == element.facts_of else {}
    words = names.function(int(facts["function"])) if names is not None and "function" in facts else None
    said = describe_function(words) if words is not None else Description(element.kind.capitalize())
    if element.kind == "cluster":
        if "count" in facts:
            said.rows.append(("longest", said.title))
            said.title, said.where = f"{units.count(int(facts['count']))} calls", ""
        facts = {name: fact for name, fact in facts.items() if name not in ("duration", "own")}
    span = element.span
    if span is not None:
        said.rows.append(("start", units.duration(span[0], 6)))
    if "duration" in facts or span is not None:
        lasted = facts["duration"] if "duration" in facts else span[1] - span[0] if span is not None else 0
        said.rows.append(("duration", units.duration(lasted, 6)))
    if "own" in facts:
        said.rows.append(("self time", units.duration(facts["own"], 6)))
    if "depth" in facts:
        said.rows.append(("depth", units.count(int(facts["depth"]))))
    if "thread" in facts and names is not None:
        said.rows.append(("thread", names.thread(int(facts["thread"]))))
    if "same" in facts:
        said.rows.append(("count", f"{units.count(int(facts['same']))} drawn of this function"))
    return said


def _value(title: str, value: float) -> tuple[str, str]:
    """Return a title and a value, in the units that people use."""
    if np.isnan(value):
        return title, ""
    for unit, write in ((" (ns)", units.duration), (" (bytes)", units.byte_size)):
        if title.endswith(unit):
            return title.removesuffix(unit), write(float(value))
    return title, units.count(int(value)) if float(value).is_integer() else f"{value:.3g}"


def _share(part: float, whole: float) -> str:
    return f"  ({units.percentage(part / whole, 3)})" if whole > 0 else ""
