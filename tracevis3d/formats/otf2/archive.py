"""An OTF2 archive as rows of numbers: what the helper process prints, and how it is read.

The library behind the Python module ``otf2`` writes to standard error what it thinks of a file, and a
damaged one may end it; so it runs in a process of its own. What it prints is JSON (definitions), rows of six
int64 (see :data:`KINDS`), and JSON again (what was not read).
"""

from __future__ import annotations

import json
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Unreadable
from ...machine.apart import Blocks, read_apart
from ...progress import Progress

Ints = NDArray[np.int64]

#: Kinds of rows, in the order of their numbers, with what their three values are.
KINDS = (
    "enter",  # region
    "leave",  # region
    "acquire",  # lock
    "release",  # lock
    "create",  # contingent of threads, number within it
    "begin",  # the same
    "wait",  # the same
    "end",  # the same
    "fork",
    "join",
    "team begin",  # team
    "team end",  # team
    "send",  # receiving location, tag, communicator
    "receive",  # sending location, tag, communicator
    "collective",  # communicator
    "io begin",  # handle, number by which begin and end match
    "io end",  # handle, the same, bytes
)
ENTER, LEAVE, ACQUIRE, RELEASE, CREATE, BEGIN, WAIT, END, FORK, JOIN, TEAM_BEGIN, TEAM_END = range(12)
SEND, RECEIVE, COLLECTIVE, IO_BEGIN, IO_END = range(12, 17)
#: Numbers of a row: location, kind, time, and three values.
STRIDE = 6
_DEFINITIONS, _ROWS, _OTHERS = b"D", b"R", b"O"
#: Rows printed together.
_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Archive:
    """What an archive holds.

    Attributes
    ----------
    locations, regions : dict
        Number -> definition: ``[name, group]``, ``[name, file, line, role]``.
    groups, comms, files : dict
        Number -> name.
    ticks : int
        Of the clock, in a second.
    rows : int64 (n, STRIDE)
        In the order of time.
    others : dict
        Kinds of events that are not read, and how many there are.
    broken : str
        Why it could not be read to its end; empty if it was.
    """

    locations: dict[int, list[Any]]
    regions: dict[int, list[Any]]
    groups: dict[int, str]
    comms: dict[int, str]
    files: dict[int, str]
    ticks: int
    rows: Ints
    others: dict[str, int]
    broken: str


def read_archive(path: Path, progress: Progress) -> Archive:
    """Read the archive whose anchor is ``path`` in a process of its own.

    Parameters
    ----------
    path : Path
        The anchor file.
    progress : Progress

    Returns
    -------
    Archive

    Raises
    ------
    Unreadable
        If the library can't read it at all.
    """
    definitions: dict[str, Any] = {}
    chunks: list[Ints] = [np.empty((0, STRIDE), np.int64)]
    others: dict[str, int] = {}
    seen = 0

    def take(kind: bytes, data: bytes) -> None:
        nonlocal seen
        if kind == _DEFINITIONS:
            definitions.update(json.loads(data))
        elif kind == _OTHERS:
            others.update(json.loads(data))
        else:
            chunks.append(np.frombuffer(data, np.int64).reshape(-1, STRIDE))
            seen += len(chunks[-1])
            progress(0.8 * min(seen / max(int(definitions["events"]), 1), 1.0), "reading events")

    broken = read_apart(__name__, path, take)
    if not definitions:
        raise Unreadable(f"{path}: OTF2's library can't read it: {broken}")
    numbered = {
        table: {int(key): value for key, value in definitions[table].items()}
        for table in ("locations", "regions", "groups", "comms", "files")
    }
    return Archive(
        **numbered, ticks=max(int(definitions["ticks"]), 1), rows=np.concatenate(chunks), others=others,
        broken=broken,
    )  # fmt: skip


# -- in the helper process -----------------------------------------------------------------------


