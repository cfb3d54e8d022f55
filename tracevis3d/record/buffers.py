"""Hands what the buffers of all threads hold on to the spool, with the names that rows refer to."""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import sys
from array import array
from collections.abc import Callable, Iterator
from typing import Any

from . import operations, state
from .engines.engine import Engine
from .options import Options
from .output import spool

#: Maximum number of bytes waiting for a publisher; beyond it a feed without a file drops data.
MOST_WAITING = 1 << 28


class BufferWriter:
    """Writes buffers into the spool of a process.

    Parameters
    ----------
    options : Options
    engine : Engine
    to : Spool
    part : callable
        ``part(number)``: the path of a file beside the spool that the writer reads and deletes.
    keep : bool
        Whether objects are remembered for another recording.
    is_child : bool
        Whether it is a process that the recorded one has started.

    Attributes
    ----------
    spool : Spool
    samples : callable or None
        Returns the counters of memory.
    allocations : Allocations or None
        What looks at the blocks of memory.
    tracking : Tracking or None
        What has memray record them.
    failed : str
        Why the recording ends early; empty if it doesn't.
    """

    def __init__(
        self,
        options: Options,
        engine: Engine,
        to: spool.Spool,
        part: Callable[[int], str],
        keep: bool,
        is_child: bool,
    ) -> None:
        self._options, self._engine, self._part = options, engine, part
        self._keep, self._is_child = keep, is_child
        self.spool = to
        self.failed = ""
        self.samples: Callable[[], dict[str, float]] | None = None
        self.allocations: Any = None
        self.tracking: Any = None
        self._process = ""
        self._dumps = 0
        self._known: dict[int, Any] = {}
        self._operations = 0
        self._flushing = _thread.allocate_lock()

    def enter_child(self, to: spool.Spool, part: Callable[[int], str]) -> None:
        """Continue in a forked process; functions keep the names that they have in its parent.

        Parameters
        ----------
        to : Spool
            The forked process's own.
        part : callable
            As that of the class.
        """
        self.spool, self._part, self._is_child = to, part, True
        self._dumps = self._operations = 0
        self._flushing = _thread.allocate_lock()

    def add(self, kind: bytes, number: int, data: bytes) -> None:
        """Write a section; if that fails, :attr:`failed` says why.

        Parameters
        ----------
        kind : bytes
            One of the kinds in :mod:`.output.spool`.
        number : int
            As described there.
        data : bytes
        """
        try:
            self.spool.add(kind, number, data)
        except OSError as error:
            self._fail(error)

    def flush(self, last: bool = False) -> None:
        """Write what all buffers hold.

        It never raises: a flush that fails costs what it had taken, which the recording counts as lost.

        Parameters
        ----------
        last : bool
            The last time: also what is only read now and then.
        """
        with self.idle() as mine:
            if not mine:
                return
            try:
                if self.failed:
                    for log in list(state.logs):
                        log.rows.clear()
                        log.calls.clear()
                else:
                    self._drop()
                    self.spool.hold()
                    try:
                        self._write(last)
                    finally:
                        self.spool.release()
                    self.spool.roll()
            except OSError as error:
                self._fail(error)
            except Exception as error:
                # The next flush may succeed; without a catch, the thread that writes would end.
                lost = f"what a flush had taken: {type(error).__name__}: {error}"
                self.add(spool.PROBLEM, 0, to_json(("lost", lost, 1)))

    def write_names(self) -> None:
        """Write the names of operations and objects, before any rows that refer to them."""
        with self.idle() as mine:
            try:
                if mine:
                    self._write_names()
            except OSError as error:
                self._fail(error)

    @contextlib.contextmanager
    def idle(self) -> Iterator[bool]:
        """Return a context in which no other thread flushes; its value is False if one still does."""
        # A signal's handler may end the program in the middle of a flush.
        lock = self._flushing
        mine = lock.acquire(timeout=2)
        try:
            yield mine
        finally:
            if mine:
                lock.release()

    def _fail(self, error: OSError) -> None:
        if self.failed:
            return
        folder, why = os.path.dirname(self._part(0)), error.strerror or error
        self.failed = (
            f"the recording ends early: {folder}: {why}: make room there, or let TMPDIR name another folder"
        )
        with contextlib.suppress(OSError):
            self.spool.add(spool.PROBLEM, 0, to_json(("lost", f"all that came after: {folder}: {why}", 1)))

    def _drop(self) -> None:
        """Drop what the buffers hold if the publisher is too far behind: a feed has no disk to wait on."""
        if self._options.path:
            return
        late = self.spool.waiting() + self._engine.waiting() >= MOST_WAITING
        dropped = self._engine.drop(late)
        for log in list(state.logs) if late else ():
            dropped += len(state.take(log.rows)) // spool.STRIDE + len(state.take(log.calls)) // 2
        if dropped:
            self.spool.add(spool.DROPPED, 0, to_json({"rows": dropped}))

    def _write(self, last: bool) -> None:
        add = self.spool.add
        began = state.clock()
        taken = [(log, log.ended, state.take(log.rows), list(log.pending)) for log in list(state.logs)]
        # After the rows: these name threads (as holders) that may have begun meanwhile.
        self._write_process()
        for log in list(state.logs):
            self._write_thread(log)
        self._write_names()
        self._write_problems()
        code = "d" if self._engine.microseconds else "q"
        for log, ended, rows, pending in taken:
            if log.calls:
                self._write_calls(log)
            if rows:
                add(spool.ROWS, log.number, array(code, rows).tobytes())
            if pending != log.written_pending:
                log.written_pending = pending
                add(spool.WAITING, log.number, to_json(pending))
            if ended and not log.rows and not log.calls:
                state.logs.remove(log)
                if state.fast is not None:
                    state.fast.leave(log.calls)
        self._dumps += 1
        if self._engine.dump(self._part(self._dumps)):
            add(spool.VIZTRACER, self._dumps, b"")
        self.mark()
        self.write_samples()
        if self.allocations is not None:
            for kind, said in (
                (spool.LIVING, self.allocations.look(last)),
                (spool.SAMPLED, self.allocations.sample()),
            ):
                if said is not None:
                    if said[0]:
                        add(spool.SITES, 0, to_json(said[0]))
                    add(kind, 0, array(code, [state.clock()]).tobytes() + said[1])
        # The last look may have been one too many.
        self._write_problems()
        add(spool.FLUSHED, 0, to_json({"began": began}))

    def _write_problems(self) -> None:
        for problem in state.take(state.problems):
            self.spool.add(spool.PROBLEM, 0, to_json(problem))

    def mark(self) -> None:
        """Mark the current time in memray's file."""
        if self.tracking is not None:
            said = {"time": self.tracking.mark(), "native": self._options.native}
            self.add(spool.MARK, 0, to_json(said))

    def write_samples(self) -> None:
        """Write the counters as they are now."""
        if self.samples is not None:
            said = {"time": state.clock(), "values": self.samples()}
            self.spool.add(spool.COUNTERS, 0, to_json(said))

    def _write_process(self) -> None:
        """Write what ``multiprocessing`` calls this process, which it says a moment after the fork."""
        # Another thread may be importing it: its function is there before what that returns.
        current = getattr(sys.modules.get("multiprocessing.process"), "_current_process", None)
        name = current.name if current is not None else ""
        if self._is_child and name and name != self._process and name != "MainProcess":
            self._process = name
            self.spool.add(spool.PROCESS, 0, to_json(name))

    def _write_thread(self, log: state.ThreadLog) -> None:
        if not log.ended and not log.is_task:
            log.name = state.thread_name(log.ident) or log.name
            if log.name == "MainThread" and self._process:
                log.name = self._process
        text = f"{log.tid} {log.name}"
        if text != log.written:
            log.written = text
            self.spool.add(spool.THREAD, log.number, to_json({"tid": log.tid, "name": log.name}))

    def _write_names(self) -> None:
        """Write what rows refer to."""
        table = operations.table()
        objects = state.fetch_objects(self._keep)
        if objects or len(table) > self._operations:
            self._operations = len(table)
            self.spool.add(spool.OBJECTS, 0, to_json({"operations": table, "objects": objects}))

    def _write_calls(self, log: state.ThreadLog) -> None:
        chunk = state.take(log.calls)
        codes = chunk[::2]
        numbers = array("q", map(number, codes))
        if new := set(numbers).difference(self._known):
            # In one step, not in a loop: a program that calls faster than this reads would fill memory.
            found = dict(zip(numbers, codes, strict=True))
            functions = {}
            for key in new:
                # Kept, so that no other code ever lies at this address.
                code = self._known[key] = found[key]
                if code is not None and code is not state.GAP:
                    functions[key] = code.co_qualname, code.co_filename, code.co_firstlineno
            self.spool.add(spool.FUNCTIONS, 0, to_json(functions))
        self.spool.add(spool.CALLS, log.number, numbers.tobytes() + array("q", chunk[1::2]).tobytes())


#: An object's number, made of its address. ``id`` would raise an audit event: where hooks listen, each is a
#: call of Python's.
number = object.__hash__


def to_json(value: Any) -> bytes:
    """Return a section's data."""
    return json.dumps(value, separators=(",", ":")).encode()
