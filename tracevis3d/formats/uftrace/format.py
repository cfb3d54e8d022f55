"""uftrace's own folder, or a tar of it: one binary file of records per thread, symbols and maps beside."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, Unreadable
from ...kernels.formats.scan import uftrace as s
from ...kernels.formats.scan.uftrace import count_sized, fill_keys
from ...progress import Progress, part
from ...trace.model import Source
from ...trace.recording import Recording
from .. import names, registry, unpack
from .locks import add_operations, operation_of
from .symbols import ArgumentSpecs, Module, Session, key_ranges, parse_map

if TYPE_CHECKING:
    from ...trace.model import Trace

_MAGIC = b"Ftrace!\0"
_HEADER_SIZE = 40
_LITTLE_ENDIAN, _BITS_64 = 1, 2
_DATA = re.compile(r"(\d+)\.dat")
_TASK = re.compile(
    r"(?P<what>SESS|TASK|FORK|DLOP) timestamp=(?P<s>\d{1,12})\.(?P<ns>\d{1,9})"
    r'(?P<rest>(?: \S+=(?:"[^"]*"|\S+))*)\s*'
)
_FIELD = re.compile(r'(\S+?)=(?:"([^"]*)"|(\S+))')
#: Names by which a tar's members are recognised.
_MEMBERS = re.compile(
    rb"(?:[^\0]*/)?(?:info|task\.txt|default\.opts|sid-[0-9a-f]+\.map|\d+\.dat|[^/\0]+\.sym)"
)
_ADDRESS = (1 << 48) - 1
#: Initial capacity, in addresses.
_KEYS = 1 << 12


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that a folder, or a tar, is uftrace's.

    Parameters
    ----------
    head : bytes
        The first bytes of a tar, or the names in a folder, one a line.
    name : str
        The file's, in lower case; a folder's with ``/`` at its end.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    if name.endswith("/"):
        entries = head.split(b"\n")
        if b"info" not in entries or not any(entry.endswith(b".dat") for entry in entries):
            return registry.NO
        return registry.SURE if b"task.txt" in entries else registry.LIKELY
    at = 0
    while head[at + 257 : at + 262] == b"ustar":
        member = head[at : at + 100].rstrip(b"\0")
        if _MEMBERS.fullmatch(member):
            return registry.LIKELY
        size = head[at + 124 : at + 135].strip(b" \0")
        if not re.fullmatch(rb"[0-7]*", size):
            break
        at += 512 + (int(size or b"0", 8) + 511) // 512 * 512
    return registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read what ``uftrace record`` wrote: a folder, or a tar of one (packed or not; nothing is extracted).

    Of recorded arguments, those of functions that lock, wait and release are read (``-A
    pthread_mutex_lock@arg1/x`` and the like, or ``--auto-args``), others passed over. Events, and the files
    of perf and of the kernel, are counted as unsupported.

    Parameters
    ----------
    path : Path
        The folder, or the tar.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    InputError, Unreadable
        If there is no ``info`` of uftrace's, or of another byte order or 32 bits, or no record is found.
    """
    recording = Recording()
    files = Folder(path) if path.is_dir() else _Tar(path, recording, part(progress, 0, 0.3))
    info = _info(path, files)
    tasks = Tasks(files.text("task.txt"), files)
    symbols = Modules(files, tasks)
    scanner = Scanner(symbols, ArgumentSpecs(info), tasks)
    tids = sorted(
        (int(match[1]) for name in files.names if (match := _DATA.fullmatch(name))), key=tasks.order
    )
    if not tids:
        raise InputError(
            f"{path}: contains no records of a thread (no file such as 1234.dat): record the run again"
        )
    for number, tid in enumerate(tids):
        progress(0.3 + 0.5 * number / len(tids), "reading records")
        scanner.add(tid, files.data(f"{tid}.dat"), recording)
    _count_others(files, recording)
    if recording.n_events == 0:
        raise Unreadable(f"{path}: none of its {len(tids):,} threads has a record that can be read")
    progress(0.8, "building calls")
    trace = recording.finish(Source(), names.split, scanner.place)
    progress(1, "building calls")
    return trace


