"""Every block of memory beyond Python's small objects, by memray, at its address; in a program and behind it.

memray writes a file of its own, in order and without times. So that its records stand on the recording's
clock and on its threads, the program now and then allocates blocks of unusual sizes: *marks*.
They are never touched, so they cost an address range for a moment. The writer reads memray's file when the
program has ended: memray's reader has no way to continue after what it has read.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable
from typing import Any

from .. import state
from .blocks import ALLOC, FREE

#: memray's file, in the recording's folder.
FILE = "memray.bin"
#: Bytes of the mark that says that a moment is noted; that of thread k is larger by k.
MARK = (1 << 25) + 2_001
#: Name and size of the interpreter's arenas: the call that needs a new one is hardly its cause.
ARENA = "arena for small objects"
_ARENAS = (1 << 18, 1 << 20)
#: The name where no function is known: times are too coarse to say in which call such a block was made.
NOBODY = "no function of Python's"
#: Maximum number of threads with marks.
_MOST_THREADS = 1 << 16
_OVERHEAD = b"".__sizeof__()

MISSING = "memray is not installed: 'pip install memray', or choose --memory-engine tracemalloc"

#: A function of memray's stacks: name, file, line.
Frame = tuple[str, str, int]


class Tracking:
    """memray's tracker in the recorded program.

    Parameters
    ----------
    folder : str
        The recording's.
    native : bool
        Whether functions of compiled code are recorded in the call sites, too.

    Raises
    ------
    ValueError
        If there is no memray, or it can't be used here: the sentence says why.
    """

    def __init__(self, folder: str, native: bool) -> None:
        try:
            import memray
        except ImportError as error:
            raise ValueError(MISSING) from error
        destination = memray.FileDestination(
            os.path.join(folder, FILE), overwrite=True, compress_on_exit=False
        )
        self._tracker: Any = memray.Tracker(destination=destination, native_traces=native)
        self._began = False
        #: The reason why it could not begin; empty if it did.
        self.failed = ""

    def start(self) -> None:
        """Track from here on; must be called in a thread of the recorder's.

        In the program's own thread, memray would lose a frame of all its stacks for each function that
        returns to where it was when tracking began.
        """
        if not self._began:
            self._began = True
            try:
                self._tracker.__enter__()
            except RuntimeError as error:
                self.failed = f"memray can't be used: {error}; choose --memory-engine tracemalloc"

    def follow_threads(self) -> None:
        """Mark the running thread for the writer, and those that begin from now on."""
        state.use_chunks(True)
        state.thread_begun.append(mark_thread)
        mark_thread(state.local.number)

    def mark(self) -> float:
        """Mark the current time in memray's file, and return it: memray's records so far came before."""
        bytes(MARK - _OVERHEAD)
        return state.clock()

    def stop(self) -> None:
        """Track no more."""
        self._tracker.__exit__(None, None, None)
        state.thread_begun.clear()
        state.use_chunks(False)


def mark_thread(number: int) -> None:
    """Mark the running thread in memray's file with the recorder's number of it."""
    bytes(MARK - _OVERHEAD + min(number, _MOST_THREADS))


class Records:
    """The contents of memray's file, as columns; rows that the recorder itself has caused are left out.

    Parameters
    ----------
    path : str
    ours : str
        The recorder's own folder.
    frame_of : callable
        Returns a number for a stack of frames, the innermost first.

    Attributes
    ----------
    kind, address, size, stack : array
        As :data:`.blocks.COLUMNS`; a free has size 0 and stack -1.
    thread : array of int32
        memray's numbers of threads.
    marks : list of int
        How many rows stand before each moment that was noted.
    numbers : dict of int to int
        The recorder's numbers of threads, by memray's.
    names : dict of int to str
        Names of threads, by memray's numbers.
    damage : str
        Why the file could not be read to its end; empty if it could.
    """

    def __init__(self, path: str, ours: str, frame_of: Callable[[list[Frame]], int]) -> None:
        self.kind, self.address, self.size = array("B"), array("Q"), array("q")
        self.stack, self.thread = array("i"), array("i")
        self.marks: list[int] = []
        self.numbers: dict[int, int] = {}
        self.names: dict[int, str] = {}
        self.damage = ""
        self._ours, self._own = ours, frozenset(os.path.join(ours, name) for name in state.OWN_FILES)
        self._frame_of = frame_of
        self._known: dict[tuple[int, int, bool], int] = {}
        try:
            self._read(path)
        except (ImportError, OSError, RuntimeError, NotImplementedError) as error:
            self.damage = str(error)

    def _read(self, path: str) -> None:
        import memray

        free = {int(kind) for kind in memray.AllocatorType if kind.name.endswith("FREE")}
        free.add(int(memray.AllocatorType.MUNMAP))
        mapped = int(memray.AllocatorType.MMAP)
        alive: set[int] = set()
        recorders: set[int] = set()
        with memray.FileReader(path) as reader:
            native = bool(reader.metadata.has_native_traces)
            for record in reader.get_allocation_records():
                if record.allocator in free:
                    if record.address in alive:
                        alive.remove(record.address)
                        self._add(record, FREE, 0, -1)
                    continue
                if record.tid in recorders:
                    continue
                size = record.size
                if MARK <= size <= MARK + _MOST_THREADS and self._is_mark(record):
                    if size > MARK:
                        self.numbers[record.tid] = size - MARK
                        continue
                    self.marks.append(len(self.kind))
                    # The flushing thread has no Python frames, and does nothing else.
                    if not record.stack_trace():
                        recorders.add(record.tid)
                    continue
                arena = record.allocator == mapped and size in _ARENAS
                key = record.stack_id, record.native_stack_id if native else 0, arena
                frame = self._known.get(key, -2)
                if frame == -2:
                    frame = self._known[key] = self._frame(record, native, arena)
                if frame >= 0:
                    alive.add(record.address)
                    self._add(record, ALLOC, size, frame)

    def _add(self, record: Any, kind: int, size: int, stack: int) -> None:
        self.kind.append(kind)
        self.address.append(record.address)
        self.size.append(size)
        self.stack.append(stack)
        self.thread.append(record.tid)
        if record.tid not in self.names:
            self.names[record.tid] = record.thread_name or ""

    def _is_mark(self, record: Any) -> bool:
        stack = record.stack_trace()
        return not stack or any(file.startswith(self._ours) for _, file, _ in stack)

    def _frame(self, record: Any, native: bool, arena: bool) -> int:
        """Return the number of a record's call site; -3: it is the recorder's own."""
        python = record.stack_trace()
        if python and (
            python[0][1].startswith(self._ours) or any(file in self._own for _, file, _ in python)
        ):
            return -3
        stack = without_interpreter(record.hybrid_stack_trace(), python) if native else python
        stack = [f for f in stack if not f[1].startswith(self._ours) and f[1] != "<string>"]
        return self._frame_of([(ARENA, "", 0), *stack] if arena else stack or [(NOBODY, "", 0)])


def without_interpreter(stack: list[Frame], python: list[Frame]) -> list[Frame]:
    """Return a stack without the interpreter's own compiled functions.

    What Python allocates for itself is then attributed to the program, and what a library allocates to the
    library. Compiled functions around the outermost Python function are left out as well.

    Parameters
    ----------
    stack : list of (str, str, int)
        Python's and compiled functions, the innermost first: name, file and line.
    python : list of (str, str, int)
        The Python functions among them.

    Returns
    -------
    list of (str, str, int)
        An unknown file is empty.
    """
    own = set(python)
    kept = [frame for frame in stack if frame in own or not is_interpreters(frame)]
    while own and kept and kept[-1] not in own:
        kept.pop()
    return [(name, "" if file == "<unknown>" else file, line) for name, file, line in kept]


_INTERPRETER = re.compile(
    r"(?:^|/)(?:(?:Objects|Python|Parser|Programs)(?:/clinic)?/[\w-]+\.[ch](?:\.h)?|Include(?:/\w+)?/\w+\.h"
    r"|Modules/gcmodule\.c)$"
)


def is_interpreters(frame: Frame) -> bool:
    """Whether a compiled function is the interpreter's: by its source, or by what the interpreter offers."""
    name, file, _ = frame
    if file and file != "<unknown>":
        return _INTERPRETER.search(file) is not None
    if not name.startswith(("Py", "_Py")):
        return False
    import ctypes

    return hasattr(ctypes.pythonapi, name)
