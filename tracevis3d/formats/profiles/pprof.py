"""pprof's profiles: ``profile.proto``, usually in gzip.

Source: https://github.com/google/pprof/blob/main/proto/profile.proto
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.protobuf import fields
from ...kernels.formats.protobuf import samples as kernels
from ...progress import Progress, part
from ...trace.recording import Recording
from .. import registry
from ..distinct import distinct, places_among
from ..unpack import whole
from ..wire import Messages
from .documents import add_function, finish
from .samples import SAMPLE_NS, add_weighed, tree_of_places

if TYPE_CHECKING:
    from ...trace.model import RecordedId, Trace

Ints = NDArray[np.int64]

# Fields of a profile, and those of its parts.
_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING, _DEFAULT = 1, 2, 3, 4, 5, 6, 14
#: Fields that are messages or texts; the other ones are numbers.
_NESTED = frozenset((1, 2, 3, 4, 5, 6, 11))
_LAST_FIELD = 15
#: Ids that lie closer together are looked up in a table.
_SPREAD = 1 << 24
#: Unit of a sample type -> the unit used here, and the factor.
_UNITS = {
    "nanoseconds": ("ns", 1),
    "microseconds": ("ns", 1_000),
    "milliseconds": ("ns", 1_000_000),
    "seconds": ("ns", 1_000_000_000),
    "bytes": ("bytes", 1),
    "kilobytes": ("bytes", 1 << 10),
    "megabytes": ("bytes", 1 << 20),
}
#: Labels with the id and the name of a sample's thread.
_THREAD_IDS = ("thread id", "thread_id", "tid", "os thread id", "thread native id")
_THREAD_NAMES = ("thread name", "thread_name", "thread")


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are a profile: its fields, the first of which is a type of samples.

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
    at = types = parts = 0
    while at < len(head):
        tag, at = _varint(head, at)
        kind, number = tag & 7, tag >> 3
        if tag < 0:
            break
        if not 0 < number < _LAST_FIELD or kind != (2 if number in _NESTED else 0):
            # Numbers may be packed, and later data may be damaged.
            return registry.LIKELY if types and parts > 8 else registry.NO
        value, at = _varint(head, at)
        if value < 0:
            break
        if number == _SAMPLE_TYPE and not _is_type(head[at : at + value]):
            return registry.NO
        types += number == _SAMPLE_TYPE
        # Some writers put all else before the samples.
        parts += number in (_SAMPLE, _MAPPING, _LOCATION, _FUNCTION)
        at += value if kind == 2 else 0
    if types and parts:
        return registry.SURE
    return registry.MAYBE if types and name.endswith(FORMAT.suffixes) else registry.NO


def _is_type(message: bytes) -> bool:
    """Return whether a message has small numbers in its fields 1 and 2, and nothing else."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        value, at = _varint(message, at) if tag in (0x08, 0x10) else (-1, at)
        if not 0 <= value < 1 << 32:
            return False
    return True


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and what follows it; -1 if there is none."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return -1, at


