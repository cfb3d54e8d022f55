"""Firefox's profiles: as the browser writes them (raw), and as profiler.firefox.com, samply and others do.

Source: https://github.com/firefox-devtools/profiler, docs-developer/gecko-profile-format.md and
docs-developer/processed-profile-format.md. Raw tables have a schema and rows, processed ones have columns.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...progress import Progress
from .. import names, registry
from ..text import utf8
from .documents import (
    add_function,
    fields_of,
    indices_of,
    items_of,
    numbers_of,
    read_profile,
    table_of,
    text_of,
    whole_of,
)
from .samples import COUNTED, add_timed
from .symbols import Symbols

if TYPE_CHECKING:
    from ...trace.model import RecordedId, Trace
    from ...trace.recording import Recording

_MS = 1_000_000
#: Rows with no more columns than this are turned into columns at once.
_FEW_COLUMNS = 32
#: Milliseconds: latest start and maximum duration of a profile, so that their sum fits.
_LATEST, _LONGEST = 3e12, 1e12
#: ``name (file:line:column)``, or the place alone; Firefox may add the number of the source.
_LOCATION = re.compile(
    r"(?:(?P<name>.*?) \()?(?P<file>.*?)(?::(?P<line>\d{1,9}))?(?::(?P<column>\d{1,9}))?\)?(?:\[\d+\])?",
    re.DOTALL,
)
#: The name of a function whose symbol was not looked up.
_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}")
_INSTANT, _INTERVAL, _START, _END = range(4)
#: Tables that are not read.
_OTHERS = ("jsAllocations", "nativeAllocations", "jsTracer")


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that JSON is a profile of Firefox's.

    Parameters
    ----------
    head : bytes
        The first bytes, unpacked.
    name : str
        The file's, in lower case.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    text = bytes(utf8(head)).lstrip()
    if not text.startswith(b"{") or b'"traceEvents"' in text[:4096]:
        return registry.NO
    if b'"preprocessedProfileVersion"' in text or b'"stackTable"' in text:
        return registry.SURE
    is_named = b'"breakpadId"' in text or b'"markerSchema"' in text or b'"sampleUnits"' in text
    is_raw = is_named and re.match(rb'\{\s*"(?:libs|meta)"\s*:', text) is not None
    return registry.SURE if is_raw else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read samples, markers and counters of all threads.

    Markers with a duration are spans, others moments. Names of addresses are read from samply's file of
    symbols beside it.

    Parameters
    ----------
    path : Path
        The file.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If it is not JSON or holds no thread.
    """

    def take(value: Any, recording: Recording) -> None:
        _take(value, recording, Symbols(path, recording.problems))

    return read_profile(path, take, "Firefox profile", progress, _decode)


def _decode(text: bytes | memoryview) -> Any:
    """Decode a profile; the rows of samples, of which there are most, become columns."""
    import msgspec

    try:
        fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        threads = msgspec.json.decode(fields.pop("threads", b"[]"), type=list[dict[str, msgspec.Raw]])
        samples = [
            msgspec.json.decode(thread.pop("samples", b"{}"), type=dict[str, msgspec.Raw])
            for thread in threads
        ]
    except msgspec.ValidationError:
        return msgspec.json.decode(text)
    found: dict[str, Any] = {name: msgspec.json.decode(raw) for name, raw in fields.items()}
    found["threads"] = []
    for thread, tables in zip(threads, samples, strict=True):
        said: dict[str, Any] = {name: msgspec.json.decode(raw) for name, raw in thread.items()}
        said["samples"] = table = {
            name: msgspec.json.decode(raw) for name, raw in tables.items() if name != "data"
        }
        if "data" in tables:
            width = 1 + max(map(whole_of, fields_of(table.get("schema")).values()), default=0)
            rows = table_of(tables["data"], width) if 0 < width <= _FEW_COLUMNS else None
            table["data"] = msgspec.json.decode(tables["data"]) if rows is None else rows
        found["threads"].append(said)
    return found