class Folder:
    """The files of a folder, by name.

    Parameters
    ----------
    path : Path
        The folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.names = sorted(entry.name for entry in path.iterdir() if entry.is_file())
        self._present = frozenset(self.names)

    def data(self, name: str) -> memoryview:
        """Return the bytes of a file; none if it is missing."""
        return unpack.unpack_file(self._path / name).data if name in self._present else memoryview(b"")

    def text(self, name: str) -> str:
        """Return a file as text; empty if it is missing."""
        return bytes(self.data(name)).decode("utf-8", "replace")


class _Tar(Folder):
    """The files of the first folder in a tar that has an ``info``; they are read where they lie."""

    def __init__(self, path: Path, recording: Recording, progress: Progress) -> None:
        unpacked = unpack.unpack_file(path, progress)
        self._view = unpacked.data
        folders: dict[str, dict[str, memoryview]] = {}
        damage = unpacked.damage
        try:
            with tarfile.open(fileobj=_ViewFile(self._view), mode="r:") as tar:
                for member in tar:
                    if not member.isreg() or member.issparse():
                        continue
                    place = PurePosixPath(member.name)
                    low = member.offset_data
                    folders.setdefault(str(place.parent), {})[place.name] = self._view[
                        low : low + member.size
                    ]
        except (tarfile.TarError, OSError, ValueError) as error:
            damage = damage or f"the tar is truncated ({error})"
        if damage:
            recording.problems.add(unpack.problem_of(damage), damage)
        chosen = [files for files in folders.values() if "info" in files] or [{}]
        self._files = chosen[0]
        self.names = sorted(self._files)

    def data(self, name: str) -> memoryview:
        """Return the bytes of a file; none if it is missing."""
        return self._files.get(name, memoryview(b""))


class _ViewFile(io.RawIOBase):
    """A file over bytes in memory, without copying them."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._view)}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        stop = len(self._view) if size is None or size < 0 else self._at + size
        piece = bytes(self._view[self._at : stop])
        self._at += len(piece)
        return piece


def _info(path: Path, files: Folder) -> str:
    """Check the header of ``info`` and return its text."""
    data = bytes(files.data("info")[: 1 << 24])
    if not data.startswith(_MAGIC) or len(data) < _HEADER_SIZE:
        raise InputError(
            f"{path}: its file 'info' is missing or not uftrace's: give the folder that uftrace wrote"
        )
    if data[14] != _LITTLE_ENDIAN or data[15] != _BITS_64:
        raise InputError(
            f"{path}: was recorded on a machine with another byte order or with 32 bits: convert it there "
            "with 'uftrace dump --chrome' and give that file"
        )
    return data[int.from_bytes(data[12:14], "little") :].decode("utf-8", "replace")


