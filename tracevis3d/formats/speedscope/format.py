"""speedscope's own JSON: several profiles, of events or of samples, over one table of frames.

Source: https://www.speedscope.app/file-format-schema.json
"""

from __future__ import annotations

import codecs
import contextlib
import json
import re
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Unreadable
from ...kernels.formats.scan.profile import scan_numbers, scan_profile_events
from ...progress import Progress, part
from ...trace.events import events_of_stacks, too_long
from ...trace.model import Source
from ...trace.recording import Recording
from .. import names, registry, unpack, writing
from ..profiles.documents import byte_of, cut_json, why_cut
from ..profiles.samples import COUNTED
from ..text import count, utf8

if TYPE_CHECKING:
    import msgspec

    from ...trace.model import RecordedId, Trace

#: Nanoseconds of one of each unit. Bytes and samples are not times: see "no time unit" in ``problems``.
UNITS = {
    "nanoseconds": 1,
    "microseconds": 1_000,
    "milliseconds": 1_000_000,
    "seconds": 1_000_000_000,
    "bytes": 1,
    "none": 1_000,
}
_PLACES = {10**places: places for places in (0, 3, 6, 9)}
_TIME_UNITS = frozenset(("nanoseconds", "microseconds", "milliseconds", "seconds"))
#: py-spy's names of profiles.
_THREAD = re.compile(
    r'(?:Process (?P<process>\d+)(?: .*?)? )?Thread (?P<tid>\w+)(?: "(?P<name>.*)")?', re.DOTALL
)
_TIME_LIMIT = float(1 << 62)


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that JSON is speedscope's.

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
    if not text.startswith(b"{"):
        return registry.NO
    if b"speedscope.app/file-format-schema" in text:
        return registry.SURE
    has_profiles = b'"profiles"' in text and any(
        word in text for word in (b'"evented"', b'"sampled"', b'"shared"', b'"samples"')
    )
    if has_profiles and b'"traceEvents"' not in text:
        return registry.LIKELY
    return registry.LIKELY if re.match(rb'\{[^[]*"shared"\s*:\s*\{\s*"frames"\s*:', text) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a speedscope file; each profile becomes a thread.

    Samples that follow each other lie in the same calls as far as their stacks begin alike. A function is
    called ``name (file:line)`` where its frame has file and line. Weights in bytes are shown as 1 ns a
    byte, weights without a unit as 1 us each, and counted as "no time unit".

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
        If it is not JSON or holds no profile that can be read.
    """
    unpacked = unpack.unpack_file(path, part(progress, 0, 0.3))
    text = utf8(unpacked.data)
    recording = Recording()
    try:
        reader = _read(path, text, unpacked.damage, recording, progress)
    except UnicodeDecodeError as error:
        recording = Recording()
        recording.problems.add("bad value", f"the text is not UTF-8 ({error.reason})")
        text = codecs.decode(text, "utf-8", "replace").encode()
        reader = _read(path, text, unpacked.damage, recording, progress)
    progress(0.8, "building calls")
    trace = recording.finish(Source(), names.split, reader.place)
    progress(1, "building calls")
    return trace


def _read(
    path: Path, text: memoryview | bytes, damage: str, recording: Recording, progress: Progress
) -> _Profiles:
    """Read the text into the recording; raises UnicodeDecodeError where it is not UTF-8."""
    progress(0.3, "decoding")
    file = _decode_file(path, text, damage, recording)
    reader = _Profiles(_Frames(file.frames(recording), recording), recording)
    for number, raw in enumerate(file.profiles, 1):
        progress(0.3 + 0.5 * number / len(file.profiles), "reading profiles")
        reader.add(number, raw)
    if reader.count == 0:
        reason = reader.reason or "there is none"
        raise Unreadable(f"{path}: none of its {len(file.profiles):,} profiles can be read: {reason}")
    return reader


class _File:
    """The outermost object: its profiles and frames, not yet decoded."""

    def __init__(self, profiles: list[msgspec.Raw], shared: msgspec.Raw) -> None:
        self.profiles = profiles
        self._shared = shared

    def frames(self, recording: Recording) -> list[_Frame | None]:
        """Return the frames; None for one that can't be read."""
        import msgspec

        from . import schema as shape

        try:
            raws = msgspec.json.decode(self._shared or b"{}", type=shape.Shared).frames
        except (msgspec.DecodeError, RecursionError) as error:
            recording.problems.add("bad value", f"shared: {error}")
            return []
        decoder = msgspec.json.Decoder(shape.Frame)
        found: list[_Frame | None] = []
        for number, raw in enumerate(raws):
            try:
                frame = decoder.decode(raw)
                found.append(_Frame(frame.name, frame.file or "", frame.line or 0))
            except (msgspec.DecodeError, RecursionError) as error:
                recording.problems.add("bad value", f"frame {number}: {error}")
                found.append(None)
        return found