def _take(value: Any, recording: Recording, symbols: Symbols) -> None:
    waiting, found = [fields_of(value)], 0
    while waiting:
        profile = waiting.pop(0)
        found += _Profile(profile, recording, symbols).read()
        waiting += [fields_of(one) for one in items_of(profile.get("processes"))]
    if not found:
        raise ValueError("it has no threads")


def _columns(table: Any) -> dict[str, Any]:
    """Return a table's columns by their names: lists, or float64 with NaN for what is null."""
    table = fields_of(table)
    schema = fields_of(table.get("schema"))
    if not schema:
        return {name: column for name, column in table.items() if isinstance(column, list)}
    if isinstance(table.get("data"), np.ndarray):
        given = table["data"]
        return {
            name: given[:, place] if place < given.shape[1] else [None] * len(given)
            for name, place in ((name, whole_of(place, -1)) for name, place in schema.items())
            if place >= 0
        }
    rows = [row if type(row) is list else items_of(row) for row in items_of(table.get("data"))]
    places = {name: whole_of(place, -1) for name, place in schema.items()}
    if max(map(len, rows), default=0) <= _FEW_COLUMNS:
        columns = list(zip_longest(*rows))
        none = [None] * len(rows)
        return {
            name: list(columns[place]) if place < len(columns) else none
            for name, place in places.items()
            if place >= 0
        }
    return {
        name: [row[place] if place < len(row) else None for row in rows]
        for name, place in places.items()
        if place >= 0
    }


