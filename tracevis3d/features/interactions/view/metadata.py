"""Metadata of the drum's elements, for tooltips: calls, sectors, phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.links import Link, Relation, joined, lists
from ....drawing.primitives import Meaning
from ....trace.names import label_of_call
from ..phases import Phases, characteristic, describe, enclosing_call, letter
from .layout import Drum, Ints, Layout

#: A drum's elements of one kind: trace, calls, values, texts.
_Row = tuple[int, Ints, Mapping[str, Any], Mapping[str, Sequence[str]], Sequence[Link]]
#: Pairs of a function and an element up to which a table of all is made.
_TABLE = 1 << 26


class Meanings:
    """Meanings that are being collected: the elements of a kind are numbered over all drums."""

    def __init__(self) -> None:
        self._rows: dict[str, list[_Row]] = {}

    def add(
        self,
        kind: str,
        source: int,
        call: Ints,
        values: Mapping[str, NDArray[Any]] | None = None,
        texts: Mapping[str, Sequence[str]] | None = None,
        links: Sequence[Link] = (),
    ) -> int:
        """Add what the elements of a kind in one drum represent, and return the id of the first.

        Parameters
        ----------
        kind : str
        source : int
        call : int64 (n,)
            In ``Trace.calls``; -1: none.
        values : dict of str to float (n,), optional
        texts : dict of str to sequence of str (n,), optional
        links : sequence of Link
            Of ``n`` ids each; the same ones in each drum.

        Returns
        -------
        int
        """
        rows = self._rows.setdefault(kind, [])
        first = sum(len(row[1]) for row in rows)
        rows.append((source, np.asarray(call, np.int64), values or {}, texts or {}, links))
        return first

    def done(self) -> dict[str, Meaning]:
        """Return the meaning of each kind."""
        return {kind: self._joined(rows) for kind, rows in self._rows.items()}

    @staticmethod
    def _joined(rows: list[_Row]) -> Meaning:
        lengths = [len(row[1]) for row in rows]
        total = sum(lengths)
        calls: dict[int, Ints] = {}
        at = 0
        for source, call, *_ in rows:
            column = calls.setdefault(source, np.full(total, -1, np.int64))
            column[at : at + len(call)] = call
            at += len(call)
        titles = list(dict.fromkeys(title for row in rows for title in row[2]))
        values = tuple(
            (
                title,
                np.concatenate([np.asarray(row[2].get(title, np.full(n, np.nan)), np.float64)
                                for row, n in zip(rows, lengths, strict=True)]),
            )
            for title in titles
        )  # fmt: skip
        titles = list(dict.fromkeys(title for row in rows for title in row[3]))
        texts = tuple(
            (
                title,
                tuple(
                    word for row, n in zip(rows, lengths, strict=True) for word in row[3].get(title, [""] * n)
                ),
                np.arange(total, dtype=np.int64),
            )
            for title in titles
        )
        links = tuple(map(joined, zip(*(row[4] for row in rows), strict=True)))
        return Meaning(tuple(calls.items()), values, texts, links)


def numbered(element: Any, first: int) -> Any:
    """Return an element with its ids counted from ``first``.

    Parameters
    ----------
    element : element of a drawing
    first : int

    Returns
    -------
    element of a drawing
    """
    return replace(element, id=element.id + first) if first else element


def of_sectors(meanings: Meanings, picture: Layout, drum: Drum) -> int:
    """Describe each node of the hierarchy and how much it calls; return the root's id.

    Parameters
    ----------
    meanings : Meanings
        They are added to it.
    picture : Layout
    drum : Drum

    Returns
    -------
    int
    """
    h, found = picture.hierarchy, drum.found
    first, stop = h.first_element()
    columns = {}
    for title, ends in (("calls made", found.caller), ("calls received", found.callee)):
        by_element = np.bincount(ends, drum.counts, found.elements)
        sums = np.concatenate([[0.0], np.cumsum(by_element)])
        columns[title] = sums[stop] - sums[first]
    inside = stop - first
    words = [
        h.title(i) + (f", {units.count(int(inside[i]))} elements" if h.element[i] < 0 else "")
        for i in range(len(h))
    ]
    count = stop - first
    begin = np.concatenate([[0], np.cumsum(count)])
    leaves = np.repeat(first - begin[:-1], count) + np.arange(int(begin[-1]))
    links = (
        Link("part", leaves, first=begin, role="related", answers=False),
        # Only elements themselves are highlighted with what they do, not all that they lie in.
        *(Link(sort, np.asarray(h.element, np.int64), asks=False) for sort in ("part", "end")),
    )
    return meanings.add("sector", drum.source, np.full(len(h), -1), columns, {"element": words}, links)


def of_pairs(drum: Drum, pair: NDArray[np.integer[Any]]) -> tuple[Link, ...]:
    """Return what tubes show: their pair of elements, and each of both.

    Parameters
    ----------
    drum : Drum
    pair : int (n,)
        Of each tube.

    Returns
    -------
    tuple of Link
        A tube asks for its pair, and for the sectors of both elements; it answers where one of them is
        pointed at.
    """
    found, n = drum.found, len(pair)
    ends = np.stack([found.caller[pair], found.callee[pair]], axis=1).astype(np.int64)
    first, thing = lists(np.repeat(np.arange(n), 2), ends.reshape(-1), n)
    return (
        Link("pair", ends[:, 0] * max(found.elements, 1) + ends[:, 1]),
        Link("part", thing, first=first, role="related", asks=False),
        Link("end", thing, first=first, role="related", answers=False),
    )


def functions_of_elements(picture: Layout) -> list[Relation]:
    """Return which functions of each trace belong to which element.

    Parameters
    ----------
    picture : Layout

    Returns
    -------
    list of Relation
        One for each trace.
    """
    made = []
    for drum in picture.drums:
        found, calls = drum.found, drum.trace.calls
        many = max(found.elements, 1)
        codes = [calls.function[found.call].astype(np.int64) * many + found.callee[found.pair]]
        caller = calls.parent[found.call]
        if len(caller) and (caller >= 0).all():
            codes.append(calls.function[caller].astype(np.int64) * many + found.caller[found.pair])
        size = len(drum.trace.functions) * many
        if size <= _TABLE:
            used = np.zeros(size, np.bool_)
            for code in codes:
                used[code] = True
            code = np.flatnonzero(used)
        else:
            code = np.unique(np.concatenate(codes))
        pair = np.stack([code // many, code % many], axis=1)
        made.append(Relation(("function", "part"), (drum.source, 0), pair))
    return made


def of_phases(meanings: Meanings, picture: Layout, drum: Drum, kind: str, phases: Phases) -> int:
    """Describe each phase: its time, its outer call, and who calls whom in it; return the first id.

    Parameters
    ----------
    meanings : Meanings
        They are added to it.
    picture : Layout
    drum : Drum
    kind : str
        What the elements are called.
    phases : Phases
        Those of the drum, or its finer steps.

    Returns
    -------
    int
    """
    found, trace = drum.found, drum.trace
    columns: dict[str, list[str]] = {
        "kind": [], "does": [], "from": [], "to": [], "within": [], "characterized by": [],
    }  # fmt: skip
    does = picture.phases_do() if phases is drum.phases else dict(enumerate(drum.steps_do))
    for i in range(len(phases)):
        low, high = int(phases.edge[i]), int(phases.edge[i + 1])
        inside = enclosing_call(trace, found, low, high)
        main = characteristic(found, found.counts(low, high), drum.counts)
        columns["kind"].append(letter(int(phases.kind[i])))
        columns["does"].append(does.get(int(phases.kind[i]), ""))
        columns["from"].append(units.exact_duration(int(found.time[low])))
        columns["to"].append(units.exact_duration(int(found.time[high - 1])))
        columns["within"].append(label_of_call(trace, inside) if inside >= 0 else "")
        columns["characterized by"].append(
            ", ".join(describe(picture.hierarchy, found, pair) for pair in main)
        )
    calls = np.diff(phases.edge)
    return meanings.add(kind, drum.source, np.full(len(phases), -1), {"calls": calls}, columns)