class _Frame:
    __slots__ = ("file", "line", "name")

    def __init__(self, name: str, file: str, line: int) -> None:
        self.name = name
        self.file = file
        self.line = line


def _decode_file(path: Path, text: memoryview | bytes, damage: str, recording: Recording) -> _File:
    """Decode the outermost object, cut back to what is whole if the text is damaged."""
    import msgspec

    from . import schema as shape

    if not bytes(text[:4096]).strip():
        raise Unreadable(f"{path}: the file is empty")
    try:
        outer = msgspec.json.decode(text, type=shape.File)
    except msgspec.ValidationError as error:
        raise Unreadable(f"{path}: this is not a speedscope file: {error}") from error
    except RecursionError as error:
        raise Unreadable(f"{path}: this is not a speedscope file: it is nested too deeply") from error
    except msgspec.DecodeError as error:
        at = byte_of(error, len(text))
        outer = shape.File()
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            outer = msgspec.json.decode(cut_json(text[:at]), type=shape.File)
        if not outer.profiles:
            raise Unreadable(f"{path}: byte {at:,}: is not valid JSON ({error})") from error
        recording.problems.add(*why_cut(error, at, damage))
        damage = ""
    if damage:
        recording.problems.add(unpack.problem_of(damage), damage)
    return _File(outer.profiles, outer.shared)


class _Frames:
    """Functions of the recording by number of frame."""

    def __init__(self, frames: list[_Frame | None], recording: Recording) -> None:
        self._recording = recording
        self._functions = np.array([self._function(i, frame) for i, frame in enumerate(frames)], np.int32)

    def _function(self, number: int, frame: _Frame | None) -> int:
        if frame is None or not frame.name:
            return self._recording.function(f"(unnamed frame {number})")
        if not frame.file:
            return self._recording.function(frame.name)
        place = f"{frame.file}:{frame.line}" if frame.line > 0 else frame.file
        return self._recording.function(f"{frame.name} ({place})", file=frame.file, line=max(frame.line, 0))

    def functions(self, frame: NDArray[np.int64], where: str) -> NDArray[np.int32]:
        """Map numbers of frames to functions; those that the table lacks get one each, and are counted."""
        known = (frame >= 0) & (frame < len(self._functions))
        if known.all():
            return self._functions[frame]
        result = np.empty(len(frame), np.int32)
        result[known] = self._functions[frame[known]]
        numbers, which = np.unique(frame[~known], return_inverse=True)
        made = self._recording.functions(f"(unnamed frame {number})" for number in numbers.tolist())
        result[~known] = made[which]
        self._recording.problems.add(
            "no name", f"{where}: there is no frame {frame[~known][0]}", int((~known).sum())
        )
        return result