class Tasks:
    """The contents of ``task.txt``: processes, their programs and the sessions (memory maps) they run in.

    Parameters
    ----------
    text : str
        That of ``task.txt``.
    files : Folder
        The maps of sessions are among them.
    """

    def __init__(self, text: str, files: Folder) -> None:
        self.process: dict[int, int] = {}
        self.programs: dict[int, str] = {}
        self.sessions: list[Session] = []
        self._order: dict[int, int] = {}
        self._starts: dict[int, list[tuple[int, int]]] = {}
        numbers: dict[str, int] = {}
        for line in text.splitlines():
            match = _TASK.fullmatch(line)
            if match is None:
                continue
            fields = {key: quoted or plain for key, quoted, plain in _FIELD.findall(match["rest"])}
            when = int(match["s"]) * 1_000_000_000 + int(match["ns"].ljust(9, "0"))
            pid, tid = _int(fields.get("pid")), _int(fields.get("tid"))
            if match["what"] == "SESS":
                sid = fields.get("sid", "")
                if sid not in numbers and len(self.sessions) < 1 << 15:
                    numbers[sid] = len(self.sessions)
                    self.sessions.append(parse_map(files.text(f"sid-{sid}.map")))
                if sid in numbers:
                    self._starts.setdefault(pid, []).append((when, numbers[sid]))
                self.programs[pid] = PurePosixPath(fields.get("exename", "")).name
            elif match["what"] == "TASK":
                self._add(tid, pid)
            elif match["what"] == "FORK":
                parent = _int(fields.get("ppid"))
                self._add(pid, pid)
                self.programs.setdefault(pid, self.programs.get(self.process.get(parent, parent), ""))
                self._starts.setdefault(pid, []).extend(
                    self._starts.get(self.process.get(parent, parent), ())
                )
            elif fields.get("sid") in numbers:
                base = _int(fields.get("base"), 16)
                session = self.sessions[numbers[fields["sid"]]]
                session.maps.append((base, base + (1 << 32), fields.get("libname", "")))
                session.maps.sort()
        if not self.sessions:
            # Without a task.txt, the only existing map is used.
            for name in files.names:
                if re.fullmatch(r"sid-\w+\.map", name) and not self.sessions:
                    self.sessions.append(parse_map(files.text(name)))
        if not self.sessions:
            self.sessions.append(Session())

    def _add(self, tid: int, pid: int) -> None:
        self.process[tid] = pid
        self._order.setdefault(tid, len(self._order))

    def order(self, tid: int) -> tuple[int, int]:
        """Return what threads are sorted by: their start, then their id."""
        return self._order.get(tid, len(self._order)), tid

    def sessions_of(self, tid: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of a thread's sessions and since when each holds."""
        starts = sorted(set(self._starts.get(self.process.get(tid, tid), ()))) or [(0, 0)]
        return np.array([number for _, number in starts], np.int64), np.array(
            [when for when, _ in starts], np.int64
        )


def _int(text: str | None, base: int = 10) -> int:
    try:
        value = int(text or "", base)
    except ValueError:
        return -1
    return value if 0 <= value < 1 << 62 else -1


class Modules:
    """The symbols of programs and libraries, by their path.

    ``missing`` returns what a ``.sym`` would hold, for paths without one.

    Parameters
    ----------
    files : Folder
        Those that uftrace wrote.
    tasks : Tasks
        The sessions that map them.
    missing : callable
        Given a path.
    """

    def __init__(
        self, files: Folder, tasks: Tasks, missing: Callable[[str], bytes] = lambda path: b""
    ) -> None:
        self._files, self._missing = files, missing
        self._tasks = tasks
        self._modules: dict[str, Module] = {}
        # Two libraries of one name: the second's file carries its build-id, the header has the path.
        self._by_path: dict[str, str] = {}
        for name in files.names:
            if name.endswith(".sym"):
                header = bytes(files.data(name)[:4096]).decode("utf-8", "replace")
                if match := re.search(r"^# path name: (.+)$", header, re.MULTILINE):
                    self._by_path.setdefault(match[1].strip(), name)

    def module(self, path: str) -> Module:
        """Return the symbols of what is stored at ``path`` on the recording machine."""
        if path not in self._modules:
            base = PurePosixPath(path).name
            sym = self._by_path.get(path, f"{base}.sym")
            dbg = sym.removesuffix(".sym") + ".dbg"
            symbols = bytes(self._files.data(sym)) or self._missing(path)
            self._modules[path] = Module(base, symbols, bytes(self._files.data(dbg)))
        return self._modules[path]

    def all_sessions(self) -> Iterator[tuple[int, list[tuple[int, Module]]]]:
        """Yield each session's number with the start and symbols of its modules."""
        for number, session in enumerate(self._tasks.sessions):
            yield number, [(low, self.module(path)) for low, _, path in session.maps]

    def name(self, key: int) -> str:
        """Return the name of the function at the address of ``key``; empty if it has none."""
        address = key & _ADDRESS
        place = self._tasks.sessions[key >> 48].find(address)
        symbol = self.module(place[1]).find(address - place[0]) if place else None
        return symbol.name if symbol else ""

    def function(self, key: int, recording: Recording) -> int:
        """Return the function at the address (and in the session) of ``key``.

        Parameters
        ----------
        key : int
            Address in the lower 48 bits, number of the session above.
        recording : Recording
            The function is added to it.

        Returns
        -------
        int
            Index of :meth:`~tracevis3d.trace.recording.Recording.function`.
        """
        address = key & _ADDRESS
        place = self._tasks.sessions[key >> 48].find(address)
        if place is None:
            return recording.function(f"<{address:x}>")
        start, path = place
        module = self.module(path)
        symbol = module.find(address - start)
        if symbol is None:
            return recording.function(f"<{address:x}>", containers=(("module", module.name),))
        file, line = module.sources.get(symbol.low, ("", 0))
        container = ("module", "PLT" if symbol.is_plt else module.name)
        return recording.function(
            symbol.name, containers=(container, *names.split(symbol.name).containers), file=file, line=line
        )


class Scanner:
    """Reads the records of one thread after the other into the recording.

    Parameters
    ----------
    modules : Modules
        The symbols.
    specs : ArgumentSpecs
        Which arguments were recorded.
    tasks : Tasks
        The processes of threads.
    """

    def __init__(self, modules: Modules, specs: ArgumentSpecs, tasks: Tasks) -> None:
        self._modules = modules
        self._tasks = tasks
        ranges = key_ranges(modules.all_sessions(), specs) if specs else []
        lists = [sizes for _, _, *both in ranges for sizes in both]
        self._spec = (
            np.array([low for low, *_ in ranges], np.int64),
            np.array([high for _, high, *_ in ranges], np.int64),
            np.concatenate(([0], np.cumsum([len(sizes) for sizes in lists]))).astype(np.int64),
            np.array([size for sizes in lists for size in sizes], np.int64),
        )
        self._known = 0
        self._keys, self._key_spec = np.zeros(_KEYS, np.int64), np.zeros(_KEYS, np.int64)
        self._table: NDArray[np.int32] = np.full(2 * _KEYS, -1, np.int32)
        self._mapped = 0
        self._functions: list[int] = []
        # Effect of the function at each address on a lock, as an index into OPERATIONS; -1: none.
        self._operations: list[int] = []
        self._parts: list[tuple[int, str]] = []

    def _grow(self) -> None:
        """Make room for four times as many addresses."""
        room = 4 * len(self._keys)
        self._keys, self._key_spec = np.resize(self._keys, room), np.resize(self._key_spec, room)
        self._table = np.full(2 * room, -1, np.int32)
        fill_keys(self._table, self._keys, self._known)

    def add(self, tid: int, data: memoryview, recording: Recording) -> int:
        """Read the records of a thread; return how many bytes of ``data`` they take.

        Parameters
        ----------
        tid : int
            The thread's id.
        data : memoryview
            Its records.
        recording : Recording
            It is filled.

        Returns
        -------
        int
        """
        words = np.frombuffer(data[: len(data) // 8 * 8], "<u8").astype(np.uint64, copy=False)
        room = len(words) // 2
        columns = np.empty(room, np.uint8), np.empty(room, np.int32), np.empty(room, np.int64)
        arguments = np.empty(room, np.uint64), np.empty(room, np.uint64)
        state = np.zeros(s.STATE_SIZE, np.int64)
        state[s.LAST_TIME], state[s.LAST_DEPTH] = -1, 1023
        state[s.KEYS] = self._known
        sessions, starts = self._tasks.sessions_of(tid)
        fixed = words, state, sessions, starts, *columns, *arguments
        while s.scan_records(*fixed, self._table, self._keys, self._key_spec, *self._spec) == s.KEYS_FULL:
            self._known = int(state[s.KEYS])
            self._grow()
        self._known = int(state[s.KEYS])
        for key in self._keys[self._mapped : self._known].tolist():
            self._functions.append(self._modules.function(key, recording))
            self._operations.append(operation_of(self._modules.name(key)))
        self._mapped = self._known
        rows = int(state[s.ROWS])
        process = self._tasks.process.get(tid, tid)
        thread = recording.thread(process, tid)
        recording.name_process(process, self._tasks.programs.get(process, ""))
        first = recording.add_events(
            thread=np.full(rows, thread, np.int32),
            kind=columns[0][:rows],
            function=np.array(self._functions, np.int32)[columns[1][:rows]],
            time=columns[2][:rows],
        )
        self._parts.append((first, f"{tid}.dat"))
        add_operations(
            recording, thread, first, np.array(self._operations, np.int64), columns[0][:rows],
            columns[1][:rows], columns[2][:rows], arguments[0][:rows], arguments[1][:rows],
        )  # fmt: skip
        for kind, count, at in (
            ("unsupported", s.EVENTS, s.EVENTS_AT),
            ("lost", s.LOST, s.LOST_AT),
            ("malformed", s.BROKEN, s.BROKEN_AT),
            ("malformed", s.GUESSED, s.GUESSED_AT),
        ):
            recording.problems.add(kind, f"{tid}.dat, byte {8 * int(state[at]):,}", int(state[count]))
        if int(state[s.POSITION]) < len(words) or len(data) % 8:
            recording.problems.add("truncated", f"{tid}.dat is truncated within a record")
        return 8 * int(state[s.POSITION])

    def place(self, event: int) -> str:
        """Name the place of an event."""
        for first, name in reversed(self._parts):
            if event >= first:
                return f"{name}, record {event - first + 1:,}"
        return f"record {event + 1:,}"


def _count_others(files: Folder, recording: Recording) -> None:
    """Count what is not shown: events of perf, of the kernel and of others."""
    for name in files.names:
        if re.fullmatch(r"perf-cpu\d+\.dat", name):
            count = int(count_sized(np.frombuffer(files.data(name), np.uint8)))
        elif re.fullmatch(r"kernel-cpu\d+\.dat", name):
            count = int(len(files.data(name)) > 0)
        elif name == "extern.dat":
            count = bytes(files.data(name)).count(b"\n")
        else:
            continue
        recording.problems.add("unsupported", name, count)


FORMAT = registry.Format(
    name="uftrace",
    title="uftrace folder",
    suffixes=(".data", ".data.tar", ".tar", ".tgz"),
    sniff=sniff,
    read=read,
    is_folder=True,
    programs="`uftrace record`; locks by their recorded arguments",
    recipe=("gcc -pg program.c -o program; uftrace record -d run.data ./program",),
)
