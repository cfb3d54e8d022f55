"""Chunks of flight recordings: their metadata, and the columns of the events and constants that are wanted.

A chunk stands for itself: it has a header, metadata that describe each class of its values, events, and
constants that these refer to by keys. Source: the package jdk.jfr.internal.consumer of the JDK.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....kernels.formats.protobuf import fields as varints
from ....kernels.formats.scan import jfr as s
from ....kernels.intern import InternedNames
from ....trace.problems import Problems
from ...distinct import by_index, places_among

Ints = NDArray[np.int64]

MAGIC = b"FLR\0"
_HEADER = struct.Struct(">4sHHqqqqqqqi")
#: What is read where a chunk has to be found again.
_STEP = 1 << 20
#: Elements within elements; ids of classes.
_MOST_NESTED, _LARGEST_ID = 16, 1 << 20
#: Operations that one class may take: hostile metadata could ask for any number.
_MOST_OPERATIONS = 1 << 14
_FIXED = {"boolean": 1, "byte": 1, "float": 4, "double": 8}
_NUMBERS = frozenset(("short", "char", "int", "long"))
_TEXT = "java.lang.String"
#: Column of a class that is a text itself.
ITSELF = ""


class Header(NamedTuple):
    """Where a chunk lies, and its clock.

    Attributes
    ----------
    begin, stop : int
        Bytes of the file.
    metadata : int
        The byte where its last metadata begin.
    start : int
        Nanoseconds since 1970.
    ticks : int
        Ticks of the clock at the start.
    per_second : int
        Ticks.
    is_cut : bool
        Whether the file ends before the chunk does.
    """

    begin: int
    stop: int
    metadata: int
    start: int
    ticks: int
    per_second: int
    is_cut: bool


def nanoseconds(ticks: Ints, per_second: Ints) -> NDArray[np.float64]:
    """Return nanoseconds of numbers of ticks, as the JDK computes them.

    Parameters
    ----------
    ticks, per_second : int64 (n,)
        Those of the chunk's clock.

    Returns
    -------
    float64 (n,)
    """
    found: NDArray[np.float64] = np.trunc(ticks / (per_second / 1e9))
    return found


@dataclass
class Rows:
    """Events, or constants, of a class.

    Attributes
    ----------
    key : int64 (n,)
        Of constants; -1: events.
    columns : dict of str to int64
        By the path of its field: its numbers, or where its texts begin. One for each row, but those of lists.
    owner : dict of str to int64
        Of columns of lists: the row that each item belongs to.
    """

    key: Ints
    columns: dict[str, Ints]
    owner: dict[str, Ints]

    def column(self, path: str) -> Ints:
        """Return a column; zeros where this recording does not have it.

        Parameters
        ----------
        path : str
            Of the field.

        Returns
        -------
        int64 (n,)
        """
        return self.columns.get(path, np.zeros(len(self.key), np.int64))


class Texts:
    """The texts of a recording by numbers: equal ones of all chunks have one. Number 0 is no text.

    Parameters
    ----------
    data : uint8 (n,)
        The recording.
    """

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data, self._names, self._count = data, InternedNames(), 0
        self._known: dict[int, str] = {}
        self.numbers(np.zeros(1, np.int64))

    def numbers(self, begin: Ints) -> Ints:
        """Return the numbers of texts.

        Parameters
        ----------
        begin : int64 (n,)
            Where each begins; 0: none.

        Returns
        -------
        int64 (n,)
        """
        end = np.empty(len(begin), np.int64)
        s.find_text_ends(self._data, begin, end)
        number, self._count = self._names.all_of(self._data, begin, np.where(begin > 0, end, 0), self._count)
        return number

    def text(self, number: int) -> str:
        """Return a text.

        Parameters
        ----------
        number : int

        Returns
        -------
        str
        """
        if number not in self._known:
            at = int(self._names.starts[number])
            self._known[number] = _text(self._data, at)[0] if at > 0 else ""
        return self._known[number]


class Chunk:
    """A chunk, read.

    Parameters
    ----------
    data : uint8 (n,)
        The recording.
    header : Header
    rows : dict of str to Rows
    texts : Texts

    Attributes
    ----------
    header : Header
    rows : dict of str to Rows
        By the name of the class.
    """

    def __init__(self, data: NDArray[np.uint8], header: Header, rows: dict[str, Rows], texts: Texts) -> None:
        self._data, self.header, self.rows, self._texts = data, header, rows, texts

    def numbers(self, begin: Ints) -> Ints:
        """Return the numbers of texts that begin at some bytes, or of the constants that these name.

        Parameters
        ----------
        begin : int64 (n,)
            0: none.

        Returns
        -------
        int64 (n,)
        """
        rows = np.flatnonzero((begin > 0) & (self._data[begin] == s.CONSTANT))
        constants = self.rows.get(_TEXT)
        if not len(rows):
            return self._texts.numbers(begin)
        number = self._texts.numbers(begin[rows])
        named, first, which = np.unique(number, return_index=True, return_inverse=True)
        keys = [_number(self._data, at + 1)[0] for at in begin[rows[first]].tolist()]
        found = np.zeros(len(named), np.int64)
        if constants is not None:
            at = places_among(np.array(keys, np.int64), constants.key)
            found = np.append(constants.column(ITSELF), 0)[at]
        begin = begin.copy()
        begin[rows] = found[which.reshape(-1)]
        return self._texts.numbers(begin)


def _text(data: NDArray[np.uint8], at: int) -> tuple[str, int]:
    """Return a text, and the place behind it; a constant is none.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    way = int(data[at])
    if way in (s.NO_TEXT, s.EMPTY):
        return "", at + 1
    size, first = _number(data, at + 1)
    if way == s.CONSTANT:
        return "", first
    if way > s.LATIN1 or size > len(data) - first:
        raise ValueError("a text is damaged")
    if way == s.UNITS:
        units = []
        for _ in range(size):
            unit, first = _number(data, first)
            units.append(unit & 0xFFFF)
        return np.array(units, "<u2").tobytes().decode("utf-16-le", "replace"), first
    coding = "utf-8" if way == s.UTF8 else "latin-1"
    return bytes(data[first : first + size]).decode(coding, "replace"), first + size


