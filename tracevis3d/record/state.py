"""State shared by the recorder's parts: the clock, the buffer of each thread, the objects' numbers.

Nothing here takes a lock: a buffer belongs to one thread, and what is shared is a list that only grows,
by calls that the interpreter does not interrupt.
"""

from __future__ import annotations

import _thread
import itertools
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

#: Whether rows are kept at all. Wrapped objects outlive a recording.
recording = False
#: Returns now, in the unit of the recording.
clock: Callable[[], float] = time.perf_counter_ns


def thread_name(ident: int) -> str:
    """Return the name of a thread, without making a dummy of one that ``threading`` doesn't know."""
    threading = sys.modules.get("threading")
    thread = getattr(threading, "_active", {}).get(ident) if threading else None
    return getattr(thread, "_name", "") or ""


class Chunks:
    """Calls in small lists, each of which holds the one before: none is a block that memray would see.

    A list that grows would stand in the program's memory as what the function just called has allocated.
    """

    __slots__ = ("_chunk",)
    #: Numbers in a list: with its head below the 512 bytes from which on Python asks the C library.
    _MOST = 48

    def __init__(self) -> None:
        self._chunk: list[Any] = [None]

    def extend(self, pair: tuple[Any, Any]) -> None:
        """Append a pair; in the buffer's own thread."""
        chunk = self._chunk
        if len(chunk) > self._MOST:
            self._chunk = chunk = [chunk]
        chunk.extend(pair)

    def __len__(self) -> int:
        """Return how many numbers there are."""
        total, chunk = 0, self._chunk
        while chunk is not None:
            total += len(chunk) - 1
            chunk = chunk[0]
        return total

    def take(self) -> list[Any]:
        """Empty it, in any thread, and return what it held."""
        last = self._chunk
        parts = [_cut(last)]
        # Only the last one is still appended to.
        before, last[0] = last[0], None
        while before is not None:
            parts.append(before[1:])
            before = before[0]
        return [one for part in reversed(parts) for one in part]

    def clear(self) -> None:
        """Empty it."""
        self.take()


def _cut(chunk: list[Any]) -> list[Any]:
    count = len(chunk)
    taken = chunk[1:count]
    del chunk[1:count]
    return taken


def take(buffer: Any) -> list[Any]:
    """Empty a buffer that its thread continues to fill, and return what it held."""
    if type(buffer) is not list:
        return list(buffer.take())
    count = len(buffer)
    taken: list[Any] = buffer[:count]
    del buffer[:count]
    return taken


#: Instead of a code: running calls end here, because what follows was not recorded.
GAP = object()
#: Problems that were not written yet: kind, place, how many.
problems: list[tuple[str, str, int]] = []


def report(kind: str, place: str) -> None:
    """Note a problem.

    Parameters
    ----------
    kind : str
        One of :data:`tracevis3d.trace.problems.KINDS`.
    place : str
        Where it happened, for the user.
    """
    problems.append((kind, place, 1))


#: Creates the buffer of a thread's calls.
new_calls: Callable[[], Any] = list
#: The part in C, while it records.
fast: Any = None
#: Called with the number of a thread that has just got a buffer, in that thread.
thread_begun: list[Callable[[int], None]] = []


def use_chunks(on: bool) -> None:
    """Start or stop keeping the calls of this thread, and of those that begin from now on, in chunks."""
    global new_calls
    new_calls = Chunks if on else list
    local.log.calls = new_calls()
    local.enter(local.log)


def use_fast(module: Any) -> None:
    """Make buffers with the part in C from now on; None: no more."""
    global fast
    fast = module


def new_buffers(number: int, tid: int) -> tuple[Any, Any]:
    """Return the buffers of a thread's rows and calls.

    Parameters
    ----------
    number : int
        The thread's number within the recording.
    tid : int
        Its id in the system.

    Returns
    -------
    rows, calls : list, Chunks or buffer in C
    """
    if fast is not None and new_calls is list:
        return fast.Buffer("R", number, tid), fast.Buffer("C", number, tid)
    return [], new_calls()


