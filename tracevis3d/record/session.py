"""A recording in the making: patches what is to be recorded, and hands buffers on to the writer."""

from __future__ import annotations

import _thread
import json
import os
import sys
import time
from array import array
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from . import engines, operations, state
from .operations import RELEASE, operation
from .output import spool
from .output.helper import Feed, Helper
from .patches import Patches
from .state import local
from .subprocesses.child import Child, prepared, serving, spawning, starting

_FORK = operation("os.fork", RELEASE)
#: Seconds between two flushes.
EVERY = 0.05
#: Bytes that wait for a publisher beyond which a feed without a file drops what comes.
MOST_WAITING = 1 << 28
#: What can record blocks of memory.
MEMORY_ENGINES = ("tracemalloc", "memray")


@dataclass(frozen=True)
class Options:
    """What to record.

    Attributes
    ----------
    path : str
        The file to write; a name that ends in ``.gz`` is packed. Empty: none.
    threads : bool
        Waits and releases of threads, locks, queues, futures and asyncio's tasks.
    io : bool
        Files and sockets.
    memory : str
        What records blocks of memory, one of :data:`MEMORY_ENGINES`, with their call sites, and the resident
        memory, sampled; empty: nothing.
    native : bool
        Functions of compiled code in the call sites of blocks; by memray alone.
    engine : str
        One of :data:`.engines.NAMES`.
    c_functions : bool
        Calls of functions written in C as well.
    live : str
        The endpoint at which it is published; empty: none.
    key, peers : str
        Key files of the feed.
    suggestions : bool
        Whether viewers of the feed may suggest something.
    """

    path: str
    threads: bool = False
    io: bool = False
    memory: str = ""
    native: bool = False
    engine: str = "auto"
    c_functions: bool = False
    live: str = ""
    key: str = ""
    peers: str = ""
    suggestions: bool = False


