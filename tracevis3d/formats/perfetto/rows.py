"""What the packets of a Perfetto trace say, in columns: rows of events and of flows, and their names."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.protobuf import track_events as kernels
from ...kernels.intern import InternedNames
from ...trace.recording import Recording

#: Rows, and rows of flows, that are written before the next ones get room: the least and the most; and how
#: many bytes of a file one takes at least.
_ROOM, _MOST_ROOM, _ROW = 1 << 18, 1 << 20, 8
#: Columns of so many bytes get large pages, which take less time to lend.
_LARGE = 1 << 22
#: Rows that are looked at together where all at once would need as much memory again.
_PIECE = 1 << 20
#: Bytes that begins and ends take while calls are built of them, beyond those of their rows.
_BUILDING = 26
#: What a slice, an instant or a span without a name is called.
UNNAMED = "(unnamed)"


class Pairs:
    """Numbers pairs of uint64 in order of appearance, for kernels and for Python.

    Parameters
    ----------
    capacity : int
        Pairs that it has room for at first; a power of two.

    Attributes
    ----------
    first, second : uint64 (capacity,)
    slots : int32 (2 * capacity,)
    """

    def __init__(self, capacity: int = 1024) -> None:
        self.first, self.second = np.zeros((2, capacity), np.uint64)
        self.slots: NDArray[np.int32] = np.full(2 * capacity, -1, np.int32)

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.uint64]]:
        """Return what the kernels take, in their order."""
        return self.slots, self.first, self.second

    def find(self, first: int, second: int) -> int:
        """Return the number of a pair.

        Parameters
        ----------
        first, second : int
            0 to 2**64 - 1.

        Returns
        -------
        int
            Below 0 if it is new.
        """
        return int(kernels.find_pair(np.uint64(first), np.uint64(second), *self.arrays))

    def add(self, first: int, second: int, count: int) -> int:
        """Return the number of a pair, which is added if it is new.

        Parameters
        ----------
        first, second : int
            0 to 2**64 - 1.
        count : int
            How many pairs there are: the number of a new one.

        Returns
        -------
        int
        """
        found = self.find(first, second)
        if found >= 0:
            return found
        if count >= len(self.first):
            self.grow(count)
            found = self.find(first, second)
        self.slots[-1 - found] = count
        self.first[count], self.second[count] = first, second
        return count

    def grow(self, count: int) -> None:
        """Double the room.

        Parameters
        ----------
        count : int
            How many pairs there are.
        """
        room = 2 * len(self.first)
        self.first, self.second = np.resize(self.first, room), np.resize(self.second, room)
        self.slots = np.full(2 * room, -1, np.int32)
        kernels.fill_pairs(self.slots, self.first, self.second, count)


class _Columns:
    """Columns that get more room as they fill: full parts, and the one that is written to.

    Of the column ``more``, zeros take no memory: few rows have anything else, and it is only read.
    """

    def __init__(self, room: int, **dtypes: type[np.generic]) -> None:
        self._dtypes = dtypes
        self._full: list[list[NDArray[Any]]] = [[] for _ in dtypes]
        self.last = self._empty(room)

    def _empty(self, room: int) -> tuple[NDArray[Any], ...]:
        return tuple(_lent(room, dtype) for dtype in self._dtypes.values())

    def close(self, used: int) -> None:
        """Begin a new part; ``used`` rows of the last one are written."""
        # A packet with more flows than a part holds needs a longer one.
        following = self._empty(len(self.last[0]) if used else 2 * len(self.last[0]))
        is_kept = self._keep(used)
        self.last = tuple(
            new if kept else old for kept, new, old in zip(is_kept, following, self.last, strict=True)
        )

    def _keep(self, used: int) -> list[bool]:
        """Add the rows of the last part to the full ones; return which columns lie there now."""
        is_kept = []
        for name, parts, column in zip(self._dtypes, self._full, self.last, strict=True):
            is_zero = name == "more" and not column[:used].any()
            parts.append(_zeros(used) if is_zero else column[:used])
            is_kept.append(not (is_zero and used))
        return is_kept

    def take(self, used: int) -> dict[str, NDArray[Any]]:
        """Return all columns, of whose last part ``used`` rows are written; they are gone here."""
        self._keep(used)
        self.last = self._empty(0)
        found: dict[str, NDArray[Any]] = {}
        for name, parts in zip(self._dtypes, self._full, strict=True):
            is_zero = name == "more" and not any(part.strides[0] for part in parts)
            if is_zero:
                found[name] = _zeros(sum(map(len, parts)))
            else:
                found[name] = parts[0] if len(parts) == 1 else np.concatenate(parts)
            # They go before the next column is joined.
            parts.clear()
        return found

    def __len__(self) -> int:
        """The rows of full parts."""
        return sum(map(len, self._full[0]))


def _zeros(count: int) -> NDArray[np.int64]:
    return np.broadcast_to(np.int64(0), count)


def _lent(room: int, dtype: np.typing.DTypeLike) -> NDArray[Any]:
    """Return a column in pages that the system lends as they are written, and gets back.

    Pieces that NumPy frees stay with the process.
    """
    size = room * np.dtype(dtype).itemsize
    if not size:
        return np.empty(0, dtype)
    # Private, so that it counts as this process's.
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
    pages = mmap.mmap(-1, size, **private)
    if size >= _LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # not every kernel has them
            pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype)


class Rows:
    """The rows that packets make, written by the kernel or one by one.

    Parameters
    ----------
    recording : Recording
        Gets what has no name, as a problem.
    size : int
        Bytes of the file: how many rows there may be.

    Attributes
    ----------
    tracks : Pairs
        Tracks by uuid and 0, or by process and 1 + the thread's id.
    names : Pairs
        Names by the number of a sequence's table, and the number there.
    state : int64 (track_events.STATE_SIZE,)
        That of the kernel.
    """

    def __init__(self, recording: Recording, size: int = 0) -> None:
        self._recording = recording
        room = min(max(size // _ROW, _ROOM), _MOST_ROOM)
        self.state: NDArray[np.int64] = np.zeros(kernels.STATE_SIZE, np.int64)
        self.tracks, self.names = Pairs(), Pairs()
        self._texts: dict[str, int] = {}
        self._events = _Columns(
            room, place=np.int64, track=np.int32, kind=np.uint8, name=np.int32, time=np.int64, more=np.int64
        )
        self._flows = _Columns(room, flow=np.uint64, track=np.int32, time=np.int64, ends=np.uint8)
        self._places: NDArray[np.int64] | NDArray[np.uint32] = np.empty(0, np.int64)

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """Return the columns that the kernel writes to, in its order."""
        return *self._events.last, *self._flows.last

    def text(self, text: str) -> int:
        """Return the number of a name.

        Parameters
        ----------
        text : str

        Returns
        -------
        int
            NO_NAME if it is empty.
        """
        return self._texts.setdefault(text, len(self._texts)) if text else kernels.NO_NAME

    def track(self, first: int, second: int = 0) -> int:
        """Return the number of a track.

        Parameters
        ----------
        first, second : int
            Its key in :attr:`tracks`.

        Returns
        -------
        int
        """
        mask = (1 << 64) - 1
        found = self.tracks.add(first & mask, second & mask, int(self.state[kernels.TRACKS]))
        self.state[kernels.TRACKS] = max(self.state[kernels.TRACKS], found + 1)
        return found

    def add(self, place: int, track: int, kind: int, name: int, time: int, more: int = 0) -> None:
        """Write a row as the kernel does.

        Parameters
        ----------
        place : int
            The packet's byte.
        track, kind, name : int
            As the kernel numbers them.
        time : int
            Nanoseconds.
        more : int
            The end of a complete slice, a counter's value, or a float's bits.
        """
        at = int(self.state[kernels.ROWS])
        if at >= len(self._events.last[0]):
            self._make_room()
            at = 0
        row = (place, track, kind, name, time, more)
        for column, value in zip(self._events.last, row, strict=True):
            column[at] = value
        self.state[kernels.ROWS] = at + 1

    def add_flow(self, flow: int, track: int, time: int, ends: int) -> None:
        """Write a row of a flow as the kernel does.

        Parameters
        ----------
        flow : int
            Its id.
        track : int
            The track's number.
        time : int
            Nanoseconds.
        ends : {0, 1}
            Whether it ends there.
        """
        at = int(self.state[kernels.FLOWS])
        if at >= len(self._flows.last[0]):
            self._make_room()
            at = 0
        for column, value in zip(self._flows.last, (flow, track, time, ends), strict=True):
            column[at] = value
        self.state[kernels.FLOWS] = at + 1

    def _make_room(self) -> None:
        if self.state[kernels.ROWS] >= len(self._events.last[0]):
            self._events.close(int(self.state[kernels.ROWS]))
            self.state[kernels.ROWS] = 0
        else:
            self._flows.close(int(self.state[kernels.FLOWS]))
            self.state[kernels.FLOWS] = 0

    def grow(self, texts: InternedNames) -> None:
        """Make room wherever the kernel may have found none.

        Parameters
        ----------
        texts : InternedNames
            The names of the buffer that it reads.
        """
        state = self.state
        if state[kernels.TEXTS] >= len(texts.starts):
            texts.grow(int(state[kernels.TEXTS]))
        elif state[kernels.TRACKS] >= len(self.tracks.first):
            self.tracks.grow(int(state[kernels.TRACKS]))
        elif state[kernels.NAMES] >= len(self.names.first):
            self.names.grow(int(state[kernels.NAMES]))
        else:
            self._make_room()

    def take_texts(self, first: int, number_of: NDArray[np.int32]) -> None:
        """Give rows of the last part, from ``first`` on, the numbers here of a buffer's names.

        Parameters
        ----------
        first : int
        number_of : int32 (k,)
            By the buffer's own number.
        """
        name = self._events.last[3][first : int(self.state[kernels.ROWS])]
        is_text = name >= 0
        name[is_text] = number_of[name[is_text]]

    # -- the end -------------------------------------------------------------------------------

    def bytes_to_build(self) -> int:
        """Return how much memory all that follows takes at least, beyond the rows."""
        return _BUILDING * (len(self._events) + int(self.state[kernels.ROWS]))

    def place(self, event: int) -> str:
        """Name the place of an event.

        Parameters
        ----------
        event : int
            Its number among the slices' begins and ends.

        Returns
        -------
        str
        """
        if event < len(self._places):
            return f"the packet at byte {self._places[event]:,}"
        return f"event {event + 1:,}"

    def finish(self, tables: list[dict[int, str]]) -> Finished:
        """Return all rows with their names, sorted by what they are.

        Parameters
        ----------
        tables : list of dict of int to str
            The names of each table of a sequence.

        Returns
        -------
        Finished
        """
        rows = self._events.take(int(self.state[kernels.ROWS]))
        flows = self._flows.take(int(self.state[kernels.FLOWS]))
        count = int(self.state[kernels.NAMES])
        pairs = zip(self.names.first[:count].tolist(), self.names.second[:count].tolist(), strict=True)
        of_pair = [self.text(tables[table].get(number, "")) for table, number in pairs]
        # A name by number is below NO_NAME, counted down.
        number_of = np.array([*range(len(self._texts)), *of_pair[::-1], kernels.NO_NAME], np.int32)
        renumber(rows["name"], number_of)
        kind = rows["kind"]
        has_name = (kind != kernels.END) & (kind <= kernels.INSTANT)
        without = np.flatnonzero(has_name & (rows["name"] < 0))
        if len(without):
            first = f"the packet at byte {rows['place'][without[0]]:,}"
            self._recording.problems.add("no name", first, len(without))
        is_event = kind <= kernels.COMPLETE
        self._places = rows["place"] if is_event.all() else rows["place"][is_event]
        if self._places.max(initial=0) < 1 << 32:
            self._places = self._places.astype(np.uint32)
        is_instant, is_span = kind == kernels.INSTANT, kind >= kernels.SPAN
        is_counter = (kind > kernels.INSTANT) & ~is_span

        def part(of: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
            return rows if of.all() else {name: column[of] for name, column in rows.items()}

        return Finished(
            part(is_event), part(is_instant), part(is_counter), part(is_span), flows, [*self._texts]
        )


def renumber(column: NDArray[np.int32], table: NDArray[np.int32]) -> None:
    """Replace each number of a column by what a table has for it, in place.

    Parameters
    ----------
    column : int32 (n,)
        Rows of ``table``, from its end where negative.
    table : int32 (k,)
    """
    for low in range(0, len(column), _PIECE):
        column[low : low + _PIECE] = table[column[low : low + _PIECE]]


class Finished:
    """All rows of a trace, by what they are: columns by name, in the order of the file.

    Parameters
    ----------
    events, instants, counters, spans : dict of str to array
        ``place``, ``track``, ``kind``, ``name``, ``time`` and ``more``, (n,) each.
    flows : dict of str to array
        ``flow``, ``track``, ``time`` and ``ends``, (n,) each.
    texts : list of str
        The names by number.

    Attributes
    ----------
    events, instants, counters, spans, flows : dict of str to array
    """

    def __init__(
        self,
        events: dict[str, NDArray[Any]],
        instants: dict[str, NDArray[Any]],
        counters: dict[str, NDArray[Any]],
        spans: dict[str, NDArray[Any]],
        flows: dict[str, NDArray[Any]],
        texts: list[str],
    ) -> None:
        self.events, self.instants, self.counters, self.spans = events, instants, counters, spans
        self.flows = flows
        self._texts = texts

    def names(
        self, of: NDArray[np.int32], is_end: NDArray[np.bool_] | None = None
    ) -> tuple[list[str], NDArray[np.int32]]:
        """Return the names that rows have, in order of appearance, and the number of each name among them.

        Parameters
        ----------
        of : int32 (n,)
            The column ``name``; NO_NAME becomes :data:`UNNAMED`.
        is_end : bool (n,), optional
            Rows that have none, and need none.

        Returns
        -------
        names : list of str
        number : int32 (texts + 1,)
            By what a row has in ``of``.
        """
        first = np.full(len(self._texts) + 1, len(of), np.int64)
        for end in range(len(of), 0, -_PIECE):
            low = max(end - _PIECE, 0)
            # Of several assignments the last one counts.
            first[of[low:end][::-1]] = np.arange(end - 1, low - 1, -1)
        if is_end is not None:
            unnamed = np.flatnonzero((of < 0) & ~is_end)
            first[-1] = unnamed[0] if len(unnamed) else len(of)
        used = np.argsort(first, kind="stable")[: int((first < len(of)).sum())]
        number: NDArray[np.int32] = np.full(len(first), -1, np.int32)
        number[used] = np.arange(len(used))
        texts = [*self._texts, UNNAMED]
        return [texts[k] for k in used.tolist()], number

    def values(self) -> NDArray[np.float64]:
        """Return the counters' values, float64 (n,)."""
        more = self.counters["more"]
        is_float = self.counters["kind"] == kernels.FLOAT
        return np.where(is_float, more.view(np.float64), more.astype(np.float64))

    def used(self, n: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which tracks have events, instants or flows, and which have counters.

        Parameters
        ----------
        n : int
            How many tracks there are.

        Returns
        -------
        timed, counted : bool (n,)
        """
        tables = self.events, self.instants, self.spans, self.flows
        timed = [np.bincount(rows["track"], minlength=n) for rows in tables]
        return np.sum(timed, axis=0) > 0, np.bincount(self.counters["track"], minlength=n) > 0
