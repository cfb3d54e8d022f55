"""From the Chrome reader's columns to a trace: threads, functions, flows, spans, counters, instants."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.scan import json as kernels
from ...kernels.trace.pair_spans import pair_spans
from ...trace.events import COMPLETE, END
from ...trace.functions import ContainerPath
from ...trace.model import STILL, SYNC_KINDS, RecordedId, Source, Trace
from ...trace.recording import Recording
from .. import names
from .checked import Metadata, Number, decode_json, scoped_id
from .heap import add_blocks
from .memory import add_memory
from .problems import add_problems
from .profiles import add_profiles
from .rows import REPAIRS, Rows, decode_text

Ints = NDArray[np.int64]

#: Categories without information about a function.
_BLAND = frozenset(("", "fee", "call", "function", "python_function", "default", "__metadata"))


@dataclass(frozen=True)
class Recorded:
    """All that was read from a file.

    Attributes
    ----------
    rows : Rows
    metadata : list of Metadata
    bases : list of (first event, byte)
        From which event on ``Rows.place`` counts from which byte.
    """

    rows: Rows
    metadata: list[Metadata]
    bases: list[tuple[int, int]]


def make_trace(recorded: Recorded, whole: bool = True) -> Trace:
    """Build the trace; of a part of a file (not ``whole``) counters of memory make no blocks.

    Parameters
    ----------
    recorded : Recorded
        What was read.
    whole : bool
        Whether that is all of the file.

    Returns
    -------
    Trace
    """
    return _Maker(recorded, whole).make()


def raw_events(
    recorded: Recorded,
) -> tuple[list[str], list[tuple[RecordedId, RecordedId]], dict[str, NDArray[Any]]]:
    """Return begins, ends and whole calls as they were recorded, before calls are built from them.

    Parameters
    ----------
    recorded : Recorded
        What was read.

    Returns
    -------
    names : list of str
        Of functions.
    ids : list of (process, thread)
    columns : dict
        ``kind`` (as in :mod:`...trace.events`), ``thread`` and ``function`` (indices into the lists),
        ``time``, and ``end`` of whole calls; nanoseconds as recorded.
    """
    return _Maker(recorded).raw_events()


class _Maker:
    def __init__(self, recorded: Recorded, whole: bool = True) -> None:
        self._whole = whole
        self._rows = recorded.rows
        self._metadata = recorded.metadata
        self._bases = recorded.bases
        self._n = recorded.rows.n_events
        self._raw = recorded.rows.raw_texts()
        self._table = recorded.rows.rows[: recorded.rows.n_rows]
        self._recording = Recording()
        self._decoded: dict[int, str] = {}
        self._process: list[RecordedId] = []
        #: Events that are waits which never ended.
        self._unfinished: NDArray[np.int64] = np.empty(0, np.int64)

    def make(self) -> Trace:
        """Fill the recording and finish it."""
        threads = self._number_threads()
        self._add_events(threads)
        self._count_repairs()
        if len(self._table):
            phases = self._table[:, kernels.R_PHASE]
            letters = {chr(c): phases == c for c in np.unique(phases)}
            waits = self._add_sync(letters, threads)
            self._add_instants(letters, threads, waits)
            self._add_counters(letters, threads)
            self._add_flows(letters, threads)
            self._add_spans(letters, threads)
        late = add_profiles(self._metadata, self._ids, self._recording)
        add_memory(self._metadata, self._recording)
        add_problems(self._metadata, self._recording)
        trace = self._recording.finish(Source(), names.split, self._place)
        trace.problems.subtract("out of order", late + self._late_by_waits(threads))
        return trace

    def raw_events(
        self,
    ) -> tuple[list[str], list[tuple[RecordedId, RecordedId]], dict[str, NDArray[Any]]]:
        """Return what :func:`raw_events` does."""
        rows, n = self._rows, self._n
        threads, thread = np.unique(rows.thread[:n], return_inverse=True)
        functions, function = np.unique(rows.function[:n], return_inverse=True)
        columns = {
            "kind": rows.kind[:n], "thread": thread.reshape(-1), "function": function.reshape(-1),
            "time": rows.time[:n], "end": rows.stop[:n],
        }  # fmt: skip
        names = [self._text(number) if number >= 0 else "" for number in functions.tolist()]
        return names, [self._ids_of(number) for number in threads.tolist()], columns

    def _late_by_waits(self, threads: NDArray[np.int32]) -> int:
        """Return how many events are out of order only because of waits that never ended.

        These are recorded last, whenever the calls around them were closed.
        """
        if not len(self._unfinished):
            return 0
        rows, n = self._rows, self._n
        thread, start = threads[rows.thread[:n]], rows.time[:n]
        end = np.where(rows.kind[:n] == COMPLETE, np.maximum(rows.stop[:n], start), start)
        others = np.ones(n, np.bool_)
        others[self._unfinished] = False
        late = 0
        order = np.argsort(thread, kind="stable")
        first = np.searchsorted(thread[order], np.unique(thread[self._unfinished]))
        last = np.searchsorted(thread[order], np.unique(thread[self._unfinished]), "right")
        for a, b in zip(first.tolist(), last.tolist()):
            all_ = order[a:b]
            for part, sign in ((all_, 1), (all_[others[all_]], -1)):
                late += sign * min(_before_their_turn(start[part]), _before_their_turn(end[part]))
        return max(late, 0)

    # -- texts ---------------------------------------------------------------------------------

    def _text(self, number: int) -> str:
        text = self._decoded.get(number)
        if text is None:
            text, sound = decode_text(self._raw[number])
            if not sound:
                self._recording.problems.add("bad value", f"name {text[:40]!r}")
            self._decoded[number] = text
        return text

    def _map(self, numbers: Iterable[int], table: str) -> NDArray[np.int32]:
        """Return a map from texts to the names of a table."""
        lut = np.full(len(self._raw) + 1, -1, np.int32)
        for number in numbers:
            lut[number] = self._recording.text(table, self._text(number) if number >= 0 else "")
        return lut

    def _place(self, event: int) -> str:
        """Name the place of an event in the (unpacked) file."""
        _, base = self._bases[bisect_right(self._bases, event, key=lambda entry: entry[0]) - 1]
        return f"byte {base + (int(self._rows.place[event]) & ~kernels.HAS_ARGUMENTS):,}"

    def _count_repairs(self) -> None:
        for kind, (count, byte) in zip(REPAIRS, self._rows.repairs.tolist(), strict=True):
            self._recording.problems.add(kind, f"byte {byte:,}", count)

    # -- threads -------------------------------------------------------------------------------

    def _number_threads(self) -> NDArray[np.int32]:
        """Return a map from the texts of threads to their numbers, in the order in which they are shown."""
        used = np.zeros(len(self._raw), np.bool_)
        used[self._rows.thread[: self._n]] = True
        used[self._table[:, kernels.R_THREAD]] = True
        known: dict[tuple[str, str], tuple[RecordedId, RecordedId]] = {}
        of_text: dict[int, tuple[str, str]] = {}
        for number in np.flatnonzero(used).tolist():
            ids = self._ids_of(number)
            key = str(ids[0]), str(ids[1])
            known.setdefault(key, ids)
            of_text[number] = key

        self._name_threads(known)
        ranks: dict[tuple[str, str | None], float] = {}
        for said in self._metadata:
            if said.what in ("process_sort_index", "thread_sort_index"):
                index = said.arguments.get("sort_index")
                ids = self._ids(said.process, said.tid, said.quoted)
                if isinstance(index, Number) and index == index:
                    ranks[str(ids[0]), None if said.what[0] == "p" else str(ids[1])] = float(index)
        first: dict[str, int] = {}
        for process, _ in known:
            first.setdefault(process, len(first))
        shown = sorted(
            known, key=lambda key: (ranks.get((key[0], None), 0), first[key[0]], ranks.get(key, 0))
        )
        number_of = {}
        for key in shown:
            number_of[key] = self._recording.thread(*known[key])
            self._process.append(known[key][0])
        lut = np.full(len(self._raw) + 1, -1, np.int32)
        for number, key in of_text.items():
            lut[number] = number_of[key]
        return lut

    def _ids_of(self, number: int) -> tuple[RecordedId, RecordedId]:
        """Return process and thread by the number of their text."""
        process, tid = np.frombuffer(self._raw[number], np.int64).tolist()
        return self._ids(
            None if process < 0 else self._text(process >> 1),
            None if tid < 0 else self._text(tid >> 1),
            (process & 1 if process >= 0 else 0) | (tid & 1 if tid >= 0 else 0) << 1,
        )

    @staticmethod
    def _ids(process: str | None, tid: str | None, quoted: int) -> tuple[RecordedId, RecordedId]:
        """Return process and thread as recorded; a missing process is 0, a missing thread the main one."""
        first = 0 if process is None else process if quoted & 1 else _as_int(process)
        return first, first if tid is None else tid if quoted & 2 else _as_int(tid)

    def _name_threads(self, known: dict[tuple[str, str], tuple[RecordedId, RecordedId]]) -> None:
        processes: dict[str, str] = {}
        threads: dict[tuple[str, str], str] = {}
        alone: dict[str, str] = {}
        for said in self._metadata:
            name = said.arguments.get("name")
            if said.what not in ("process_name", "thread_name") or not isinstance(name, str):
                continue
            ids = self._ids(said.process, said.tid, said.quoted)
            process, tid = (str(part) for part in ids)
            # By their own ids also for threads that only have memory rows.
            if said.what == "process_name":
                processes[process] = name
                self._recording.name_process(ids[0], name)
            else:
                threads[process, tid] = name
                if name:
                    self._recording.name_thread(*ids, name)
                if said.tid is None:
                    # uftrace uses a thread's own id instead of the process's.
                    alone[tid] = name
        for key, ids in known.items():
            name = threads.get(key) or alone.get(key[1])
            if name and key not in threads:
                self._recording.name_thread(*ids, name)
            if key[0] in processes:
                self._recording.name_process(ids[0], processes[key[0]])

    # -- calls ---------------------------------------------------------------------------------

    def _add_events(self, threads: NDArray[np.int32]) -> None:
        rows, n = self._rows, self._n
        function = rows.function[:n]
        used = np.zeros(len(self._raw) + 1, np.bool_)
        used[function] = True
        functions = np.full(len(self._raw) + 1, -1, np.int32)
        for number in np.flatnonzero(used[:-1]).tolist():
            name = self._text(number)
            category = int(rows.texts[number, kernels.T_CATEGORY])
            functions[number] = self._recording.function(
                name, containers=self._containers(name, category) if category >= 0 else None
            )
        place = rows.place[:n]
        record = None
        flagged = place >= kernels.HAS_ARGUMENTS
        if flagged.any():
            firsts = np.array([first for first, _ in self._bases] + [n], np.int64)
            bases = np.array([base for _, base in self._bases], np.int64)
            record = np.repeat(bases, np.diff(firsts))
            record += place & np.uint32(kernels.HAS_ARGUMENTS - 1)
            record[~flagged] = -1
        self._recording.add_events(
            thread=threads[rows.thread[:n]],
            kind=rows.kind[:n],
            function=functions[function],
            time=rows.time[:n],
            end=rows.stop[:n],
            record=record,
        )

    def _containers(self, name: str, category: int) -> ContainerPath | None:
        """Put a function that its name puts into no module into its category."""
        text = self._text(category).partition(",")[0].strip()
        if text.lower() in _BLAND:
            return None
        said = names.split(name)
        if said.file or any(kind in ("package", "module", "file") for kind, _ in said.containers):
            return None
        return (("category", text), *said.containers)

    # -- the other tables ----------------------------------------------------------------------

    def _columns(self, mask: NDArray[np.bool_], *columns: int) -> list[Ints]:
        return [self._table[mask, column] for column in columns]

    def _any(self, letters: dict[str, NDArray[np.bool_]], wanted: str) -> NDArray[np.bool_]:
        mask = np.zeros(len(self._table), np.bool_)
        for letter in wanted:
            if letter in letters:
                mask |= letters[letter]
        return mask

    def _add_sync(
        self, letters: dict[str, NDArray[np.bool_]], threads: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Add waits, releases and transfers; return which rows these are."""
        mask = self._any(letters, "XiI")
        mask &= self._table[:, kernels.R_FLAGS] & kernels.F_KIND != 0
        if not mask.any():
            return mask
        extra = self._table[mask, kernels.R_EXTRA]
        decoded = {int(text): _sync_of(self._raw[int(text)]) for text in np.unique(extra)}
        mask[np.flatnonzero(mask)[[decoded[text] is None for text in extra.tolist()]]] = False
        name, event, thread, start, text, phase = self._columns(
            mask,
            *(kernels.R_NAME, kernels.R_CATEGORY, kernels.R_THREAD, kernels.R_TIME),
            *(kernels.R_EXTRA, kernels.R_PHASE),
        )
        found = {number: said for number, said in decoded.items() if said is not None}
        objects = {
            number: [self._recording.text("objects", item) for item in said[2]]
            for number, said in found.items()
        }
        numbers = text.tolist()
        is_call = phase == kernels.CALL_ROW
        still = np.array([found[number][1] == STILL for number in numbers], np.bool_)
        self._unfinished = event[is_call & still]
        end = start.copy()
        end[is_call] = self._rows.stop[event[is_call]]
        self._recording.add_sync(
            thread=threads[thread],
            kind=[found[number][0] for number in numbers],
            name=self._map(np.unique(name).tolist(), "sync")[name],
            start=start,
            end=end,
            contended=[found[number][1] for number in numbers],
            event=np.where(is_call, event, -1),
            holder=self._holders(threads[thread], [found[number][3] for number in numbers]),
            line=[found[number][4] for number in numbers],
            objects=[objects[number] for number in numbers],
        )
        return mask

    def _holders(self, waiting: NDArray[np.int32], said: list[str]) -> list[int]:
        """Return the threads that hold what others wait for: ids of the waiting thread's process."""
        number = {(str(p), str(tid)): i for i, (p, tid) in enumerate(self._recording.threads)}
        return [
            number.get((str(self._process[thread]), tid), -1) if tid else -1
            for thread, tid in zip(waiting.tolist(), said)
        ]

    def _add_instants(
        self,
        letters: dict[str, NDArray[np.bool_]],
        threads: NDArray[np.int32],
        waits: NDArray[np.bool_],
    ) -> None:
        mask = self._any(letters, "iIRnTp") & ~waits
        if mask.any():
            name, thread, time = self._columns(mask, kernels.R_NAME, kernels.R_THREAD, kernels.R_TIME)
            self._recording.add_instants(
                name=self._map(np.unique(name).tolist(), "instants")[name],
                thread=threads[thread],
                time=time,
            )

    def _add_counters(self, letters: dict[str, NDArray[np.bool_]], threads: NDArray[np.int32]) -> None:
        mask = self._any(letters, "C")
        if not mask.any():
            return
        name, thread, time, identity, flags, text = self._columns(
            mask,
            *(kernels.R_NAME, kernels.R_THREAD, kernels.R_TIME),
            *(kernels.R_ID, kernels.R_FLAGS, kernels.R_EXTRA),
        )
        texts, which = np.unique(text, return_inverse=True)
        keys: dict[str, int] = {}
        counts: list[int] = []
        flat_key: list[int] = []
        flat_value: list[float] = []
        for number in texts.tolist():
            values, bad = _counters_of(self._raw[number])
            if bad:
                # Arguments that are equal are one text: count the records.
                self._recording.problems.add(
                    "bad value", "a counter's value", bad * int(np.count_nonzero(text == number))
                )
            counts.append(len(values))
            flat_key.extend(keys.setdefault(key, len(keys)) for key in values)
            flat_value.extend(values.values())
        lengths = np.array(counts, np.int64)
        first = np.cumsum(lengths) - lengths
        row = np.repeat(np.arange(len(which)), lengths[which])
        within = np.arange(len(row)) - np.repeat(np.cumsum(lengths[which]) - lengths[which], lengths[which])
        at = first[which][row] + within
        key = np.array(flat_key, np.int64)[at]
        process = np.array([*self._process_numbers(), -1])[threads[thread]]
        combined = np.stack(
            (name[row], process[row], identity[row], flags[row] & kernels.HAS_ID2, key), axis=1
        )
        series, of_row = np.unique(combined, axis=0, return_inverse=True)
        key_names = list(keys)
        shown = _first_processes(self._process)
        names = [
            self._counter_name(self._text(name_number), id_number, bool(id2), key_names[key_number])
            for name_number, _, id_number, id2, key_number in series.tolist()
        ]
        numbers = [
            self._recording.series(shown[process_number], name)
            for name, process_number in zip(names, series[:, 1].tolist(), strict=True)
        ]
        values = np.array(flat_value, np.float64)[at]
        of_sample = np.array(numbers, np.int64)[of_row.ravel()]
        self._recording.add_counters(series=of_sample, time=time[row], value=values)
        if self._whole and not any(said.what == "memory" for said in self._metadata):
            add_blocks(self._recording, names, of_row.ravel(), threads[thread][row], time[row], values)

    def _counter_name(self, name: str, identity: int, id2: bool, key: str) -> str:
        if identity >= 0:
            name = f"{name}[{self._identity(identity, id2)[0]}]"
        return name if key in ("value", name) else f"{name} {key}"

    def _identity(self, number: int, id2: bool) -> tuple[str, bool]:
        """Return an id, and whether it is local to its process."""
        if id2:
            return scoped_id(self._raw[number]) or ("", False)
        return self._text(number), False

    def _process_numbers(self) -> list[int]:
        """Return for each thread the number of its process, in the order of their first threads."""
        known: dict[str, int] = {}
        return [known.setdefault(str(process), len(known)) for process in self._process]

    def _keys(self, mask: NDArray[np.bool_], threads: NDArray[np.int32], local: bool = False) -> Ints:
        """Return for each row a number for its id and what that holds for; -1 where it has none.

        ``local`` makes every id its process's own.
        """
        identity, flags, thread = self._columns(mask, kernels.R_ID, kernels.R_FLAGS, kernels.R_THREAD)
        process = np.array([*self._process_numbers(), -1], np.int64)[threads[thread]]
        scope = process + 1 if local else np.zeros(len(identity), np.int64)
        value = identity.copy()
        id2 = (flags & kernels.HAS_ID2 != 0) & (identity >= 0)
        if id2.any():
            known: dict[str, int] = {}
            texts = np.unique(identity[id2])
            said = [scoped_id(self._raw[number]) or ("", False) for number in texts.tolist()]
            number = np.array([known.setdefault(text, len(known)) for text, _ in said], np.int64)
            own = np.array([is_local for _, is_local in said], np.bool_)
            at = np.searchsorted(texts, identity[id2])
            value[id2] = len(self._raw) + number[at]
            scope[id2] = np.where(own[at], process[id2] + 1, scope[id2])
        return np.where(identity >= 0, value * (len(self._process) + 2) + scope, -1)

    def _canonical(self, numbers: Ints) -> Ints:
        """Return for texts (-1: none) the first text that reads the same, escapes or not."""
        lut = np.full(len(self._raw) + 1, -1, np.int64)
        known: dict[str, int] = {}
        for number in np.unique(numbers).tolist():
            if number >= 0:
                lut[number] = known.setdefault(self._text(number), number)
        return lut[numbers]

    # -- flows ---------------------------------------------------------------------------------

    def _add_flows(self, letters: dict[str, NDArray[np.bool_]], threads: NDArray[np.int32]) -> None:
        flags = self._table[:, kernels.R_FLAGS]
        bound = self._any(letters, "X") & (flags & kernels.HAS_BIND != 0)
        bound &= flags & (kernels.F_IN | kernels.F_OUT) != 0
        mask = self._any(letters, "stf") | bound
        if not mask.any():
            return
        phase, name, category, thread, time, extra = self._columns(
            mask,
            *(kernels.R_PHASE, kernels.R_NAME, kernels.R_CATEGORY),
            *(kernels.R_THREAD, kernels.R_TIME, kernels.R_EXTRA),
        )
        flags = flags[mask]
        bound = bound[mask]
        key = self._keys(mask, threads)
        group_name = np.where(bound, -2, self._canonical(name))
        group_category = np.where(bound, -2, self._canonical(np.where(bound, -1, category)))
        gives = np.where(bound, flags & kernels.F_OUT != 0, phase != ord("f"))
        takes = np.where(bound, flags & kernels.F_IN != 0, phase != ord("s"))
        thread = threads[thread].astype(np.int64)
        waiting = (phase == ord("f")) & (flags & kernels.F_ENCLOSING == 0)
        moment = time.copy()
        if waiting.any():
            moment[waiting] = self._next_begins(threads, thread[waiting], time[waiting])
        # Within a flow, by time; at the same time starts come first, ends last.
        rank = takes.astype(np.int64) - gives
        order = np.lexsort((rank, time, key, group_name, group_category))
        grouped = np.stack((key, group_name, group_category), axis=1)[order]
        starts = np.ones(len(order), np.bool_)
        starts[1:] = (grouped[1:] != grouped[:-1]).any(axis=1)
        group_first = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
        # The last starting point before each point.
        giver = np.maximum.accumulate(np.where(gives[order], np.arange(len(order)), -1))
        giver = np.concatenate(([-1], giver[:-1]))
        arrow = takes[order] & (giver >= group_first) & (key[order] >= 0)
        target = order[arrow]
        source = order[giver[arrow]]
        if len(target):
            self._recording.add_flows(
                name=self._map(np.unique(name[source]).tolist(), "flows")[name[source]],
                source_thread=thread[source],
                start=time[source],
                target_thread=thread[target],
                end=np.maximum(moment[target], time[target]),
            )
        lone = gives | takes
        lone[target] = False
        lone[source] = False
        if lone.any():
            first = int(np.argmax(lone))
            byte = self._place(int(category[first])) if bound[first] else f"byte {int(extra[first]):,}"
            self._recording.problems.add("unmatched flow", byte, int(np.count_nonzero(lone)))

    def _next_begins(self, threads: NDArray[np.int32], thread: Ints, time: Ints) -> Ints:
        """Return when the next call of the thread begins, the time itself where there is none."""
        rows, n = self._rows, self._n
        wanted = np.zeros(len(self._process) + 1, np.bool_)
        wanted[thread] = True
        owner = threads[rows.thread[:n]]
        chosen = wanted[owner] & (rows.kind[:n] != END)
        owner, begin = owner[chosen].astype(np.int64), rows.time[:n][chosen]
        order = np.lexsort((begin, owner))
        owner, begin = owner[order], begin[order]
        low = np.searchsorted(owner, np.arange(len(wanted) + 1))
        out = time.copy()
        for one in np.flatnonzero(wanted).tolist():
            mine = thread == one
            begins = begin[low[one] : low[one + 1]]
            at = np.searchsorted(begins, time[mine])
            has = at < len(begins)
            out[np.flatnonzero(mine)[has]] = begins[at[has]]
        return out

    # -- spans ---------------------------------------------------------------------------------

    def _add_spans(self, letters: dict[str, NDArray[np.bool_]], threads: NDArray[np.int32]) -> None:
        mask = self._any(letters, "beSF")
        if not mask.any():
            return
        phase, name, category, thread, time, extra = self._columns(
            mask,
            *(kernels.R_PHASE, kernels.R_NAME, kernels.R_CATEGORY),
            *(kernels.R_THREAD, kernels.R_TIME, kernels.R_EXTRA),
        )
        # The older kind is distinguished by name and process too.
        legacy = (phase == ord("S")) | (phase == ord("F"))
        key = np.where(legacy, self._keys(mask, threads, local=True), self._keys(mask, threads))
        canonical = self._canonical(name)
        apart = np.where(legacy, canonical + 1, -1)
        group_category = self._canonical(category)
        order = np.lexsort((time, key, apart, group_category))
        grouped = np.stack((key, apart, group_category), axis=1)[order]
        changes = (grouped[1:] != grouped[:-1]).any(axis=1)
        group = np.concatenate(([0], np.cumsum(changes))).astype(np.int64)
        begins = np.isin(phase, (ord("b"), ord("S")))[order].astype(np.uint8)
        room = int(np.count_nonzero(begins))
        start, stop, parent, row = (np.empty(room, np.int64) for _ in range(4))
        lost = np.zeros(2, np.int64)
        last = int(time.max())
        if self._n:
            last = max(last, int(self._rows.stop[: self._n].max()))
        count = pair_spans(group, begins, canonical[order], time[order], last, start, stop, parent, row, lost)
        if lost[0] > 0:
            byte = int(extra[order[int(lost[1])]])
            self._recording.problems.add("unmatched span", f"byte {byte:,}", int(lost[0]))
        if count:
            of = order[row]
            self._recording.add_spans(
                name=self._map(np.unique(name[of]).tolist(), "spans")[name[of]],
                thread=threads[thread[of]],
                start=start,
                end=stop,
                parent=parent,
            )