class Session:
    """One recording of the running program.

    Parameters
    ----------
    options : Options
    keep : bool
        Whether the program may make another recording later.
    child : Child, optional
        The place of a process that a recorded one has spawned.

    Raises
    ------
    ValueError
        If the engine is not to be had here.
    OSError
        If the output can't be written.
    """

    def __init__(self, options: Options, keep: bool = True, child: Child | None = None) -> None:
        self._options = options
        self._keep = keep
        by_memray = options.memory == "memray"
        if by_memray and options.live:
            raise ValueError(
                "memray's recording can be read only when the program has ended, so it can't be published: "
                "leave --memory-engine out for a feed"
            )
        self._engine = engines.choose(options.engine, options.c_functions, bool(options.live), by_memray)
        said = (options.live, options.key, options.peers, options.suggestions)
        feed = Feed(*said) if options.live else None
        #: Called with what a viewer suggests; it alone decides what to do about it.
        self.on_suggestion: Callable[[dict[str, Any]], None] = _print_suggestion
        self._helper: Helper | Child
        if child is None:
            program = os.path.basename(sys.argv[0] or "python")
            # memray may lie where only the program's own environment leads.
            helper = Helper(options.path, feed, program, not by_memray)
            self._helper, self._spool = helper, helper.spool
        else:
            self._helper, self._spool = child, child.open()
        self._is_child, self._is_forked = child is not None, False
        self._next: Child | None = None
        self._process = ""
        self._patches = Patches()
        self._imports: Any = None
        self._dumps = 0
        self._known: dict[int, Any] = {}
        self._operations = 0
        self._failed = ""
        self._running = False
        self._pid = os.getpid()
        self._flusher = 0
        self._pause = time.sleep
        self._flushing = _thread.allocate_lock()
        self._forking = _thread.allocate_lock()
        self._started = _thread.allocate_lock()
        self._stopping = _thread.allocate_lock()
        self._stopped = _thread.allocate_lock()
        self._samples: Callable[[], dict[str, float]] | None = None
        self._allocations: Any = None
        self._tracking: Any = None
        if by_memray:
            from .memory.with_memray import Tracking

            try:
                self._tracking = Tracking(self._helper.folder, options.native)
            except BaseException:
                self._helper.finish()
                raise

    @property
    def endpoint(self) -> str:
        """Where the recording is published; empty if it isn't."""
        return self._helper.endpoint

    # -- begin and end -------------------------------------------------------------------------

    def start(self) -> None:
        """Begin: everything is patched, then calls are recorded from here on.

        Raises
        ------
        ValueError
            If memray is at work already.
        """
        state.forget()
        state.clock = self._engine.clock
        self._tell_begin()
        if self._options.memory:
            self._watch_memory()
        self._patch()
        self._guard_exits()
        state.recording = True
        self._running = True
        self._start_flushing()
        if self._tracking is not None:
            if self._tracking.failed:
                said, self._tracking = self._tracking.failed, None
                self.stop()
                raise ValueError(said)
            self._tracking.follow_threads()
        self._engine.start()

    def _watch_memory(self) -> None:
        from .memory.sampled import Allocations, samples

        self._samples = samples
        self._allocations = None if self._tracking else Allocations()
        # Before the program runs: the flusher's first look may come late.
        self._write_samples()

    def _tell_begin(self) -> None:
        self._spool.add(
            spool.BEGIN,
            0,
            _json(
                {
                    "pid": self._pid,
                    "forked": self._is_forked,
                    "microseconds": self._engine.microseconds,
                    "start": state.clock(),
                    "epoch": time.time_ns(),
                    "engine": self._engine.name,
                    "argv": sys.argv,
                    "options": asdict(self._options),
                    "ours": state.FOLDER,
                    "none": _number(None),
                }
            ),
        )

    def stop(self) -> str:
        """End the recording, wait until it is written, and return one sentence about it."""
        if not self._running or os.getpid() != self._pid:
            return ""
        self._running = False
        self._stop_flushing()
        state.recording = False
        # Before the engine ends the calls that still run: waits end within their callers.
        self._add(spool.END, 0, _json({"end": state.clock()}))
        self._engine.stop()
        if self._imports is not None:
            self._imports.remove()
        self._patches.undo()
        from .waits import audit

        audit.watch(False)
        self._flush(last=True)
        if self._allocations is not None:
            self._allocations.stop()
        if self._tracking is not None:
            self._tracking.stop()
        self._spool.close()
        said = self._helper.finish()
        return f"{self._options.path or self._options.live}: {self._failed}" if self._failed else said

    def flush(self) -> None:
        """Write all that is there; for a program about to end in a way that nobody notices."""
        if self._running and os.getpid() == self._pid:
            self._flush()

    # -- patches -------------------------------------------------------------------------------

    def _patch(self) -> None:
        from .imports import ImportHooks

        hooks: dict[str, Callable[[Any], None]] = {}
        patches = self._patches
        if self._options.threads:
            import threading

            from .shims import locks, pauses
            from .waits import processes, synchronization

            patches.set(_thread, "allocate_lock", locks.Lock)
            patches.set(_thread, "allocate", locks.Lock)
            patches.set(_thread, "LockType", locks.Lock)
            patches.set(_thread, "RLock", locks.RLock)
            patches.set(threading, "Lock", locks.Lock)
            patches.set(threading, "_CRLock", locks.RLock)
            patches.set(threading, "RLock", locks.make_rlock)
            synchronization.patch_threading(patches, threading)
            pauses.patch_pauses(patches)
            hooks["queue"] = lambda module: synchronization.patch_queue(patches, module)
            hooks["concurrent.futures._base"] = lambda module: synchronization.patch_futures(patches, module)
            hooks["concurrent.futures"] = lambda module: synchronization.patch_futures_package(
                patches, module
            )
            hooks["asyncio"] = self._patch_asyncio
            hooks["multiprocessing.process"] = lambda module: processes.patch_process(patches, module)
            hooks["multiprocessing.synchronize"] = lambda module: processes.patch_locks(patches, module)
            hooks["multiprocessing.queues"] = lambda module: processes.patch_queues(patches, module)
            hooks["multiprocessing.connection"] = lambda module: processes.patch_connection(patches, module)
        if self._options.io:
            from .shims import files, sockets
            from .waits import audit

            files.patch_files(patches)
            hooks["socket"] = lambda module: sockets.patch_socket(patches, module)
            hooks["ssl"] = lambda module: sockets.patch_ssl(patches, module)
            hooks["selectors"] = lambda module: sockets.patch_selectors(patches, module)
            audit.watch(True)
        # Of memory by memray the first process has all; a feed wants the engine that it has itself.
        memory = "" if self._options.memory == "memray" else self._options.memory
        more = {"live": "", "memory": memory, "native": False, "engine": self._engine.name}
        said = json.dumps({**asdict(self._options), **more})
        hooks["subprocess"] = lambda module: patches.wrap(
            module.Popen, "__init__", starting(said, self._helper.folder)
        )
        hooks["multiprocessing.spawn"] = lambda module: patches.wrap(
            module, "get_command_line", spawning(said, self._helper.folder)
        )
        hooks["multiprocessing.util"] = lambda module: patches.wrap(
            module, "spawnv_passfds", serving(said, self._helper.folder)
        )
        self._imports = ImportHooks(hooks)
        self._imports.install()

    def _patch_asyncio(self, module: Any) -> None:
        from .waits.tasks import patch_asyncio

        patch_asyncio(self._patches, module)

    def _guard_exits(self) -> None:
        """Write what is there before the program is replaced or ends at once; leave forked ones alone."""

        def guarded(original: Any) -> Any:
            def leave(*args: Any, **kwargs: Any) -> Any:
                self.flush()
                return original(*args, **kwargs)

            return leave

        def exiting(original: Any) -> Any:
            def _exit(*args: Any, **kwargs: Any) -> Any:
                self.stop()
                return original(*args, **kwargs)

            return _exit

        self._patches.wrap(os, "_exit", exiting)
        for name in ("execv", "execve", "abort"):
            self._patches.wrap(os, name, guarded)
        for name in ("fork", "forkpty"):
            self._patches.wrap(os, name, self._around_fork)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_child)

    def _around_fork(self, original: Any) -> Any:
        """Make a program of one thread look like one to what forks it: Python warns of others."""

        def fork() -> Any:
            if not self._running:
                return original()
            with self._forking:
                self._stop_flushing()
                # Its end is told a moment before the system has cleared it away.
                for _ in range(200):
                    if not os.path.exists(f"/proc/self/task/{self._flusher}"):
                        break
                    self._pause(0.0005)
                child = self._next = prepared(self._helper.folder)
                at, answer = state.clock(), None
                try:
                    answer = original()
                finally:
                    self._next = None
                    # Not by a hook: Python 3.13 counts the threads after these.
                    if self._running:
                        self._start_flushing()
                    if child is not None and child is not self._helper:
                        child.abandon() if answer else child.discard()
                pid = answer[0] if isinstance(answer, tuple) else answer
                if pid and self._options.threads:
                    local.add((_FORK, state.named_object(f"process:{pid}"), at, at, 0, 0))
                return answer

        return fork

    def _in_child(self) -> None:
        if not self._running:
            return
        self._running = False
        state.recording = False
        self._engine.abandon()
        if self._allocations is not None:
            self._allocations.stop()
            self._allocations = None
        # memray leaves forked processes alone.
        self._tracking = state.begun_thread = None
        self._spool.close()
        self._helper.abandon()
        if self._next is not None:
            self._go_on(self._next)
            return
        # A fork that nobody announced: another program takes its place soon.
        state.forget()
        self._patches.undo()
        if self._imports is not None:
            self._imports.remove()

    def _go_on(self, child: Child) -> None:
        """Record a forked process, in place of the one that it was forked from."""
        state.enter_child()
        try:
            self._spool = child.open()
        except OSError:
            return
        self._helper, self._pid = child, os.getpid()
        self._is_child = self._is_forked = True
        self._dumps = self._operations = 0
        self._started, self._stopping = _thread.allocate_lock(), _thread.allocate_lock()
        self._stopped, self._flushing = _thread.allocate_lock(), _thread.allocate_lock()
        self._tell_begin()
        if self._options.memory == "tracemalloc":
            self._watch_memory()
        else:
            self._samples = None
        state.recording = True
        self._running = True
        self._engine.start()

    # -- flushing ------------------------------------------------------------------------------

    def _start_flushing(self) -> None:
        self._stopping.acquire()
        self._stopped.acquire()
        self._started.acquire()
        # The thread inherits that: all signals are for the program's own threads.
        mask = _block_signals()
        try:
            _thread.start_new_thread(self._keep_flushing, ())
        except RuntimeError:
            # The interpreter is ending: what is left is written at the end.
            self._started.release()
            self._stopped.release()
        _unblock_signals(mask)
        # It must be under way before calls are recorded: VizTracer makes a dummy of a thread that begins.
        self._started.acquire()
        self._started.release()

    def _stop_flushing(self) -> None:
        self._stopping.release()
        self._stopped.acquire()
        self._stopped.release()

    def _keep_flushing(self) -> None:
        try:
            state.hide_thread()
            self._flusher = state.local.log.tid
            _leave_no_dummy()
            if self._tracking is not None:
                self._tracking.start()
                # At once, so that memray's records of this thread are known to be ours.
                self._mark()
            self._started.release()
            while not self._stopping.acquire(timeout=EVERY):
                _leave_no_dummy()
                self._flush()
                if self._options.suggestions and isinstance(self._helper, Helper):
                    self._hear(self._helper)
            self._stopping.release()
        finally:
            self._stopped.release()

    def _hear(self, helper: Helper) -> None:
        """Hand on what viewers suggest."""
        for suggestion in helper.suggestions():
            try:
                self.on_suggestion(suggestion)
            except Exception as error:  # the program's own code must not end its recording
                said = f"{type(error).__name__}: {error}"
                sys.stderr.write(f"tracevis3d: a suggestion could not be taken: {said}\n")

    def _flush(self, last: bool = False) -> None:
        """Write what all buffers hold; ``last``: and all that is only looked at now and then."""
        # A signal's handler may end the program in the middle of this.
        if not self._flushing.acquire(timeout=2):
            return
        try:
            if self._failed:
                for log in list(state.logs):
                    log.rows.clear()
                    log.calls.clear()
            elif not self._drop_all():
                self._spool.hold()
                try:
                    self._write(last)
                finally:
                    self._spool.let_go()
                self._spool.roll()
        except OSError as error:
            self._failed = f"the recording ends early: {error.strerror or error}"
        finally:
            self._flushing.release()

    def _drop_all(self) -> bool:
        """Drop what the buffers hold if the publisher is too far behind: a feed has no disk to wait on."""
        if self._options.path or self._spool.waiting() < MOST_WAITING:
            return False
        dropped = 0
        for log in list(state.logs):
            dropped += len(state.take(log.rows)) // spool.STRIDE + len(state.take(log.calls)) // 2
        self._spool.add(spool.DROPPED, 0, _json({"rows": dropped}))
        self._spool.roll()
        return True

    def _write(self, last: bool = False) -> None:
        add = self._spool.add
        began = state.clock()
        taken = [(log, log.ended, state.take(log.rows), list(log.pending)) for log in list(state.logs)]
        # After the rows: these name threads (as holders) that may have begun meanwhile.
        self._write_process()
        for log in list(state.logs):
            self._write_thread(log)
        self._write_names()
        code = "d" if self._engine.microseconds else "q"
        for log, ended, rows, pending in taken:
            if log.calls:
                self._write_calls(log)
            if rows:
                add(spool.ROWS, log.number, array(code, rows).tobytes())
            if pending != log.told_pending:
                log.told_pending = pending
                add(spool.WAITING, log.number, _json(pending))
            if ended and not log.rows and not log.calls:
                state.logs.remove(log)
        self._dumps += 1
        if self._engine.dump(self._helper.part(self._dumps)):
            add(spool.VIZTRACER, self._dumps, b"")
        self._mark()
        self._write_samples()
        if self._allocations is not None and (said := self._allocations.look(last)) is not None:
            sites, living = said
            if sites:
                add(spool.SITES, 0, _json(sites))
            add(spool.LIVING, 0, array(code, [state.clock()]).tobytes() + living)
        add(spool.FLUSHED, 0, _json({"began": began}))

    def _mark(self) -> None:
        if self._tracking is not None:
            said = {"time": self._tracking.mark(), "native": self._options.native}
            self._add(spool.MARK, 0, _json(said))

    def _write_samples(self) -> None:
        if self._samples is not None:
            said = {"time": state.clock(), "values": self._samples()}
            self._spool.add(spool.COUNTERS, 0, _json(said))

    def _write_process(self) -> None:
        """Write what ``multiprocessing`` calls this process, which it says a moment after the fork."""
        known = sys.modules.get("multiprocessing.process")
        name = known.current_process().name if known is not None else ""
        if self._is_child and name and name != self._process and name != "MainProcess":
            self._process = name
            self._spool.add(spool.PROCESS, 0, _json(name))

    def _write_thread(self, log: state.ThreadLog) -> None:
        if not log.ended and not log.is_task:
            log.name = state.thread_name(log.ident) or log.name
            if log.name == "MainThread" and self._process:
                log.name = self._process
        told = f"{log.tid} {log.name}"
        if told != log.told:
            log.told = told
            self._spool.add(spool.THREAD, log.number, _json({"tid": log.tid, "name": log.name}))

    def _write_names(self) -> None:
        """Write what rows refer to."""
        table = operations.table()
        objects = state.fetch_objects(self._keep)
        if objects or len(table) > self._operations:
            self._operations = len(table)
            self._spool.add(spool.OBJECTS, 0, _json({"operations": table, "objects": objects}))

    def _write_calls(self, log: state.ThreadLog) -> None:
        chunk = state.take(log.calls)
        codes = chunk[::2]
        numbers = array("q", map(_number, codes))
        if new := set(numbers).difference(self._known):
            # In one step, not in a loop: a program that calls faster than this looks would fill memory.
            found = dict(zip(numbers, codes, strict=True))
            functions = {}
            for key in new:
                # Kept, so that no other code ever lies at this address.
                code = self._known[key] = found[key]
                if code is not None:
                    functions[key] = code.co_name, code.co_filename, code.co_firstlineno
            self._spool.add(spool.FUNCTIONS, 0, _json(functions))
        self._spool.add(spool.CALLS, log.number, numbers.tobytes() + array("q", chunk[1::2]).tobytes())

    def _add(self, kind: bytes, number: int, data: bytes) -> None:
        try:
            self._spool.add(kind, number, data)
        except OSError as error:
            self._failed = self._failed or f"the recording ends early: {error.strerror or error}"


#: An object's number, made of its address. ``id`` would raise an audit event: where hooks listen, each is a
#: call of Python's.
_number = object.__hash__


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _leave_no_dummy() -> None:
    """Take this thread out of ``threading``'s list, into which VizTracer puts every thread that it meets."""
    active = getattr(sys.modules.get("threading"), "_active", {})
    active.pop(_thread.get_ident(), None)


def _block_signals() -> Any:
    """Block all signals in this thread; return what was blocked before."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        return None
    return signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def _unblock_signals(mask: Any) -> None:
    import signal

    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _print_suggestion(suggestion: dict[str, Any]) -> None:
    sys.stderr.write(f"tracevis3d: {suggestion['sentence']}\n")
    sys.stderr.flush()
