"""The tracks of a trace: what it says of itself along time, as series of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from ... import units
from ...drawing.palettes import PALETTES
from ...errors import UsageError, not_recorded
from ...trace.cached_results import cached_with_trace
from ...trace.model import ALLOC, IO, Trace
from ...views.calls.colors import coloring
from .activity import innermost_calls, live_bytes, waiting, waiting_calls, within_calls
from .series import Floats, Ints, Occurrences, Rate, Series, Steps, held, steps_of

#: What a track is about -> its heading in the help.
KINDS = {
    "counters": "each recorded counter",
    "running": "how many threads are within a call and don't wait",
    "waits": "how many threads wait, by what they do",
    "io": "how many threads read or write",
    "memory": "bytes that are allocated",
    "allocations": "bytes allocated a second",
    "calls": "calls that begin a second",
    "modules": "which modules (or functions) run, where they don't wait",
    "depth": "how deep the deepest stack is",
}
_PLURAL = {"Category": "Categories", "Class": "Classes"}
#: Maximum number of kinds of waits with a band of their own.
_CAUSES = 6
#: Number of counters shown by default.
_COUNTERS = 6


@dataclass(frozen=True, eq=False)
class Band:
    """One series of a track.

    Attributes
    ----------
    name : str
        Empty if the track has no other.
    series : Series
    color : int
        Among the kinds' colours; -1: those of what is left over.
    occurrences : Occurrences or None
        The calls behind it.
    """

    name: str
    series: Series
    color: int
    occurrences: Occurrences | None = None


@dataclass(frozen=True, eq=False)
class Track:
    """Series with one scale.

    Attributes
    ----------
    key : str
        A key of :data:`KINDS`.
    title : str
    bands : tuple of Band
        They add up; the most important first.
    write : callable
        Writes a value with its unit.
    ceiling : float
        What can't be exceeded, such as the number of threads; 0: unknown.
    tick : callable or None
        Writes a value on the ruler, where the title says the unit; None: as ``write``.
    """

    key: str
    title: str
    bands: tuple[Band, ...]
    write: Callable[[float], str]
    ceiling: float = 0.0
    tick: Callable[[float], str] | None = None

    @property
    def name(self) -> str:
        """What it is called where it is requested: its kind, or the counter's name."""
        return self.title if self.key == "counters" else self.key


@cached_with_trace()
def tracks_of(trace: Trace, palette: str = "muted") -> tuple[Track, ...]:
    """Return all tracks of a trace, in the order of :data:`KINDS`.

    Parameters
    ----------
    trace : Trace
    palette : str
        That colours are chosen from; modules have the colours of an icicle.

    Returns
    -------
    tuple of Track
        Without those that the trace has no data for.
    """
    made = [
        *_counters(trace), _running(trace), _waits(trace), _io(trace), *_memory(trace), _calls(trace),
        _modules(trace, palette), _depth(trace),
    ]  # fmt: skip
    return tuple(track for track in made if track is not None and track.bands)


def chosen(trace: Trace, text: str, palette: str) -> tuple[Track, ...]:
    """Return the tracks that a user asks for.

    Parameters
    ----------
    trace : Trace
    text : str
        ``auto``, ``all``, or kinds of tracks and names of counters with commas between them, ``*`` for
        anything.
    palette : str

    Returns
    -------
    tuple of Track
        In the order that was requested.

    Raises
    ------
    InputError
        If the trace has nothing that changes over time.
    UsageError
        If it has no such track.
    """
    known = tracks_of(trace, palette)
    if not known:
        raise not_recorded(trace.source.path, "calls, waits, memory or counters")
    wanted = text.strip() or "auto"
    if wanted == "all":
        return known
    if wanted == "auto":
        return _informative(trace, known)
    found: dict[int, Track] = {}
    for word in filter(None, (word.strip() for word in wanted.split(","))):
        hits = [i for i, track in enumerate(known) if word in (track.key, track.name)]
        hits = hits or [i for i, track in enumerate(known) if fnmatchcase(track.name.lower(), word.lower())]
        if not hits:
            names = ", ".join(dict.fromkeys(track.key for track in known))
            raise UsageError(f"tracks={text}: the trace has no track {word!r}; it has {names}")
        found.update((i, known[i]) for i in hits)
    if not found:
        raise UsageError(f"tracks={text}: names of tracks are expected")
    return tuple(found.values())


