"""Linux' perf as text: what ``perf script`` prints, with any of its columns.

Source: the manual page perf-script(1). Samples of a counter or clock make the calls; ``sched:sched_switch``
says when a thread is off the processor, ``sched:sched_wakeup`` who wakes it; other tracepoints are moments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ....progress import Progress, part
from ....trace.model import RELEASE, WAIT
from ....trace.recording import Recording
from ... import names, registry
from ...text import is_binary, read_text
from ..documents import finish
from ..samples import COUNTED, SAMPLE_NS, FrameTree, add_timed, add_weighed

if TYPE_CHECKING:
    from ....trace.model import RecordedId, Trace

# Nothing is tried twice: a line of many blanks took minutes.
_HEAD = re.compile(
    rb"\s*+(?P<comm>\S(?:.*?\S)??)\s++(?:(?P<pid>-?\d+)/\s*)?(?P<tid>-?\d+)"
    rb"(?:\s+\[(?P<cpu>\d+)\])?(?:\s+[A-Za-z]{1,3}(?=\s))?(?:\s+[-.\w]{4,5})?"
    rb"(?:\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)?(?:\s+(?P<time>\d+\.\d+):)?(?:\s+(?P<period>\d+))?"
    rb"(?:\s+(?P<event>[^\s:][^\s=]*):(?=\s|$))?(?P<rest>\s.*)?"
)
#: The same without the program, and perhaps without the thread.
_SHORT = re.compile(
    rb"\s*+(?:(?:(?P<pid>-?\d+)/\s*)?(?P<tid>-?\d+)(?=\s))?(?:\s*\[(?P<cpu>\d+)\])?"
    rb"(?:\s*(?P<time>\d+\.\d+):)?(?:\s+(?P<period>\d+))?(?:\s*(?P<event>[^\s:\d][^\s=]*):(?=\s|$))?"
    rb"(?P<rest>\s.*)?(?P<comm>(?!))?"
)
#: A record of the program's start, libraries and ends (``--show-mmap-events`` and the like).
_RECORD = re.compile(rb"(?m)^.*[:\d][ \t]+(PERF_RECORD_[A-Z0-9_]+).*$")
_FRAME = re.compile(rb"\s+[0-9a-f]+(?: \S.*)?")
_TABBED = re.compile(rb"\t *[0-9a-f]{3,16} \S.*")
#: A frame whose indentation somebody took away.
_BARE = re.compile(rb"[0-9a-f]{3,16} \S.* \(\S.*\)")
#: File and line of the frame before (``-F +srcline``), or an address of what has no lines: ``lib.so[7f12]``.
_SOURCE = re.compile(rb" {2}(?:(?P<file>\S.*)?:(?P<line>\d+)(?: \(discriminator \d+\))?|\S.*\[[0-9a-f]+\])")
#: How a stack goes on below an interrupt: what it does is not done by the thread that it interrupts.
_INTERRUPT = re.compile(
    rb"\s(?:(?:asm_)?sysvec_\w+|(?:asm_)?common_interrupt|\w*apic_timer_interrupt|do_IRQ|ret_from_intr"
    rb"|el[01]\w*_irq\w*|gic_handle_irq|handle_arch_irq)\b"
)
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_SWITCH = "sched:sched_switch"
#: Wake-up events: one of them is read. The second may come from the processor of who is woken.
_WAKES = ("sched:sched_waking", "sched:sched_wakeup")
_FIELD = re.compile(r"(\w+)=(.*?)(?= \w+=| ==> |$)")
#: How older versions of perf print them.
_OLD_SWITCH = re.compile(
    r"(?P<prev_comm>.*):(?P<prev_pid>\d+) \[\d+\] (?P<prev_state>\S+) ==> "
    r"(?P<next_comm>.*):(?P<next_pid>\d+) \[\d+\]"
)
_NEXT = re.compile(r"next_pid=(\d+)|==> .*:(\d+) \[")
_OLD_WAKE = re.compile(r"(?P<comm>.*?):(?P<pid>\d+) \[\d+\]")
#: States of a thread that is off the processor, as the kernel writes them.
_STATES = {"R": "preempted", "R+": "preempted", "S": "sleeping", "D": "in uninterruptible sleep"}
#: Those of a thread that has ended.
_ENDED = ("X", "Z", "x")
_LONGEST = 1 << 62


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that text is what perf prints.

    Parameters
    ----------
    head : bytes
        The first bytes, unpacked.
    name : str
        The file's, in lower case.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    if b"\0" in head[:4096] or is_binary(head):
        return registry.NO
    if head.startswith(b"# ========\n# captured on"):
        return registry.SURE
    rows = [line for line in head.splitlines()[:400] if line.strip() and not line.startswith(b"#")]
    if not rows:
        return registry.NO
    if _RECORD.fullmatch(rows[0]):
        return registry.SURE
    tabbed = sum(_TABBED.fullmatch(row) is not None for row in rows)
    frames = sum((_FRAME if row[:1].isspace() else _BARE).fullmatch(row) is not None for row in rows)
    heads = [_head(row) for row in rows if not _is_inside(row)]
    said = [match for match in heads if match and (match["time"] or match["event"])]
    if not said and tabbed > 2 and tabbed > 0.3 * len(rows):
        # With -F ip,sym or -F comm,ip,sym there are stacks, and no more than a name over each.
        return registry.LIKELY
    if rows[0].startswith(b"\t"):
        return registry.NO
    if len(said) < 0.7 * len(heads) or not said:
        return registry.NO
    if frames:
        return registry.SURE if said[0]["time"] or said[0]["event"] else registry.LIKELY
    full = sum(bool(match["time"] and match["event"]) for match in said)
    return registry.LIKELY if full > 0.7 * len(heads) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read what ``perf script`` printed.

    Calls are made of the samples of the event that has most of them, not counting tracepoints.

    Parameters
    ----------
    path : Path
        The file.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If no sample is understood.
    """
    recording = Recording()
    text = read_text(path, recording.problems, part(progress, 0, 0.2), whole_lines=True)
    progress(0.2, "reading samples")
    return take_text(path, bytes(text.data), recording, progress)