class _Profiles:
    """Adds profiles to the recording.

    Attributes
    ----------
    count : int
        Profiles that were read.
    reason : str
        Why the first one that was not read was not.
    """

    def __init__(self, frames: _Frames, recording: Recording) -> None:
        import msgspec

        from . import schema as shape

        self._frames = frames
        self._recording = recording
        self._profile = msgspec.json.Decoder(shape.Profile)
        self._events = msgspec.json.Decoder(list[shape.Event])
        self._samples = msgspec.json.Decoder(list[list[int]])
        self._weights = msgspec.json.Decoder(list[float])
        self._invalid = (msgspec.DecodeError, OverflowError, RecursionError)
        self._anything = msgspec.json.decode
        self._parts: list[tuple[int, str, NDArray[np.int64]]] = []
        self.count = 0
        self.reason = ""

    def place(self, event: int) -> str:
        """Name the place of an event: its profile, and its number within it."""
        for first, where, rows in reversed(self._parts):
            if event >= first:
                return f"{where}, event {rows[event - first] + 1:,}" if len(rows) else where
        return f"event {event + 1:,}"

    def add(self, number: int, raw: msgspec.Raw) -> None:
        """Add one profile; one that can't be read is counted."""
        where = f"profile {number}"
        try:
            profile = self._profile.decode(raw)
        except self._invalid as error:
            self._leave_out(f"{where}: {error}")
            return
        scale = UNITS.get(profile.unit)
        if scale is None:
            self._recording.problems.add("bad value", f"{where}: there is no unit {profile.unit!r}")
            scale = UNITS["none"]
        if profile.unit not in _TIME_UNITS:
            self._recording.problems.add("no time unit", f"{where} has the unit {profile.unit!r}")
        thread = self._thread(number, profile.name or "")
        kind = profile.type or ("evented" if profile.events else "sampled")
        try:
            if kind == "evented" and profile.events:
                self._add_events(where, thread, scale, profile.events)
            elif kind == "sampled" and profile.samples:
                self._add_samples(where, thread, scale, profile)
            else:
                self._leave_out(f"{where}: has the type {kind!r} but not what belongs to it")
                return
        except self._invalid as error:
            self._leave_out(f"{where}: {error}")
            return
        self.count += 1

    def _leave_out(self, why: str) -> None:
        self.reason = self.reason or why
        self._recording.problems.add("malformed", why)

    def _thread(self, number: int, name: str) -> int:
        process: RecordedId = 0
        tid: RecordedId = number
        if match := _THREAD.fullmatch(name):
            tid = _id(match["tid"])
            process = _id(match["process"] or "0")
            name = match["name"] or ""
        self._recording.name_thread(process, tid, name)
        return self._recording.thread(process, tid)

    def _add_events(self, where: str, thread: int, scale: int, raw: msgspec.Raw) -> None:
        plain = _plain_events(raw, scale)
        if plain is None:
            closes, frames, time, rows = self._odd_events(where, scale, raw)
        else:
            closes, frames, time = plain
            rows = np.arange(len(time))
        first = self._recording.add_events(
            thread=np.full(len(time), thread, np.int32),
            kind=closes,
            function=self._frames.functions(frames, where),
            time=time,
        )
        self._parts.append((first, where, rows))

    def _odd_events(
        self, where: str, scale: int, raw: msgspec.Raw
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Decode events that are not written plainly: kind, frame, time and number of those that fit."""
        kinds: list[str]
        try:
            events = self._events.decode(raw)
        except self._invalid:
            kinds, frames, at, rows = self._each_event(where, raw)
        else:
            kinds = list(map(attrgetter("type"), events))
            frames = _integers(map(attrgetter("frame"), events), len(events))
            at = list(map(attrgetter("at"), events))
            rows = np.arange(len(events))
        opens = np.fromiter(map("O".__eq__, kinds), np.bool_, len(kinds))
        closes = np.fromiter(map("C".__eq__, kinds), np.bool_, len(kinds))
        good = self._known(where, rows, opens | closes, "malformed", "has a type that is neither O nor C")
        time, in_range = _nanoseconds(at, scale)
        good &= self._known(where, rows, in_range, "bad time", "is outside of time")
        return closes[good].astype(np.uint8), frames[good], time[good], rows[good]

    def _known(
        self, where: str, rows: NDArray[np.int64], good: NDArray[np.bool_], kind: str, what: str
    ) -> NDArray[np.bool_]:
        """Count what is not good."""
        if not good.all():
            first = int(rows[int(np.argmin(good))]) + 1
            self._recording.problems.add(kind, f"{where}, event {first:,} {what}", int((~good).sum()))
        return good.copy()

    def _each_event(
        self, where: str, raw: msgspec.Raw
    ) -> tuple[list[str], NDArray[np.int64], list[float], NDArray[np.int64]]:
        """Decode events one by one where some of them have wrong types; leave those out, counted."""
        events = self._anything(raw)
        kinds: list[str] = []
        frames: list[int] = []
        at: list[float] = []
        rows: list[int] = []
        for number, event in enumerate(events if isinstance(events, list) else []):
            fields = event if isinstance(event, dict) else {}
            kind: Any = fields.get("type")
            frame: Any = fields.get("frame")
            when: Any = fields.get("at")
            if not (isinstance(kind, str) and _is_int(frame) and _is_number(when)):
                self._recording.problems.add("malformed", f"{where}, event {number + 1:,}")
                continue
            kinds.append(kind)
            frames.append(frame)
            at.append(when)
            rows.append(number)
        return kinds, np.array(frames, np.int64), at, np.array(rows, np.int64)

    def _add_samples(self, where: str, thread: int, scale: int, profile: Any) -> None:
        plain = _plain_samples(profile.samples)
        frames, first = self._odd_samples(where, profile.samples) if plain is None else plain
        weight = self._sample_weights(where, scale, profile, len(first) - 1)
        begin = profile.startValue * scale
        if not abs(begin) < _TIME_LIMIT:
            self._recording.problems.add("bad time", f"{where}: its start is outside of time")
            begin = 0
        if too_long(weight, begin):
            self._recording.problems.add(
                "bad time", f"{where}: its weights add up to more than a time axis can hold", len(weight)
            )
            weight[:] = 0
        is_time = profile.unit in _TIME_UNITS
        kind = "time (ns)" if is_time else "allocated (bytes)" if profile.unit == "bytes" else COUNTED
        self._recording.add_samples(
            thread=np.full(len(weight), thread),
            kind=np.full(len(weight), self._recording.text("samples", kind)),
            weight=weight if is_time or profile.unit == "bytes" else weight // scale,
            time=np.cumsum(weight) - weight + round(begin) if is_time else None,
        )
        events = events_of_stacks(
            np.zeros(len(first) - 1, np.int32),
            first,
            self._frames.functions(frames, where),
            weight,
            np.array([round(begin)], np.int64),
        )
        row = self._recording.add_events(
            thread=np.full(len(events.time), thread, np.int32),
            kind=events.kind,
            function=events.function,
            time=events.time,
        )
        self._parts.append((row, where, np.empty(0, np.int64)))

    def _odd_samples(self, where: str, raw: msgspec.Raw) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Decode samples that are not written plainly: their frames, and where each sample's begin."""
        try:
            samples = self._samples.decode(raw)
        except self._invalid:
            samples = self._each_sample(where, raw)
        first = np.zeros(len(samples) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, samples), np.int64, len(samples)), out=first[1:])
        return _integers(chain.from_iterable(samples), int(first[-1])), first

    def _each_sample(self, where: str, raw: msgspec.Raw) -> list[list[int]]:
        """Decode samples one by one where some are no lists of numbers; those become empty, counted."""
        samples = self._anything(raw)
        good: list[list[int]] = []
        for number, sample in enumerate(samples if isinstance(samples, list) else []):
            if isinstance(sample, list) and all(map(_is_int, sample)):
                good.append(sample)
            else:
                self._recording.problems.add("malformed", f"{where}, sample {number + 1:,}")
                good.append([])
        return good

    def _sample_weights(self, where: str, scale: int, profile: Any, count: int) -> NDArray[np.int64]:
        """Return the nanoseconds of each sample."""
        problems = self._recording.problems
        plain = _plain_weights(profile.weights, scale)
        if plain is not None and len(plain) >= count and not (plain[:count] < 0).any():
            return plain[:count]
        try:
            recorded = self._weights.decode(profile.weights or b"[]")
        except self._invalid:
            loose = self._anything(profile.weights)
            recorded = (
                [float(w) if _is_number(w) else np.nan for w in loose] if isinstance(loose, list) else []
            )
        weights = np.full(count, np.nan)
        with np.errstate(over="ignore"):
            given = np.array(recorded[:count], np.float64) * scale
        weights[: len(given)] = np.where(np.abs(given) < _TIME_LIMIT, given, np.nan)
        missing = np.isnan(weights)
        if missing.any():
            problems.add("no count", f"{where}, sample {int(np.argmax(missing)) + 1:,}", int(missing.sum()))
            weights[missing] = self._usual_weight(scale, profile, count)
        negative = weights < 0
        if negative.any():
            problems.add(
                "negative duration", f"{where}, sample {int(np.argmax(negative)) + 1:,}", int(negative.sum())
            )
            weights[negative] = 0
        rounded: NDArray[np.int64] = np.rint(weights).astype(np.int64)
        return rounded

    @staticmethod
    def _usual_weight(scale: int, profile: Any, count: int) -> float:
        """Return what a sample without a weight lasts: its share of the profile's range, or one unit."""
        span = float((profile.endValue - profile.startValue) * scale)
        return span / count if 0 < span < _TIME_LIMIT else float(scale)