def _as_int(text: str) -> RecordedId:
    try:
        return int(text)
    except ValueError:
        return text


def _first_processes(processes: list[RecordedId]) -> list[RecordedId]:
    return list({str(process): process for process in reversed(processes)}.values())[::-1]


def _decode_object(raw: bytes) -> dict[str, Any]:
    try:
        value = decode_json(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _before_their_turn(time: NDArray[np.int64]) -> int:
    """Return how many times are earlier than one before them."""
    return int(np.count_nonzero(time[1:] < np.maximum.accumulate(time)[:-1])) if len(time) else 0


def _sync_of(raw: bytes) -> tuple[int, int, list[str], str, int] | None:
    """Return kind, contended, objects, the holder's id and the line, if arguments contain them."""
    said = _decode_object(raw)
    kind, objects, contended = said.get("kind"), said.get("objects"), said.get("contended")
    if kind not in SYNC_KINDS or not isinstance(objects, list):
        return None
    if not all(isinstance(item, str) for item in objects):
        return None
    holder, line = said.get("holder"), said.get("line")
    holder = holder.text if isinstance(holder, Number) else holder
    return (
        SYNC_KINDS.index(kind),
        # Waits that had not ended with the recording are still open.
        2
        if contended is True and said.get("unfinished") is True
        else int(contended)
        if isinstance(contended, bool)
        else -1,
        objects,
        holder if isinstance(holder, str) else "",
        int(line.text) if isinstance(line, Number) and line.text.isdigit() and len(line.text) < 10 else 0,
    )


def _counters_of(raw: bytes) -> tuple[dict[str, float], int]:
    """Return the values of a counter's arguments by name, and how many are no numbers."""
    values: dict[str, float] = {}
    bad = 0
    for key, value in _decode_object(raw).items():
        try:
            number = float(value) if isinstance(value, (Number, str)) else float("nan")
        except ValueError:
            number = float("nan")
        if abs(number) <= 1.7976931348623157e308:
            values[key] = number
        else:
            bad += 1
    return values, bad
