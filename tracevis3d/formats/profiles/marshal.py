"""Python's and Ruby's marshalled data, as far as profilers write it: numbers, texts, lists and tables.

Python's own module is not made for files of others, and Ruby's data would need Ruby. Sources: CPython's
``Python/marshal.c``; https://docs.ruby-lang.org/en/master/marshal_rdoc.html
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.scan.numbers import scan_marshalled

_DEEPEST = 50
#: Lists of Ruby's that are as long as this, and hold nothing but numbers, are columns.
_LONG = 1000


class _Bytes:
    """Bytes that are read one after another; IndexError where they end."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data, self._at = data, at

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        if count < 0 or self._at + count > len(self._data):
            raise IndexError
        self._at += count
        return self._data[self._at - count : self._at]


def load_python(data: bytes) -> Any:
    """Return what Python's ``marshal.dump`` wrote.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    object

    Raises
    ------
    ValueError
        If it is damaged, or holds anything but numbers, texts, tuples, lists, dictionaries and code.
    """
    reasons: list[Exception] = []
    for layout in _LAYOUTS:
        reader = _Python(data, layout)
        try:
            return reader.value(0)
        except (IndexError, struct.error, TypeError, KeyError, OverflowError, ValueError) as error:
            reasons.append(error)
        if not reader.has_code:
            break
    if type(reasons[0]) is ValueError:
        raise reasons[0]
    raise ValueError("the marshalled data is damaged") from reasons[0]


_NULL = object()


_int_at, _float_at = struct.Struct("<i").unpack_from, struct.Struct("<d").unpack_from
#: What the byte of a value says, without the bit that it is referred to later.
_REFERENCE, _INT, _FLOAT, _LONG_INT, _SHORT_TUPLE, _TABLE, _END = b"rigl){0"
_TUPLES, _SHORT_TEXTS, _TEXTS = b"([", b"zZ", b"sutaA"
_PLAIN = {ord("N"): None, ord("T"): True, ord("F"): False, ord("."): ..., ord("S"): None, _END: _NULL}
#: What constants of a code object are besides: sets, complex numbers, slices; and that object itself.
_SETS, _COMPLEX, _SLICE, _CODE = b"<>", ord("y"), ord(":"), ord("c")
#: Code objects since Python 3.11, 3.8 and 3.0: how many numbers and then values they begin with, which of
#: these is the file, before the name, and how many values follow the line.
_LAYOUTS = ((5, 8, 5, 2), (6, 8, 6, 1), (5, 8, 6, 1))


class _Python(_Bytes):
    def __init__(self, data: bytes, layout: tuple[int, int, int, int]) -> None:
        super().__init__(data)
        self._known: list[Any] = []
        self._layout = layout
        self.has_code = False

    def value(self, depth: int) -> Any:
        """Return the next value."""
        # Half of all time is spent here: the most frequent kinds come first, and nothing is called for them.
        data, at = self._data, self._at
        first = data[at]
        kind = first & 0x7F
        if kind == _REFERENCE:
            self._at = at + 5
            return self._known[_int_at(data, at + 1)[0]]
        place = -1
        if first & 0x80:
            place = len(self._known)
            self._known.append(None)
        found: Any
        if kind == _INT:
            self._at = at + 5
            (found,) = _int_at(data, at + 1)
        elif kind == _FLOAT:
            self._at = at + 9
            (found,) = _float_at(data, at + 1)
        elif kind == _SHORT_TUPLE or kind in _TUPLES:
            if depth >= _DEEPEST:
                raise ValueError("the marshalled data is nested too deeply")
            count = data[at + 1] if kind == _SHORT_TUPLE else _int_at(data, at + 1)[0]
            self._at = at + (2 if kind == _SHORT_TUPLE else 5)
            found = tuple([self.value(depth + 1) for _ in range(self._count(count))])
        elif kind in _SHORT_TEXTS or kind in _TEXTS:
            size = data[at + 1] if kind in _SHORT_TEXTS else _int_at(data, at + 1)[0]
            self._at = at + (2 if kind in _SHORT_TEXTS else 5)
            found = self.take(size).decode("utf-8", "replace")
        elif kind == _TABLE:
            if depth >= _DEEPEST:
                raise ValueError("the marshalled data is nested too deeply")
            self._at, found = at + 1, {}
            while (key := self.value(depth + 1)) is not _NULL:
                found[key] = self.value(depth + 1)
        elif kind in _PLAIN:
            self._at, found = at + 1, _PLAIN[kind]
        elif kind == _LONG_INT:
            self._at = at + 5
            (count,) = _int_at(data, at + 1)
            digits = struct.unpack(f"<{abs(count)}H", self.take(2 * abs(count)))
            found = sum(digit << (15 * power) for power, digit in enumerate(digits[:20]))
            found = -found if count < 0 else found
        elif kind in _SETS:
            if depth >= _DEEPEST:
                raise ValueError("the marshalled data is nested too deeply")
            self._at = at + 5
            found = tuple([self.value(depth + 1) for _ in range(self._count(_int_at(data, at + 1)[0]))])
        elif kind == _COMPLEX:
            self._at = at + 1
            found = complex(*struct.unpack("<dd", self.take(16)))
        elif kind == _SLICE:
            self._at = at + 1
            found = tuple([self.value(depth + 1) for _ in range(3)])
        elif kind == _CODE:
            self._at = at + 1
            found = self._code(depth)
        else:
            raise ValueError(f"the marshalled data holds something else ({chr(kind)!r})")
        if place >= 0:
            self._known[place] = found
        return found

    def _count(self, count: int) -> int:
        """Return how many values follow; IndexError if there are fewer bytes."""
        if not 0 <= count <= len(self._data) - self._at:
            raise IndexError
        return count

    def _code(self, depth: int) -> str:
        """Return the name of a code object: the profiler in Python has one as the name of the script."""
        if depth >= _DEEPEST:
            raise ValueError("the marshalled data is nested too deeply")
        # Which Python wrote it is not said. One layout is tried for all of a file: time would multiply.
        self.has_code = True
        numbers, before, file, behind = self._layout
        self.take(4 * numbers)
        values = [self.value(depth + 1) for _ in range(before)]
        self.take(4)
        values += [self.value(depth + 1) for _ in range(behind)]
        if not all(isinstance(one, str) for one in (values[0], values[file], values[file + 1], values[-1])):
            raise IndexError
        return str(values[file + 1])


