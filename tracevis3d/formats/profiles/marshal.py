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
        If it is damaged, or holds anything but numbers, texts, tuples, lists and dictionaries.
    """
    try:
        return _Python(data).value(0)
    except (IndexError, struct.error, UnicodeDecodeError, TypeError, KeyError, OverflowError) as error:
        raise ValueError("the marshalled data is damaged") from error


_NULL = object()


class _Python(_Bytes):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._known: list[Any] = []

    def _whole(self) -> int:
        return int(struct.unpack("<i", self.take(4))[0])

    def value(self, depth: int) -> Any:
        """Return the next value."""
        first = self.take(1)[0]
        is_known_later, kind = bool(first & 0x80), chr(first & 0x7F)
        if depth > _DEEPEST:
            raise ValueError("the marshalled data is nested too deeply")
        if kind == "r":
            return self._known[self._whole()]
        place = len(self._known)
        if is_known_later:
            self._known.append(None)
        found = self._plain(kind, depth)
        if is_known_later:
            self._known[place] = found
        return found

    def _plain(self, kind: str, depth: int) -> Any:
        if kind in "0NTF":
            return {"0": _NULL, "N": None, "T": True, "F": False}[kind]
        if kind == "i":
            return self._whole()
        if kind == "l":
            count = self._whole()
            digits = struct.unpack(f"<{abs(count)}H", self.take(2 * abs(count)))
            value = sum(digit << (15 * place) for place, digit in enumerate(digits[:20]))
            return -value if count < 0 else value
        if kind == "g":
            return struct.unpack("<d", self.take(8))[0]
        if kind in "sutaAzZ":
            size = self.take(1)[0] if kind in "zZ" else self._whole()
            return self.take(size).decode("utf-8", "replace")
        if kind in "()[":
            count = self.take(1)[0] if kind == ")" else self._whole()
            if count < 0:
                raise IndexError
            return tuple(self.value(depth + 1) for _ in range(min(count, 1 << 24)))
        if kind == "{":
            found: dict[Any, Any] = {}
            while (key := self.value(depth + 1)) is not _NULL:
                found[key] = self.value(depth + 1)
            return found
        raise ValueError(f"the marshalled data holds something else ({kind!r})")


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
