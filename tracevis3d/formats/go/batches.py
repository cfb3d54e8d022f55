"""Execution traces of Go 1.22 and later: their tables, and what goroutines do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.go import follow, lay, scan
from ...trace.problems import Problems
from ..distinct import distinct
from .changes import CREATED_WAITING, SWITCHED, UNKNOWN, Changes
from .tables import Names, Tables

Ints = NDArray[np.int64]

#: Bytes for each row that a table of the scanner has room for at first, and rows that it has at least.
_BYTES, _ROOM = (4096, 512, 512, 128, 65536, 4096), 1024
_COLUMNS = (
    scan.BATCH_COLUMNS,
    scan.TEXT_COLUMNS,
    scan.STACK_COLUMNS,
    scan.FRAME_COLUMNS,
    scan.FREQUENCY_COLUMNS,
    scan.STATUS_COLUMNS,
)
#: Columns of changes, as the kernel fills them.
_CHANGE = np.int32, np.int64, np.int64, np.int64, np.uint8, np.int32, np.int32, np.int32


def read_batches(data: memoryview, begin: int, problems: Problems) -> tuple[Tables, Changes]:
    """Return what a trace of Go 1.22 or later contains, and what all goroutines do.

    Parameters
    ----------
    data : memoryview
        All of it.
    begin : int
        Behind its header.
    problems : Problems
        Gets what is damaged.

    Returns
    -------
    Tables, Changes
    """
    # Always read-only, like a mapped file: kernels are compiled for one type.
    column = np.frombuffer(data.toreadonly(), np.uint8)
    state, found = scanned(column, begin)
    batches, strings, stacks, frames, frequencies, statuses = found
    problems.add("malformed", f"byte {state[scan.BYTE]:,}", int(state[scan.DAMAGED]))
    problems.add("unsupported", f"byte {state[scan.STRANGE_BYTE]:,}", int(state[scan.STRANGE]))
    if state[scan.CUT]:
        problems.add("truncated", f"byte {int(state[scan.CUT]) - 1:,}")
    if len(batches) and not (frequencies[:, 1] > 0).any():
        problems.add("malformed", "no event says how long a tick is: one is read as 1 ns", 1)
    names = Names.of(data, strings, stacks, frames)
    numbers, factors = _factors(frequencies)

    def factor(generation: Ints) -> NDArray[np.float64]:
        # A generation without a frequency uses another's.
        return np.asarray(factors[np.minimum(np.searchsorted(numbers, generation), len(numbers) - 1)])

    parts, part = distinct(batches[:, scan.GENERATION])
    writers, writer = distinct(batches[:, scan.STREAM])
    base = int(state[scan.LOW])
    where, *elsewhere = _elsewhere(statuses, batches, base, factor).T
    keys = names.text_of.begins(parts), names.stack_of.begins(parts)
    batches = np.column_stack([batches, part, writer, *(begins[part] for begins in keys)])
    batches = batches[np.lexsort(batches[:, [scan.TIME, scan.STREAM, scan.GENERATION]].T)]
    count, many_others = state[[scan.CHANGES, scan.OTHERS]].tolist()
    columns: list[Any] = [np.empty(count, dtype) for dtype in _CHANGE]
    others = np.empty((many_others, follow.OTHER_COLUMNS), np.int64)
    is_stop, is_block = np.zeros((2, len(names.texts) + 1), np.bool_)
    room = int(state[scan.GOROUTINES]) + _ROOM
    while True:
        table = np.full(1 << (2 * room).bit_length(), -1, np.int32)
        goroutines, begun = np.empty((2, room), np.int64)
        many = np.zeros(room, np.int64)
        counted, begins = np.zeros(follow.STATE_SIZE, np.int64), np.empty(len(parts) + 1, np.int64)
        counted[follow.LAST] = np.iinfo(np.int64).min
        given: tuple[Any, ...] = (
            *(column, scan.KINDS, batches, factor(batches[:, scan.GENERATION]), base),
            *(np.column_stack(elsewhere), _streams(where, writers)),
            *(*names.text_of.table(), *names.stack_of.table(), table, goroutines, many, begun),
            *(is_stop, is_block, counted, begins, *columns, others),
        )
        follow.follow_batches(*given)
        if not counted[follow.IS_FULL]:
            break
        room *= 4
    problems.add("bad time", f"byte {counted[follow.BAD_BYTE]:,}", int(counted[follow.BAD]))
    known = int(counted[follow.N_GOROUTINES])
    by_number = np.argsort(goroutines[:known])
    place = np.empty(known, np.int64)
    place[by_number] = np.arange(known)
    first = np.append(0, np.cumsum(many[:known][by_number]))
    time, byte, becomes, reason, stack, by = _ordered(begins, columns, place, first)
    reasons, reason_of = _reasons(names.texts, is_stop, is_block)
    others = others[: counted[follow.N_OTHERS]].T.copy()
    running = others[follow.O_RUNNING]
    tables = Tables(
        is_old=False,
        at=others[follow.O_AT],
        generation=others[follow.O_GENERATION],
        time=others[follow.O_TIME],
        kind=others[follow.O_KIND],
        said=others[follow.O_A :],
        running=np.append(place, -1)[running],
        names=names,
    )
    return tables, Changes(
        numbers=goroutines[by_number],
        first=first,
        time=time,
        byte=byte,
        becomes=becomes,
        reason=reason,
        stack=stack,
        by=by,
        place=place,
        reasons=reasons,
        reason_of=reason_of,
        last=int(counted[follow.LAST]),
    )


def _ordered(parts: Ints, columns: list[Any], place: Ints, first: Ints) -> list[Any]:
    """Return what changes say but whose they are, by goroutine and then as they happened."""
    order, spare = np.empty((2, int(np.diff(parts).max(initial=0))), np.int64)
    goroutines = np.zeros((len(place), lay.ORDER_COLUMNS), np.int64)
    goroutines[:, lay.CURSOR], goroutines[:, lay.SEEN] = first[:-1], -1
    found = [np.empty(int(first[-1]), dtype) for dtype in _CHANGE[2:]]
    given: tuple[Any, ...] = parts, *columns, place, goroutines, order, spare, *found
    lay.order_changes(*given)
    return found


def _streams(where: Ints, writers: Ints) -> Ints:
    """Return what :func:`.follow.follow_batches` holds of streams, of which ``where`` are rows, ascending."""
    streams = np.zeros((len(writers), follow.STREAM_COLUMNS), np.int64)
    streams[:, follow.NEXT] = np.searchsorted(where, writers)
    streams[:, follow.END] = np.searchsorted(where, writers, side="right")
    streams[:, follow.RUNS] = -1
    return streams


def _factors(frequencies: Ints) -> tuple[Ints, NDArray[np.float64]]:
    """Return generations, ascending, and the nanoseconds of a tick in each."""
    says = frequencies[frequencies[:, 1] > 0]
    if not len(says):
        return np.zeros(1, np.int64), np.ones(1)
    numbers, first = np.unique(says[:, 0], return_index=True)
    return numbers, 1e9 / says[first, 1].astype(np.float64)


def _elsewhere(
    statuses: Ints, batches: Ints, base: int, factor: Callable[[Ints], NDArray[np.float64]]
) -> Ints:
    """Return who runs on other streams than the one that says so: stream, generation, and goroutine."""
    where, batch, byte, time, who = statuses.T
    generation, stream, begun = (batches[batch, one] for one in (scan.GENERATION, scan.STREAM, scan.TIME))
    mine = factor(generation)
    good = (time >= 0) & ((time - base) * mine + base * mine < scan.LATEST)
    order = np.lexsort((byte, begun, stream, generation, where))
    return np.ascontiguousarray(np.column_stack([where, generation, who])[order[good[order]]])


def _reasons(
    texts: list[str], is_stop: NDArray[np.bool_], is_block: NDArray[np.bool_]
) -> tuple[list[str], Ints]:
    """Return reasons of waits, and which of them each number of a reason is."""
    known = {UNKNOWN: 0, CREATED_WAITING: 1, SWITCHED: 2}
    reason_of = np.full(follow.NO_TEXT + len(is_stop), -1, np.int64)
    reason_of[[follow.UNKNOWN, follow.CREATED_WAITING, follow.SWITCHED]] = range(3)
    for row in (*np.flatnonzero(is_stop).tolist(), *np.flatnonzero(is_block).tolist()):
        reason_of[follow.NO_TEXT + row] = known.setdefault(texts[row - 1] if row else "", len(known))
    return [*known], reason_of


def scanned(data: NDArray[np.uint8], begin: int) -> tuple[Ints, list[Ints]]:
    """Return what :func:`.scan.scan_go` fills: its state, and its tables.

    Parameters
    ----------
    data : uint8 (bytes,)
    begin : int
        Behind the header.

    Returns
    -------
    state : int64 (STATE_SIZE,)
    tables : list of int64 (n, columns)
    """
    room = [len(data) // one + _ROOM for one in _BYTES]
    while True:
        state = np.zeros(scan.STATE_SIZE, np.int64)
        state[scan.LOW] = scan.LATEST
        tables = [np.empty((rows, columns), np.int64) for rows, columns in zip(room, _COLUMNS, strict=True)]
        scan.scan_go(data, begin, scan.KINDS, state, *tables)
        counts = state[: len(tables)].tolist()
        if all(count <= rows for count, rows in zip(counts, room, strict=True)):
            return state, [table[:count] for table, count in zip(tables, counts, strict=True)]
        room = [max(count, rows) for count, rows in zip(counts, room, strict=True)]