class ThreadLog:
    """What one thread has recorded since the last flush.

    Parameters
    ----------
    number : int
        Of the thread within the recording, from 1.
    tid : int
        Its id in the system; 0: that of the running thread.

    Attributes
    ----------
    number, tid : int
        As above.
    rows : list
        Flat rows of :data:`.output.spool.STRIDE` numbers.
    calls : list or Chunks
        Pairs of a code object, None for an end, and the time.
    pending : list of tuple
        Waits that have begun: operation, object, start, holder.
    ended : bool
        Whether the thread has ended.
    is_task : bool
        Whether this is an asyncio task or a greenlet, and no thread.
    """

    __slots__ = (
        *("calls", "ended", "ident", "is_task", "name", "number", "pending", "rows", "tid", "written"),
        "written_pending",
    )

    def __init__(self, number: int, tid: int = 0) -> None:
        self.number = number
        native = _thread.get_native_id() if hasattr(_thread, "get_native_id") else _thread.get_ident()
        self.tid = tid or native
        self.rows: Any
        self.calls: Any
        self.rows, self.calls = new_buffers(number, self.tid)
        self.pending: list[tuple[int, int, float, int]] = []
        self.ident = _thread.get_ident()
        # Again at each flush, while the thread lives: it may be renamed, and ids are used again.
        self.name = thread_name(self.ident)
        self.ended = False
        self.is_task = False
        self.written = ""
        self.written_pending: list[tuple[int, int, float, int]] = []


class _AtEnd:
    """Notes that its thread has ended when the thread's locals are deleted."""

    __slots__ = ("_log",)

    def __init__(self, log: ThreadLog) -> None:
        self._log = log

    def __del__(self) -> None:
        self._log.ended = True


#: The buffers of all threads, those of ended threads until they are fetched.
logs: list[ThreadLog] = []
_thread_numbers = itertools.count(1)
#: Tasks and greenlets are numbered from here on, above every thread's native id.
_track_numbers = itertools.count(1_000_000_000)


def new_log(tid: int = 0) -> ThreadLog:
    """Return a new buffer, which is fetched like all others; of the running thread if no id is given."""
    log = ThreadLog(next(_thread_numbers), tid)
    logs.append(log)
    return log


def new_track(name: str) -> ThreadLog:
    """Return the buffer of what shares a thread with others: a task or a greenlet."""
    log = new_log(next(_track_numbers))
    log.name = name
    log.is_task = True
    return log


class Track:
    """What a thread's hook keeps at hand.

    Attributes
    ----------
    call : callable
        As that of :class:`_Local`.
    gap : bool
        Whether the program has taken the hook away for a while.
    theirs : callable or None
        The program's own profile hook.
    below : int
        The id of the frame from which on calls are recorded; 0: of all.
    switched : callable or None
        The program's own tracer of greenlets.
    """

    __slots__ = ("below", "call", "gap", "switched", "theirs")
    call: Callable[[tuple[Any, Any]], None]

    def __init__(self) -> None:
        self.theirs: Any = None
        self.switched: Any = None
        self.below = 0
        self.gap = False


class _Local(_thread._local):
    """The running thread's buffer; it comes into being when it is first asked for.

    Attributes
    ----------
    add, call : callable
        Append a row of numbers, and a pair of code and time.
    number : int
        The thread's.
    pending : list
        As in :class:`ThreadLog`.
    log, thread : ThreadLog
        Of what runs (which may be a greenlet), and of the thread itself.
    track : Track
    """

    def __init__(self) -> None:
        self.thread = new_log()
        self.track = Track()
        self.enter(self.thread)
        self._end = _AtEnd(self.thread)
        for hear in thread_begun:
            hear(self.number)

    def enter(self, log: ThreadLog) -> None:
        """Continue with another buffer."""
        self.log = log
        self.add = log.rows.extend
        self.call = self.track.call = log.calls.extend
        self.number = log.number
        self.pending = log.pending
        if fast is not None and type(log.rows) is not list:
            fast.enter(log.calls, log.rows, log.number)


local = _Local()


def ignore(_: object) -> None:
    """Discard a row."""


def hide_thread() -> None:
    """Record nothing that the running thread does."""
    local.add = ignore
    local.call = local.track.call = ignore
    if fast is not None:
        fast.hide()
    if local.log in logs:
        logs.remove(local.log)


# -- objects -----------------------------------------------------------------------------------

