"""What is said of an element that is pointed at: from the trace if it is in memory, else from the .blend."""

from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...tracevis3d import units
from ...tracevis3d.views.element_metadata import FunctionWords, words_of
from ..state import sources, stored_metadata, trace_state
from .pointer import Hit

#: A call of more direct callees than this tells its self time only where that is known anyway.
_FEW = 100_000
#: By this title views tell how many calls an element stands for.
_MANY = "calls"


@dataclass
class Told:
    """What is said of an element.

    Attributes
    ----------
    title : str
    where : str
        Module, file and line; may be empty.
    rows : list of (str, str)
        Labels and texts.
    """

    title: str
    where: str = ""
    rows: list[tuple[str, str]] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return everything as lines of text."""
        return [self.title, *filter(None, [self.where]), *(f"{label}  {text}" for label, text in self.rows)]


def tell(hit: Hit) -> list[Told]:
    """Return what is said of an element: one entry for each call that it stands for."""
    view = bpy.data.collections[hit.view]
    keys = trace_state.keys_of(view)
    said = []
    for source, call in hit.calls.items():
        key = keys[source] if source < len(keys) else ""
        trace = sources.loaded(key)
        if trace is not None and call < len(trace.calls):
            told = _from_trace(trace, call, hit)
        else:
            told = _from_file(key, source, hit)
        if len(keys) > 1 and hit.kind not in ("call", "cluster"):
            told.title = f"{'AB'[source] if source < 2 else source + 1}  {told.title}"
        said.append(told)
    values = [(title, column[hit.element]) for title, column in hit.held.texts]
    values += [_value(title, column[hit.element]) for title, column in hit.held.values]
    values = [(title, text) for title, text in values if text]
    if not said:
        return [Told(hit.kind.capitalize(), rows=values)]
    if hit.kind not in ("call", "cluster"):
        many = _how_many(hit)
        if many > 1:
            # What is said above is said of the call that the element leads to.
            said[0].rows.insert(0, ("one of", f"{units.count(many)} calls"))
            values = [(title, text) for title, text in values if title != _MANY]
        said[-1].rows.append(("shown as", hit.kind if hit.kind not in ("tube", "line") else "match"))
    said[-1].rows += values
    return said


def _how_many(hit: Hit) -> int:
    """Return how many calls an element stands for, as its view tells; 0 if it doesn't."""
    found = next((column for title, column in hit.held.values if title == _MANY), None)
    return int(found[hit.element]) if found is not None and np.isfinite(found[hit.element]) else 0


def _value(title: str, value: float) -> tuple[str, str]:
    """Return a title and a value, in the units that people use."""
    if np.isnan(value):
        return title, ""
    for unit, write in ((" (ns)", units.duration), (" (bytes)", units.byte_size)):
        if title.endswith(unit):
            return title.removesuffix(unit), write(float(value))
    return title, units.count(int(value)) if float(value).is_integer() else f"{value:.3g}"


def _from_trace(trace: Any, call: int, hit: Hit) -> Told:
    calls = trace.calls
    if hit.kind == "cluster":
        return _cluster(trace, call, hit)
    told = of_call(trace, call)
    total = trace.threads.count[calls.thread[call]]
    told.rows.append(
        ("thread", f"{trace.threads.title(int(calls.thread[call]))}, {units.count(int(total))} calls")
    )
    return told


def of_call(trace: Any, call: int) -> Told:
    """Return what is said of a call of a trace, but for its thread."""
    calls = trace.calls
    told = _named(words_of(trace, int(calls.function[call])))
    lasted = int(calls.end[call] - calls.start[call])
    told.rows = [
        ("start", units.exact_duration(int(calls.start[call]))),
        ("duration", f"{units.exact_duration(lasted)}{_share(lasted, trace.span_ns)}"),
    ]
    own = self_time(trace, call)
    if own is not None:
        told.rows.append(("self time", f"{units.exact_duration(own)}{_share(own, lasted)}"))
    below = int(calls.extent[call]) - 1
    told.rows.append(("depth", f"{int(calls.depth[call])}, {units.count(below)} calls below"))
    many = occurrences(trace, int(calls.function[call]))
    told.rows.append(("count", f"{units.counted(many, 'call')} of this function"))
    return told


