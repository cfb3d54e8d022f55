"""A column of strings: one UTF-8 blob and offsets, decoded when read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Strings(Sequence[str]):
    """Strings as they are stored: string ``i`` is ``data[offsets[i]:offsets[i + 1]]`` in UTF-8.

    Attributes
    ----------
    data : uint8 array of shape (bytes,)
    offsets : int64 array of shape (n + 1,)
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Strings:
        """Encode ``texts``; lone surrogates become U+FFFD, so any Python string can be stored."""
        known = [*texts]
        blob = "".join(known)
        sizes: Iterable[int] = map(len, known)
        data = blob.encode("utf-8", "surrogatepass")
        if len(data) > len(blob):
            encoded = (one.encode("utf-8", "surrogatepass") for one in known)
            parts = [one.decode("utf-8", "replace").encode() for one in encoded]
            sizes, data = map(len, parts), b"".join(parts)
        offsets = np.zeros(len(known) + 1, np.int64)
        np.cumsum(np.fromiter(sizes, np.int64, len(known)), out=offsets[1:])
        return cls(np.frombuffer(data, np.uint8), offsets)

    @classmethod
    def empty(cls) -> Strings:
        """Return a column without strings."""
        return cls.of(())

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        blob = self.data.tobytes()
        bounds = self.offsets.tolist()
        for low, high in pairwise(bounds):
            yield blob[low:high].decode("utf-8", "replace")

    def titles(self) -> Strings:
        """Return what people call its rows: the strings themselves."""
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strings):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]