_object_numbers = itertools.count(1)
_counts: dict[str, int] = {}
#: Descriptions of objects by number, until they are fetched: label, file, line, and where the expression that
#: makes it : ends (line and column, 0: unknown); or the members of a group.
new_objects: dict[int, Any] = {}
#: Those that were fetched, for the next recording in the same program.
old_objects: dict[int, Any] = {}
_by_key: dict[object, int] = {}
#: Modules whose frames are skipped when searching for the creator of an object.
_LIBRARY = frozenset(
    (
        *("threading", "queue", "concurrent.futures._base", "concurrent.futures.thread"),
        *("concurrent.futures.process", "multiprocessing.pool", "multiprocessing.context"),
        *("multiprocessing.synchronize", "multiprocessing.queues", "asyncio.base_events", "asyncio.threads"),
    )
)
_HERE = __name__.rpartition(".")[0]


def new_object(kind: str, frame: FrameType | None = None) -> int:
    """Return a number for a new object.

    Parameters
    ----------
    kind : str
        Such as "Lock".
    frame : frame, optional
        Where to begin to look for the code that makes it; None: its maker is unknown.

    Returns
    -------
    int
    """
    number = next(_object_numbers)
    count = _counts[kind] = _counts.get(kind, 0) + 1
    place = _maker(frame)
    if place is None:
        new_objects[number] = (f"{kind}-{count}", "", 0, 0, 0)
    else:
        new_objects[number] = (f"{kind}-{count}", *place)
    return number


def named_object(label: str) -> int:
    """Return the number of the object with a label, such as a file's."""
    number = _by_key.get(label)
    if number is None:
        number = _by_key[label] = next(_object_numbers)
        new_objects[number] = (label, "", 0, 0, 0)
    return number


def group(numbers: tuple[int, ...]) -> int:
    """Return the number that represents several objects at once."""
    number = _by_key.get(numbers)
    if number is None:
        number = _by_key[numbers] = next(_object_numbers)
        new_objects[number] = list(numbers)
    return number


def _maker(frame: FrameType | None) -> tuple[str, int, int, int] | None:
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module not in _LIBRARY and not module.startswith(_HERE):
            return _place(frame)
        frame = frame.f_back
    return None


#: Where instructions are, by their code and offset, with the code, so that no other one ever has its number.
_places: dict[tuple[int, int], tuple[object, tuple[str, int, int, int]]] = {}


def _place(frame: FrameType) -> tuple[str, int, int, int]:
    """Return the file and line of what a frame does, and line and column at which that expression ends."""
    code, at = frame.f_code, frame.f_lasti
    key = object.__hash__(code), at
    known = _places.get(key)
    if known is None:
        end_line = end_column = 0
        # An instruction takes two bytes.
        found = next(itertools.islice(code.co_positions(), at // 2, None), None)
        if found is not None and found[1] and found[3]:
            end_line, end_column = found[1], found[3]
        known = _places[key] = code, (code.co_filename, frame.f_lineno, end_line, end_column)
    return known[1]


def fetch_objects(keep: bool) -> dict[int, Any]:
    """Return the objects that were not fetched yet; with ``keep``, :func:`forget` restores them."""
    fetched = new_objects.copy()
    for number in fetched:
        new_objects.pop(number, None)
    if keep:
        old_objects.update(fetched)
    return fetched


def enter_child() -> None:
    """Continue in a forked process: of all threads only the running one is left, with another id."""
    mine = local.log
    logs[:] = [log for log in logs if log is mine or log.is_task]
    if mine not in logs:
        logs.append(mine)
    mine.tid = _thread.get_native_id() if hasattr(_thread, "get_native_id") else mine.ident
    for buffer in (mine.rows, mine.calls):
        if hasattr(buffer, "tid"):
            buffer.tid = mine.tid
    # What is made from here on has numbers that no other process gives to what it shares.
    for kind in [kind for kind in _counts if kind.startswith("multiprocessing.")]:
        _counts[kind] += 1000 * (mine.tid % 100_000)
    forget()


def forget() -> None:
    """Begin a new recording: numbers of threads and objects stay, buffers are emptied."""
    new_objects.update(old_objects)
    for log in logs:
        log.rows.clear()
        log.calls.clear()
        log.written = ""
        log.written_pending = []


#: Folder of the recorder's own files.
FOLDER = __file__.rpartition("state.py")[0]
#: Files of which a frame is only in stacks of what the recorder does by itself.
OWN_FILES = ("session.py", "buffers.py", "flusher.py", "patching.py")