def _named(words: FunctionWords) -> Told:
    place = _tail(words.file) + (f":{words.line}" if words.file and words.line else "")
    return Told(words.label, " · ".join(filter(None, [words.module, place])))


def _tail(path: str) -> str:
    """Return the last folder and the name of a file: enough to know it by."""
    parts = path.replace("\\", "/").split("/")
    return path if len(parts) <= 3 else "…/" + "/".join(parts[-2:])


def _share(part: float, whole: float) -> str:
    return f"  ({units.percentage(part / whole, 3)})" if whole > 0 else ""


def self_time(trace: Any, call: int) -> int | None:
    """Return the nanoseconds that a call spends in itself; None if that would take too long to find out."""
    from ...tracevis3d.views.cached import derived

    known = derived(trace)
    if "self_time" in vars(known):
        return int(known.self_time[call])
    index, calls = known.index, trace.calls
    place = index.position(call)
    first, stop = int(index.child[place]), int(index.child[place + 1])
    # The end of the thread's last level counts as the first child of the next one.
    if stop - first > _FEW:
        return None
    children = index.order[first:stop]
    children = children[calls.parent[children] == call]
    return int(calls.end[call] - calls.start[call] - (calls.end[children] - calls.start[children]).sum())


_counts: dict[int, Any] = {}


def occurrences(trace: Any, function: int) -> int:
    """Return how many calls a function has; counted once for all functions."""
    from ...tracevis3d.views.cached import derived

    kept = derived(trace).kept
    found = kept.get(("occurrences", 0))
    if found is None:
        found = kept["occurrences", 0] = np.bincount(trace.calls.function, minlength=len(trace.functions))
    return int(found[function])


def _cluster(trace: Any, longest: int, hit: Hit) -> Told:
    """Return what a cluster holds, and which call lies under the mouse."""
    calls = trace.calls
    many = int(hit.held.fact("count")[hit.element]) if len(hit.held.fact("count")) else _inside(trace, hit)
    told = Told(units.counted(many, "call") if many else "Several calls")
    span = time_span(hit)
    if span is not None:
        told.rows.append(("from", f"{units.exact_duration(span[0])} for {units.duration(span[1] - span[0])}"))
    length = int(calls.end[longest] - calls.start[longest])
    told.rows.append(
        ("longest", f"{trace.functions.label[int(calls.function[longest])]}, {units.duration(length)}")
    )
    told.rows.append(("thread", trace.threads.title(int(calls.thread[longest]))))
    here = call_under(trace, hit)
    if here >= 0:
        label = trace.functions.label[int(calls.function[here])]
        lasted = units.duration(int(calls.end[here] - calls.start[here]))
        told.rows.append(("here", f"{label}, {lasted}, depth {int(calls.depth[here])}"))
    return told


def time_span(hit: Hit) -> tuple[int, int] | None:
    """Return the nanoseconds from which to which an element lasts, as drawn; None if it has no time."""
    holds = hit.held
    if holds.window is None or not len(holds.time):
        return None
    low, high = holds.window
    begin, end = (low + float(share) * (high - low) for share in holds.time[hit.element])
    return round(begin), round(end)


def time_under(hit: Hit) -> int | None:
    """Return the nanosecond under the mouse; None if the element has no time."""
    span = time_span(hit)
    if span is None:
        return None
    width = float(hit.held.size[hit.element, 0])
    share = (hit.local[0] - float(hit.held.low[hit.element, 0])) / width if width > 0 else 0.0
    return round(span[0] + min(max(share, 0.0), 1.0) * (span[1] - span[0]))


