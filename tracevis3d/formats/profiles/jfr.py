"""JDK Flight Recorder's files, read by the JDK's program ``jfr``, and what ``jfr print --json`` prints.

Source: https://docs.oracle.com/en/java/javase/21/docs/specs/man/jfr.html. Samples of execution make calls; so
do waits and I/O, which have a stack and a duration.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import MissingDependency, Unreadable
from ...progress import Progress
from ...trace.model import IO, WAIT
from .. import registry
from ..text import utf8
from .documents import fields_of, items_of, read_profile, text_of, whole_of
from .samples import COUNTED, FrameTree, add_timed

if TYPE_CHECKING:
    from ...trace.model import RecordedId, Trace
    from ...trace.recording import Recording

_NS = 10**9
#: Nanoseconds: the maximum of times and durations.
_LATEST = 1 << 61
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:?\d\d)?")
_DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?")
_SAMPLES = ("jdk.ExecutionSample", "jdk.NativeMethodSample")
#: Type of an allocation -> the field with the number of bytes that it represents.
_ALLOCATIONS = {
    "jdk.ObjectAllocationSample": "weight",
    "jdk.ObjectAllocationInNewTLAB": "tlabSize",
    "jdk.ObjectAllocationOutsideTLAB": "allocationSize",
}
#: Type of a wait -> its kind, and the field with its object.
_WAITS = {
    "jdk.JavaMonitorEnter": ("monitor enter", "monitorClass"),
    "jdk.JavaMonitorWait": ("monitor wait", "monitorClass"),
    "jdk.ThreadPark": ("park", "parkedClass"),
    "jdk.ThreadSleep": ("sleep", ""),
}
_TRANSFERS = {
    "jdk.FileRead": ("file read", "path"),
    "jdk.FileWrite": ("file write", "path"),
    "jdk.SocketRead": ("socket read", "host"),
    "jdk.SocketWrite": ("socket write", "host"),
}
_COLLECTIONS = ("jdk.GarbageCollection", "jdk.GCPhasePause")
_READ = (*_SAMPLES, *_ALLOCATIONS, *_WAITS, *_TRANSFERS, *_COLLECTIONS)
_KINDS = (COUNTED, "waiting (ns)", "allocated (bytes)")


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
    if head.startswith(b"FLR\0"):
        return registry.SURE
    text = bytes(utf8(head)).lstrip()
    is_printed = re.match(rb'\{\s*"recording"\s*:\s*\{\s*"events"\s*:', text) is not None
    return registry.SURE if is_printed else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read samples, waits, I/O, allocations and garbage collections.

    Waits and I/O are calls that last as long as they did; collections are moments; allocations are weights.

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
    MissingDependency
        If it is a recording, and no JDK is installed.
    """
    with open(path, "rb") as file:
        is_binary = file.read(4) == b"FLR\0"
    if not is_binary:
        return read_profile(path, _take, "flight recording", progress)
    program = shutil.which("jfr")
    if program is None:
        raise MissingDependency(
            f"{path}: flight recordings are read by the JDK's program 'jfr', which is not installed here: "
            "install a JDK, or run 'jfr print --json --stack-depth 64 run.jfr > run.jfr.json' elsewhere"
        )
    with tempfile.TemporaryDirectory(prefix="tracevis3d-") as folder:
        printed = Path(folder) / path.name
        words = [program, "print", "--json", "--stack-depth", "64", "--events", ",".join(_READ), str(path)]
        with open(printed, "wb") as out:
            done = subprocess.run(
                words, stdout=out, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False
            )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise Unreadable(f"{path}: jfr can't read it: {said[-1] if said else 'it gives no reason'}")
        return read_profile(printed, _take, "flight recording", progress)


def _take(value: Any, recording: Recording) -> None:
    reader = _Reader(recording)
    for number, event in enumerate(items_of(fields_of(fields_of(value).get("recording")).get("events")), 1):
        reader.add(number, text_of(fields_of(event).get("type")), fields_of(fields_of(event).get("values")))
    reader.lay()