def write(trace: Trace, path: Path, progress: Progress) -> None:
    """Write the calls of ``trace``, each thread as a profile of events in nanoseconds, times as recorded.

    Parameters
    ----------
    trace : Trace
    path : Path
        The file.
    progress : Progress
    """
    functions, threads = trace.functions, trace.threads
    files = list(trace.files)
    frames = []
    for name, label, file, line in zip(
        functions.name, functions.label, functions.file.tolist(), functions.line.tolist(), strict=True
    ):
        frame: dict[str, str | int] = {"name": name}
        if file >= 0:
            # The reader adds file and line to the name again.
            place = f" ({files[file]}:{line})" if line else f" ({files[file]})"
            frame = {"name": name.removesuffix(place) or label, "file": files[file]}
            if line:
                frame["line"] = line
        frames.append(frame)
    numbers = [str(number).encode() for number in range(len(frames))]
    texts = (b',{"type":"O","frame":', b',{"type":"C","frame":', b',"at":', b"}")
    with writing.output(path) as out:
        shared = {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "exporter": "tracevis3d",
            "shared": {"frames": frames},
        }
        out.write(json.dumps(shared, separators=(",", ":")).encode()[:-1] + b',"profiles":[')
        for thread in range(len(threads)):
            progress(thread / len(threads), "writing")
            part = slice(int(threads.first[thread]), int(threads.first[thread] + threads.count[thread]))
            start = int(trace.calls.start[part].min(initial=trace.span_ns)) if threads.count[thread] else 0
            profile = {
                "type": "evented",
                "name": _profile_name(trace, thread),
                "unit": "nanoseconds",
                "startValue": trace.origin_ns + start,
                "endValue": trace.origin_ns + int(trace.calls.end[part].max(initial=start)),
            }
            head = json.dumps(profile, separators=(",", ":")).encode()[:-1] + b',"events":['
            out.write((b"," if thread else b"") + head)
            writing.write_calls(trace, thread, texts, numbers, out, skip=1)
            out.write(b"]}")
        out.write(b"]}")
    progress(1, "writing")


