"""Protobuf messages without their schema: fields of many messages at once, as columns.

Each level of nesting is one pass over its bytes: all samples of a profile, then all labels of all samples. A
message ends where it is damaged, which is counted. :class:`Messages` keeps all fields, :class:`Taken` those
that are wanted. Source: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ..kernels.formats.protobuf import fields as kernels
from ..trace.problems import Problems

Ints = NDArray[np.int64]


class Messages:
    """Messages of one kind.

    Parameters
    ----------
    data : uint8 (n,)
        The bytes that they lie in.
    first, stop : int64 (k,)
        Where each begins and ends.
    problems : Problems
        Gets what is damaged.

    Attributes
    ----------
    first, stop : int64 (k,)
    message : int64 (m,)
        Of each field: the message that it belongs to, ascending.
    number : int32 (m,)
        That of the field.
    value : int64 (m,)
        The varint, or the byte where another value begins.
    size : int64 (m,)
        Bytes of the value; -1 for a varint.

    Examples
    --------
    >>> message = bytes([0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69])
    >>> outer = Messages.of(message, Problems())
    >>> outer.last(1).tolist(), outer.texts(2)
    ([150], ['hi'])
    """

    def __init__(self, data: NDArray[np.uint8], first: Ints, stop: Ints, problems: Problems) -> None:
        self.data, self._problems = data, problems
        self.first = np.ascontiguousarray(first, np.int64)
        self.stop = np.ascontiguousarray(stop, np.int64)
        state = np.zeros(kernels.STATE_SIZE, np.int64)
        none = np.empty(0, np.int64)
        kernels.scan_fields(data, self.first, self.stop, True, state, none, np.empty(0, np.int32), none, none)
        note_state(state, _is_last(state, self.stop, len(data)), problems)
        rows = int(state[kernels.S_ROWS])
        self.message = np.empty(rows, np.int64)
        self.number = np.empty(rows, np.int32)
        self.value = np.empty(rows, np.int64)
        self.size = np.empty(rows, np.int64)
        kernels.scan_fields(
            data, self.first, self.stop, False, state, self.message, self.number, self.value, self.size
        )

    @classmethod
    def of(cls, data: bytes | memoryview, problems: Problems) -> Messages:
        """Return the outermost message.

        Parameters
        ----------
        data : bytes-like
        problems : Problems

        Returns
        -------
        Messages
            One.
        """
        # Always read-only, like a mapped file: kernels are compiled for one type.
        column = np.frombuffer(memoryview(data or b"\0").toreadonly(), np.uint8)[: len(data)]
        return cls(column, np.zeros(1, np.int64), np.array([len(data)], np.int64), problems)

    def __len__(self) -> int:
        return len(self.first)

    def rows(self, number: int, *, is_varint: bool) -> NDArray[np.intp]:
        """Return the rows of a field; those of the wrong kind on the wire are left out and counted.

        Parameters
        ----------
        number : int
        is_varint : bool
            What the field is; else bytes.

        Returns
        -------
        int64 (k,)
        """
        found = np.flatnonzero(self.number == number)
        fits = (self.size[found] < 0) == is_varint
        if not fits.all():
            first = int(self.value[found[int(np.argmin(fits))]])
            self._problems.add("bad value", f"field {number} ({first:,})", int((~fits).sum()))
        return np.asarray(found[fits])

    def last(self, number: int, other: int = 0) -> Ints:
        """Return a varint field of each message, ``other`` where it is missing; of several the last counts.

        Parameters
        ----------
        number : int
        other : int

        Returns
        -------
        int64 (len(self),)
        """
        column = np.full(len(self), other, np.int64)
        rows = self.rows(number, is_varint=True)
        column[self.message[rows]] = self.value[rows]
        return column

    def has(self, number: int) -> NDArray[np.bool_]:
        """Return which messages have a field.

        Parameters
        ----------
        number : int

        Returns
        -------
        bool (len(self),)
        """
        found: NDArray[np.bool_] = np.zeros(len(self), np.bool_)
        found[self.message[self.number == number]] = True
        return found

    def fixed64(self, number: int, other: int = 0) -> Ints:
        """Return a fixed64 field of each message, ``other`` where it is missing.

        Parameters
        ----------
        number : int
        other : int

        Returns
        -------
        int64 (len(self),)
        """
        column = np.full(len(self), other, np.int64)
        rows = self.rows(number, is_varint=False)
        rows = rows[self.size[rows] == 8]
        at = self.value[rows][:, None] + np.arange(8)
        column[self.message[rows]] = np.ascontiguousarray(self.data[at]).view("<i8")[:, 0] if len(rows) else 0
        return column

    def inner(self, number: int) -> tuple[Messages, Ints]:
        """Return the messages that a field holds, and which message each lies in.

        Parameters
        ----------
        number : int

        Returns
        -------
        inner : Messages
        owner : int64 (len(inner),)
        """
        first, stop = self.pieces(number)
        return Messages(self.data, first, stop, self._problems), self.message[
            self.rows(number, is_varint=False)
        ]

    def pieces(self, number: int) -> tuple[Ints, Ints]:
        """Return where the messages are that a field holds, without a look inside.

        Parameters
        ----------
        number : int

        Returns
        -------
        first, stop : int64 (k,)
        """
        rows = self.rows(number, is_varint=False)
        return self.value[rows], self.value[rows] + self.size[rows]

    def whole_numbers(self, number: int) -> tuple[Ints, Ints]:
        """Return a repeated varint field, packed or not: its values, and the message that each lies in.

        Parameters
        ----------
        number : int

        Returns
        -------
        value, owner : int64 (k,)
            In the order of the file.
        """
        rows = np.flatnonzero(self.number == number)
        single = self.size[rows] < 0
        if single.all():
            return self.value[rows], self.message[rows]
        packed = rows[~single]
        first, stop = self.value[packed], self.value[packed] + self.size[packed]
        state = np.zeros(kernels.STATE_SIZE, np.int64)
        # A number takes a byte at least; memory that is not written is not taken.
        within, value = np.empty((2, int(self.size[packed].sum())), np.int64)
        kernels.scan_packed(self.data, first, stop, False, state, within, value)
        self._problems.add("malformed", f"byte {state[kernels.S_BYTE]:,}", int(state[kernels.S_DAMAGED]))
        within, value = within[: state[kernels.S_ROWS]], value[: state[kernels.S_ROWS]]
        if not single.any():
            return value, self.message[packed][within]
        place = np.concatenate((packed[within], rows[single]))
        order = np.argsort(place, kind="stable")
        value = np.concatenate((value, self.value[rows[single]]))[order]
        return value, self.message[place[order]]

    def texts(self, number: int) -> list[str]:
        """Return a text field of each message that has it, in the order of the file; repeated ones too.

        Parameters
        ----------
        number : int

        Returns
        -------
        list of str
        """
        rows = self.rows(number, is_varint=False)
        first, size = self.value[rows].tolist(), self.size[rows].tolist()
        whole = self.data.data
        return [
            str(whole[low : low + length], "utf-8", "replace")
            for low, length in zip(first, size, strict=True)
        ]

    def text(self, number: int, other: str = "") -> list[str]:
        """Return a text field of each message; ``other`` where it is missing.

        Parameters
        ----------
        number : int
        other : str

        Returns
        -------
        list of str
            One for each message.
        """
        found = [other] * len(self)
        rows = self.rows(number, is_varint=False)
        for owner, text in zip(self.message[rows].tolist(), self.texts(number), strict=True):
            found[owner] = text
        return found


class Taken:
    """Wanted fields of messages of one kind, in one pass; other fields are passed over.

    Parameters
    ----------
    data : uint8 (n,)
        The bytes that they lie in.
    first, stop : int64 (k,)
        Where each begins and ends.
    problems : Problems
        Gets what is damaged, or of the wrong kind on the wire.
    numbers, eights, places, lists : collection of int
        Fields that are varints, fixed64, and bytes, of several in a message the last; and repeated bytes.

    Examples
    --------
    >>> data = np.frombuffer(bytes([0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69]), np.uint8)
    >>> first, stop = np.array([0]), np.array([7])
    >>> taken = Taken(data, first, stop, Problems(), numbers=(1,), places=(2,))
    >>> taken.number(1).tolist(), [column.tolist() for column in taken.place(2)]
    ([150], [[5], [7]])
    """

    def __init__(
        self,
        data: NDArray[np.uint8],
        first: Ints,
        stop: Ints,
        problems: Problems,
        *,
        numbers: Collection[int] = (),
        eights: Collection[int] = (),
        places: Collection[int] = (),
        lists: Collection[int] = (),
    ) -> None:
        self._data, self._problems = data, problems
        first, stop = (np.ascontiguousarray(column, np.int64) for column in (first, stop))
        fields = [*numbers, *eights, *places, *lists]
        kind, self._slot = np.zeros(max(fields) + 1, np.uint8), np.zeros(max(fields) + 1, np.int64)
        single = len(fields) - len(lists)
        self._slot[fields[:single]] = np.arange(single)
        ways = (kernels.NUMBER, kernels.EIGHT, kernels.PLACE, kernels.LIST)
        for of, way in zip((numbers, eights, places, lists), ways, strict=True):
            kind[list(of)] = way
        state = np.zeros(kernels.TAKE_STATE_SIZE, np.int64)
        self._value = np.zeros((single, len(first)), np.int64)
        self._size = np.full((single, len(first)), kernels.MISSING, np.int64)
        # Memory that is not written is not taken.
        room = int((stop - first).sum()) // 2 if lists else 0
        rows = np.empty((4, room), np.int64)
        kernels.take_fields(data, first, stop, kind, self._slot, state, self._value, self._size, *rows)
        note_state(state, _is_last(state, stop, len(data)), problems)
        self._owner, self._number, self._begin, self._end = rows[:, : state[kernels.S_ROWS]]
        self._is_one_list = len(lists) == 1

    def number(self, field: int, other: int = 0) -> Ints:
        """Return a varint or a fixed64 of each message.

        Parameters
        ----------
        field : int
        other : int
            Where it is missing.

        Returns
        -------
        int64 (messages,)
        """
        row = self._slot[field]
        value: Ints = self._value[row]
        return np.where(self._size[row] != kernels.MISSING, value, other) if other else value

    def place(self, field: int) -> tuple[Ints, Ints]:
        """Return where the bytes of a field are in each message; two zeros where it is missing.

        Parameters
        ----------
        field : int

        Returns
        -------
        first, stop : int64 (messages,)
        """
        row = self._slot[field]
        return self._value[row], self._value[row] + np.maximum(self._size[row], 0)

    def items(self, field: int) -> tuple[Ints, Ints, Ints]:
        """Return the items of a repeated field: where each is, and the message that it lies in.

        Parameters
        ----------
        field : int

        Returns
        -------
        first, stop, owner : int64 (k,)
        """
        if self._is_one_list:
            return self._begin, self._end, self._owner
        rows = np.flatnonzero(self._number == field)
        return self._begin.take(rows), self._end.take(rows), self._owner.take(rows)


def note_state(state: Ints, is_last: bool, problems: Problems) -> None:
    """Count what a kernel found damaged, and of another kind on the wire than it should be.

    Parameters
    ----------
    state : int64
        As :func:`...kernels.formats.protobuf.fields.take_fields` fills it, or shorter.
    is_last : bool
        Whether the first damaged message ends with the data: alone it is truncated.
    problems : Problems
    """
    if state[kernels.S_DAMAGED]:
        what = "truncated" if state[kernels.S_DAMAGED] == 1 and is_last else "malformed"
        problems.add(what, f"byte {state[kernels.S_BYTE]:,}", int(state[kernels.S_DAMAGED]))
    if len(state) > kernels.S_ODD:
        problems.add("bad value", f"field {state[kernels.S_ODD_NUMBER]}", int(state[kernels.S_ODD]))


def _is_last(state: Ints, stop: Ints, n: int) -> bool:
    """Whether the first damaged message is the end of ``n`` bytes."""
    return bool(state[kernels.S_DAMAGED] and stop[state[kernels.S_MESSAGE]] == n)