class _Profile:
    """One process's profile, or a processed profile of all of them."""

    def __init__(self, profile: dict[str, Any], recording: Recording, symbols: Symbols) -> None:
        self._profile = profile
        self._symbols = symbols
        self._recording = recording
        meta = fields_of(profile.get("meta"))
        numbers = np.nan_to_num(numbers_of([meta.get("startTime"), meta.get("interval")]))
        self._start = float(numbers[0]) if 0 < numbers[0] < _LATEST else 0.0
        self._interval = float(numbers[1]) * _MS if 0 < numbers[1] < 1e9 else 0.0
        self._shared = fields_of(profile.get("shared"))
        self._libraries = items_of(profile.get("libs"))
        #: Samples by the tables that their stacks are in.
        self._groups: dict[int, tuple[dict[str, Any], list[tuple[int, Any, NDArray[np.int64], Any]]]] = {}
        self._texts: dict[int, list[str]] = {}

    def read(self) -> int:
        """Read all threads; return how many there are."""
        threads = [fields_of(thread) for thread in items_of(self._profile.get("threads"))]
        threads = [thread for thread in threads if thread]
        for number, thread in enumerate(threads):
            self._read_thread(number, thread)
        for tables, samples in self._groups.values():
            self._lay(tables, samples)
        for counter in items_of(self._profile.get("counters")):
            self._read_counter(fields_of(counter))
        return len(threads)

    # -- threads -------------------------------------------------------------------------------

    def _read_thread(self, number: int, thread: dict[str, Any]) -> None:
        process, tid = _id(thread.get("pid"), 0), _id(thread.get("tid"), number + 1)
        row = self._recording.thread(process, tid)
        if name := text_of(thread.get("name")):
            self._recording.name_thread(process, tid, name)
        if name := text_of(thread.get("processName")) or text_of(thread.get("processType")):
            self._recording.name_process(process, name)
        samples = _columns(thread.get("samples"))
        if len(samples.get("stack", ())):
            time = self._times(samples, f"thread {tid}")
            own = "stackTable" in thread
            tables = thread if own else self._shared
            group = self._groups.setdefault(id(tables), (tables, []))
            group[1].append((row, samples["stack"], time, samples.get("weight")))
        for table in _OTHERS:
            count = len(next(iter(_columns(thread.get(table)).values()), []))
            self._recording.problems.add("unsupported", f"{table} of thread {tid}", count)
        self._read_markers(row, thread)

    def _texts_of(self, tables: dict[str, Any]) -> list[str]:
        """Return the strings that a thread's tables point to."""
        known = self._texts.get(id(tables))
        if known is None:
            rows = tables.get("stringArray", tables.get("stringTable", self._shared.get("stringArray")))
            known = self._texts[id(tables)] = [text_of(text) for text in items_of(rows)]
        return known

    def _times(self, columns: dict[str, list[Any]], where: str) -> NDArray[np.int64]:
        """Return the times of a table in nanoseconds; a time that is none is that before it."""
        if "timeDeltas" in columns:
            time = np.cumsum(np.nan_to_num(numbers_of(columns["timeDeltas"])))
        else:
            time = numbers_of(columns.get("time", columns.get("startTime")))
        return self._nanoseconds(time, where)

    def _nanoseconds(self, time: NDArray[np.float64], where: str) -> NDArray[np.int64]:
        good = np.isfinite(time) & (np.abs(time) < _LONGEST)
        if not good.all():
            self._recording.problems.add(
                "bad time", f"{where}, row {int(np.argmin(good)) + 1:,}", int((~good).sum())
            )
            if not good.any():
                return np.zeros(len(time), np.int64)
            last = np.maximum.accumulate(np.where(good, np.arange(len(time)), 0))
            time = np.nan_to_num(time)[last]
        # Epoch and time are kept apart, because their sum would lose nanoseconds.
        since: NDArray[np.int64] = np.rint(time * _MS).astype(np.int64)
        return since + round(self._start * _MS)

    # -- samples -------------------------------------------------------------------------------

    def _lay(self, tables: dict[str, Any], samples: list[tuple[int, Any, NDArray[np.int64], Any]]) -> None:
        function, line = self._frames(tables)
        stacks = _columns(tables.get("stackTable"))
        frame = indices_of(stacks.get("frame"), len(function))
        above = [-1 if one is None else one for one in items_of(stacks.get("prefix"))]
        parent = indices_of(above, len(above))
        count = min(len(frame), len(parent))
        frame, parent = frame[:count], parent[:count]
        wrong = (frame < 0) | (parent >= np.arange(count))
        if wrong.any():
            self._recording.problems.add("unknown", f"stack {int(np.argmax(wrong))}", int(wrong.sum()))
            unnamed = self._recording.function("(unnamed)")
            function, line = np.append(function, unnamed), np.append(line, 0)
            frame = np.where(frame < 0, len(function) - 1, frame)
            parent = np.where(parent >= np.arange(count), -1, parent)
        elif not count:
            function, line = np.empty(0, np.int64), np.empty(0, np.int64)
        thread: list[NDArray[np.int64]] = []
        stack: list[NDArray[np.int64]] = []
        time: list[NDArray[np.int64]] = []
        weight: list[NDArray[np.int64]] = []
        for row, raw, times, weights in samples:
            rows = min(len(raw), len(times))
            if isinstance(raw, np.ndarray):
                at = indices_of(raw[:rows], count)
                lost = (at < 0) & ~np.isnan(raw[:rows])
            else:
                at = indices_of([-1 if one is None else one for one in raw[:rows]], count)
                lost = at < 0
                lost[lost] = [raw[one] is not None for one in np.flatnonzero(lost).tolist()]
            self._recording.problems.add("unknown", "a sample's stack", int(lost.sum()))
            thread.append(np.full(rows, row))
            stack.append(at)
            time.append(times[:rows])
            many = np.ones(rows, np.int64)
            if isinstance(weights, list | np.ndarray) and len(weights) >= rows:
                given = numbers_of(weights[:rows])
                many = np.where(np.abs(given) < 1 << 53, np.nan_to_num(given), 1).astype(np.int64)
            weight.append(many)
        columns = function[frame], parent, line[frame]
        many, begin = np.concatenate(weight), np.concatenate(time)
        # vernier writes samples in a row with the same stack once.
        last = begin + np.clip(many * self._interval, 0, _LONGEST * _MS).astype(np.int64)
        add_timed(
            self._recording, columns, np.concatenate(thread), np.concatenate(stack), begin,
            end=np.where((many > 1) & (self._interval > 0), last, -1), interval=self._interval,
            kinds=[COUNTED], weight=many,
        )  # fmt: skip

    def _frames(self, tables: dict[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return function and line of each frame."""
        texts = self._texts_of(tables)
        frames = _columns(tables.get("frameTable"))
        if "location" in frames:
            where = indices_of(frames["location"], len(texts))
            known = {
                number: self._function_at(texts[number])
                for number in np.unique(where).tolist()
                if number >= 0
            }
            unnamed = self._recording.function("(unnamed)") if (where < 0).any() else -1
            function = np.array([known.get(number, unnamed) for number in where.tolist()], np.int64)
        else:
            functions = self._functions(tables, texts)
            which = indices_of(frames.get("func"), len(functions))
            if (which < 0).any():
                functions = np.append(functions, self._recording.function("(unnamed)"))
            function = functions[which]
        line = np.zeros(len(function), np.int64)
        given = _filled(frames.get("line"), 0)[: len(line)]
        line[: len(given)] = np.where((given > 0) & (given < 1 << 31), np.nan_to_num(given), 0)
        return function, line

    def _function_at(self, location: str) -> int:
        said = _LOCATION.fullmatch(location)
        if said is None or not said["line"]:
            return self._recording.function(location or "(unnamed)")
        return add_function(
            self._recording,
            said["name"] or "(anonymous)",
            said["file"],
            int(said["line"]),
            int(said["column"] or 0),
        )

    def _functions(self, tables: dict[str, Any], texts: list[str]) -> NDArray[np.int64]:
        """Return the function of each row of a function table."""
        table = _columns(tables.get("funcTable"))
        rows = items_of(table.get("name"))
        libraries = items_of(_columns(tables.get("resourceTable")).get("lib"))
        sources = _columns(
            fields_of(self._profile.get("shared")).get("sources", self._profile.get("sources"))
        )
        paths = items_of(sources.get("filename"))
        found = []
        for row, number in enumerate(rows):
            file = ""
            if "fileName" in table:
                file = _at(texts, _at(table["fileName"], row))
            elif "source" in table:
                file = _at(texts, _at(paths, _at(table["source"], row)))
            name = _at(texts, number) or "(unnamed)"
            library = fields_of(
                _at(self._libraries, _at(libraries, _at(items_of(table.get("resource")), row)))
            )
            if library and not file:
                found.append(self._in_library(name, library))
                continue
            line, column = (
                whole_of(_at(items_of(table.get(key)), row)) for key in ("lineNumber", "columnNumber")
            )
            found.append(add_function(self._recording, name, file or "", line, column))
        return np.array(found, np.int64)

    def _in_library(self, name: str, library: dict[str, Any]) -> int:
        """Return a function of a library; an address gets the name that the symbols have for it."""
        file = ""
        if _ADDRESS.fullmatch(name):
            known, file = self._symbols.find(library.get("breakpadId"), int(name, 16))
            name = known or name
        short = text_of(library.get("name"), "(unnamed)").rpartition("/")[2]
        said = names.split(name)
        return self._recording.function(
            f"{name} ({text_of(library.get('path'), short)})",
            label=said.label,
            containers=(("module", short), *said.containers),
            file=file,
        )

    # -- markers and counters ------------------------------------------------------------------

    def _read_markers(self, thread: int, said: dict[str, Any]) -> None:
        table = _columns(said.get("markers"))
        given = items_of(table.get("name"))
        if not given:
            return
        texts = self._texts_of(said)
        name = indices_of(given, len(texts))
        phase = _filled(table.get("phase"), 0)
        begin, end = (_filled(table.get(key, table.get("time"))) for key in ("startTime", "endTime"))
        count = min(len(name), len(begin), len(end), len(phase) or len(name))
        phase = phase[:count] if len(phase) else np.where(np.isfinite(end[:count]), _INTERVAL, _INSTANT)
        opened: dict[int, list[float]] = {}
        moments: list[tuple[int, float]] = []
        spans: list[tuple[int, float, float]] = []
        rows = zip(
            name[:count].tolist(), phase.tolist(), begin[:count].tolist(), end[:count].tolist(), strict=True
        )
        for what, kind, start, stop in rows:
            if what < 0:
                self._recording.problems.add("no name", "a marker")
            elif kind == _INSTANT and start == start:
                moments.append((what, start))
            elif kind == _INTERVAL and start == start and stop == stop:
                spans.append((what, start, stop))
            elif kind == _START and start == start:
                opened.setdefault(what, []).append(start)
            elif kind == _END and stop == stop and opened.get(what):
                spans.append((what, opened[what].pop(), stop))
            elif kind == _END and stop == stop:
                self._recording.problems.add("unmatched span", f"the marker {texts[what][:40]!r}")
            else:
                self._recording.problems.add("bad time", f"the marker {texts[what][:40]!r}")
        moments += [(what, start) for what, starts in opened.items() for start in starts]
        if moments:
            self._recording.add_instants(
                name=[self._recording.text("instants", texts[what]) for what, _ in moments],
                thread=np.full(len(moments), thread),
                time=self._nanoseconds(np.array([start for _, start in moments]), "markers"),
            )
        if spans:
            self._recording.add_spans(
                name=[self._recording.text("spans", texts[what]) for what, *_ in spans],
                thread=np.full(len(spans), thread),
                start=self._nanoseconds(np.array([start for _, start, _ in spans]), "markers"),
                end=self._nanoseconds(np.array([stop for *_, stop in spans]), "markers"),
                parent=np.full(len(spans), -1),
            )

    def _read_counter(self, counter: dict[str, Any]) -> None:
        groups = counter.get("sample_groups")
        said = fields_of(items_of(groups)[0]).get("samples") if items_of(groups) else counter.get("samples")
        table = _columns(said)
        if not table.get("count"):
            return
        name = " ".join(
            filter(None, (text_of(counter.get("category")), text_of(counter.get("name"), "counter")))
        )
        time = self._times(table, f"the counter {name}")
        value = np.nan_to_num(numbers_of(table["count"]))
        count = min(len(time), len(value))
        # Memory is counted in steps, as are all counters of Firefox's.
        series = self._recording.series(_id(counter.get("pid"), 0), name)
        self._recording.add_counters(
            series=np.full(count, series), time=time[:count], value=np.cumsum(value[:count])
        )


def _filled(column: Any, other: float = np.nan) -> NDArray[np.float64]:
    """Return a column of numbers, ``other`` where there is none."""
    return numbers_of([other if one is None else one for one in items_of(column)])


def _at(rows: list[Any], number: Any) -> Any:
    """Return a row; None where the number is none of a row."""
    is_row = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(rows)
    return rows[number] if is_row else None


def _id(value: Any, other: int) -> RecordedId:
    if isinstance(value, str) and value:
        return int(value) if value.isdecimal() and len(value) < 19 else value
    return whole_of(value, other)


FORMAT = registry.Format(
    name="firefox",
    title="Firefox profile",
    suffixes=(".json", ".profile.json"),
    sniff=sniff,
    read=read,
    programs="Firefox, samply, vernier, Python's profiling.sampling, `perf script report gecko`",
    recipe=(
        "MOZ_PROFILER_STARTUP=1 MOZ_PROFILER_SHUTDOWN=run.json firefox PAGE",
        "samply record --save-only --unstable-presymbolicate -o run.json.gz ./program",
        "vernier run --output run.vernier.json.gz -- ruby script.rb",
        "# profiler.firefox.com: Upload local profile, Download",
    ),
    left_out="allocations, traced values, categories, and the fields of markers",
)