def _informative(trace: Trace, known: tuple[Track, ...]) -> tuple[Track, ...]:
    """Return the tracks that say something: counters that vary most, and what changes."""
    counters = [track for track in known if track.key == "counters"]
    # Constant tracks are left out unless there is nothing else.
    counters = [track for track in counters if _variation(track.bands[0].series) > 0.0] or counters[:1]
    counters.sort(key=lambda track: -_variation(track.bands[0].series))
    kept = set(map(id, counters[:_COUNTERS]))
    several = int(np.count_nonzero(trace.threads.count)) > 1
    # The number of running threads is trivial for one thread; stack depth is only clear for one.
    left_out = {"counters", "depth" if several else "running"}
    kept |= {id(track) for track in known if track.key not in left_out}
    return tuple(track for track in known if id(track) in kept)


def _variation(series: Series) -> float:
    if not isinstance(series, Steps) or len(series.value) < 2:
        return 0.0
    low, high = float(series.value.min()), float(series.value.max())
    return (high - low) / max(abs(high), abs(low), 1e-300) + 1e-6 * min(len(series.value), 10_000)


def extent(trace: Trace, tracks: tuple[Track, ...]) -> tuple[int, int]:
    """Return from when to when tracks have anything to show.

    Parameters
    ----------
    trace : Trace
    tracks : tuple of Track
        At least one.

    Returns
    -------
    (int, int)
        Nanoseconds; the end lies behind the start.
    """
    times = [band.series.time for track in tracks for band in track.bands if len(band.series.time)]
    high = max((int(time[-1]) for time in times), default=0)
    return 0, max(high, trace.span_ns, 1)


def _counters(trace: Trace) -> list[Track]:
    """Return the recorded counters; those of several processes by one name are distinguished."""
    counters = trace.counters
    names = [counters.name[i] for i in range(len(counters))]
    made = []
    for i, name in enumerate(names):
        mine = slice(int(counters.first[i]), int(counters.first[i + 1]))
        time, value = counters.time[mine], counters.value[mine]
        known = np.isfinite(value)
        if not known.any():
            continue
        title = f"{name} ({counters.process[i]})" if names.count(name) > 1 else name
        made.append(Track("counters", title, (Band("", held(time[known], value[known]), 2),), _unit_of(name)))
    return made


def _unit_of(name: str) -> Callable[[float], str]:
    """Return how values of a counter are written, as far as its name says so."""
    words = name.lower()
    if "bytes" in words:
        return units.byte_size
    if "%" in words or "percent" in words:
        return lambda value: f"{units.count(value)} %"
    return units.count


def _running(trace: Trace) -> Track | None:
    threads = int(np.count_nonzero(trace.threads.count))
    if not threads:
        return None
    series = steps_of(*within_calls(trace))
    series = Steps(series.time, np.maximum(series.value, 0.0))
    calls = trace.calls
    roots = np.flatnonzero(calls.depth == 1)
    band = Band("", series, 0, Occurrences(calls.start[roots], calls.end[roots], roots))
    waits = "that run" if len(waiting(trace).start) else "within a call"
    return Track("running", f"Threads {waits}, of {threads:,}", (band,), _threads, threads, units.count)


def _threads(value: float) -> str:
    return f"{units.count(value)} thread{'' if value == 1 else 's'}"


def _waits(trace: Trace) -> Track | None:
    found = waiting(trace)
    threads = len(np.unique(found.thread))
    title = f"Threads that wait, of {len(trace.threads):,}"
    return Track(
        "waits", title, _by_cause(trace, found.start, found.end, found.row), _threads, threads, units.count
    )


def _io(trace: Trace) -> Track | None:
    found = waiting(trace, IO)
    if not len(found.start):
        # Transfers without a duration can still be counted.
        rows = np.flatnonzero(trace.sync.kind == IO)
        if not len(rows):
            return None
        time = np.sort(trace.sync.start[rows])
        return Track("io", "Transfers a second", (Band("", Rate(time), 1),), _a_second)
    time = np.concatenate([found.start, found.end])
    series = steps_of(time, np.repeat(np.array([1, -1]), len(found.start)))
    band = Band("", series, 1, Occurrences(found.start, found.end, trace.sync.call[found.row]))
    threads = len(np.unique(found.thread))
    return Track("io", "Threads that read or write", (band,), _threads, threads, units.count)