def _profile_name(trace: Trace, thread: int) -> str:
    """Return the name of a thread as py-spy writes it, so that ids are found again."""
    process, tid = trace.threads.process[thread], trace.threads.tid[thread]
    name = trace.threads.name[thread]
    if not re.fullmatch(r"\w+", str(tid)):
        return name or str(tid)
    before = f"Process {process} " if isinstance(process, int) and process > 0 else ""
    return f'{before}Thread {tid} "{name}"'


def _plain_events(
    raw: msgspec.Raw, scale: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]] | None:
    """Scan events: kind, frame and nanoseconds; None if they are not all written plainly."""
    data = np.frombuffer(raw, np.uint8)
    if data[0] != ord("["):
        return None
    room = count(data, b"{") + 1
    columns = np.empty(room, np.uint8), np.empty(room, np.int64), np.empty(room, np.int64)
    rows = scan_profile_events(data, _PLACES[scale], *columns)
    return None if rows < 0 else (columns[0][:rows], columns[1][:rows], columns[2][:rows])


def _plain_samples(raw: msgspec.Raw) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Scan samples: their frames, and where each sample's begin; None if they are not all written plainly."""
    data = np.frombuffer(raw, np.uint8)
    if data[0] != ord("["):
        return None
    opened = count(data, b"[")
    out = np.empty(count(data, b",") + opened + 1, np.int64)
    first = np.zeros(opened + 1, np.int64)
    rows = scan_numbers(data, 2, 0, out, first)
    return None if rows < 0 else (out[: first[rows]], first[: rows + 1])


