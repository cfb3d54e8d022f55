"""simpleperf's profiles of Android programs, as ``simpleperf report-sample --protobuf`` writes them.

Source: ``cmd_report_sample.proto`` of simpleperf, version 1. A head, then records: a length and a message.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....kernels.formats.protobuf.fields import find_records
from ....kernels.intern import InternedNames
from ....progress import Progress, part
from ....trace.recording import Recording
from ... import registry
from ...distinct import distinct
from ...unpack import whole
from ...wire import Messages, Taken
from ..documents import finish
from ..samples import COUNTED, add_timed, tree_of_places

if TYPE_CHECKING:
    from ....trace.model import Trace

_MAGIC = b"SIMPLEPERF"
#: The head: the magic and two bytes of the version.
_HEAD = 12
#: Kinds of a record, as fields of its message.
_SAMPLE, _LOST, _FILE, _THREAD, _META, _SWITCH = range(1, 7)
#: No event happens more often between two samples.
_MOST = 1 << 60
_LATEST = 1 << 62

Ints = NDArray[np.int64]


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are simpleperf's.

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
    return registry.SURE if head.startswith(_MAGIC) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a profile: samples of all threads, with the events that happened since the last one.

    Calls are made of the samples of the first type of event.

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
        If it has no samples.
    """
    recording = Recording()
    data = whole(path, recording.problems, part(progress, 0, 0.3))
    return finish(path, lambda: _take(data, recording), recording, "simpleperf profile", progress)


def _take(data: memoryview, recording: Recording) -> None:
    first, stop = _records(data, recording)
    column = np.frombuffer(data.toreadonly(), np.uint8)
    records = Taken(column, first, stop, recording.problems, lists=(_SAMPLE, _LOST, _FILE, _THREAD, _META))
    first, stop, _ = records.items(_SAMPLE)
    n = len(first)
    if not n:
        raise ValueError("it has no samples")
    samples = Taken(column, first, stop, recording.problems, numbers=(1, 2, 4, 5), lists=(3,))
    lost = Messages(column, *records.items(_LOST)[:2], recording.problems)
    many = int(np.clip(lost.last(2), 0, _MOST).sum())
    if many:
        recording.problems.add("lost", "samples that simpleperf could not store", many)
    first, stop, owner = samples.items(3)
    # Frames that are alike are the same bytes: each is read once.
    entries = InternedNames()
    entry, many = entries.all_of(column, first, stop)
    begin, size = entries.starts[:many], entries.lengths[:many]
    different = Taken(column, begin, begin + size, recording.problems, numbers=(1, 2, 3))
    function, named = _functions(column, records, different, recording), np.arange(many + 1)
    bounds = np.append(0, np.cumsum(np.bincount(owner, minlength=n)))
    # Stacks are written innermost first.
    stack, frames = tree_of_places(bounds, entry, named, function, np.zeros(many, np.int32))
    meta = Messages(column, *records.items(_META)[:2], recording.problems)
    events = meta.texts(1) or [COUNTED]
    used, kind = distinct(np.clip(samples.number(5), 0, len(events) - 1))
    count = samples.number(4, 1)
    wrong = (count < 0) | (count > _MOST // max(n, 1))
    recording.problems.add("bad value", "events of a sample", int(wrong.sum()))
    time = samples.number(1)
    early = (time < 0) | (time > _LATEST)
    recording.problems.add("bad time", "a sample", int(early.sum()))
    keep = np.flatnonzero(~early)
    if not len(keep):
        raise ValueError("no sample has a time")
    names = [events[number] for number in used.tolist()]
    names = [f"{event} (ns)" if event in ("cpu-clock", "task-clock") else event for event in names]
    add_timed(
        recording,
        frames,
        _threads(column, records, samples, recording)[keep],
        stack[keep],
        time[keep],
        kinds=names,
        kind=kind[keep],
        weight=np.where(wrong, 1, count)[keep],
        laid=(kind == 0)[keep],
    )


def _records(data: memoryview, recording: Recording) -> tuple[Ints, Ints]:
    """Return where the message of each record begins and ends."""
    if len(data) >= _HEAD and int.from_bytes(data[10:12], "little") != 1:
        raise ValueError("it is of a version other than 1")
    places = np.empty(len(data) // 5 + 2, np.int64)
    count, at, is_ended = find_records(np.frombuffer(data.toreadonly(), np.uint8), _HEAD, places)
    if not is_ended:
        # The last one is longer than what is left, or nothing says that it was the last.
        if count and at > len(data):
            count -= 1
            at = int(places[count])
        recording.problems.add("truncated", f"byte {at:,}")
    places[count] = at
    return places[:count] + 4, places[1 : count + 1]


def _functions(
    data: NDArray[np.uint8], records: Taken, entries: Taken, recording: Recording
) -> NDArray[np.int32]:
    """Return the function of each of the different frames of stacks."""
    files = Messages(data, *records.items(_FILE)[:2], recording.problems)
    symbols: dict[int, list[str]] = {}
    rows = files.rows(3, is_varint=False)
    number = files.last(1)
    for owner, name in zip(files.message[rows].tolist(), files.texts(3), strict=True):
        symbols.setdefault(int(number[owner]), []).append(name)
    paths = dict(zip(number.tolist(), files.text(2), strict=True))
    found = []
    symbol = entries.number(3, -1).astype(np.int32).tolist()
    for address, file, one in zip(
        entries.number(1).tolist(), entries.number(2).tolist(), symbol, strict=True
    ):
        library = paths.get(file, "")
        named = symbols.get(file, ())
        name = named[one] if 0 <= one < len(named) else f"0x{address & (1 << 64) - 1:x}"
        full = f"{name} ({library})" if library else name
        short = library.rpartition("/")[2]
        inside = (("module", short),) if short else None
        found.append(recording.function(full, label=name, containers=inside))
    return np.array(found, np.int32)


def _threads(data: NDArray[np.uint8], records: Taken, samples: Taken, recording: Recording) -> Ints:
    """Return the thread of each sample."""
    threads = Messages(data, *records.items(_THREAD)[:2], recording.problems)
    process: dict[int, int] = {}
    columns = threads.last(1).tolist(), threads.last(2).tolist(), threads.text(3)
    for tid, pid, name in zip(*columns, strict=True):
        process[tid] = pid
        recording.name_thread(pid, tid, name)
        if tid == pid:
            recording.name_process(pid, name)
    tids, of = distinct(samples.number(2))
    numbers = [recording.thread(process.get(tid, 0), tid) for tid in tids.tolist()]
    return np.asarray(np.array(numbers, np.int64)[of])


FORMAT = registry.Format(
    name="simpleperf",
    title="simpleperf profile",
    suffixes=(".simpleperf", ".perf.pb", ".trace"),
    sniff=sniff,
    read=read,
    programs="Android's simpleperf (`report-sample --protobuf`)",
    recipe=(
        "adb shell simpleperf record -g --app com.example.app -o /data/local/tmp/perf.data --duration 10",
        "adb pull /data/local/tmp/perf.data; simpleperf report-sample --show-callchain --protobuf "
        "-i perf.data -o run.simpleperf",
    ),
    left_out="switches between threads (--trace-offcpu), and lines of the source",
)
