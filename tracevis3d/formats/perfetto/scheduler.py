"""What Linux' scheduler did, by the bundles of ftrace's events in a Perfetto trace, each of one processor.

Events come one by one, or as columns ("compact"), in which times are differences and names are numbered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.lay.threads import SWITCH, WAKING
from ...kernels.formats.lay.turns import find_who_runs
from ...kernels.formats.protobuf import ftrace_events as k
from ...kernels.formats.protobuf.fields import S_MESSAGE, TAKE_STATE_SIZE
from ...kernels.intern import InternedNames
from ...trace.recording import Recording
from ..ctf.kernel import KernelEvents
from ..distinct import distinct
from ..wire import Messages, Taken, note_state

Ints = NDArray[np.int64]

#: Bits of a state with which a thread could not go on running.
_ASLEEP = 0xFF
#: Flags of an interrupt, hard or soft: what it does is not done by the thread that it interrupts.
_INTERRUPTED = 0x18
#: Fields of a bundle's columns.
_SWITCH_TIME, _STATE, _NEXT, _NAMES, _NEXT_NAME = 1, 2, 3, 5, 6
_WAKING_TIME, _WOKEN, _WOKEN_NAME, _FLAGS = 7, 8, 11, 12
#: Bytes for which there is room for one event at first; fewer are rare.
_EVENT = 16
#: Columns of rows, as :meth:`KernelEvents.take_columns` takes them: who runs or wakes, -1: unknown.
_LINE, _TIME, _CPU, _KIND, _FIRST, _SECOND, _VALUE, _WHO, _FIRST_NAME, _SECOND_NAME, _WIDTH = range(11)
#: Columns that are gathered, in this order; one value stands for all rows.
_OF_PART = _KIND, _TIME, _CPU, _WHO, _FIRST, _SECOND, _VALUE, _FIRST_NAME, _SECOND_NAME
_Columns = tuple[Any, ...]
#: Fields of an event, as the kernel takes them.
_FIELDS = "timestamp", "pid", "common_flags", "sched_switch", "sched_waking", "sched_wakeup", "print"


class Scheduler:
    """Collects bundles, and makes calls, waits and wake-ups of them.

    Parameters
    ----------
    protos : module
        Perfetto's messages, for the numbers of events' fields.
    recording : Recording
    """

    def __init__(self, protos: Any, recording: Recording) -> None:
        fields = protos.FtraceEvent.DESCRIPTOR.fields_by_name
        self._number = {name: fields[name].number for name in _FIELDS}
        self._recording = recording
        self._bundles: list[bytes | memoryview] = []
        self._names: dict[str, int] = {"": 0}

    def __len__(self) -> int:
        return len(self._bundles)

    def add(self, bundle: bytes | memoryview) -> None:
        """Take a bundle.

        Parameters
        ----------
        bundle : bytes-like
            The message.
        """
        self._bundles.append(bundle)

    def finish(self, named: Iterable[tuple[int, int, str]], offset: int, busy: set[int]) -> None:
        """Hand over what all bundles say.

        Parameters
        ----------
        named : iterable of process, thread, name
        offset : int
            Nanoseconds from the clock of the bundles to that of the trace.
        busy : set of int
            Threads that have calls of other events: no call represents their whole life.
        """
        first = np.cumsum([0, *map(len, self._bundles)], dtype=np.int64)
        data = np.frombuffer(b"".join(self._bundles) or b"\0", np.uint8)
        kernel = KernelEvents()
        for process, tid, name in named:
            kernel.name_thread(tid, name.encode(), process)
        parts, prints, (begin, end, processor) = self._single(data, first[:-1], first[1:])
        marks, mark_texts = self._marks(data, prints)
        parts += self._columns(Messages(data, begin, end, self._recording.problems), processor)
        rows = _in_order(parts)
        self._know_who_runs(rows)
        texts = [name.encode() for name in self._names]
        time = rows[_TIME]
        at = np.searchsorted(time, marks[:, 0], "left") + np.arange(len(marks))
        rows[_LINE] = np.searchsorted(marks[:, 0], time, "right") + np.arange(len(time))
        time += offset
        kernel.take_columns(rows[:_FIRST_NAME], rows[_FIRST_NAME], rows[_SECOND_NAME], texts.__getitem__)
        for line, (moment, tid, text) in zip(at.tolist(), marks.tolist(), strict=True):
            kernel.mark(line, moment + offset, tid, mark_texts[text])
        found = kernel.finish(self._recording, busy)
        _, thread, kind, function, time = found
        self._recording.add_events(thread=thread, kind=kind, function=function, time=time)

    def _text(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    def _numbers(self, data: NDArray[np.uint8], low: Ints, high: Ints) -> Ints:
        """Return the numbers of names."""
        names = InternedNames()
        number, count = names.all_of(data, low, high)
        return np.array([self._text(name) for name in names.texts(data, count)], np.int64)[number]

    def _single(
        self, data: NDArray[np.uint8], first: Ints, stop: Ints
    ) -> tuple[list[_Columns], Ints, tuple[Ints, Ints, Ints]]:
        """Return rows of single events, marks as the kernel writes them, and where columns are, of whom."""
        names, counts = InternedNames(), np.zeros(k.COUNTS, np.int64)
        fields = np.array([self._number[name] for name in _FIELDS], np.int64)
        room, result = len(data) // _EVENT + _EVENT, k.FULL
        while result != k.DONE:
            # Memory that is not written is not taken.
            widths = k.SWITCH_COLUMNS, k.WAKE_COLUMNS, k.PRINT_COLUMNS, k.COLUMN_COLUMNS
            tables = [np.empty((width, room), np.int64) for width in widths]
            state = np.zeros((k.LEVELS, TAKE_STATE_SIZE), np.int64)
            result = k.scan_events(data, first, stop, fields, state, counts, *names.arrays, *tables)
            if result == k.FULL:
                room *= 4
            elif result == k.FULL_OF_NAMES:
                names.grow(int(counts[k.N_NAMES]))
            elif counts[k.N_OTHERS] and not counts[k.N_WAKES] and fields[k.WAKING] != fields[k.WAKEUP]:
                fields[k.WAKING], result = fields[k.WAKEUP], k.FULL
        for level in state:
            note_state(level, int(level[S_MESSAGE]) == len(data), self._recording.problems)
        switches, wakes, prints, columns = (table[:, :count] for table, count in zip(tables, counts.tolist()))
        texts = names.texts(data, int(counts[k.N_NAMES]))
        number = np.array([self._text(text) for text in texts], np.int64)
        parts: list[_Columns] = [
            (SWITCH, *switches[: k.S_NAME], *number[switches[k.S_NAME :]]),
            (WAKING, *wakes[: k.W_NAME], -1, 0, number[wakes[k.W_NAME]], -1),
        ]
        return parts, prints, (columns[0], columns[1], columns[2])

    def _marks(self, data: NDArray[np.uint8], prints: Ints) -> tuple[Ints, list[bytes]]:
        """Return marks (time, thread, index of what begins), by time, and what begins."""
        time, tid, first, stop = prints
        places = Taken(data, first, stop, self._recording.problems, places=(2,)).place(2)
        names = InternedNames()
        text, count = names.all_of(data, *places)
        texts: dict[bytes, int] = {}
        found = []
        for one in names.texts(data, count):
            sort, _, rest = one.rstrip("\n").partition("|")
            begins = rest.partition("|")[2].encode() if sort == "B" else b""
            found.append(texts.setdefault(begins, len(texts)) if begins or sort == "E" else -1)
        marks = np.stack([time, tid, np.array(found, np.int64)[text]], axis=1)
        marks = marks[marks[:, 2] >= 0]
        return marks[np.argsort(marks[:, 0], kind="stable")], [*texts]

    def _columns(self, compact: Messages, cpu: Ints) -> list[_Columns]:
        """Return rows of what is written as columns."""
        rows = compact.rows(_NAMES, is_varint=False)
        owner, low = compact.message[rows], compact.value[rows]
        numbers = np.append(self._numbers(compact.data, low, low + compact.size[rows]), 0)
        before = np.searchsorted(owner, np.arange(len(compact) + 1))

        def name(of: Ints, index: Ints) -> Ints:
            at = before[of] + index
            return np.where((index >= 0) & (at < before[of + 1]), numbers[np.minimum(at, len(owner))], 0)

        def times(field: int) -> tuple[Ints, Ints]:
            step, of = compact.whole_numbers(field)
            total = np.cumsum(step)
            first = np.searchsorted(of, np.arange(len(compact)))
            return total - np.append(0, total)[first][of], of

        time, of = times(_SWITCH_TIME)
        state, following, title = (self._aligned(compact, field, of) for field in (_STATE, _NEXT, _NEXT_NAME))
        # Whom a switch stops is who ran before on the processor: not said.
        switches = (SWITCH, time, cpu[of], -1, -1, following, (state & _ASLEEP) != 0, 0, name(of, title))
        time, of = times(_WAKING_TIME)
        woken, title, flags = (self._aligned(compact, field, of) for field in (_WOKEN, _WOKEN_NAME, _FLAGS))
        by = np.where((flags & _INTERRUPTED) != 0, 0, -1)
        # Of those at one time the wake-up came first, as a rule.
        return [(WAKING, time, cpu[of], by, woken, -1, 0, name(of, title), -1), switches]

    def _aligned(self, compact: Messages, field: int, like: Ints) -> Ints:
        """Return a column of each message, as long as another one; 0 where it is shorter."""
        value, of = compact.whole_numbers(field)
        if np.array_equal(of, like):
            return value
        self._recording.problems.add("malformed", "a bundle whose columns differ in length")
        found = np.zeros(len(like), np.int64)
        rank_of, rank = _ranks(of), _ranks(like)
        known = dict(zip(zip(of.tolist(), rank_of.tolist()), value.tolist()))
        for row, key in enumerate(zip(like.tolist(), rank.tolist())):
            found[row] = known.get(key, 0)
        return found

    @staticmethod
    def _know_who_runs(rows: Ints) -> None:
        """Fill in, by each processor's last switch, who is stopped and who wakes."""
        cpus, of = distinct(rows[_CPU])
        columns = (_SECOND, _SECOND_NAME, _FIRST, _FIRST_NAME, _WHO)
        unknown = np.full((2, len(cpus)), -1, np.int64)
        find_who_runs(rows[_KIND] == SWITCH, of, *(rows[column] for column in columns), *unknown)


def _ranks(of: Ints) -> Ints:
    """Return the number of each row within its group; groups are ascending."""
    return np.arange(len(of)) - np.searchsorted(of, of)


def _in_order(parts: list[_Columns]) -> Ints:
    """Return the rows of all parts by their time."""
    sizes = [len(part[1]) for part in parts]
    time = np.concatenate([part[1] for part in parts])
    order = np.argsort(time, kind="stable")
    # Lines are numbered later.
    rows = np.empty((_WIDTH, len(order)), np.int64)
    for number, column in enumerate(_OF_PART):
        values = [np.broadcast_to(part[number], size) for part, size in zip(parts, sizes, strict=True)]
        np.concatenate(values).take(order, out=rows[column], mode="clip")
    return rows