def take_text(path: Path, text: bytes, recording: Recording, progress: Progress) -> Trace:
    """Read samples from text.

    Parameters
    ----------
    path : Path
        For messages.
    text : bytes
    recording : Recording
        Gets them.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If no sample is understood.
    """
    reader = _Reader(recording)

    def take() -> None:
        reader.read(text)
        reader.lay()

    return finish(path, take, recording, "output of perf script", progress)


class _Wake(NamedTuple):
    """Who wakes whom, both as indices of the recording, and the number of the second."""

    thread: int
    time: int
    target: int
    number: int


class _Sleep(NamedTuple):
    """When a thread was off its processor, and why, as the kernel writes it."""

    thread: int
    stack: int
    begin: int
    end: int
    state: str
    #: 1; 2 where it had not ended when the recording did.
    blocked: int


@dataclass
class _Rows:
    """The samples of one event."""

    thread: list[int]
    stack: list[int]
    time: list[int]
    period: list[int]
    cpu: list[int]
    said: list[str]
    #: The sum of all times so far, of all events.
    summed: list[int]


class _Reader:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._tree = FrameTree(recording)
        self._events: dict[str, _Rows] = {}
        self._stacks: dict[bytes, int] = {}
        self._functions: dict[bytes, int] = {}
        #: By thread id only, because tracepoints name nothing else.
        self._process_of: dict[int, int] = {}
        #: Stacks of interrupts, the number of each thread, and the program of each number.
        self._interrupts: set[int] = set()
        self._number_of: dict[int, int] = {}
        self._name_of: dict[int, str] = {}
        self._is_timed = True
        #: First and last time, their sum, how many there are, and how many are before the one before.
        self._first, self._last, self._sum, self._times, self._descents = -1, 0, 0, 0, 0
        #: Whether there is nothing but stacks, or the program's name over each.
        self._is_bare = False
        self._line = 1

    # -- text ----------------------------------------------------------------------------------

    def read(self, text: bytes) -> None:
        """Read all samples."""
        if b" PERF_RECORD_" in text:
            text = _RECORD.sub(self._without, text)
        opening = next(
            (row for row in text.split(b"\n", 400) if row.strip() and not row.startswith(b"#")), b""
        )
        self._is_bare = _TABBED.fullmatch(opening) is not None or _head(opening) is None
        for head, frames in self._blocks(text):
            self._add(head, frames)
        if not self._events:
            raise ValueError("no line looks like 'program 123 [000] 45.678901: 1000 cycles:'")

    def _without(self, record: re.Match[bytes]) -> bytes:
        """Count a record that is no sample; an empty line stays in its place."""
        name = record[1].decode()
        self._recording.problems.add("unsupported", f"records such as {name}, which are no samples")
        return b""

    def _blocks(self, text: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the line of each sample, and the lines of its stack."""
        for block in text.replace(b"\r\n", b"\n").split(b"\n\n"):
            lines = block.count(b"\n") + 2
            before = len(block) - len(block.lstrip(b"\n"))
            block = block.strip(b"\n")
            self._line += before
            head, _, frames = block.partition(b"\n")
            is_new = frames and frames not in self._stacks
            if head.startswith(b"#") or is_new or (self._is_bare and _is_inside(head)):
                yield from self._lines(block)
            elif head:
                yield head, frames
            self._line += lines - before

    def _lines(self, block: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the samples of a block in which not each line but the first is a frame."""
        head, frames = b"", []
        for line in block.split(b"\n"):
            if _is_inside(line) and (head or _FRAME.fullmatch(line)):
                frames.append(line)
                continue
            if head or (frames and self._is_bare):
                yield head, b"\n".join(frames)
            head, frames = (b"" if line.startswith(b"#") else line), []
        if head or (frames and self._is_bare):
            yield head, b"\n".join(frames)

    def _add(self, line: bytes, frames: bytes) -> None:
        said = _head(line)
        if said is None and self._is_bare and frames:
            self._add_bare(line.strip(), frames)
            return
        if said is None or not (said["time"] or said["event"] or frames):
            self._recording.problems.add("malformed", f"line {self._line:,}")
            return
        event = (said["event"] or COUNTED.encode()).decode("utf-8", "replace")
        rest = (said["rest"] or b"").strip()
        if not frames and rest and ":" not in event.removesuffix(":ppp"):
            # Without call chains the place stands in the line itself.
            frames, rest = b"\t" + rest, b""
        stack, rows = self._stack_of(frames), self._rows_of(event)
        cpu = int(said["cpu"] or -1)
        rows.thread.append(self._thread(said["comm"], said["pid"], said["tid"], cpu))
        rows.stack.append(stack)
        rows.period.append(min(int(said["period"] or 1), _LONGEST))
        rows.cpu.append(cpu)
        rows.said.append(rest.decode("utf-8", "replace"))
        if said["time"] is None:
            self._is_timed = False
            rows.time.append(0)
            rows.summed.append(0)
            return
        seconds, _, fraction = said["time"].partition(b".")
        time = min(int(seconds) * 10**9 + int(fraction[:9].ljust(9, b"0")), _LONGEST)
        if self._first < 0:
            self._first = time
        self._times += 1
        self._descents += time < self._last
        self._last, self._sum = time, min(self._sum + time, _LONGEST)
        rows.time.append(time)
        rows.summed.append(self._sum)

    def _stack_of(self, frames: bytes) -> int:
        stack = self._stacks.get(frames)
        if stack is None:
            stack = self._stacks[frames] = self._stack(frames)
            if _INTERRUPT.search(frames):
                self._interrupts.add(stack)
        return stack

    def _rows_of(self, event: str) -> _Rows:
        rows = self._events.get(event)
        if rows is None:
            rows = self._events[event] = _Rows([], [], [], [], [], [], [])
        return rows

    def _add_bare(self, comm: bytes, frames: bytes) -> None:
        """Add a sample of which nothing but its stack is known, and perhaps the program."""
        rows = self._rows_of(COUNTED)
        rows.thread.append(self._recording.thread(0, comm.decode("utf-8", "replace") or "all"))
        rows.stack.append(self._stack_of(frames))
        rows.time.append(0)
        rows.period.append(1)
        rows.cpu.append(-1)
        rows.said.append("")
        rows.summed.append(0)
        self._is_timed = False

    def _thread(self, comm: bytes | None, pid: bytes | None, tid: bytes | None, cpu: int = -1) -> int:
        if tid is None:
            return self._recording.thread(int(pid or 0), "all")
        number = int(tid)
        name = (comm or b"").decode("utf-8", "replace")
        thread: RecordedId = number
        if number == 0:
            # Each processor has an idle thread of its own.
            thread = f"idle {cpu}" if cpu >= 0 else "idle"
        process = int(pid) if pid is not None else 0
        self._process_of[number] = process
        if name and pid is not None and process == number:
            self._recording.name_process(process, name)
        if name:
            self._name_of[number] = name
            self._recording.name_thread(process, thread, name)
        index = self._recording.thread(process, thread)
        self._number_of[index] = number
        return index

    def _stack(self, frames: bytes) -> int:
        """Return the innermost frame of a stack, which is written innermost first."""
        functions: list[int] = []
        lines: list[int] = []
        said = frames.split(b"\n") if frames else []
        for line, after in zip(said, [*said[1:], b""]):
            if functions and _SOURCE.fullmatch(line):
                continue
            source = _SOURCE.fullmatch(after)
            function = self._functions.get(line)
            if function is None:
                file = source["file"] if source and source["line"] else None
                function = self._functions[line] = self._function(
                    line, (file or b"").decode("utf-8", "replace")
                )
            functions.append(function)
            lines.append(min(int(source["line"] or 0), (1 << 31) - 1) if source else 0)
        return self._tree.stack(functions[::-1], lines[::-1])

    def _function(self, line: bytes, file: str) -> int:
        text = line.decode("utf-8", "replace").strip()
        _, _, symbol = text.partition(" ")
        symbol = symbol.strip()
        library = ""
        if symbol.endswith(")") and (at := symbol.rfind(" (")) >= 0:
            symbol, library = symbol[:at], symbol[at + 2 : -1]
        elif symbol.startswith("(") and symbol.endswith(")"):
            symbol, library = "", symbol[1:-1]
        symbol = _OFFSET.sub("", symbol).strip()
        if library == "inlined":
            library = ""
        short = library.rsplit("/", 1)[-1]
        if "[kernel" in library:
            short = "kernel"
        if not symbol or symbol == "[unknown]":
            known = library and library != "[unknown]"
            return self._recording.function(
                f"[unknown] ({short})" if known else "[unknown]",
                label="[unknown]",
                containers=(("module", short),) if known else None,
            )
        if not short or library == "[unknown]":
            return self._recording.function(symbol, file=file)
        said = names.split(symbol)
        inside = (("module", short), *said.containers)
        return self._recording.function(
            f"{symbol} ({library})", label=said.label, containers=inside, file=file
        )

    # -- rows ----------------------------------------------------------------------------------

    def lay(self) -> None:
        """Add samples, moments, waits and wake-ups."""
        # perf prints in the order of time: where it is none, times are since the sample before (--deltatime).
        if self._first == 0 and 8 * self._descents > self._times:
            for rows in self._events.values():
                rows.time = rows.summed
        sampled = {event: rows for event, rows in self._events.items() if not _is_tracepoint(event)}
        ordered = sorted(sampled.items(), key=lambda entry: -len(entry[1].time))
        if not self._is_timed:
            ordered = ordered or sorted(self._events.items(), key=lambda entry: -len(entry[1].time))
            self._lay_weights(ordered)
            return
        wakes = self._wakes()
        thread, stack, time, end = self._switches(wakes)
        for event, rows in self._events.items():
            if event not in sampled and event != _SWITCH and event not in _WAKES:
                name = self._recording.text("instants", event)
                self._recording.add_instants(name=[name] * len(rows.time), thread=rows.thread, time=rows.time)
        if not ordered and not thread:
            # With tracepoints only, their stacks are used.
            ordered = sorted(self._events.items(), key=lambda entry: -len(entry[1].time))
        # Without periods there is nothing but the number of samples.
        kinds = [
            _kind(event) if max(rows.period) > 1 or len(ordered) > 1 else COUNTED for event, rows in ordered
        ]
        kind = np.repeat(np.arange(len(ordered)), [len(rows.time) for _, rows in ordered])
        laid = kind == 0
        weight = [period for _, rows in ordered for period in rows.period]
        if thread:
            kinds.append("off the processor (ns)")
            kind = np.append(kind, np.full(len(thread), len(kinds) - 1))
            laid = np.append(laid, np.ones(len(thread), np.bool_))
            weight += [max(stop - begin, 0) for begin, stop in zip(time, end, strict=True)]
        add_timed(
            self._recording,
            self._tree.columns(),
            [one for _, rows in ordered for one in rows.thread] + thread,
            [one for _, rows in ordered for one in rows.stack] + stack,
            [one for _, rows in ordered for one in rows.time] + time,
            end=[-1 for _, rows in ordered for _ in rows.time] + end,
            kinds=kinds,
            kind=kind,
            weight=weight,
            laid=laid,
        )

    def _lay_weights(self, ordered: list[tuple[str, _Rows]]) -> None:
        event, rows = ordered[0]
        self._recording.problems.add("no time unit", "the samples have no times", len(rows.time))
        left_out = sum(len(others.time) for _, others in ordered[1:])
        self._recording.problems.add("unsupported", "samples of other events, without times", left_out)
        weights = {event: rows.period} if max(rows.period) > 1 else {COUNTED: rows.period}
        # The calls are as long as there are samples: periods of counters are not times.
        add_weighed(
            self._recording, self._tree.columns(), rows.thread, rows.stack, weights,
            scale=SAMPLE_NS / max(1, float(np.mean(rows.period))),
        )  # fmt: skip

    def _switches(self, wakes: list[_Wake]) -> tuple[list[int], list[int], list[int], list[int]]:
        """Return thread, stack, begin and end of the times off the processor; add them, and who ends them."""
        rows = self._events.get(_SWITCH)
        if rows is None:
            self._add_sync([], wakes)
            self._add_arrows([], wakes)
            return [], [], [], []
        seen = _by_thread(
            pair for others in self._events.values() for pair in zip(others.thread, others.time, strict=True)
        )
        woken = _by_thread((wake.target, wake.time) for wake in wakes)
        last = max(times[-1] for times in seen.values())
        # Of one program alone, who is back for a moment is not seen. Idle threads are seen with all others.
        is_whole = any(self._number_of.get(thread) == 0 for thread in seen)
        open_at: dict[int, tuple[int, int, str]] = {}
        found: list[_Sleep] = []

        def close(thread: int, back: int | None = None) -> None:
            begin, stack, state = open_at.pop(thread)
            # Its own events show when it was back at the latest. Of one program alone there are no switches
            # to its threads: one could run from when it was woken.
            ends = [back] if back is not None else [] if _is_preempted(state) else woken.get(thread, [])
            ends = [time for times in (ends, seen.get(thread, [])) for time in _first_after(times, begin)]
            if ends:
                found.append(_Sleep(thread, stack, begin, min(ends), state, 1))
            elif is_whole and begin < last and not state.startswith(_ENDED):
                found.append(_Sleep(thread, stack, begin, last, state, 2))

        for row in np.argsort(rows.time, kind="stable").tolist():
            old = _OLD_SWITCH.match(rows.said[row])
            said = old.groupdict() if old else dict(_FIELD.findall(rows.said[row]))
            try:
                next_tid = int(said["next_pid"])
            except (KeyError, ValueError):
                self._recording.problems.add("malformed", f"a switch to {rows.said[row][:40]!r}")
                continue
            thread, time = rows.thread[row], rows.time[row]
            if said.get("prev_pid") != "0":
                if thread in open_at:
                    close(thread)
                open_at[thread] = (time, rows.stack[row], said.get("prev_state", ""))
            if next_tid:
                back = self._woken(next_tid, said.get("next_comm", ""))
                if back in open_at:
                    close(back, time)
        for thread in [*open_at]:
            close(thread)
        self._add_sync(found, wakes)
        self._add_arrows(found, wakes)
        return tuple([one[column] for one in found] for column in range(4))  # type: ignore[return-value]

    def _add_sync(self, sleeps: list[_Sleep], wakes: list[_Wake]) -> None:
        """Add waits, and the wake-ups that end those of threads that sleep."""
        text = self._recording.text
        states = [_STATES.get(one.state[:1], f"off the processor ({one.state})") for one in sleeps]
        about = [-1 if _is_preempted(one.state) else self._number_of.get(one.thread, -1) for one in sleeps]
        about += [wake.number for wake in wakes]
        objects = [
            text("objects", f"wake-up of {self._name_of.get(number, '')} ({number})") if number >= 0 else -1
            for number in about
        ]
        names = [text("sync", name) for name in (*states, *("wake-up" for _ in wakes))]
        self._recording.add_sync(
            thread=[*(one.thread for one in sleeps), *(wake.thread for wake in wakes)],
            kind=[WAIT] * len(sleeps) + [RELEASE] * len(wakes),
            name=names,
            start=[*(one.begin for one in sleeps), *(wake.time for wake in wakes)],
            end=[*(one.end for one in sleeps), *(wake.time for wake in wakes)],
            contended=[*(one.blocked for one in sleeps), *(-1 for _ in wakes)],
            object=objects,
        )

    def _add_arrows(self, sleeps: list[_Sleep], wakes: list[_Wake]) -> None:
        """Add an arrow from who wakes a thread to that thread's next moment on a processor."""
        back = _by_thread((one.thread, one.end) for one in sleeps)
        self._recording.add_flows(
            name=[self._recording.text("flows", "wakes")] * len(wakes),
            source_thread=[wake.thread for wake in wakes],
            start=[wake.time for wake in wakes],
            target_thread=[wake.target for wake in wakes],
            end=[
                next(iter(_first_after(back.get(wake.target, []), wake.time - 1)), wake.time)
                for wake in wakes
            ],
        )

    def _woken(self, tid: int, comm: str) -> int:
        """Return the thread of a tracepoint's field, which says no process."""
        if tid not in self._process_of:
            self._process_of[tid] = 0
            self._name_of[tid] = comm
            self._recording.name_thread(0, tid, comm)
        index = self._recording.thread(self._process_of[tid], tid)
        self._number_of[index] = tid
        return index

    def _wakes(self) -> list[_Wake]:
        """Return who wakes whom, and when; interrupts are threads of their processor."""
        event = next((event for event in _WAKES if event in self._events), None)
        if event is None:
            return []
        rows = self._events[event]
        wakes: list[_Wake] = []
        threads = self._recording.threads
        for thread, stack, cpu, time, text in zip(
            rows.thread, rows.stack, rows.cpu, rows.time, rows.said, strict=True
        ):
            old = _OLD_WAKE.match(text)
            said = old.groupdict() if old else dict(_FIELD.findall(text))
            number = said.get("pid", "")
            if not number.isdecimal():
                self._recording.problems.add("malformed", f"a wake-up of {text[:40]!r}")
                continue
            is_idle = str(threads[thread][1]).startswith("idle")
            if is_idle or stack in self._interrupts:
                thread = self._interrupt(cpu)
            elif stack < 0:
                self._recording.problems.add("no stacks", f"a wake-up of {said.get('comm', number)}")
            wakes.append(_Wake(thread, time, self._woken(int(number), said.get("comm", "")), int(number)))
        return wakes

    def _interrupt(self, cpu: int) -> int:
        """Return the thread that stands for interrupts of a processor."""
        of = f" of processor {cpu}" if cpu >= 0 else ""
        # Where no processes are known, all threads are in one.
        process = "interrupts" if any(self._process_of.values()) else 0
        self._recording.name_thread(process, f"cpu{cpu}", f"interrupts{of}")
        return self._recording.thread(process, f"cpu{cpu}")


def _by_thread(moments: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the times of each thread, ascending."""
    found: dict[int, list[int]] = {}
    for thread, time in moments:
        found.setdefault(thread, []).append(time)
    return {thread: sorted(times) for thread, times in found.items()}


def _first_after(times: list[int], time: int) -> list[int]:
    """Return the first of ascending times that is later, if any is."""
    at = bisect_right(times, time)
    return times[at : at + 1]


def _is_preempted(state: str) -> bool:
    return state.startswith("R")


def _head(line: bytes) -> re.Match[bytes] | None:
    """Return what the line of a sample says; None if it is none."""
    said = _HEAD.fullmatch(line)
    if said is None or not (said["time"] or said["event"]):
        short = _SHORT.fullmatch(line)
        if short is not None and (short["time"] or short["event"]):
            return short
    return said


def _is_inside(line: bytes) -> bool:
    """Return whether a line belongs to a stack, and begins no sample: the names of programs are padded."""
    if line.startswith(b"\t"):
        return True
    if not line.startswith(b"  "):
        return _BARE.fullmatch(line) is not None
    said = None if _SOURCE.fullmatch(line) else _head(line)
    return said is None or not (said["time"] or said["event"])


def _is_tracepoint(event: str) -> bool:
    """Return whether an event is a tracepoint: ``sched:sched_switch``, not ``cycles:u``."""
    group, _, rest = event.partition(":")
    return bool(rest) and not re.fullmatch(r"[ukhGHpPSDWeI]+", rest) and bool(group)


def _kind(event: str) -> str:
    """Return what the period of an event is, with its unit: clocks count nanoseconds."""
    name = event.partition(":")[0]
    return f"{name} (ns)" if name in ("cpu-clock", "task-clock") else name


FORMAT = registry.Format(
    name="perf_script",
    title="perf script",
    suffixes=(".perf", ".perf.txt", ".script.txt", ".perfscript", ".txt"),
    sniff=sniff,
    read=read,
    programs="Linux' `perf script`",
    recipe=(
        "perf record -F 999 -g -- ./program; perf script > run.perf.txt",
        (
            "perf record -e cpu-clock -e sched:sched_switch -e sched:sched_waking -a -g -- "
            "./program; perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,dso,trace > "
            "run.perf.txt"
        ),
    ),
    left_out=("registers, branch stacks, and the fields of tracepoints other than switches and wake-ups"),
)