def load_ruby(data: bytes) -> Any:
    """Return what Ruby's ``Marshal.dump`` wrote; symbols are texts, long lists of whole numbers columns.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    object

    Raises
    ------
    ValueError
        If it is damaged, or holds anything but numbers, texts, symbols, arrays and hashes.
    """
    try:
        if data[:2] != b"\x04\x08":
            raise IndexError
        return _Ruby(data, 2).value(0)
    except (IndexError, TypeError, KeyError, OverflowError) as error:
        raise ValueError("the marshalled data is damaged") from error


class _Ruby(_Bytes):
    def __init__(self, data: bytes, at: int) -> None:
        super().__init__(data, at)
        self._symbols: list[str] = []
        self._objects: list[Any] = []
        self._column = np.frombuffer(data, np.uint8)

    def _whole(self) -> int:
        first = struct.unpack("b", self.take(1))[0]
        if first == 0:
            return 0
        if abs(first) > 4:
            return int(first - 5 if first > 0 else first + 5)
        value = int.from_bytes(self.take(abs(first)), "little")
        return value if first > 0 else value - (1 << (8 * -first))

    def _keep(self, found: Any) -> Any:
        self._objects.append(found)
        return found

    def _numbers(self, most: int) -> NDArray[np.int64]:
        """Return the numbers that come next, up to ``most``: large lists hold little else."""
        # A number takes two bytes at least.
        out = np.empty(min(most, (len(self._data) - self._at) // 2), np.int64)
        is_object = np.empty(len(out), np.uint8)
        count, self._at = scan_marshalled(self._column, self._at, out, is_object)
        self._objects += out[:count][is_object[:count] > 0].tolist()
        return out[:count]

    def value(self, depth: int) -> Any:
        """Return the next value."""
        kind = chr(self.take(1)[0])
        if depth > _DEEPEST:
            raise ValueError("the marshalled data is nested too deeply")
        if kind in "0TF":
            return {"0": None, "T": True, "F": False}[kind]
        if kind == "i":
            return self._whole()
        if kind == ":":
            self._symbols.append(self.take(self._whole()).decode("utf-8", "replace"))
            return self._symbols[-1]
        if kind == ";":
            return self._symbols[self._whole()]
        if kind == "@":
            return self._objects[self._whole()]
        if kind == '"':
            return self._keep(self.take(self._whole()).decode("utf-8", "replace"))
        if kind == "f":
            return self._keep(float(self.take(self._whole())))
        if kind == "l":
            sign = self.take(1)
            value = int.from_bytes(self.take(2 * self._whole()), "little")
            return self._keep(-value if sign == b"-" else value)
        if kind == "I":
            found = self.value(depth + 1)
            for _ in range(self._whole()):
                self.value(depth + 1), self.value(depth + 1)
            return found
        if kind == "[":
            rows: list[Any] = self._keep([])
            count = self._whole()
            while len(rows) < count:
                if depth < _DEEPEST and self._data[self._at : self._at + 1] in (b"i", b"l"):
                    numbers = self._numbers(count - len(rows))
                    if len(numbers) == count >= _LONG:
                        return numbers
                    rows += numbers.tolist()
                if len(rows) < count:
                    rows.append(self.value(depth + 1))
            return rows
        if kind in "{}":
            table: dict[Any, Any] = self._keep({})
            for _ in range(self._whole()):
                key = self.value(depth + 1)
                table[key] = self.value(depth + 1)
            if kind == "}":
                self.value(depth + 1)
            return table
        raise ValueError(f"the marshalled data holds something else ({kind!r})")