def _by_cause(trace: Trace, start: Ints, end: Ints, row: Ints) -> tuple[Band, ...]:
    """Return how many stretches there are at each moment, one band for each of what takes most time."""
    sync = trace.sync
    name = sync.name[row]
    total = np.bincount(name, (end - start).astype(np.float64), len(sync.names))
    order = [int(i) for i in np.argsort(-total, kind="stable") if total[i] > 0]
    groups = [(sync.names[i], name == i, k) for k, i in enumerate(order[:_CAUSES])]
    if len(order) > _CAUSES:
        groups.append((units.counted(len(order) - _CAUSES, "other"), ~np.isin(name, order[:_CAUSES]), -1))
    bands = []
    for title, mine, color in groups:
        time = np.concatenate([start[mine], end[mine]])
        change = np.repeat(np.array([1, -1]), int(np.count_nonzero(mine)))
        calls = Occurrences(start[mine], end[mine], sync.call[row[mine]])
        bands.append(Band(title, steps_of(time, change), color, calls))
    return tuple(bands)


def _memory(trace: Trace) -> list[Track]:
    memory = trace.memory
    rows = np.flatnonzero(memory.kind == ALLOC)
    if not len(rows):
        return []
    allocated = Rate(memory.time[rows], memory.size[rows].astype(np.float64))
    made = [Track("memory", "Live memory", (Band("", live_bytes(memory), 3),), units.byte_size)]
    if trace.has_times:
        write = _bytes_a_second
        made.append(Track("allocations", "Allocated a second", (Band("", allocated, 4),), write))
    return made


def _bytes_a_second(value: float) -> str:
    return f"{units.byte_size(value)}/s"


def _a_second(value: float) -> str:
    return f"{value / 1e6:.3g} million/s" if value >= 1e6 else f"{units.count(round(value, 1))}/s"


def _calls(trace: Trace) -> Track | None:
    # Of samples nobody knows how often something was called.
    if not len(trace.calls) or not trace.has_times or len(trace.samples):
        return None
    return Track("calls", "Calls that begin", (Band("", Rate(np.sort(trace.calls.start)), 5),), _a_second)


def _modules(trace: Trace, palette: str) -> Track | None:
    """Return which modules run: the innermost calls of all threads, in the colours of an icicle."""
    segments = innermost_calls(trace)
    segments = segments.only(~waiting_calls(trace)[segments.call])
    if not len(segments.start):
        return None
    threads = np.flatnonzero(trace.threads.count)
    colors = coloring(trace, "auto", PALETTES[palette], 8, threads)
    of_segment = colors.of(segments.call)
    legend = colors.legend
    if legend is None:
        return None
    bands = []
    for entry in legend.entries:
        mine = np.flatnonzero(of_segment == entry.color)
        if not len(mine):
            continue
        start, end = segments.start[mine], segments.end[mine]
        change = np.repeat(np.array([1, -1]), len(mine))
        series = steps_of(np.concatenate([start, end]), change)
        color = -1 if entry.color >= len(colors.palette) - 1 else entry.color
        calls = Occurrences(start, end, segments.call[mine])
        bands.append(Band(entry.text.rpartition("  ")[0] or entry.text, series, color, calls))
    # What takes most time is at the bottom; the rest is at the top.
    bands.sort(key=lambda band: (band.color < 0, -_area(band.series)))
    kind = legend.title.partition(",")[0]
    title = f"{_PLURAL.get(kind, kind + 's')} that run"
    many = len(threads)
    write: Callable[[float], str] = _threads if many > 1 else units.percentage
    tick = units.count if many > 1 else units.percentage
    return Track("modules", title, tuple(bands), write, float(many), tick)


def _area(series: Series) -> float:
    assert isinstance(series, Steps)
    return float((series.value[:-1] * np.diff(series.time)).sum())


def _depth(trace: Trace) -> Track | None:
    segments = innermost_calls(trace)
    if not len(segments.start) or np.count_nonzero(trace.threads.count) != 1:
        return None
    depth: Floats = trace.calls.depth[segments.call].astype(np.float64)
    # Where nothing runs between two stretches the stack is empty.
    gap = np.flatnonzero(segments.end[:-1] < segments.start[1:])
    time = np.concatenate([segments.start, segments.end[gap], segments.end[-1:]])
    value = np.concatenate([depth, np.zeros(len(gap) + 1)])
    order = np.argsort(time, kind="stable")
    band = Band(
        "", held(time[order], value[order]), 6, Occurrences(segments.start, segments.end, segments.call)
    )
    return Track(
        "depth", "Stack depth", (band,), lambda value: f"depth {units.count(value)}", 0.0, units.count
    )
