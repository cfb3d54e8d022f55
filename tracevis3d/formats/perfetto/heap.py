"""Java's heap graphs in a Perfetto trace: which objects there were, and what keeps them.

An object is kept by another one, its dominator, if it could be freed with it. Objects of a class that are
kept along the same way of classes are one frame; those of a class that keep each other, such as the nodes of
a list, too. What no root reaches lies below :data:`GARBAGE`. The package has no messages for it any more.
Source: https://perfetto.dev/docs/data-sources/java-heap-profiler
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels.trace.dominators import find_dominators, fold_alike
from ...trace.recording import Recording
from ..profiles.samples import add_weighed, merge_frames
from ..wire import Messages

Ints = NDArray[np.int64]

#: The field of a packet.
HEAP_GRAPH = 56
GARBAGE = "(reached by no root)"
_PID, _OBJECTS, _FIELDS, _CONTINUED, _ROOTS, _TYPES = 1, 2, 4, 5, 7, 9
_ID, _TYPE, _SIZE, _FIELD, _REFERENCE, _BASE, _STEP, _INTERNAL = 1, 2, 3, 4, 5, 6, 7, 10
_CLASS, _CLASS_SIZE, _SUPER, _OWN_FIELDS, _KIND = 3, 4, 5, 6, 7
#: Kinds of classes whose objects don't keep what this field refers to: soft, weak, finalizer, phantom.
_WEAK, _REFERENT = (8, 9, 10, 11), "java.lang.ref.Reference.referent"


class HeapGraphs:
    """Collects heap graphs, and makes samples of them: of each frame its bytes and its objects.

    Parameters
    ----------
    recording : Recording
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        #: By writer: the parts of the one being written, and when it was.
        self._open: dict[int, list[bytes]] = {}
        self._whole: list[tuple[int, list[bytes]]] = []

    def add(self, sequence: int, time: int, part: bytes) -> None:
        """Take a part of a graph.

        Parameters
        ----------
        sequence : int
            Its writer.
        time : int
            Nanoseconds.
        part : bytes
            The message.
        """
        parts = self._open.setdefault(sequence, [])
        parts.append(part)
        if not Messages.of(part, self._recording.problems).last(_CONTINUED)[0]:
            self._whole.append((time, self._open.pop(sequence)))

    def finish(self, *, is_alone: bool) -> bool:
        """Hand over all graphs.

        Parameters
        ----------
        is_alone : bool
            Whether the trace has no calls: one that has some is no profile.

        Returns
        -------
        bool
            Whether functions of the recording are classes.
        """
        problems = self._recording.problems
        if self._open:
            problems.add("truncated", "a heap graph has no end", len(self._open))
        if not is_alone:
            problems.add("unsupported", "a heap graph beside calls: bytes are no times", len(self._whole))
            return False
        for time, parts in self._whole:
            self._graph(time, parts)
        return bool(self._whole)

    def _graph(self, time: int, parts: list[bytes]) -> None:
        recording, problems = self._recording, self._recording.problems
        # Parts of a message one behind the other are that message.
        whole = Messages.of(b"".join(parts), problems)
        objects, classes, roots = (whole.inner(field)[0] for field in (_OBJECTS, _TYPES, _ROOTS))
        if not len(objects):
            return
        ids, kind = _ids(objects), objects.last(_TYPE)
        known, of = np.unique(classes.last(_ID), return_index=True)
        at = np.minimum(np.searchsorted(known, kind), max(len(known) - 1, 0))
        is_known = known[at] == kind if len(known) else np.zeros(len(kind), np.bool_)
        problems.add("lost", "the class of an object", int((~is_known).sum()))
        kind = np.where(is_known, of[at] if len(known) else 0, len(classes))
        size = objects.last(_SIZE)
        size = np.where(size > 0, size, np.append(classes.last(_CLASS_SIZE), 0)[kind])
        source, to = self._edges(whole, objects, classes, kind)
        order = np.argsort(ids, kind="stable")

        def node(of: Ints) -> Ints:
            place = np.minimum(np.searchsorted(ids[order], of), len(ids) - 1)
            return np.where(ids[order][place] == of, order[place], -1)

        target, start = node(to), node(roots.whole_numbers(1)[0])
        lost = int((target < 0).sum()) + int((start < 0).sum())
        problems.add("lost", "an object that others refer to", lost)
        source, target = source[target >= 0], target[target >= 0]
        kept, stack, (what, parents) = _kept(source, target, start[start >= 0], kind, len(classes) + 1)
        texts = [*classes.text(_CLASS, "(class without a name)"), "(unknown class)", GARBAGE]
        used, which = np.unique(what, return_inverse=True)
        function = recording.functions([texts[number] for number in used.tolist()])[which]
        frames = function, parents, np.zeros(len(what), np.int32)
        pid = int(whole.last(_PID)[0])
        thread = recording.thread(pid, f"heap at {time}")
        recording.name_thread(pid, f"heap at {time}", "Java's heap")
        count = len(what)
        weighed = np.zeros(count, np.int64)
        np.add.at(weighed, stack, np.maximum(size[kept], 0))
        number = np.bincount(stack, minlength=count)
        used = np.flatnonzero(number)
        add_weighed(
            recording,
            frames,
            np.full(len(used), thread, np.int32),
            used,
            {"heap (bytes)": weighed[used], "objects": number[used]},
            start=time,
        )
        problems.add("no time unit", "a heap graph is bytes", len(used))

    def _edges(self, whole: Messages, objects: Messages, classes: Messages, kind: Ints) -> tuple[Ints, Ints]:
        """Return the object that each reference is of, and the id that it leads to; without weak ones."""
        to, source = objects.whole_numbers(_REFERENCE)
        to = np.where(to != 0, to + objects.last(_BASE)[source], 0)
        rank = np.arange(len(source)) - np.searchsorted(source, source)
        texts = whole.inner(_FIELDS)[0]
        referents = [i for i, text in zip(texts.last(1).tolist(), texts.texts(2)) if text == _REFERENT]
        weak = np.append(np.isin(classes.last(_KIND), _WEAK), False)
        where = np.full(len(weak), -1)
        where[:-1][weak[:-1]] = _places(classes, np.flatnonzero(weak[:-1]), referents)
        drop = weak[kind[source]] & (rank == where[kind[source]])
        field, owner = objects.whole_numbers(_FIELD)
        if len(field):
            # Where fields are named for each reference, classes don't count.
            named = np.bincount(owner, minlength=len(objects)) == np.bincount(source, minlength=len(objects))
            drop &= ~named[source]
            drop[named[source]] = (weak[kind[source]][named[source]]) & np.isin(
                field[named[owner]], referents
            )
        keep = ~drop & (to != 0)
        internal, by = objects.whole_numbers(_INTERNAL)
        return np.concatenate((source[keep], by)), np.concatenate((to[keep], internal))


