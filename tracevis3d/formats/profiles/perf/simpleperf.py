"""simpleperf's profiles of Android programs, as ``simpleperf report-sample --protobuf`` writes them.

Source: ``cmd_report_sample.proto`` of simpleperf, version 1. A head, then records: a length and a message.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....kernels.formats.protobuf.fields import find_records
from ....progress import Progress, part
from ....trace.recording import Recording
from ... import registry
from ...distinct import distinct
from ...unpack import whole
from ...wire import Messages
from ..documents import finish
from ..samples import COUNTED, add_timed, tree_of_stacks

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
    records = Messages(column, first, stop, recording.problems)
    samples, _ = records.inner(_SAMPLE)
    if not len(samples):
        raise ValueError("it has no samples")
    lost, _ = records.inner(_LOST)
    many = int(np.clip(lost.last(2), 0, _MOST).sum())
    if many:
        recording.problems.add("lost", "samples that simpleperf could not store", many)
    of_frame = _functions(records, samples, recording)
    _, owner = samples.inner(3)
    # Stacks are written innermost first.
    order = np.lexsort((-np.arange(len(owner)), owner))
    bounds = np.zeros(len(samples) + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=len(samples)), out=bounds[1:])
    function = of_frame[order].astype(np.int32)
    stack, frames = tree_of_stacks(bounds, function, np.zeros(len(function), np.int32))
    meta, _ = records.inner(_META)
    events = meta.texts(1) or [COUNTED]
    used, kind = np.unique(np.clip(samples.last(5), 0, len(events) - 1), return_inverse=True)
    kind = kind.reshape(-1)
    count = samples.last(4, 1)
    wrong = (count < 0) | (count > _MOST // max(len(count), 1))
    recording.problems.add("bad value", "events of a sample", int(wrong.sum()))
    time = samples.last(1)
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
        _threads(records, samples, recording)[keep],
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


def _functions(records: Messages, samples: Messages, recording: Recording) -> Ints:
    """Return the function of each frame of each stack."""
    files, _ = records.inner(_FILE)
    symbols: dict[int, list[str]] = {}
    paths: dict[int, str] = {}
    rows = files.rows(3, is_varint=False)
    number, path = files.last(1), files.text(2)
    for owner, name in zip(files.message[rows].tolist(), files.texts(3), strict=True):
        symbols.setdefault(int(number[owner]), []).append(name)
    for of, said in zip(number.tolist(), path, strict=True):
        paths[of] = said
    entries, _ = samples.inner(3)
    address, file, symbol = entries.last(1), entries.last(2), entries.last(3, -1).astype(np.int32)
    files_of, of = distinct(file)
    named = np.array([len(symbols.get(one, [])) for one in files_of.tolist()], np.int64)
    has_name = (symbol >= 0) & (symbol < named[of])
    whiches, which = distinct(np.where(has_name, symbol, -1).astype(np.int64))
    addresses, at = distinct(np.where(has_name, 0, address))
    _, pair = distinct(of * len(whiches) + which)
    keys, key = distinct(pair * len(addresses) + at)
    # Where each was first: functions are numbered in the order of the file.
    first = np.empty(len(keys), np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    number_of = np.empty(len(keys), np.int64)
    for one in np.argsort(first).tolist():
        row = int(first[one])
        library = paths.get(int(file[row]), "")
        short = library.rpartition("/")[2]
        if has_name[row]:
            name = symbols[int(file[row])][int(symbol[row])]
        else:
            name = f"0x{int(address[row]) & (1 << 64) - 1:x}"
        full = f"{name} ({library})" if library else name
        inside = (("module", short),) if short else None
        number_of[one] = recording.function(full, label=name, containers=inside)
    found: Ints = number_of[key]
    return found


def _threads(records: Messages, samples: Messages, recording: Recording) -> Ints:
    """Return the thread of each sample."""
    threads, _ = records.inner(_THREAD)
    process: dict[int, int] = {}
    columns = threads.last(1).tolist(), threads.last(2).tolist(), threads.text(3)
    for tid, pid, name in zip(*columns, strict=True):
        process[tid] = pid
        recording.name_thread(pid, tid, name)
        if tid == pid:
            recording.name_process(pid, name)
    tids, of = np.unique(samples.last(2), return_inverse=True)
    numbers = [recording.thread(process.get(tid, 0), tid) for tid in tids.tolist()]
    return np.asarray(np.array(numbers, np.int64)[of.reshape(-1)])


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