def read(path: Path, progress: Progress) -> Trace:
    """Read a profile: each call path is one call, as long as its samples weigh.

    The calls are made by the default type of samples, else by the last one, as pprof does; all are kept.
    Samples lie on threads where labels name them.

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
    return finish(path, lambda: _take(data, recording), recording, "pprof profile", progress)


def _take(data: memoryview, recording: Recording) -> None:
    profile = Messages.of(data, recording.problems)
    texts = profile.texts(_STRING) or [""]
    types = _types(profile, texts)
    function_of, first_of, functions, lines = _locations(profile, texts, recording)
    samples = _Samples(profile, len(types), function_of, recording)
    if not len(samples.first) - 1:
        raise ValueError("it has no samples")
    weights, is_time = _weights(profile, types, samples.values, texts)
    # Stacks, and the lines of a location, are written innermost first.
    stack, tree = tree_of_places(samples.first, samples.place, first_of, functions, lines)
    thread = _threads(samples, texts, recording)
    if not is_time:
        recording.problems.add("no time unit", "the whole file", len(stack))
    is_counted = " (" not in next(iter(weights))
    add_weighed(recording, tree, thread, stack, weights, scale=SAMPLE_NS if is_counted else 1)


def _text(texts: list[str], number: int) -> str:
    return texts[number] if 0 <= number < len(texts) else ""


class _Samples:
    """What all samples hold.

    Parameters
    ----------
    profile : Messages
    types : int
        How many values a sample has.
    ids : int64 (locations,)
        Of the locations, in any order; of equal ones the last counts.
    recording : Recording
        Gets the problems.

    Attributes
    ----------
    first : int64 (n + 1,)
        Sample ``i`` has the places ``first[i]`` to ``first[i + 1]``.
    place : int64 (m,)
        Among the locations; -1: unknown.
    values : int64 (types, n)
    """

    def __init__(self, profile: Messages, types: int, ids: Ints, recording: Recording) -> None:
        start, stop = profile.pieces(_SAMPLE)
        size, problems = int((stop - start).sum()), recording.problems
        state = np.zeros(kernels.STATE_SIZE, np.int64)
        self.first = np.zeros(len(start) + 1, np.int64)
        self.values = np.zeros((types, len(start)), np.int64)
        # Memory that is not written is not taken.
        place, labels = np.empty(size, np.int64), np.empty((3, size // 2 + 1), np.int64)
        low, table = _table_of(ids)
        kernels.scan_samples(
            profile.data, start, stop, low, table, state, self.first, place, self.values, *labels
        )
        if state[fields.S_DAMAGED]:
            is_last = state[fields.S_DAMAGED] == 1 and stop[state[fields.S_MESSAGE]] == len(profile.data)
            kind, where = "truncated" if is_last else "malformed", f"byte {state[fields.S_BYTE]:,}"
            problems.add(kind, where, int(state[fields.S_DAMAGED]))
        problems.add("bad value", f"field 3 ({state[kernels.S_ODD_VALUE]:,})", int(state[kernels.S_ODD]))
        wrong = int(state[kernels.S_WRONG])
        problems.add("bad value", "a sample does not have one value for each type", wrong)
        self.place = place[: state[fields.S_ROWS]]
        if not len(table):
            named, self.place = self.place, places_among(self.place, ids)
            unknown = np.flatnonzero(self.place < 0)
            state[kernels.S_UNKNOWN] = len(unknown)
            state[kernels.S_UNKNOWN_ID] = named[unknown[0]] if len(unknown) else 0
        problems.add("unknown", f"location {state[kernels.S_UNKNOWN_ID]}", int(state[kernels.S_UNKNOWN]))
        self._data, self._problems = profile.data, problems
        self._labels = labels[:, : state[kernels.S_LABELS]]

    def labels(self) -> tuple[Messages, Ints]:
        """Return all labels, and the sample of each."""
        first, stop, owner = self._labels
        return Messages(self._data, first, stop, self._problems), owner


def _table_of(ids: Ints) -> tuple[int, Ints]:
    """Return the lowest id, and the row of each from there on (-1: none); nothing if they lie far apart."""
    low, high = (int(ids.min()), int(ids.max())) if len(ids) else (0, 0)
    if high - low >= _SPREAD:
        return 0, np.empty(0, np.int64)
    table = np.full(high - low + 1, -1, np.int64)
    table[ids - low] = np.arange(len(ids))
    return low, table


def _types(profile: Messages, texts: list[str]) -> list[tuple[str, str]]:
    """Return name and unit of each type of samples; at least one."""
    types, _ = profile.inner(_SAMPLE_TYPE)
    rows = zip(types.last(1).tolist(), types.last(2).tolist(), strict=True)
    return [(_text(texts, name) or "samples", _text(texts, unit)) for name, unit in rows] or [
        ("samples", "count")
    ]


def _weights(
    profile: Messages, types: list[tuple[str, str]], table: Ints, texts: list[str]
) -> tuple[dict[str, Ints], bool]:
    """Return the weights of all types of samples, the one that makes the calls first; and if that is time."""
    names = [name for name, _ in types]
    wanted = _text(texts, int(profile.last(_DEFAULT)[0]))
    main = names.index(wanted) if wanted in names else len(names) - 1
    found: dict[str, Ints] = {}
    for row in (main, *(row for row in range(len(names)) if row != main)):
        unit, factor = _UNITS.get(types[row][1], (types[row][1], 1))
        kind = names[row] if unit in ("count", "") else f"{names[row]} ({unit})"
        found.setdefault(kind, table[row] * factor)
    return found, next(iter(found)).endswith("(ns)")


def _locations(
    profile: Messages, texts: list[str], recording: Recording
) -> tuple[Ints, Ints, NDArray[np.int32], NDArray[np.int32]]:
    """Return the ids of locations, where the frames of each begin, and function and line of each frame."""
    functions, _ = profile.inner(_FUNCTION)
    known = functions.last(1)
    index = np.array(
        [
            add_function(recording, _text(texts, name) or _text(texts, system) or "(unnamed)", file, line)
            for name, system, file, line in zip(
                functions.last(2).tolist(),
                functions.last(3).tolist(),
                (_text(texts, number) for number in functions.last(4).tolist()),
                functions.last(5).tolist(),
                strict=True,
            )
        ],
        np.int32,
    )
    locations, _ = profile.inner(_LOCATION)
    lines, owner = locations.inner(4)
    at = places_among(lines.last(1), known)
    function = np.where(at >= 0, index[np.maximum(at, 0)] if len(index) else -1, -1).astype(np.int32)
    if (at < 0).any():
        recording.problems.add("no name", "a line names no function", int((at < 0).sum()))
        function[at < 0] = recording.function("(unnamed)")
    line = np.clip(lines.last(2), 0, (1 << 31) - 1).astype(np.int32)
    # Locations without lines are named by their address.
    bare = np.flatnonzero(np.bincount(owner, minlength=len(locations)) == 0)
    files = _mapped_files(profile, texts)
    where = zip(locations.last(3)[bare].tolist(), locations.last(2)[bare].tolist(), strict=True)
    named = recording.functions(
        f"0x{address & (1 << 64) - 1:x} ({files.get(mapping) or 'unknown'})" for address, mapping in where
    )
    owner = np.concatenate((owner, bare))
    order = np.argsort(owner, kind="stable")
    first = np.zeros(len(locations) + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=len(locations)), out=first[1:])
    function = np.concatenate((function, named))[order]
    return locations.last(1), first, function, np.concatenate((line, np.zeros(len(bare), np.int32)))[order]


def _mapped_files(profile: Messages, texts: list[str]) -> dict[int, str]:
    mappings, _ = profile.inner(_MAPPING)
    files = (_text(texts, number) for number in mappings.last(5).tolist())
    return dict(zip(mappings.last(1).tolist(), files, strict=True))


def _threads(samples: _Samples, texts: list[str], recording: Recording) -> Ints:
    """Return the thread of each sample, as labels name it."""
    keys = [text.lower() for text in texts]
    roles = np.array([(key in _THREAD_IDS) + 2 * (key in _THREAD_NAMES) for key in keys] + [0], np.int8)
    count = len(samples.first) - 1
    if not roles.any():
        # Labels are many, and most are about other things.
        return np.full(count, recording.thread(0, "all"), np.int64)
    labels, owner = samples.labels()
    key = labels.last(1)
    role = roles[np.where((key >= 0) & (key < len(texts)), key, len(texts))]
    # Of each sample: which of the distinct ids and names it has; of several labels the last counts.
    ids, names = (np.full(count, -1, np.int64) for _ in range(2))
    pairs: dict[tuple[int, int], int] = {}
    for column, which in ((ids, 1), (names, 2)):
        rows = np.flatnonzero(role == which)
        said = zip(labels.last(2)[rows].tolist(), labels.last(3)[rows].tolist(), strict=True)
        column[owner[rows]] = [pairs.setdefault(pair, len(pairs)) for pair in said]
    both, index = distinct((ids + 1) * (len(pairs) + 1) + names + 1)
    found = list(pairs)
    threads = []
    for one, other in (divmod(pair, len(pairs) + 1) for pair in both.tolist()):
        name = _label(found[other - 1], texts) if other else ""
        tid: RecordedId = found[one - 1][1] or _text(texts, found[one - 1][0]) if one else name or "all"
        threads.append(recording.thread(0, tid))
        if name:
            recording.name_thread(0, tid, name)
    return np.array(threads, np.int64)[index]


def _label(pair: tuple[int, int], texts: list[str]) -> str:
    """Return a label's text, or its number."""
    return _text(texts, pair[0]) or str(pair[1])


FORMAT = registry.Format(
    name="pprof",
    title="pprof profile",
    suffixes=(".pprof", ".pb", ".prof.pb", ".proto"),
    sniff=sniff,
    read=read,
    programs="Go, Datadog, Pyroscope, gperftools (by `pprof -proto`), …",
    recipe=(
        "go test -cpuprofile run.pprof .",
        "curl -o run.pprof http://localhost:6060/debug/pprof/profile?seconds=10",
        "CPUPROFILE=run.prof ./program; pprof -proto ./program run.prof > run.pprof",
    ),
    left_out="labels other than those of threads; calls show the default type of samples",
)