def _ids(objects: Messages) -> Ints:
    """Return the id of each object: written, or by how much it is more than the one before."""
    step, is_step = objects.last(_STEP), objects.has(_STEP)
    ids = np.where(is_step, 0, objects.last(_ID))
    total = np.cumsum(np.where(is_step, step, 0))
    base = np.maximum.accumulate(np.where(is_step, -1, np.arange(len(ids))))
    from_base: Ints = np.where(base >= 0, ids[base] + total - total[base], total)
    return from_base


def _places(classes: Messages, which: NDArray[np.intp], referents: list[int]) -> list[int]:
    """Return the place of the referent among the references of each class's objects; -1 where it has none.

    An object's references are in the order of its class's fields, then those of the class that it extends.
    """
    field, owner = classes.whole_numbers(_OWN_FIELDS)
    first = np.searchsorted(owner, np.arange(len(classes) + 1))
    row_of = {number: row for row, number in enumerate(classes.last(_ID).tolist())}
    above = [row_of.get(number, -1) for number in classes.last(_SUPER).tolist()]
    places = []
    for row in which.tolist():
        before, place, seen = 0, -1, set()
        while row >= 0 and row not in seen and place < 0:
            seen.add(row)
            own = np.flatnonzero(np.isin(field[first[row] : first[row + 1]], referents))
            place = before + int(own[0]) if len(own) else -1
            before += int(first[row + 1] - first[row])
            row = above[row]
        places.append(place)
    return places


def _kept(
    source: Ints, target: Ints, roots: Ints, kind: Ints, garbage: int
) -> tuple[Ints, Ints, tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Return objects in an order, the frame of each, and the frames' kinds and parents."""
    n = len(kind)
    order, first = np.argsort(source, kind="stable"), np.zeros(n + 1, np.int64)
    first[1:] = np.cumsum(np.bincount(source, minlength=n))
    number, found, dominator = np.empty((3, n), np.int64)
    space = np.empty(len(target) + len(roots), np.int64), np.empty((10, n + 2), np.int64)
    reached = find_dominators(first, target[order], roots, *space, number, found, dominator)
    lost = np.flatnonzero(number < 0)
    # What is lost lies in a node of its own, behind what is reached.
    over = dominator[found[:reached]]
    some = min(len(lost), 1)
    above = np.concatenate(
        (np.where(over >= 0, number[over], -1), np.full(some, -1), np.full(len(lost), reached))
    )
    objects = np.append(found[:reached], lost)
    kinds = np.concatenate((kind[found[:reached]], np.full(some, garbage), kind[lost])).astype(np.int32)
    folded = np.empty(len(above), np.int64)
    fold_alike(above, kinds, folded)
    higher = above[folded]
    merged, parents, what = merge_frames(kinds, np.where(higher >= 0, folded[higher], -1).astype(np.int32))
    stack = np.append(merged[:reached], merged[reached + some :]).astype(np.int64)
    return objects, stack, (what, parents)