def _plain_weights(raw: msgspec.Raw, scale: int) -> NDArray[np.int64] | None:
    """Scan weights, as nanoseconds; None if there are none or they are not all written plainly."""
    data = np.frombuffer(raw, np.uint8)
    if not len(data) or data[0] != ord("["):
        return None
    out = np.empty(count(data, b",") + 2, np.int64)
    numbers = scan_numbers(data, 1, _PLACES[scale], out, np.zeros(1, np.int64))
    return None if numbers < 0 else out[:numbers]


def _integers(numbers: Any, count: int) -> NDArray[np.int64]:
    """Return integers as a column; those beyond int64 become -1."""
    try:
        return np.fromiter(numbers, np.int64, count)
    except OverflowError:
        return np.full(count, -1, np.int64)


def _nanoseconds(values: list[float], scale: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return times in nanoseconds, and which of them are within range; whole numbers are kept exactly."""
    numbers: NDArray[Any] = np.array(values) if values else np.empty(0, np.int64)
    if numbers.dtype.kind == "i":
        good = np.abs(numbers.astype(np.float64)) < _TIME_LIMIT / scale
        return np.where(good, numbers, 0) * scale, good
    with np.errstate(over="ignore"):
        scaled = numbers.astype(np.float64) * scale
    good = np.abs(scaled) < _TIME_LIMIT
    times = np.rint(np.where(good, scaled, 0)).astype(np.int64)
    # In an array with fractions, whole numbers would be rounded to 53 bits.
    large = np.flatnonzero(good & (np.abs(scaled) >= 2.0**53))
    if len(large):
        given = np.array(values, object)[large]
        whole = given.astype(np.int64)
        exact = (given == whole).astype(np.bool_)
        times[large[exact]] = whole[exact] * scale
    return times, good


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _id(text: str) -> RecordedId:
    return int(text) if text.isdecimal() and len(text) < 19 else text


FORMAT = registry.Format(
    name="speedscope",
    title="speedscope JSON",
    suffixes=(".speedscope.json", ".speedscope"),
    sniff=sniff,
    read=read,
    write=write,
    programs="py-spy, rbspy, …",
    recipe=(
        "py-spy record -f speedscope -o run.speedscope.json -- python script.py",
        "rbspy record --format speedscope -f run.speedscope.json -- ruby script.rb",
    ),
)