def call_under(trace: Any, hit: Hit) -> int:
    """Return the call of a cluster that lies where the mouse points, -1 if none does.

    By its time from the place along x, by its depth from the height; where no call is that deep at that time,
    the deepest one there, and where none is open at all, the one before.
    """
    from ...tracevis3d.views.cached import derived

    time = time_under(hit)
    if time is None:
        return -1
    index, holds = derived(trace).index, hit.held
    thread, top = int(holds.fact("thread")[hit.element]), int(holds.fact("depth")[hit.element])
    low, high = float(holds.low[hit.element, 2]), float(holds.size[hit.element, 2])
    share = min(max((hit.local[2] - low) / high, 0.0), 0.999) if high > 0 else 0.0
    # Levels may be of different heights: an estimate, as it is for the reader.
    levels = _levels(trace, hit)
    depth = top + int(share * levels)
    while depth >= top:
        call = index.at(thread, time, depth)
        if call >= 0:
            return call
        depth -= 1
    return _nearest(index, trace, thread, top, time)


def _topmost(trace: Any, hit: Hit) -> tuple[int, int]:
    """Return where, in the order of the trace's index, the topmost calls of a cluster begin and stop."""
    from ...tracevis3d.views.cached import derived

    index = derived(trace).index
    span = time_span(hit)
    thread, top = int(hit.held.fact("thread")[hit.element]), int(hit.held.fact("depth")[hit.element])
    if span is None:
        return 0, 0
    # Times lie in the .blend in single precision.
    window = hit.held.window or span
    slack = 2e-7 * (window[1] - window[0])
    low, high = index.level(thread, top)
    begin = index.begin[low:high]
    first, stop = np.searchsorted(begin, (span[0] - slack, span[1] + slack))
    return low + int(first), low + int(stop)


def _inside(trace: Any, hit: Hit) -> int:
    """Return how many calls a cluster holds: those at its top with all below them."""
    from ...tracevis3d.views.cached import derived

    first, stop = _topmost(trace, hit)
    return int(trace.calls.extent[derived(trace).index.order[first:stop]].sum())


def _levels(trace: Any, hit: Hit) -> int:
    """Return how many levels a cluster is high: as its longest call's subtree, and those beside it, are."""
    from ...tracevis3d.views.cached import derived

    first, stop = _topmost(trace, hit)
    if first >= stop:
        return 1
    # Of many members some do.
    step = max(1, (stop - first) // 4096)
    top = int(hit.held.fact("depth")[hit.element])
    return int(derived(trace).index.bottom[first:stop:step].max()) - top + 1


def _nearest(index: Any, trace: Any, thread: int, depth: int, time: int) -> int:
    low, high = index.level(thread, depth)
    place = low + int(np.searchsorted(index.begin[low:high], time, "right")) - 1
    return int(index.order[place]) if place >= low else -1


def _from_file(key: str, source: int, hit: Hit) -> Told:
    """Return what the .blend holds of an element whose trace is not in memory."""
    holds, i = hit.held, hit.element

    def fact(name: str) -> Any:
        column = holds.fact(name)
        # Of an element with calls of several traces only those of the first are kept.
        return column[i] if len(column) and source == min(holds.calls) else None

    words = (
        stored_metadata.function_words(key, int(fact("function"))) if fact("function") is not None else None
    )
    told = _named(words) if words is not None else Told(holds.kind.capitalize())
    count = fact("count")
    if hit.kind == "cluster" and count is not None:
        told.rows.append(("longest", told.title))
        told.title, told.where = f"{units.count(int(count))} calls", ""
    span = time_span(hit)
    if span is not None:
        told.rows.append(("start", units.duration(span[0], 6)))
    if fact("duration") is not None and hit.kind != "cluster":
        told.rows.append(("duration", units.duration(float(fact("duration")), 6)))
    elif span is not None:
        told.rows.append(("duration", units.duration(span[1] - span[0], 6)))
    if fact("own") is not None and hit.kind != "cluster":
        told.rows.append(("self time", units.duration(float(fact("own")), 6)))
    if fact("depth") is not None:
        told.rows.append(("depth", str(int(fact("depth")))))
    if fact("thread") is not None:
        told.rows.append(("thread", stored_metadata.thread_title(key, int(fact("thread")))))
    if fact("function") is not None:
        drawn = int(np.count_nonzero(holds.fact("function") == fact("function")))
        told.rows.append(("count", f"{units.count(drawn)} drawn of this function"))
    return told
