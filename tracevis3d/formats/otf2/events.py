"""From the rows of an OTF2 archive to calls, locks, threads, messages and I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...trace import events, model
from ...trace.recording import Recording
from . import archive as rows

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Roles of regions in which threads wait for each other.
_BARRIERS = ("BARRIER", "IMPLICIT_BARRIER")
_SECOND = 1_000_000_000


def fill(recording: Recording, archive: rows.Archive) -> Callable[[int], str]:
    """Fill ``recording``; return what names the place of an event of it.

    Parameters
    ----------
    recording : Recording
        It is filled.
    archive : Archive
        The rows of the archive.

    Returns
    -------
    callable
        ``place(event) -> str``.
    """
    return _Filling(recording, archive).fill()


class _Filling:
    """The rows ordered by location, and what stands beside each.

    A thread that waits does nothing else: a wait begins at the row before the one that ends it, where that
    is the begin of a call or a release within one.
    """

    def __init__(self, recording: Recording, archive: rows.Archive) -> None:
        self.recording, self.archive = recording, archive
        self.order = np.argsort(archive.rows[:, 0], kind="stable")
        self.location, self.kind, time, self.a, self.b, self.c = np.ascontiguousarray(
            archive.rows[self.order].T
        )
        self.time = _nanoseconds(time, archive.ticks)
        n = len(self.order)
        self.enter, self.leave = self.kind == rows.ENTER, self.kind == rows.LEAVE
        here = np.arange(n)
        self.follows = np.zeros(n, np.bool_)
        self.follows[1:] = self.location[1:] == self.location[:-1]
        last = np.maximum.accumulate(np.where(self.enter | self.leave, here, -1))
        before = np.concatenate([[-1], last[:-1]])
        safe = np.maximum(before, 0)
        #: The call that has begun and calls nothing yet, as its row; -1: none.
        self.inside = np.where((before >= 0) & (self.location[safe] == self.location) & self.enter[safe],
                               before, -1)  # fmt: skip
        #: Whether the row is the last of its call.
        self.ends = np.zeros(n, np.bool_)
        self.ends[:-1] = self.leave[1:] & self.follows[1:]
        self.event_of = np.full(n, -1, np.int64)
        distinct, back = np.unique(self.location, return_inverse=True)
        ids = [self._thread(one) for one in distinct.tolist()]
        self.thread = np.array(ids, np.int64)[back.reshape(-1)]
        groups = [self._group(one) for one in distinct.tolist()]
        self.group = np.array(groups, np.int64)[back.reshape(-1)]

    def fill(self) -> Callable[[int], str]:
        """Hand over everything."""
        place = self._calls()
        self._locks()
        self._threads()
        self._teams()
        self._barriers()
        self._messages()
        self._transfers()
        for name, count in sorted(self.archive.others.items()):
            self.recording.problems.add("unsupported", f"{name} records", count)
        return place

    # -- names ---------------------------------------------------------------------------------

    def _group(self, location: int) -> int:
        return int(self.archive.locations.get(location, ["", -1])[1])

    def _thread(self, location: int) -> int:
        name = str(self.archive.locations.get(location, [""])[0])
        group = self._group(location)
        self.recording.name_process(group, self.archive.groups.get(group, ""))
        self.recording.name_thread(group, location, name)
        return self.recording.thread(group, location)

    def _of_process(self, text: str, group: int) -> str:
        """Return the name of an object that belongs to a process."""
        if len(self.archive.groups) < 2:
            return text
        return f"{text} of {self.archive.groups.get(group) or group}"

    def _object(self, text: str) -> int:
        return self.recording.text("objects", text)

    def _named(self, at: Ints, text: str, number: Ints | None = None) -> Sequence[Sequence[int]]:
        """Return an object for each row: ``text`` with a number filled in, of the row's process."""
        numbers = self.a[at] if number is None else number
        keys, back = np.unique(np.stack([self.group[at], numbers]), axis=1, return_inverse=True)
        made = [
            (self._object(self._of_process(text.format(value), group)),) for group, value in keys.T.tolist()
        ]
        return [made[i] for i in back.reshape(-1).tolist()]

    def _region_names(self, at: Ints, otherwise: str) -> Ints:
        """Return the names of operations: those of the regions entered by rows, ``otherwise`` where -1."""
        region = np.where(at >= 0, self.a[np.maximum(at, 0)], -1)
        distinct, back = np.unique(region, return_inverse=True)
        names = [str(self.archive.regions[r][0]) if r in self.archive.regions else otherwise
                 for r in distinct.tolist()]  # fmt: skip
        numbers = [self.recording.text("sync", name) for name in names]
        found: Ints = np.array(numbers, np.int64)[back.reshape(-1)]
        return found

    # -- calls ---------------------------------------------------------------------------------

    def _calls(self) -> Callable[[int], str]:
        regions = self.archive.regions
        known = {
            number: self.recording.function(str(name), label=None, file=str(file) or None, line=int(line))
            for number, (name, file, line, _) in regions.items()
        }
        distinct, back = np.unique(self.a, return_inverse=True)
        table = [known.get(r, -1) for r in distinct.tolist()]
        function = np.where(self.enter, np.array(table, np.int64)[back.reshape(-1)], -1)
        unknown = self.enter & (function < 0)
        if unknown.any():
            function[unknown] = self.recording.function("(a region that is not defined)")
        # An acquisition in a call that keeps holding (OpenMP's critical) is a call of its own.
        alone = self._waiting(rows.ACQUIRE)
        alone = alone[~self._whole(alone)]
        shown = np.flatnonzero(self.enter | self.leave)
        inner = self.recording.function("(acquires a lock)")
        position = np.concatenate([2 * shown, 2 * alone, 2 * alone + 1])
        order = np.argsort(position, kind="stable")
        n = len(alone)
        self.recording.add_events(
            thread=np.concatenate([self.thread[shown], self.thread[alone], self.thread[alone]])[order],
            kind=np.concatenate(
                [np.where(self.enter[shown], events.BEGIN, events.END),
                 np.full(n, events.BEGIN), np.full(n, events.END)]
            )[order],
            function=np.concatenate([function[shown], np.full(n, inner), np.full(n, -1)])[order],
            time=np.concatenate([self.time[shown], self.time[alone - 1], self.time[alone]])[order],
        )  # fmt: skip
        position = position[order]
        self.event_of[shown] = np.searchsorted(position, 2 * shown)
        self.event_of[alone] = np.searchsorted(position, 2 * alone)
        return lambda event: f"event {int(self.order[position[event] // 2]) + 1:,}"

    def _waiting(self, kind: int) -> Ints:
        """Return the rows of a kind that end a wait of which the begin is known."""
        found: Ints = np.flatnonzero((self.kind == kind) & (self.inside >= 0))
        return found

    def _whole(self, at: Ints) -> Flags:
        """Return which waits take all of the call in which they lie."""
        found: Flags = self.ends[at] & (self.inside[at] == at - 1)
        return found

    # -- operations ----------------------------------------------------------------------------

    def _add(
        self, at: Ints, kind: int, name: str | Ints, objects: Sequence[Sequence[int]],
        start: Ints | None = None, event: Ints | None = None, contended: Ints | None = None,
    ) -> None:  # fmt: skip
        """Append operations that end at rows."""
        if not len(at):
            return
        number = np.full(len(at), self.recording.text("sync", name)) if isinstance(name, str) else name
        self.recording.add_sync(
            thread=self.thread[at], kind=np.full(len(at), kind), name=number,
            start=self.time[at] if start is None else start, end=self.time[at], event=event,
            objects=objects, contended=contended,
        )  # fmt: skip

    def _locks(self) -> None:
        at = np.flatnonzero(self.kind == rows.ACQUIRE)
        known = self.inside[at] >= 0
        start = np.where(known, self.time[at - 1], self.time[at])
        event = np.where(
            known, np.where(self._whole(at), self.event_of[self.inside[at]], self.event_of[at]), -1
        )
        self._add(at, model.WAIT, "acquire lock", self._named(at, "lock {}"), start, event)
        at = np.flatnonzero(self.kind == rows.RELEASE)
        self._add(at, model.RELEASE, "release lock", self._named(at, "lock {}"))

    def _threads(self) -> None:
        """Add threads that are created, and waited for."""
        begun = np.flatnonzero(self.kind == rows.BEGIN)
        location_of = {
            (a, b): location
            for a, b, location in zip(
                self.a[begun].tolist(), self.b[begun].tolist(), self.location[begun].tolist()
            )
        }
        names = [str(name) for name, _ in self.archive.locations.values()]

        def objects(at: Ints) -> Sequence[Sequence[int]]:
            made = []
            for key in zip(self.a[at].tolist(), self.b[at].tolist()):
                location = location_of.get(key, -1)
                name = str(self.archive.locations[location][0]) if location >= 0 else ""
                if name and names.count(name) == 1:
                    made.append((self._object(f"Thread:{name}"),))
                else:
                    made.append((self._object(f"Thread:{location if location >= 0 else key}"),))
            return made

        at = np.flatnonzero(self.kind == rows.CREATE)
        self._add(at, model.RELEASE, "create thread", objects(at))
        at = np.flatnonzero(self.kind == rows.END)
        self._add(at, model.RELEASE, "end of thread", objects(at))
        at = np.flatnonzero(self.kind == rows.WAIT)
        whole = self._whole(at)
        start = np.where(self.inside[at] >= 0, self.time[at - 1], self.time[at])
        self._add(at, model.WAIT, "wait for thread", objects(at), start,
                  np.where(whole, self.event_of[self.inside[at]], -1))  # fmt: skip

    def _teams(self) -> None:
        """Add teams of threads: who forks them waits for all, they wait for the next fork."""
        before = np.concatenate([[-1], self.kind[:-1]])
        at = np.flatnonzero(self.kind == rows.FORK)
        self._add(at, model.RELEASE, "fork", self._named(at, "work for threads", 0 * at))
        at = np.flatnonzero((self.kind == rows.TEAM_BEGIN) & self.follows & (before == rows.TEAM_END))
        self._add(at, model.WAIT, "wait for fork", self._named(at, "work for threads", 0 * at),
                  self.time[at - 1])  # fmt: skip
        at = np.flatnonzero(self.kind == rows.TEAM_END)
        self._add(at, model.RELEASE, "end of team", self._named(at, "team of threads", 0 * at))
        at = np.flatnonzero((self.kind == rows.JOIN) & self.follows)
        self._add(at, model.WAIT, "join", self._named(at, "team of threads", 0 * at), self.time[at - 1])

    def _barriers(self) -> None:
        """Add what threads or processes do together: each waits for the last that comes."""
        together = np.flatnonzero((self.kind == rows.COLLECTIVE) & (self.inside >= 0))
        call = self.inside[together]
        comms = self.archive.comms
        objects = [(self._object(comms.get(c) or f"communicator {c}"),) for c in self.a[together].tolist()]
        regions = [r for r, (_, _, _, role) in self.archive.regions.items() if role in _BARRIERS]
        barrier = np.flatnonzero(self.enter & np.isin(self.a, np.array(regions, np.int64)))
        barrier = barrier[~np.isin(barrier, call)]
        for at, whose in ((call, objects), (barrier, self._named(barrier, "barrier", 0 * barrier))):
            self._add(at, model.RELEASE, "arrive", whose)
            self._add(at, model.WAIT, self._region_names(at, "barrier"), whose, event=self.event_of[at])

    def _messages(self) -> None:
        """Add messages: an arrow for each, and the wait of who received one that was not sent yet."""
        sent, got = (np.flatnonzero(self.kind == kind) for kind in (rows.SEND, rows.RECEIVE))
        # Messages of one tag from one to another arrive in the order in which they were sent.
        channel = np.concatenate(
            [np.stack([self.location[sent], self.a[sent], self.b[sent], self.c[sent]]),
             np.stack([self.a[got], self.location[got], self.b[got], self.c[got]])], axis=1,
        )  # fmt: skip
        keys, back = np.unique(channel, axis=1, return_inverse=True)
        back = back.reshape(-1)
        of_sent, of_got = back[: len(sent)], back[len(sent) :]
        sent_key, got_key = (_nth(column, len(back) + 1) for column in (of_sent, of_got))
        order = np.argsort(sent_key, kind="stable")
        where = np.searchsorted(sent_key[order], got_key)
        found = where < len(order)
        found[found] = sent_key[order][where[found]] == got_key[found]
        partner = np.full(len(got), -1, np.int64)
        partner[found] = sent[order[where[found]]]
        lost = int(len(got) - found.sum()) + int(len(sent) - found.sum())
        if lost:
            at = int(got[~found][0]) if not found.all() else int(np.setdiff1d(sent, partner)[0])
            self.recording.problems.add("unmatched flow", f"event {int(self.order[at]) + 1:,}", lost)
        if found.any():
            here, there = partner[found], got[found]
            self.recording.add_flows(
                name=np.full(len(here), self.recording.text("flows", "MPI message")),
                source_thread=self.thread[here], start=self.time[here], target_thread=self.thread[there],
                end=np.maximum(self.time[there], self.time[here]),
            )  # fmt: skip
        title = {key: str(value[0]) for key, value in self.archive.locations.items()}
        titles = [
            f"messages of {title.get(a, '?')} to {title.get(b, '?')}"
            + (f", tag {tag}" if np.count_nonzero((keys[0] == a) & (keys[1] == b)) > 1 else "")
            for a, b, tag, _ in keys.T.tolist()
        ]
        objects = [self._object(text) for text in titles]
        self._add(sent, model.RELEASE, "send", [(objects[i],) for i in of_sent.tolist()])
        # One call may receive several.
        call = np.where(self.inside[got] >= 0, self.inside[got], got)
        calls, one = np.unique(call, return_inverse=True)
        one = one.reshape(-1)
        several: list[list[int]] = [[] for _ in range(len(calls))]
        for i, o in zip(one.tolist(), of_got.tolist()):
            several[i].append(objects[o])
        late = np.zeros(len(calls), np.int64)
        np.maximum.at(late, one, (partner >= 0) & (self.time[np.maximum(partner, 0)] > self.time[call]))
        self._add(
            calls, model.WAIT, self._region_names(np.where(self.enter[calls], calls, -1), "receive"),
            [tuple(dict.fromkeys(names)) for names in several],
            event=np.where(self.enter[calls], self.event_of[calls], -1), contended=late,
        )  # fmt: skip

    def _transfers(self) -> None:
        """Add files that are read and written."""
        begun, ended = (np.flatnonzero(self.kind == kind) for kind in (rows.IO_BEGIN, rows.IO_END))
        columns = [np.stack([self.location[at], self.a[at], self.b[at]]) for at in (begun, ended)]
        _, back = np.unique(np.concatenate(columns, axis=1), axis=1, return_inverse=True)
        back = back.reshape(-1)
        first, last = (_nth(part, len(back) + 1) for part in (back[: len(begun)], back[len(begun) :]))
        order = np.argsort(last, kind="stable")
        where = np.searchsorted(last[order], first)
        found = where < len(order)
        found[found] = last[order][where[found]] == first[found]
        begin, end = begun[found], ended[order[where[found]]]
        files = self.archive.files
        objects = [(self._object(f"file:{files.get(h) or h}"),) for h in self.a[begin].tolist()]
        call = self.inside[begin]
        self._add(end, model.IO, self._region_names(call, "I/O"), objects, self.time[begin],
                  np.where(call >= 0, self.event_of[np.maximum(call, 0)], -1))  # fmt: skip


def _nth(group: Ints, most: int) -> Ints:
    """Return for each element its group and how many of its group come before it, as one number."""
    order = np.argsort(group, kind="stable")
    first = np.searchsorted(group[order], group[order], side="left")
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - first
    return group * most + rank


def _nanoseconds(time: Ints, ticks: int) -> Ints:
    """Return nanoseconds of a clock's ticks, exact where the clock's are whole nanoseconds."""
    if ticks == _SECOND or not len(time):
        return time
    # Relative to the first, so that products fit into 64 bits.
    since = time - time.min()
    rest: Ints = np.rint(since % ticks * (_SECOND / ticks)).astype(np.int64)
    whole: Ints = since // ticks * _SECOND
    return whole + rest
