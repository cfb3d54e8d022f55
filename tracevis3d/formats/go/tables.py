"""The texts and stacks of an execution trace of Go, whichever version wrote it, and events that name them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.go.follow import MOST, fill_places
from ...kernels.intern import InternedNames
from ..distinct import distinct, numbered

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Names:
    """Texts and stacks.

    Attributes
    ----------
    texts : list of str
    same : int64 (texts,)
        Equal texts have the same number, by the order of their appearance: each part of a trace has them
        again.
    functions, files, lines : int64 (frames,)
        Frames of stacks, the innermost of each first: indices of texts (-1: none), and lines.
    first, many : int64 (stacks,)
        The frames of each stack.
    text_of, stack_of : Numbers
        Rows of texts and stacks.
    """

    texts: list[str]
    same: Ints
    functions: Ints
    files: Ints
    lines: Ints
    first: Ints
    many: Ints
    text_of: Numbers
    stack_of: Numbers

    @classmethod
    def of(cls, data: memoryview, strings: Ints, stacks: Ints, frames: Ints) -> Names:
        """Return the texts and stacks that the scanners' tables say.

        Parameters
        ----------
        data : memoryview
            All of the trace.
        strings : int64 (strings, 4)
        stacks : int64 (stacks, 4)
        frames : int64 (frames, 3)
            As :func:`.scan.scan_go` fills them.

        Returns
        -------
        Names
        """
        text_of = Numbers(strings[:, 0], strings[:, 1])
        generation = np.repeat(stacks[:, 0], stacks[:, 3])
        column, low = np.frombuffer(data.toreadonly(), np.uint8), strings[:, 2].copy()
        interned = InternedNames()
        same, count = interned.all_of(column, low, low + strings[:, 3])
        known = interned.texts(column, count)
        return cls(
            texts=[known[number] for number in same.tolist()],
            same=same,
            functions=text_of.find(generation, frames[:, 0]),
            files=text_of.find(generation, frames[:, 1]),
            lines=np.where((frames[:, 2] > 0) & (frames[:, 2] < 1 << 31), frames[:, 2], 0),
            first=stacks[:, 2],
            many=stacks[:, 3],
            text_of=text_of,
            stack_of=Numbers(stacks[:, 0], stacks[:, 1]),
        )


@dataclass(frozen=True, eq=False)
class Tables:
    """What a trace contains beside changes of goroutines' states.

    Attributes
    ----------
    is_old : bool
        Whether Go 1.21 or before wrote it.
    at : int64 (n,)
        The byte of each event. They are ordered by part of the trace, then by what wrote them, then as they
        were written.
    generation : int64 (n,)
        The part of the trace that each is in.
    time : int64 (n,)
        Nanoseconds.
    kind : int64 (n,)
    said : int64 (columns, n)
        What each event says.
    running : int64 (n,)
        The goroutine that runs where it is written, just before it: a place among all; -1: none.
    names : Names
    """

    is_old: bool
    at: Ints
    generation: Ints
    time: Ints
    kind: Ints
    said: Ints
    running: Ints
    names: Names

    def text(self, events: Ints, column: int) -> Ints:
        """Return the texts that events name.

        Parameters
        ----------
        events : int64 (k,)
        column : int
            Of what they say.

        Returns
        -------
        int64 (k,)
            Indices; -1 if there is no such text.
        """
        return self.names.text_of.find(self.generation[events], self.said[column, events])


class Numbers:
    """Finds rows by generation and number; of equal ones the last counts.

    Parameters
    ----------
    generation, number : int64 (rows,)
    """

    def __init__(self, generation: Ints, number: Ints) -> None:
        self._generations = np.unique(generation)
        fits = (number > -MOST) & (number < MOST)
        key = self._key(generation, number)
        order = np.flatnonzero(fits)[np.argsort(key[fits], kind="stable")]
        self._keys, self._rows = key[order], order

    def table(self) -> tuple[Ints, NDArray[np.int32]]:
        """Return what :func:`.follow.fill_places` fills.

        Returns
        -------
        keys : int64 (2**k,)
        rows : int32 (2**k,)
        """
        size = 1 << max(2 * len(self._keys), 1).bit_length()
        keys, rows = np.empty(size, np.int64), np.full(size, -1, np.int32)
        fill_places(self._keys, self._rows, keys, rows)
        return keys, rows

    def begins(self, generation: Ints) -> Ints:
        """Return what the keys of generations begin with.

        Parameters
        ----------
        generation : int64 (n,)

        Returns
        -------
        int64 (n,)
            -1: it has no rows.
        """
        place = np.searchsorted(self._generations, generation)
        is_known = np.append(self._generations, -1)[place] == generation
        return np.where(is_known, place * (2 * MOST), -1)

    def _key(self, generation: Ints, number: Ints) -> Ints:
        return np.asarray(np.searchsorted(self._generations, generation) * (2 * MOST) + number)

    def find(self, generation: Ints, number: Ints) -> Ints:
        """Return the row of each.

        Parameters
        ----------
        generation, number : int64 (n,)

        Returns
        -------
        int64 (n,)
            -1 if there is none.
        """
        if not len(self._rows) or not len(number):
            return np.full(len(number), -1, np.int64)
        parts, part = distinct(generation)
        place = np.searchsorted(self._generations, parts)
        is_known = self._generations[np.minimum(place, len(self._generations) - 1)] == parts
        # Above all keys, so that it is none of them.
        begin = np.where(is_known, place, len(self._generations)) * (2 * MOST)
        fits = (number > -MOST) & (number < MOST)
        # Few different ones are named again and again.
        keys, of = numbered(begin[part] + np.where(fits, number, MOST))
        at = np.searchsorted(self._keys, keys, side="right") - 1
        found = np.maximum(at, 0)
        return np.where((at >= 0) & (self._keys[found] == keys), self._rows[found], -1)[of]
