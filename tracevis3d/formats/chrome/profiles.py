"""Samples of JavaScript inside a Chrome trace: ``Profile`` and ``ProfileChunk`` records of V8's profiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.lay.inside import lay_inside
from ...kernels.formats.lay.samples import measure_depths
from ...trace.model import RecordedId
from ...trace.problems import Problems
from ...trace.recording import Recording
from ..profiles.documents import fields_of, items_of, numbers_of
from ..profiles.samples import ends_of_samples
from ..profiles.v8 import ProfileNodes
from .checked import Metadata

Ids = Callable[[str | None, str | None, int], tuple[RecordedId, RecordedId]]
_NS = 1000
#: Stacks without information about JavaScript.
_OUTSIDE = frozenset(("(program)", "(idle)", "(root)"))


@dataclass
class _Profile:
    """A profile in parts."""

    thread: tuple[RecordedId, RecordedId]
    begin: float
    nodes: ProfileNodes
    ids: list[NDArray[np.float64]] = field(default_factory=list)
    steps: list[NDArray[np.float64]] = field(default_factory=list)


def add_profiles(metadata: list[Metadata], ids_of: Ids, recording: Recording) -> int:
    """Add the calls that samples show, within the calls that were recorded on the same thread.

    Parameters
    ----------
    metadata : list of Metadata
        Those of samples are read.
    ids_of : callable
        Returns process and thread as recorded, of the texts in a record.
    recording : Recording
        Has the recorded calls; gets the others.

    Returns
    -------
    int
        How many events will be found out of order only because these come behind those recorded.
    """
    profiles: dict[tuple[RecordedId, str], _Profile] = {}
    for said in metadata:
        if said.what not in ("Profile", "ProfileChunk"):
            continue
        thread = ids_of(said.process, said.tid, said.quoted)
        key = thread[0], str(said.arguments.get("id"))
        data = fields_of(said.arguments.get("data"))
        if said.what == "Profile":
            begin = float(numbers_of([data.get("startTime")])[0])
            if not abs(begin) < 1 << 52:
                recording.problems.add("bad time", "a profile of samples")
                continue
            profiles[key] = _Profile(thread, begin, ProfileNodes(recording))
        elif key in profiles:
            _add_chunk(profiles[key], data)
        else:
            recording.problems.add("unknown", f"samples of the profile {key[1]}, which has no begin")
    return sum(_lay(profile, recording) for profile in profiles.values())


def _add_chunk(profile: _Profile, data: dict[str, Any]) -> None:
    part = fields_of(data.get("cpuProfile"))
    for node in items_of(part.get("nodes")):
        profile.nodes.add(fields_of(node), fields_of(node).get("parent"))
    ids, steps = numbers_of(part.get("samples")), numbers_of(data.get("timeDeltas", part.get("timeDeltas")))
    count = min(len(ids), len(steps))
    profile.ids.append(ids[:count])
    profile.steps.append(steps[:count])


def _lay(profile: _Profile, recording: Recording) -> int:
    """Add begins and ends of what was sampled; return how many events are out of order for that."""
    if not sum(map(len, profile.ids)):
        return 0
    steps = np.nan_to_num(np.concatenate(profile.steps))
    time, stacks = profile.nodes.rows(np.concatenate(profile.ids), _NS * (profile.begin + np.cumsum(steps)))
    if not len(time):
        return 0
    function, parent, _ = profile.nodes.columns()
    outside = [number for name in _OUTSIDE if (number := recording.known_function(name)) >= 0]
    stack = np.array(stacks, np.int32)
    root = np.arange(len(parent), dtype=np.int32)
    for frame in range(len(parent)):
        if parent[frame] >= 0:
            root[frame] = root[parent[frame]]
    if len(parent):
        stack[(stack >= 0) & np.isin(function[root[np.maximum(stack, 0)]], outside)] = -1
    recording.problems.add("sampled", f"thread {profile.thread[1]}", int(np.count_nonzero(stack >= 0)))
    # An empty stack marks gaps between samples, and the end.
    ends = ends_of_samples(np.zeros(len(time), np.int32), time)
    gaps = np.append(ends[:-1] < time[1:], True)
    place = np.flatnonzero(gaps) + 1
    time, stack = np.insert(time, place, ends[gaps]), np.insert(stack, place, -1).astype(np.int32)
    thread = recording.thread(*profile.thread)
    before, after = Problems(), Problems()
    start, end = recording.calls_so_far(thread, before)
    depth = np.empty(len(parent), np.int32)
    room = int(measure_depths(parent, depth)) + 1
    scratch = np.empty(len(start) + 1, np.int64), *(np.empty(room, np.int32) for _ in range(3))
    columns: tuple[Any, ...] = (start, end, time, stack, parent, function, depth, *scratch)
    none = np.empty(0, np.uint8), np.empty(0, np.int32), np.empty(0, np.int64)
    lay: Any = lay_inside
    count = lay(*columns, True, *none)
    kind, named, when = np.empty(count, np.uint8), np.empty(count, np.int32), np.empty(count, np.int64)
    lay(*columns, False, kind, named, when)
    recording.add_events(thread=np.full(count, thread), kind=kind, function=named, time=when)
    recording.calls_so_far(thread, after)
    was, is_now = (found["out of order"].count if "out of order" in found else 0 for found in (before, after))
    return is_now - was
