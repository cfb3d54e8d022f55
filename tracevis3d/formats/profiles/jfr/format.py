"""JDK Flight Recorder's files, and what the JDK's ``jfr print --json`` prints of them.

Source: https://docs.oracle.com/en/java/javase/21/docs/specs/man/jfr.html. Samples of execution make calls; so
do waits and I/O, which have a stack and a duration.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....progress import Progress, part
from ....trace.recording import Recording
from ... import registry
from ...text import utf8
from ...unpack import head, whole
from ..documents import fields_of, finish, items_of, read_profile, text_of, whole_of
from ..samples import FrameTree
from . import taken as t
from .chunks import MAGIC
from .recorded import take

if TYPE_CHECKING:
    from ....trace.model import RecordedId, Trace

_NS = 10**9
_TITLE = "flight recording"
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:?\d\d)?")
_DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?")


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that a file is a flight recording, or printed from one.

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
    if head.startswith(MAGIC):
        return registry.SURE
    text = bytes(utf8(head)).lstrip()
    is_printed = re.match(rb'\{\s*"recording"\s*:\s*\{\s*"events"\s*:', text) is not None
    return registry.SURE if is_printed else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read samples, waits, I/O, allocations and garbage collections.

    Waits and I/O are calls that last as long as they did; collections are moments; allocations are weights.
    Where processor time or wall-clock time is sampled besides, those samples are kept but make no calls.

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
    Unreadable
        If it can't be read, or holds none of these.
    """
    if head(path, len(MAGIC)) != MAGIC:
        return read_profile(path, _take_printed, _TITLE, progress)
    recording = Recording()
    content = whole(path, recording.problems, part(progress, 0, 0.2))
    # Always read-only, like a mapped file: kernels are compiled for one type.
    data = np.frombuffer(content.toreadonly(), np.uint8)
    return finish(path, lambda: take(data, recording, part(progress, 0.2, 0.8)), recording, _TITLE, progress)


def _take_printed(value: Any, recording: Recording) -> None:
    reader = _Printed(recording)
    for number, event in enumerate(items_of(fields_of(fields_of(value).get("recording")).get("events")), 1):
        reader.add(number, text_of(fields_of(event).get("type")), fields_of(fields_of(event).get("values")))
    reader.lay()


class _Printed:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._tree = FrameTree(recording)
        #: By type: thread, stack, time, duration, weight, what it is about, and who held that.
        self._rows: defaultdict[str, list[tuple[int, int, int, int, int, str, int]]] = defaultdict(list)

    def add(self, number: int, name: str, values: dict[str, Any]) -> None:
        """Add an event."""
        kind = t.TYPES.get(name)
        if kind is None:
            self._recording.problems.add("unsupported", f"event {number:,}: {name[:60]}")
            return
        time = _nanoseconds(values.get("startTime"))
        if time is None:
            self._recording.problems.add("bad time", f"event {number:,}")
            return
        about = values.get(kind.about)
        what = text_of(about) or text_of(fields_of(about).get("name"))
        if kind.what == t.WAITS:
            what = t.named(what, whole_of(values.get("address")))
        elif kind.what == t.COLLECTION:
            what = what or "pause"
        owner = fields_of(values.get("previousOwner"))
        self._rows[name].append(
            (
                self._thread(fields_of(values.get(kind.thread))),
                self._stack(fields_of(values.get("stackTrace"))),
                time,
                _duration(values.get("duration")),
                whole_of(values.get(kind.weight)) if kind.weight else 1,
                what,
                self._thread(owner) if owner else -1,
            )
        )

    def _thread(self, said: dict[str, Any]) -> int:
        number = whole_of(said.get("osThreadId")) or whole_of(said.get("javaThreadId"))
        tid: RecordedId = number or t.NO_THREAD
        name = text_of(said.get("javaName")) or text_of(said.get("osName"))
        if name:
            self._recording.name_thread(0, tid, name)
        return self._recording.thread(0, tid)

    def _stack(self, said: dict[str, Any]) -> int:
        frame = -1
        # They are printed innermost first.
        for row in reversed(items_of(said.get("frames"))):
            method = fields_of(fields_of(row).get("method"))
            inside = text_of(fields_of(method.get("type")).get("name"))
            function = self._recording.function(t.method(inside, text_of(method.get("name"))))
            frame = self._tree.frame(function, frame, max(whole_of(fields_of(row).get("lineNumber")), 0))
        return frame

    def lay(self) -> None:
        """Add samples and the calls that they make."""
        taken = t.Taken(self._recording)
        for name, rows in self._rows.items():
            thread, stack, time, lasts, weight, about, holder = zip(*rows, strict=True)
            which = np.arange(len(about))
            taken.add(
                name, thread, stack, time, lasts=lasts, weight=weight, about=about, which=which, holder=holder
            )
        frames = self._tree.columns()
        taken.lay(np.arange(len(frames[0]), dtype=np.int32), frames)


@functools.lru_cache(1 << 10)
def _seconds(text: str) -> int | None:
    """Return a whole second as seconds since 1970; None for what is none."""
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except ValueError:
        return None


def _nanoseconds(text: Any) -> int | None:
    """Return a moment as nanoseconds since 1970; None for what is none."""
    said = _TIME.fullmatch(text) if isinstance(text, str) else None
    if said is None:
        return None
    moment = _seconds(said[1] + (said[3] or "Z").replace("Z", "+00:00"))
    if moment is None:
        return None
    found = moment * _NS + int((said[2] or "").ljust(9, "0"))
    return found if 0 <= found < t.LATEST else None


def _duration(text: Any) -> int:
    """Return nanoseconds of ``PT1M2.5S``; 0 for what is none."""
    said = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if said is None:
        return 0
    hours, minutes, seconds = (int((said[part] or "0")[:9]) for part in (1, 2, 3))
    found = (3600 * hours + 60 * minutes + seconds) * _NS + int((said[4] or "").ljust(9, "0"))
    return min(found, t.LATEST)


FORMAT = registry.Format(
    name="jfr",
    title="Java Flight Recorder",
    suffixes=(".jfr", ".jfr.json"),
    sniff=sniff,
    read=read,
    programs="the JDK, async-profiler",
    recipe=(
        "java -XX:StartFlightRecording=filename=run.jfr,settings=profile -jar program.jar",
        "asprof -d 10 -f run.jfr PID",
        "# what 'jfr print --json' prints is read too",
    ),
    left_out="all other events: they are counted",
)
