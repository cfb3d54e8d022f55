"""Links: what elements show beside calls. Elements that share a thing are linked, in all views of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: The role of a linked element: the same as the element pointed at, related to it, or its counterpart.
Role = Literal["same", "related", "matched"]

#: Sorts of things that are shared by all views of a trace; others belong to one drawing.
SHARED = ("call", "function", "thread", "object", "block", "site", "start")


@dataclass(frozen=True, eq=False)
class Link:
    """What the elements of a kind show of one sort of things.

    Attributes
    ----------
    sort : str
        One of :data:`SHARED`, or a word of the drawing's own. ``start`` is a range of time: of calls that
        start in it.
    thing : int (n,) or (m,)
        What each id shows; -1: nothing.
    first : int64 (n + 1,) or (0,)
        Id ``i`` shows ``thing[first[i]:first[i + 1]]``; empty: each shows one thing.
    stop : int64 (n,) or (0,)
        For ranges: id ``i`` shows all from ``thing[i]`` up to, but without, ``stop[i]``.
    role : {"same", "related", "matched"}
        What the element is to the thing.
    asks : bool
        Pointing at the element highlights others that show these things.
    answers : bool
        The element is highlighted where others that show these things are pointed at.
    source : int
        Which of the view's traces the things are of.
    """

    sort: str
    thing: Ints | NDArray[np.int32]
    first: Ints = None  # type: ignore[assignment]  # made below: of the length of nothing
    stop: Ints = None  # type: ignore[assignment]
    role: Role = "same"
    asks: bool = True
    answers: bool = True
    source: int = 0

    def __post_init__(self) -> None:
        for name in ("thing", "first", "stop"):
            given = getattr(self, name)
            held = np.empty(0, np.int64) if given is None else np.asarray(given, np.int64)
            object.__setattr__(self, name, held)

    def __len__(self) -> int:
        return len(self.first) - 1 if len(self.first) else len(self.thing)

    def of(self, element: int) -> Ints:
        """Return the things of one id, int64 (k,); of ranges begin and end, (k, 2)."""
        if len(self.stop):
            return np.array([[self.thing[element], self.stop[element]]], np.int64)
        if len(self.first):
            return np.asarray(self.thing[self.first[element] : self.first[element + 1]], np.int64)
        found = np.asarray(self.thing[element : element + 1], np.int64)
        return found[found >= 0]

    def taken(self, ids: Ints) -> Link:
        """Return the link of some ids, in their order; ids that are none of its own show nothing.

        Parameters
        ----------
        ids : int64 (k,)

        Returns
        -------
        Link
            Of ``k`` ids.
        """
        known = (ids >= 0) & (ids < len(self))
        if not len(self):
            return replace(self, thing=np.full(len(ids), -1), first=None, stop=None)  # type: ignore[arg-type]
        at = np.where(known, ids, 0)
        if not len(self.first):
            stop = np.where(known, self.stop[at], -1) if len(self.stop) else self.stop
            return replace(self, thing=np.where(known, self.thing[at], -1), stop=stop)
        count = np.where(known, self.first[at + 1] - self.first[at], 0)
        first = np.concatenate([[0], np.cumsum(count)])
        which = np.repeat(self.first[at] - first[:-1], count) + np.arange(int(first[-1]))
        return replace(self, thing=self.thing[which], first=first)

    def sharing(self, things: Ints) -> NDArray[np.bool_]:
        """Return which ids show one of ``things``, or of ranges what lies in one of them: bool (n,).

        Parameters
        ----------
        things : int64 (k,) or (k, 2)
            Things, or ranges of them.

        Returns
        -------
        bool (n,)
        """
        if not len(things):
            return np.zeros(len(self), np.bool_)
        if len(self.stop):
            low, high = (things, things + 1) if things.ndim == 1 else (things[:, 0], things[:, 1])
            order = np.argsort(low, kind="stable")
            low, high = low[order], np.maximum.accumulate(high[order])
            # Of the ranges that begin before its end, one reaches beyond its begin.
            before = np.searchsorted(low, self.stop, "left")
            return np.asarray((before > 0) & (high[np.maximum(before, 1) - 1] > self.thing))
        hit = (
            _within(self.thing.astype(np.int64), things) if things.ndim == 2 else np.isin(self.thing, things)
        )
        hit &= self.thing >= 0
        if not len(self.first):
            return hit
        total = np.concatenate([[0], np.cumsum(hit)])
        return np.asarray(total[self.first[1:]] > total[self.first[:-1]])


def _within(thing: Ints, ranges: Ints) -> NDArray[np.bool_]:
    order = np.argsort(ranges[:, 0], kind="stable")
    low, high = ranges[order, 0], np.maximum.accumulate(ranges[order, 1])
    before = np.searchsorted(low, thing, "right")
    return np.asarray((before > 0) & (high[np.maximum(before, 1) - 1] > thing))


@dataclass(frozen=True, eq=False)
class Relation:
    """Which things of one sort belong to which of another; it leads from either to the other.

    Attributes
    ----------
    sorts : (str, str)
        As :attr:`Link.sort`.
    sources : (int, int)
        As :attr:`Link.source`.
    pair : int64 (n, 2)
        A thing of the first sort and one of the second.
    role : {"same", "related", "matched"}
        What elements that are reached by it are to what is pointed at.
    """

    sorts: tuple[str, str]
    sources: tuple[int, int]
    pair: Ints
    role: Role = "related"

    def reached(self, side: int, things: Ints) -> Ints:
        """Return what ``things`` of the sort on one side belong to on the other, ascending, int64 (k,).

        Parameters
        ----------
        side : int
            0 or 1: on which side ``things`` are.
        things : int64 (m,)

        Returns
        -------
        int64 (k,)
        """
        return np.asarray(np.unique(self.pair[np.isin(self.pair[:, side], things), 1 - side]))


def weaker(one: Role, other: Role) -> Role:
    """Return what is linked by a chain of two roles.

    Parameters
    ----------
    one, other : {"same", "related", "matched"}

    Returns
    -------
    {"same", "related", "matched"}

    Examples
    --------
    >>> weaker("same", "matched"), weaker("same", "same"), weaker("matched", "matched")
    ('matched', 'same', 'related')
    """
    if "same" in (one, other):
        return other if one == "same" else one
    return "related"


def joined(links: Sequence[Link]) -> Link:
    """Return links of one sort and role as one: the ids of the first, then those of the next.

    Parameters
    ----------
    links : sequence of Link
        At least one; all with lists of things, or none.

    Returns
    -------
    Link
    """
    thing, stop = (np.concatenate([getattr(link, part) for link in links]) for part in ("thing", "stop"))
    if not any(len(link.first) for link in links):
        return replace(links[0], thing=thing, stop=stop)
    count = np.concatenate([np.diff(link.first) for link in links])
    return replace(links[0], thing=thing, first=np.concatenate([[0], np.cumsum(count)]))


def lists(owner: Iterable[int] | Ints, thing: Iterable[int] | Ints, n: int) -> tuple[Ints, Ints]:
    """Return ``first`` and ``thing`` of a :class:`Link` from pairs of an id and a thing.

    Parameters
    ----------
    owner : int (m,)
        Ids from 0 up to, but without, ``n``.
    thing : int (m,)
    n : int
        How many ids there are.

    Returns
    -------
    (int64 (n + 1,), int64 (k,))
        Each pair once, the things of an id ascending.
    """
    pairs = np.stack([np.asarray(owner, np.int64), np.asarray(thing, np.int64)], axis=1)
    pairs = np.unique(pairs, axis=0) if len(pairs) else pairs.reshape(0, 2)
    return np.searchsorted(pairs[:, 0], np.arange(n + 1)).astype(np.int64), pairs[:, 1]