def _number(data: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """Return a number that the kernel has passed over, and the place behind it."""
    value = 0
    for shift in range(0, 64, 7):
        byte = int(data[at])
        at += 1
        value |= (byte & (0xFF if shift == 56 else 0x7F)) << shift
        if byte < 0x80 or shift == 56:
            break
    return value, at


def chunks(
    data: NDArray[np.uint8], wanted: Mapping[str, Sequence[str]], texts: Texts, problems: Problems
) -> Iterator[Chunk]:
    """Yield the chunks of a recording, each with the columns that are wanted.

    Parameters
    ----------
    data : uint8 (n,)
        The recording; read-only.
    wanted : dict of str to sequence of str
        Names of classes, and the paths of their fields: ``frames.method``; :data:`ITSELF` for a text.
    texts : Texts
    problems : Problems
        Gets what is damaged, and how many events of other classes there are.

    Yields
    ------
    Chunk

    Raises
    ------
    ValueError
        If it is of a version that is not read.
    """
    described: dict[bytes, _Classes] = {}
    at = 0
    while at < len(data):
        header = _header(data, at)
        if header is None:
            found = _next_chunk(data, at + 1)
            problems.add("malformed", f"byte {at:,}: there is no chunk")
            if found < 0:
                return
            at = found
            continue
        at = header.stop
        if header.is_cut:
            problems.add("truncated", f"byte {header.begin:,}: the file ends within this chunk")
        try:
            body = _metadata(data, header)
            known = described.get(body)
            if known is None:
                # Chunks of one process differ in little but their times.
                known = described[body] = _Classes(body, wanted)
        except (ValueError, IndexError):
            problems.add("malformed", f"byte {header.begin:,}: the metadata of this chunk are missing")
            continue
        yield Chunk(data, header, _scan(data, header, known, problems), texts)


def _header(data: NDArray[np.uint8], at: int) -> Header | None:
    if len(data) - at < _HEADER.size:
        return None
    magic, major, _, size, _, metadata, start, _, ticks, per_second, features = _HEADER.unpack_from(
        data.data, at
    )
    if magic != MAGIC:
        return None
    if major not in (1, 2) or not features & 1:
        raise ValueError(f"its version {major} is not read: record with Java 11 or later, or 8u262")
    if per_second <= 0 or not 0 <= start < 1 << 61:
        return None
    # A chunk that is still written has no size yet.
    stop = at + size if size >= _HEADER.size else len(data)
    return Header(at, min(stop, len(data)), at + metadata, start, ticks, per_second, stop > len(data))


def _next_chunk(data: NDArray[np.uint8], at: int) -> int:
    """Return where the next chunk begins; -1 if there is none."""
    while at < len(data):
        found = bytes(data[at : at + _STEP + len(MAGIC) - 1]).find(MAGIC)
        if found >= 0:
            return at + found
        at += _STEP
    return -1


def _metadata(data: NDArray[np.uint8], header: Header) -> bytes:
    """Return the texts and elements of a chunk's metadata.

    Raises
    ------
    ValueError
        If there are none.
    """
    at = header.metadata
    if not header.begin + _HEADER.size <= at < header.stop:
        raise ValueError
    size, body = _number(data, at)
    kind, body = _number(data, body)
    if kind != 0 or not 0 < size <= header.stop - at:
        raise ValueError
    for _ in range(3):  # when they were written, how long that took, their number
        _, body = _number(data, body)
    return bytes(data[body : at + size])


class _Field(NamedTuple):
    name: str
    type: int
    is_constant: bool
    is_list: bool


class _Classes:
    """What metadata say, as operations.

    Attributes
    ----------
    names : list of str
    of : int32
        The class of each id; -1: none.
    first, op, argument, slot : arrays
        As :func:`~tracevis3d.kernels.formats.scan.jfr.scan_chunk` takes them.
    wanted : bool (classes,)
    columns : list of (int, str, bool)
        For each slot: its class, its field's path, and whether it lies in a list.
    """

    def __init__(self, body: bytes, wanted: Mapping[str, Sequence[str]]) -> None:
        data = np.frombuffer(body, np.uint8)
        texts, at = _texts(data)
        ids, names, self._fields = _elements(_all_numbers(data, at), texts)
        self.names = names
        self._known = {number: place for place, number in enumerate(ids)}
        self.of = np.full(max((i for i in ids if i < _LARGEST_ID), default=0) + 1, -1, np.int32)
        for place, number in enumerate(ids):
            if number < _LARGEST_ID:
                self.of[number] = place
        self.wanted = np.array([name in wanted for name in names] or [False], np.bool_)
        self.columns: list[tuple[int, str, bool]] = []
        operations: list[tuple[int, int, int]] = []
        first = [0]
        for place, name in enumerate(names):
            self._paths, self._place = frozenset(wanted.get(name, ())), place
            self._begin = len(operations)
            self._add(operations, _Field("", ids[place], False, False), "", 0, 0)
            first.append(len(operations))
        rows = np.array(operations, np.int64).reshape(-1, 3)
        self.first = np.array(first, np.int64)
        self.op = rows[:, 0].astype(np.uint8)
        self.argument = np.ascontiguousarray(rows[:, 1])
        self.slot = rows[:, 2].astype(np.int32)

    def _add(
        self, out: list[tuple[int, int, int]], field: _Field, path: str, lists: int, nested: int
    ) -> None:
        """Append the operations that read a value of a class."""
        if nested > _MOST_NESTED or len(out) - self._begin > _MOST_OPERATIONS:
            raise ValueError("classes lie in each other without an end")
        slot = -1
        if path in self._paths:
            slot = len(self.columns)
            self.columns.append((self._place, path, lists > 0 or field.is_list))
        begin = len(out)
        if field.is_list:
            if lists == s.DEEPEST:
                raise ValueError("lists lie too deeply in each other")
            out.append((s.LIST, 0, -1))
        place = self._known.get(field.type)
        if place is None:
            raise ValueError(f"there is no class {field.type}")
        name = self.names[place]
        if field.is_constant or name in _NUMBERS:
            out.append((s.NUMBER, 0, slot))
        elif name == _TEXT:
            out.append((s.TEXT, 0, slot))
        elif name in _FIXED:
            out.append((s.PASS, _FIXED[name], slot))
        else:
            for one in self._fields[place]:
                inside = f"{path}.{one.name}" if path else one.name
                self._add(out, one, inside, lists + field.is_list, nested + 1)
        if field.is_list:
            if len(out) == begin + 1:
                # Nothing is written for each item: there is no list to go through.
                out[begin] = (s.NUMBER, 0, -1)
                return
            out.append((s.AGAIN, begin + 1, -1))
            out[begin] = (s.LIST, len(out), -1)


def _texts(data: NDArray[np.uint8]) -> tuple[list[str], int]:
    count, at = _number(data, 0)
    texts = []
    for _ in range(count):
        text, at = _text(data, at)
        texts.append(text)
    return texts, at


def _all_numbers(data: NDArray[np.uint8], at: int) -> list[int]:
    """Return all numbers from a place on: those of elements are small, and written as in protobuf."""
    first, stop = np.array([at], np.int64), np.array([len(data)], np.int64)
    state = np.zeros(varints.STATE_SIZE, np.int64)
    none = np.empty(0, np.int64)
    varints.scan_packed(data, first, stop, True, state, none, none)
    owner, value = np.empty((2, int(state[varints.S_ROWS])), np.int64)
    varints.scan_packed(data, first, stop, False, state, owner, value)
    numbers: list[int] = value.tolist()
    return numbers


def _elements(numbers: list[int], texts: list[str]) -> tuple[list[int], list[str], list[list[_Field]]]:
    """Return ids, names and fields of the classes."""
    ids: list[int] = []
    names: list[str] = []
    fields: list[list[_Field]] = []
    at = 0

    def walk(nested: int, is_in_class: bool) -> None:
        nonlocal at
        if nested > _MOST_NESTED:
            raise ValueError("elements lie too deeply in each other")
        kind, pairs = texts[numbers[at]], numbers[at + 1]
        at += 2
        said = {}
        for _ in range(pairs):
            said[texts[numbers[at]]] = texts[numbers[at + 1]]
            at += 2
        if kind == "class":
            ids.append(int(said.get("id", "")))
            names.append(said.get("name", ""))
            fields.append([])
        elif kind == "field" and is_in_class:
            is_list = int(said.get("dimension", "0")) > 0
            is_constant = said.get("constantPool") == "true"
            fields[-1].append(_Field(said.get("name", ""), int(said.get("class", "")), is_constant, is_list))
        inner = numbers[at]
        at += 1
        for _ in range(inner):
            walk(nested + 1, kind == "class")

    walk(0, False)
    return ids, names, fields


def _scan(data: NDArray[np.uint8], header: Header, known: _Classes, problems: Problems) -> dict[str, Rows]:
    size = header.stop - header.begin
    records, rows = np.empty((2, max(size // 16, 64)), np.int64), np.empty((3, max(size // 4, 256)), np.int64)
    state = np.zeros(s.STATE_SIZE, np.int64)
    state[s.S_AT] = header.begin + _HEADER.size
    left, counted = np.empty(s.DEEPEST, np.int64), np.zeros(len(known.names) + 1, np.int64)
    fixed = known.of, known.first, known.op, known.argument, known.slot, known.wanted
    while True:
        s.scan_chunk(data, header.stop, *fixed, left, state, counted, *records, *rows)
        if state[s.S_FULL]:
            records, rows = (np.append(one, np.empty_like(one), axis=1) for one in (records, rows))
            continue
        damage = int(state[s.S_DAMAGE])
        if damage >= 0:
            is_last = header.is_cut and state[s.S_AT] == damage
            problems.add("truncated" if is_last else "malformed", f"byte {damage:,}")
        if damage < 0 or state[s.S_AT] == damage:
            break
    if counted.any():
        name = [*known.names, "an event that is not described"][int(np.argmax(counted))]
        problems.add("unsupported", name[:60], int(counted.sum()))
    n_records, n_rows = int(state[s.S_RECORDS]), int(state[s.S_ROWS])
    return _rows(known, *records[:, :n_records], *rows[:, :n_rows])


def _rows(
    known: _Classes, record_class: Ints, record_key: Ints, record: Ints, slot: Ints, value: Ints
) -> dict[str, Rows]:
    order = by_index(record_class, len(known.names))
    bounds = np.searchsorted(record_class[order], np.arange(len(known.names) + 1))
    within = np.empty(len(order), np.int64)
    within[order] = np.arange(len(order)) - bounds[record_class[order]]
    found: dict[str, Rows] = {}
    for place in np.flatnonzero(known.wanted).tolist():
        mine = order[bounds[place] : bounds[place + 1]]
        found[known.names[place]] = Rows(record_key[mine], {}, {})
    order = by_index(slot, len(known.columns))
    bounds = np.searchsorted(slot[order], np.arange(len(known.columns) + 1))
    for number, (place, path, is_list) in enumerate(known.columns):
        mine = order[bounds[number] : bounds[number + 1]]
        rows = found[known.names[place]]
        rows.columns[path] = value[mine]
        if is_list:
            rows.owner[path] = within[record[mine]]
    return found