class _Reader:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._tree = FrameTree(recording)
        #: Thread, stack, time, end (-1: to the next sample), kind, weight, and whether it makes calls.
        self._rows: list[tuple[int, int, int, int, int, int, bool]] = []
        self._found = 0

    def add(self, number: int, kind: str, values: dict[str, Any]) -> None:
        """Add an event."""
        if kind not in _READ:
            self._recording.problems.add("unsupported", f"event {number:,}: {kind[:60]}")
            return
        time = _nanoseconds(values.get("startTime"))
        if time is None:
            self._recording.problems.add("bad time", f"event {number:,}")
            return
        self._found += 1
        said = values.get("sampledThread" if kind in _SAMPLES else "eventThread")
        thread = self._thread(fields_of(said))
        if kind in _COLLECTIONS:
            cause = text_of(values.get("cause")) or text_of(values.get("name"), "pause")
            name = self._recording.text("instants", f"garbage collection: {cause}")
            self._recording.add_instants(name=[name], thread=[thread], time=[time])
            return
        stack = self._stack(fields_of(values.get("stackTrace")))
        if kind in _SAMPLES:
            self._rows.append((thread, stack, time, -1, 0, 1, True))
        elif kind in _ALLOCATIONS:
            size = max(whole_of(values.get(_ALLOCATIONS[kind])), 0)
            self._rows.append((thread, stack, time, -1, 2, size, False))
        else:
            lasts = _duration(values.get("duration"))
            self._rows.append((thread, stack, time, time + lasts, 1, lasts, True))
            self._add_wait(kind, values, thread, time, lasts)

    def _add_wait(self, kind: str, values: dict[str, Any], thread: int, time: int, lasts: int) -> None:
        is_wait = kind in _WAITS
        name, field = _WAITS[kind] if is_wait else _TRANSFERS[kind]
        about = values.get(field)
        what = text_of(about) or text_of(fields_of(about).get("name")).replace("/", ".")
        if is_wait and what and (address := whole_of(values.get("address"))):
            what = f"{what} @{address:x}"
        owner = fields_of(values.get("previousOwner"))
        objects = [self._recording.text("objects", what)] if what else []
        self._recording.add_sync(
            thread=[thread],
            kind=[WAIT if is_wait else IO],
            name=[self._recording.text("sync", name)],
            start=[time],
            end=[time + lasts],
            contended=[1 if kind == "jdk.JavaMonitorEnter" else -1],
            holder=[self._thread(owner) if owner else -1],
            objects=[objects],
        )

    def _thread(self, said: dict[str, Any]) -> int:
        number = whole_of(said.get("osThreadId")) or whole_of(said.get("javaThreadId"))
        tid: RecordedId = number or "virtual machine"
        name = text_of(said.get("javaName")) or text_of(said.get("osName"))
        if name:
            self._recording.name_thread(0, tid, name)
        return self._recording.thread(0, tid)

    def _stack(self, said: dict[str, Any]) -> int:
        frame = -1
        # They are printed innermost first.
        for row in reversed(items_of(said.get("frames"))):
            method = fields_of(fields_of(row).get("method"))
            inside = text_of(fields_of(method.get("type")).get("name")).replace("/", ".")
            name = text_of(method.get("name"), "(unnamed)")
            function = self._recording.function(f"{inside}.{name}" if inside else name)
            frame = self._tree.frame(function, frame, max(whole_of(fields_of(row).get("lineNumber")), 0))
        return frame

    def lay(self) -> None:
        """Add samples and the calls that they make."""
        if not self._found:
            raise ValueError("it has no samples, waits, I/O, allocations or collections")
        if not self._rows:
            return
        thread, stack, time, end, kind, weight, laid = zip(*self._rows, strict=True)
        add_timed(
            self._recording, self._tree.columns(), thread, stack, time,
            end=end, kinds=_KINDS, kind=kind, weight=weight, laid=laid,
        )  # fmt: skip


def _nanoseconds(text: Any) -> int | None:
    """Return a moment as nanoseconds since 1970; None for what is none."""
    said = _TIME.fullmatch(text) if isinstance(text, str) else None
    if said is None:
        return None
    try:
        moment = datetime.fromisoformat(said[1] + (said[3] or "Z").replace("Z", "+00:00"))
    except ValueError:
        return None
    found = int(moment.timestamp()) * _NS + int((said[2] or "").ljust(9, "0"))
    return found if 0 <= found < _LATEST else None


def _duration(text: Any) -> int:
    """Return nanoseconds of ``PT1M2.5S``; 0 for what is none."""
    said = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if said is None:
        return 0
    hours, minutes, seconds = (int((said[part] or "0")[:9]) for part in (1, 2, 3))
    found = (3600 * hours + 60 * minutes + seconds) * _NS + int((said[4] or "").ljust(9, "0"))
    return min(found, _LATEST)


FORMAT = registry.Format(
    name="jfr",
    title="Java Flight Recorder",
    suffixes=(".jfr", ".jfr.json"),
    sniff=sniff,
    read=read,
    programs="the JDK, async-profiler (read by the JDK's `jfr`)",
    recipe=(
        "java -XX:StartFlightRecording=filename=run.jfr,settings=profile -jar program.jar",
        "jfr print --json --stack-depth 64 run.jfr > run.jfr.json",
    ),
    left_out="all other events: they are counted if they were printed",
)