def main(path: str, block: Blocks) -> None:
    """Print the archive at ``path``.

    Parameters
    ----------
    path : str
        The anchor file.
    block : callable
        Prints a block.
    """
    import otf2

    with otf2.reader.open(path) as trace:
        block(_DEFINITIONS, json.dumps(_definitions(trace)).encode())
        others: dict[str, int] = {}
        rows = array("q")
        try:
            for location, event in trace.events:
                name = type(event).__name__
                make = _READ.get(name)
                if name in _IN_OTHERS:
                    continue
                if make is None:
                    others[name] = others.get(name, 0) + 1
                    continue
                kind, a, b, c = make(event)
                rows.extend((location._ref, kind, _signed(event.time), a, b, c))
                if len(rows) >= STRIDE * _AT_ONCE:
                    block(_ROWS, rows.tobytes())
                    rows = array("q")
        finally:
            block(_ROWS, rows.tobytes())
            block(_OTHERS, json.dumps(others).encode())


def _definitions(trace: Any) -> dict[str, Any]:
    known = trace.definitions
    return {
        "ticks": trace.timer_resolution,
        "events": sum(location.number_of_events for location in known.locations),
        "locations": {one._ref: [one.name, one.group._ref] for one in known.locations},
        "groups": {one._ref: one.name for one in known.location_groups},
        "regions": {
            one._ref: [
                one.name,
                one.source_file or "",
                one.begin_line_number,
                str(one.region_role).rpartition(".")[2],
            ]
            for one in known.regions
        },
        "comms": {one._ref: one.name for one in known.comms},
        "files": {one._ref: getattr(one.file, "name", "") or one.name for one in known.io_handles},
    }


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


def _partner(event: Any, rank: int) -> int:
    """Return the location of a rank of the event's communicator; -1 if that is unknown."""
    try:
        return int(event.communicator.location(rank)._ref)
    except (AttributeError, IndexError, KeyError, TypeError):
        return -1


def _region(kind: int) -> Any:
    return lambda e: (kind, e.region._ref, 0, 0)


def _context(kind: int) -> Any:
    return lambda e: (kind, e.calling_context.region._ref, 0, 0)


def _lock(kind: int) -> Any:
    return lambda e: (kind, e.lock_id, 0, 0)


def _thread(kind: int) -> Any:
    return lambda e: (kind, e.thread_contingent._ref, _signed(e.sequence_count), 0)


def _plain(kind: int) -> Any:
    return lambda e: (kind, 0, 0, 0)


def _team(kind: int) -> Any:
    return lambda e: (kind, e.thread_team._ref, 0, 0)


def _send(e: Any) -> tuple[int, int, int, int]:
    return SEND, _partner(e, e.receiver), e.msg_tag, e.communicator._ref


def _received(e: Any) -> tuple[int, int, int, int]:
    return RECEIVE, _partner(e, e.sender), e.msg_tag, e.communicator._ref


def _io(kind: int, count: str) -> Any:
    return lambda e: (kind, e.handle._ref, _signed(e.matching_id), _signed(getattr(e, count)))


#: Events by name -> a function that returns kind and values of a row.
_READ: dict[str, Any] = {
    "Enter": _region(ENTER),
    "Leave": _region(LEAVE),
    "CallingContextEnter": _context(ENTER),
    "CallingContextLeave": _context(LEAVE),
    "ThreadAcquireLock": _lock(ACQUIRE),
    "ThreadReleaseLock": _lock(RELEASE),
    "OmpAcquireLock": _lock(ACQUIRE),
    "OmpReleaseLock": _lock(RELEASE),
    "ThreadCreate": _thread(CREATE),
    "ThreadBegin": _thread(BEGIN),
    "ThreadWait": _thread(WAIT),
    "ThreadEnd": _thread(END),
    "ThreadFork": _plain(FORK),
    "ThreadJoin": _plain(JOIN),
    "OmpFork": _plain(FORK),
    "OmpJoin": _plain(JOIN),
    "ThreadTeamBegin": _team(TEAM_BEGIN),
    "ThreadTeamEnd": _team(TEAM_END),
    "MpiSend": _send,
    "MpiIsend": _send,
    "MpiRecv": _received,
    "MpiIrecv": _received,
    "MpiCollectiveEnd": lambda e: (COLLECTIVE, e.communicator._ref, 0, 0),
    "IoOperationBegin": _io(IO_BEGIN, "bytes_request"),
    "IoOperationComplete": _io(IO_END, "bytes_result"),
}
#: Events whose information is also in others.
_IN_OTHERS = frozenset(
    (
        *("MpiCollectiveBegin", "MpiIsendComplete", "MpiIrecvRequest", "ProgramBegin", "ProgramEnd"),
        *("IoCreateHandle", "IoDestroyHandle"),
    )
)
