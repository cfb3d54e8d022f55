"""From a recording's raw sections to Chrome's JSON, one event per line."""

from __future__ import annotations

import json
import os
import re
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from typing import Any

from ..memory.blocks import ALLOC, FREE, TRACED, LivingBlocks, frames_line, lost_line, memory_line, spread
from ..sources import Sources
from . import spool

_KINDS = ("wait", "release", "io")
#: What these begin is the same object in all processes.
_OF_ALL = ("file:", "host:", "process:", "multiprocessing.")
#: Rows of memory in a line.
_ROWS = 1 << 16
_TID = re.compile(rb'"tid":(\d+)')
#: What VizTracer writes of a call, up to how long it took.
_VIZTRACER = re.compile(
    rb'[^"]*"pid":\d+,"tid":\d+,"ts":(\d+)\.(\d+),"ph":".","cat":"fee","dur":(\d+)\.(\d+)'
)
#: How many of VizTracer's last calls are kept for waits that have no end.
_TOLD = 4096


class Encoder:
    """Turns sections, in the order in which they were written, into lines of JSON.

    Parameters
    ----------
    folder : str
        Where VizTracer's parts lie.
    first : Encoder, optional
        That of the process from which this one was started: names that it knows are valid here too.
    """

    def __init__(self, folder: str, first: Encoder | None = None) -> None:
        self._folder = folder
        self._is_child = first is not None
        self._begin: dict[str, Any] = {"pid": 0, "microseconds": False, "ours": "\0", "none": 0, "start": 0}
        self._tids: dict[int, int] = {}
        self._functions: dict[int, str | None] = {}
        self._stacks: dict[int, list[tuple[int, int]]] = {}
        self._operations: list[tuple[bytes, str]] = []
        self._objects: dict[int, Any] = {}
        self._labels: dict[int, str] = {}
        self._arguments: dict[tuple[int, int, int, int], bytes] = {}
        self._waiting: dict[int, list[list[Any]]] = {}
        self._metadata: set[bytes] = set()
        self._sources, self._living, self._looked = Sources(), LivingBlocks(), 0
        # Frames of allocations by function, caller's number and line; of each call site the innermost.
        self._frames: dict[tuple[str, int, int], int] = {}
        self._sites: dict[int, int] = {}
        # Moments that memray's file marks; whether its call sites have compiled functions.
        self._marks: list[int] = []
        self._last = self._end = 0
        # Whether it was ended in order; whether its program was about to go when it wrote last.
        self._ended = self._closed = False
        # Events in order of their end that wait for what ended before them.
        self._calls_held: list[bytes] = []
        #: The last calls of VizTracer's that were yielded.
        self._told: deque[bytes] = deque(maxlen=_TOLD)
        self._held: list[tuple[int, bytes]] = []
        if first is not None:
            self._functions, self._operations = dict(first._functions), list(first._operations)
            self._objects, self._labels = dict(first._objects), dict(first._labels)
        #: What was written, for the sentence at the end.
        self.calls = self.waits = self.releases = self.transfers = self.allocations = self.lost = 0

    @property
    def has_snapshots(self) -> bool:
        """Whether blocks are known by snapshots of what lives."""
        return self._looked > 0

    # -- sections ------------------------------------------------------------------------------

    def lines(self, kind: bytes, number: int, data: bytes) -> Iterator[bytes]:
        """Yield the lines of one section.

        Damaged data may raise other exceptions too: see :meth:`guarded`.

        Parameters
        ----------
        kind : bytes
            One of the kinds in :mod:`.spool`.
        number : int
            As described there.
        data : bytes

        Yields
        ------
        bytes
            An event of Chrome's format, as JSON.

        Raises
        ------
        TypeError
            If the section BEGIN has no process id.
        """
        if kind == spool.CALLS:
            self._held.extend(self._encode_calls(number, data))
        elif kind == spool.ROWS:
            self._held.extend(self._encode_rows(number, data))
        elif kind == spool.FLUSHED:
            began = self._nanoseconds(json.loads(data)["began"])
            self._last = max(self._last, began)
            yield from self._in_order(began)
        elif kind == spool.VIZTRACER:
            yield from self._encode_part(os.path.join(self._folder, f"part-{number}"))
        elif kind == spool.FUNCTIONS:
            self._learn_functions(json.loads(data))
        elif kind == spool.OBJECTS:
            yield from self._learn_objects(json.loads(data))
        elif kind == spool.WAITING:
            self._waiting[number] = json.loads(data)
        elif kind == spool.THREAD:
            said = json.loads(data)
            self._tids[number] = said["tid"]
            if said["name"]:
                yield from self._once(self._name("thread_name", said["tid"], said["name"]))
        elif kind == spool.BEGIN:
            begin = {**self._begin, **json.loads(data)}
            if any(type(begin[name]) is not int for name in ("pid", "none")):
                raise TypeError
            self._begin = begin
            pid = begin["pid"]
            if self._is_child:
                # Generated addresses of different processes don't overlap.
                self._living = LivingBlocks(pid << 40)
            if not self._begin.get("forked"):
                # It starts its numbers from the beginning.
                self._functions, self._operations, self._objects, self._labels = {}, [], {}, {}
            yield from self._once(self._name("process_name", pid, _program(self._begin.get("argv", []))))
            self._labels = {number: self._of_process(label) for number, label in self._labels.items()}
        elif kind == spool.PROCESS:
            yield from self._once(self._name("process_name", self._begin["pid"], json.loads(data)))
        elif kind == spool.COUNTERS:
            said = json.loads(data)
            for name, value in said["values"].items():
                yield self._counter(name, self._nanoseconds(said["time"]), value)
        elif kind == spool.SITES:
            first = len(self._frames)
            self._learn_sites(json.loads(data))
            pid = self._begin["pid"]
            yield frames_line(pid, first, list(self._frames)[first:])
        elif kind == spool.LIVING:
            columns = self._memory_rows(data)
            if columns["kind"]:
                yield memory_line(self._begin["pid"], columns, sampled=True)
            yield self._counter(TRACED, self._looked, self._living.live_bytes)
        elif kind == spool.MARK:
            self._marks.append(self._nanoseconds(json.loads(data)["time"]))
        elif kind == spool.PROBLEM:
            yield self._problem(*json.loads(data))
        elif kind == spool.CLOSED:
            self._closed = True
        elif kind == spool.END:
            self._ended = True
            self._end = self._nanoseconds(json.loads(data)["end"])

    def guarded(self, lines: Iterator[bytes]) -> list[bytes]:
        """Return lines up to the first that can't be made: a crashing program may overwrite its own data."""
        made: list[bytes] = []
        try:
            for line in lines:
                made.append(line)
        except OSError:
            raise
        except Exception as error:
            made.append(
                self._problem("malformed", f"{type(error).__name__} in what the program handed on", 1)
            )
        return made

    def _in_order(self, until: int | None = None) -> Iterator[bytes]:
        """Yield events in the order of their ends, as far as nothing can come before them any more."""
        self._held.sort(key=_end)
        stop = len(self._held) if until is None else bisect_right(self._held, until, key=_end)
        ready, self._held = self._held[:stop], self._held[stop:]
        calls = self._calls_held
        stop = len(calls) if until is None else bisect_right(calls, until, key=_end_of_viztracers)
        self._calls_held = calls[stop:]
        self._told.extend(calls[max(stop - _TOLD, 0) : stop])
        at = 0
        for end, line in ready:
            if at < stop:
                next_at = bisect_right(calls, end, at, stop, key=_end_of_viztracers)
                yield from calls[at:next_at]
                at = next_at
            yield line
        yield from calls[at:stop]

    def finish(self) -> Iterator[bytes]:
        """Yield the calls and waits that had not ended when the program did.

        They last until the recording's end; if it was not ended in order, until the last time that is known.

        Yields
        ------
        bytes
            An event of Chrome's format, as JSON.
        """
        rest: dict[int, list[tuple[int, bytes, bytes]]] = {}
        for number, stack in self._stacks.items():
            for code, start in stack:
                shown = self._functions.get(code)
                if shown is not None:
                    rest.setdefault(number, []).append((start, _text(shown), b',"cat":"call"'))
        stuck = {number for number, pending in self._waiting.items() if pending}
        closed = self._closed_last({self._tids.get(number, number) for number in stuck})
        for number, pending in self._waiting.items():
            for operation, what, start, holder in pending:
                name, kind = self._operations[operation]
                begun = self._nanoseconds(start)
                if kind == "call":
                    # VizTracer's calls around it were written before, and ended with the recording.
                    if self._tids.get(number, number) in closed:
                        continue
                    rest.setdefault(number, []).append((begun, name, b',"cat":"call"'))
                    continue
                said = self._said(kind, what, spool.CONTENDED, holder)[:-1] + b',"unfinished":true}'
                self.waits += 1
                rest.setdefault(number, []).append((begun, name, b',"cat":"sync","args":' + said))
        for number, events in rest.items():
            tid = self._tids.get(number, number)
            # The inner ones end first and begin last.
            events.sort(key=lambda event: event[0], reverse=True)
            for start, name, more in events:
                waits = b"sync" in more[:14]
                # Calls around a wait without an end last as long as that wait.
                until = self._end if number in stuck and self._ended else self._last
                # Calls within a wait without an end may have been closed later.
                within = (end for begun, end in closed.get(tid, ()) if waits and begun >= start)
                lasts = max(until - start, max(within, default=0) - start, 0)
                if not waits and not self._ended:
                    more += b',"args":{"unfinished":true}'
                event = b'{"ph":"X","pid":%d,"tid":%d,"ts":%s,"dur":%s,"name":%s%s}'
                line = event % (self._begin["pid"], tid, _micro(start), _micro(lasts), name, more)
                self._held.append((start + lasts, line))
        yield from self._in_order()
        if self._marks:
            yield from self._memray_lines()
        if self._is_child and self._begin["pid"]:
            if len((freed := self.freed_rows())["kind"]):
                yield memory_line(self._begin["pid"], freed, sampled=True)
            # For threads that wait for its end.
            self.releases += 1
            yield (
                b'{"ph":"i","s":"t","pid":%d,"tid":%d,"ts":%s,"cat":"sync","name":"Process.end","args":%s}'
                % (
                    self._begin["pid"],
                    self._begin["pid"],
                    _micro(max(self._last, self._end)),
                    _text({"kind": "release", "objects": [f"process:{self._begin['pid']}"]}),
                )
            )
        never_begun = self._closed and not self._begin["pid"]
        if not self._ended and not never_begun:
            if not self._closed:
                yield self._problem("broke off", f"process {self._begin['pid']}", 1)
            yield b'{"ph":"i","s":"p","pid":%d,"tid":%d,"ts":%s,"name":"the recording breaks off"}' % (
                self._begin["pid"],
                self._begin["pid"],
                _micro(self._last),
            )

    # -- names ---------------------------------------------------------------------------------

    def _once(self, line: bytes) -> Iterator[bytes]:
        if line not in self._metadata:
            self._metadata.add(line)
            yield line

    def _name(self, what: str, tid: int, name: str) -> bytes:
        return b'{"ph":"M","pid":%d,"tid":%d,"name":"%s","args":{"name":%s}}' % (
            self._begin["pid"],
            tid,
            what.encode(),
            _text(name),
        )

    def _problem(self, kind: str, place: str, count: int) -> bytes:
        said = {"kind": kind, "place": place, "count": count}
        return b'{"ph":"M","pid":%d,"tid":0,"name":"recorder_problem","args":%s}' % (
            self._begin["pid"],
            _text(said),
        )

    def _learn_functions(self, functions: dict[str, Any]) -> None:
        ours = self._begin["ours"]
        for address, (name, file, line) in functions.items():
            shown = None if file.startswith(ours) else f"{name} ({file}:{line})"
            self._functions[int(address)] = shown

    def _learn_sites(self, sites: dict[str, list[tuple[str, int]]]) -> None:
        ours = self._begin["ours"]
        for number, stack in sites.items():
            parent = -1
            for file, line in reversed(stack):
                if file.startswith(ours) or file == "<string>":
                    continue
                name, first = self._sources.function(file, line)
                key = f"{name} ({file}:{first})", parent, line
                parent = self._frames.setdefault(key, len(self._frames))
            self._sites[int(number)] = parent

    def _counter(self, name: str, nanoseconds: int, value: float) -> bytes:
        """Return the line that holds a value of a counter."""
        pid, text = self._begin["pid"], _text(self._of_process(name))
        line = b'{"ph":"C","pid":%d,"tid":%d,"ts":%s,"name":%s,"args":{"value":%d}}'
        return line % (pid, pid, _micro(nanoseconds), text, value)

    def _memory_rows(self, data: bytes) -> dict[str, bytes]:
        """Return the columns of what came and went since the last look."""
        when = array("d" if self._begin["microseconds"] else "q", data[:8])[0]
        kinds, addresses, sizes, sites = self._living.take(data[8:])
        n, now = len(kinds), self._nanoseconds(when)
        before = self._looked or self._nanoseconds(self._begin["start"])
        self._looked = now
        # The time is unknown: between the two snapshots.
        times = array("q", [before + (now - before) * i // n for i in range(1, n + 1)])
        self.allocations += kinds.count(ALLOC)
        stack = array("i", [self._sites.get(site, -1) for site in sites])
        return {
            "kind": kinds.tobytes(),
            "thread": array("I", [self._begin["pid"]]).tobytes() * n,
            "time": times.tobytes(),
            "address": addresses.tobytes(),
            "size": sizes.tobytes(),
            "stack": stack.tobytes(),
        }

    def _living_rows(self) -> dict[str, bytes]:
        """Return the columns of what lives now, as allocations."""
        addresses, sizes, sites = self._living.living()
        n = len(addresses)
        return {
            "kind": bytes([ALLOC]) * n,
            "thread": array("I", [self._begin["pid"]]).tobytes() * n,
            "time": array("q", [self._looked]).tobytes() * n,
            "address": addresses.tobytes(),
            "size": sizes.tobytes(),
            "stack": array("i", [self._sites.get(site, -1) for site in sites]).tobytes(),
        }

    def _memray_lines(self) -> Iterator[bytes]:
        """Yield the rows that memray has recorded, and what names them."""
        from ..memory.with_memray import FILE, Records

        records = Records(os.path.join(self._folder, FILE), self._begin["ours"], self._number_of_stack)
        pid, n = self._begin["pid"], len(records.kind)
        self.allocations += records.kind.count(ALLOC)
        if records.damage:
            yield lost_line(pid, 1)
        yield frames_line(pid, 0, list(self._frames))
        tid_of = {}
        for number, name in records.names.items():
            # Threads that make no calls have no number of the system's here.
            tid = tid_of[number] = self._tids.get(records.numbers.get(number, -1), (1 << 22) + number)
            if tid >> 22:
                yield self._name("thread_name", tid, name or f"thread {number} of memray's")
        times = spread(records.marks, self._marks, n, max(self._last, self._end, self._marks[-1]))
        thread = array("I", [tid_of[number] for number in records.thread])
        for low in range(0, n, _ROWS):
            columns = {
                "kind": records.kind, "thread": thread, "time": times,
                "address": records.address, "size": records.size, "stack": records.stack,
            }  # fmt: skip
            part = {name: column[low : low + _ROWS].tobytes() for name, column in columns.items()}
            yield memory_line(pid, part, coarse=True)

    def _number_of_stack(self, stack: list[tuple[str, str, int]]) -> int:
        """Return the number of the innermost frame of a stack of function, file and line."""
        parent = -1
        for name, file, line in reversed(stack):
            shown = name
            if file:
                known, first = self._sources.function(file, line)
                # memray leaves out what is around a function. Comprehensions begin where they are.
                same = known.rpartition(".")[2] == name
                shown = f"{known} ({file}:{first})" if same else f"{name} ({file}:{line})"
                if not file.endswith(".py") and not file.startswith("<"):
                    shown = f"{name} ({file})"
            key = shown, parent, max(line, 0)
            parent = self._frames.setdefault(key, len(self._frames))
        return parent

    def freed_rows(self) -> dict[str, bytes]:
        """Return the columns of frees of all that lives: with its process its memory ends, too."""
        columns = self._living_rows()
        n = len(columns["kind"])
        when = max(self._last, self._end, self._looked)
        return {
            **columns,
            "kind": bytes([FREE]) * n,
            "time": array("q", [when]).tobytes() * n,
            "size": bytes(8 * n),
            "stack": array("i", [-1]).tobytes() * n,
        }

    def _learn_objects(self, said: dict[str, Any]) -> Iterator[bytes]:
        self._operations = [(_text(name), kind) for name, kind in said["operations"]]
        for key, value in said["objects"].items():
            number = int(key)
            self._objects[number] = value
            self._labels.pop(number, None)
            if isinstance(value, list) and value and isinstance(value[0], str) and value[1]:
                file, line = value[1:3]
                self._labels[number] = self._of_process(self._name_object(*value))
                place = {"object": self._labels[number], "file": file, "line": line}
                yield b'{"ph":"M","pid":%d,"tid":0,"name":"sync_object","args":%s}' % (
                    self._begin["pid"],
                    _text(place),
                )

    def _name_object(self, label: str, file: str, line: int, end_line: int, end_column: int) -> str:
        """Return what people call an object: its number, and its variable or the place where it was made."""
        kind = label.rpartition("-")[0].rpartition(".")[2]
        name = self._sources.variable(file, line, end_line, end_column, kind)
        return f"{label} {name or f'{os.path.basename(file)}:{line}'}"

    def _of_process(self, label: str) -> str:
        """Distinguish objects of another process from those of the same name in the first one."""
        if not self._is_child or label.startswith(_OF_ALL):
            return label
        return f"{label} [{self._begin['pid']}]"

    def _label_of(self, number: int) -> str:
        label = self._labels.get(number)
        if label is None:
            said = self._objects.get(number)
            if isinstance(said, list) and said and isinstance(said[0], str):
                label = said[0]
            else:
                label = f"object-{number}"
            label = self._of_process(label)
            self._labels[number] = label
        return label

    # -- rows ----------------------------------------------------------------------------------

    def _closed_last(self, threads: set[int]) -> dict[int, list[tuple[int, int]]]:
        """Return start and end of the last calls of VizTracer's that were yielded, by thread, of some."""
        found: dict[int, list[tuple[int, int]]] = {}
        for line in self._told if threads else ():
            match = _VIZTRACER.match(line)
            thread = _TID.search(line)
            if match is not None and thread is not None and int(thread[1]) in threads:
                begun = int(match[1] + match[2])
                found.setdefault(int(thread[1]), []).append((begun, _end_of_viztracers(line)))
        return found

    def _nanoseconds(self, time: float) -> int:
        return round(time * 1000) if self._begin["microseconds"] else int(time)

    def _time(self, time: float) -> bytes:
        return _micro(self._nanoseconds(time))

    def _encode_rows(self, number: int, data: bytes) -> Iterator[tuple[int, bytes]]:
        rows: Any = array("d" if self._begin["microseconds"] else "q", data)
        head = b'"pid":%d,"tid":%d,"ts":' % (self._begin["pid"], self._tids.get(number, number))
        step = spool.STRIDE
        columns = [rows[k::step] for k in range(step)]
        if pending := self._waiting.get(number):
            # The end of a killed program is known better than what waited when it was last asked.
            ended = set(zip(*columns[:3], strict=True))
            self._waiting[number] = [one for one in pending if tuple(one[:3]) not in ended]
        for operation, what, start, end, flags, other in zip(*columns, strict=True):
            name, kind = self._operations[int(operation)]
            flags = int(flags)
            begun = self._nanoseconds(start)
            said = self._said(kind, int(what), flags, int(other))
            if flags & (spool.TIMED_OUT | spool.FAILED):
                name = name[:-1] + (b' (timed out)"' if flags & spool.TIMED_OUT else b' (failed)"')
            if kind == "release":
                self.releases += 1
                event = b'{"ph":"i","s":"t",%s%s,"cat":"sync","name":%s,"args":%s}'
                yield begun, event % (head, _micro(begun), name, said)
                continue
            if kind == "wait":
                self.waits += 1
            elif kind == "io":
                self.transfers += 1
            category = b"io" if kind == "io" else b"call" if kind == "call" else b"sync"
            lasts = max(self._nanoseconds(end) - begun, 0)
            said = b',"args":' + said if said else b""
            event = b'{"ph":"X",%s%s,"dur":%s,"cat":"%s","name":%s%s}'
            self._last = max(self._last, begun + lasts)
            yield begun + lasts, event % (head, _micro(begun), _micro(lasts), category, name, said)

    def _said(self, kind: str, what: int, flags: int, other: int) -> bytes:
        """Return the arguments of a row; rows that say the same share them."""
        if kind not in _KINDS:
            return b""
        key = _KINDS.index(kind), what, flags, other
        said = self._arguments.get(key)
        if said is None:
            objects: Any = self._objects.get(what)
            many = isinstance(objects, list) and all(isinstance(one, int) for one in objects)
            arguments: dict[str, Any] = {
                "kind": kind,
                "objects": [self._label_of(one) for one in objects] if many else [self._label_of(what)],
            }
            if kind == "wait":
                if line := flags >> spool.LINE:
                    arguments["line"] = line
                arguments["contended"] = bool(flags & spool.CONTENDED)
                if other:
                    arguments["holder"] = self._tids.get(other, other)
            elif kind == "io" and other:
                arguments["bytes"] = other
            said = _text(arguments)
            if len(self._arguments) < 100_000:
                self._arguments[key] = said
        return said

    # -- calls ---------------------------------------------------------------------------------

    def _encode_calls(self, number: int, data: bytes) -> Iterator[tuple[int, bytes]]:
        half = len(data) // 2
        codes, times = array("q", data[:half]), array("q", data[half:])
        stack = self._stacks.setdefault(number, [])
        head = b'{"ph":"X","pid":%d,"tid":%d,"ts":' % (self._begin["pid"], self._tids.get(number, number))
        none, gap, names = self._begin["none"], self._begin.get("gap"), self._functions
        tails: dict[int, bytes | None] = {}
        for code, time in zip(codes, times, strict=True):
            if code != none and code != gap:
                stack.append((code, time))
                continue
            # An end may have no begin: it lies before the recording.
            for _ in range(len(stack) if code == gap else bool(stack)):
                code, start = stack.pop()
                if code in tails:
                    tail = tails[code]
                else:
                    name = names.get(code)
                    tail = None if name is None else b',"cat":"call","name":%s}' % _text(name)
                    tails[code] = tail
                if tail is not None:
                    self.calls += 1
                    yield time, head + _micro(start) + b',"dur":' + _micro(time - start) + tail
        if times:
            self._last = max(self._last, times[-1])

    def _encode_part(self, path: str) -> Iterator[bytes]:
        """Take VizTracer's events, without the recorder's own; yield names of threads."""
        try:
            with open(path, "rb") as file:
                text = file.read()
            os.unlink(path)
        except OSError:
            return
        low, high = text.find(b"["), text.rfind(b'"viztracer_metadata"')
        if low < 0 or high < 0:
            return
        if b'"overflow":true' in text[high:]:
            self.lost += 1
        body = text[low + 1 : text.rfind(b"]", low, high)].rstrip(b",")
        while body.startswith(b'{"ph":"M"'):
            stop = body.find(b"}}")
            line, body = body[: stop + 2], body[stop + 3 :]
            match = _TID.search(line)
            # Threads that have sent their names keep those: they may be renamed.
            if b'"thread_name"' in line and not (match and int(match[1]) in self._tids.values()):
                yield from self._once(line)
        if not body:
            return
        lines = body[1:-1].split(b"},{")
        ours = self._begin["ours"].encode()
        if ours in body:
            lines = [line for line in lines if ours not in line]
        self.calls += len(lines)
        self._calls_held += [b"{" + line + b"}" for line in lines]


def _end(event: tuple[int, bytes]) -> int:
    return event[0]


def _end_of_viztracers(line: bytes) -> int:
    match = _VIZTRACER.match(line)
    if match is None:
        return 0
    start, start_ns, lasts, lasts_ns = match.groups()
    return int(start + start_ns) + int(lasts + lasts_ns)


def _text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _micro(nanoseconds: int) -> bytes:
    """Write whole nanoseconds as microseconds, exactly."""
    return b"%d.%03d" % divmod(nanoseconds, 1000)


def _program(argv: list[str]) -> str:
    return os.path.basename(argv[0]) if argv and argv[0] else "python"
