"""Callgrind's profiles, and Xdebug's, which are written alike.

Source: https://valgrind.org/docs/manual/cl-format.html. Callgrind sums up what each function costs, by line,
and what its calls of others do. Xdebug writes each call by itself when it ends, so that its calls are exact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.scan import callgrind as s
from ...kernels.intern import InternedNames
from ...progress import Progress, part
from ...trace.events import COMPLETE, too_long
from ...trace.recording import Recording
from .. import names, registry
from ..perfetto.rows import Pairs
from ..text import read_text
from .call_graph import lay_call_graph
from .documents import add_function, finish

if TYPE_CHECKING:
    from ...trace.model import Trace

_HEAD = re.compile(rb"(?m)^(?:events|positions):[ \t]*\S")
_NAME = re.compile(r"\((\d+)\)(?: (.*))?", re.DOTALL)
#: Name of an event -> kind, and units per event.
_UNITS = {
    "Time_(10ns)": ("time (ns)", 10),
    "Time_(us)": ("time (ns)", 1000),
    "Memory_(bytes)": ("memory (bytes)", 1),
}
#: All costs together are less than this many events, so that no sum of them, in ns, leaves int64.
_MOST = (1 << 62) // max(factor for _, factor in _UNITS.values())
#: Tables of names, by what the scanner says that they are of.
_TABLES = ("n", "f", "o")
_THREAD = re.compile(r"thread:\s*(\d+)")


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that text is callgrind's.

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
    if head.startswith(b"# callgrind format"):
        return registry.SURE
    has_names = re.search(rb"(?m)^fn=", head) is not None
    if not has_names or not _HEAD.search(head):
        return registry.NO
    return registry.SURE if re.search(rb"(?m)^creator: (?:xdebug|callgrind)", head) else registry.LIKELY


def read(path: Path, progress: Progress) -> Trace:
    """Read a profile of callgrind's or Xdebug's.

    Own weights are kept by function and line. Callgrind's calls are estimated and
    laid out by the first event, 1 ns each; Xdebug's are those that happened, in their order.

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
        If no line says what something costs.
    """
    recording = Recording()
    text = read_text(path, recording.problems, part(progress, 0, 0.2), whole_lines=True)
    progress(0.2, "reading lines")
    reader = _Reader(recording)

    def take() -> None:
        data = bytes(text.data)
        if not reader.scan(data):
            reader.read(data.decode("utf-8", "replace"))
        reader.lay()

    return finish(path, take, recording, "callgrind profile", progress)


class _Sums:
    """What the scanner sums up, with room that grows."""

    def __init__(self) -> None:
        self.state = np.zeros(s.STATE_SIZE, np.int64)
        self.functions, self.own, self.edges = Pairs(), Pairs(), Pairs()
        self.named: NDArray[np.int64] = np.zeros((256, s.NAMED_COLUMNS), np.int64)
        self.costs: NDArray[np.int64] = np.zeros((len(self.own.first), 1), np.int64)
        self.weights: NDArray[np.int64] = np.zeros(len(self.edges.first), np.int64)
        #: Of single calls: function, cost and first callee; and the callees.
        self.single: NDArray[np.int64] = np.zeros((3, 256), np.int64)
        self.callees: NDArray[np.int64] = np.zeros(256, np.int64)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return what the scanner takes, in its order."""
        return (
            self.named, *self.functions.arrays, *self.own.arrays, self.costs,
            *self.edges.arrays, self.weights, *self.single, self.callees,
        )  # fmt: skip

    def widen(self, events: int) -> bool:
        """Make room for the costs of so many events; False if some are known already."""
        if events != self.costs.shape[1]:
            if self.state[s.OWN]:
                return False
            self.costs = np.zeros((len(self.costs), events), np.int64)
        return True

    def grow(self) -> None:
        """Make room wherever there is none."""
        if self.state[s.NAMED] >= len(self.named):
            self.named = np.concatenate([self.named, np.zeros_like(self.named)])
        for pairs, slot in ((self.functions, s.FUNCTIONS), (self.own, s.OWN), (self.edges, s.EDGES)):
            if self.state[slot] >= len(pairs.first):
                pairs.grow(int(self.state[slot]))
        if self.state[s.SINGLES] >= self.single.shape[1]:
            self.single = np.concatenate([self.single, np.zeros_like(self.single)], axis=1)
        if self.state[s.CALLEES] >= len(self.callees):
            self.callees = np.concatenate([self.callees, np.zeros_like(self.callees)])
        self.costs = _longer(self.costs, len(self.own.first))
        self.weights = _longer(self.weights, len(self.edges.first))


def _longer(column: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    more = np.zeros((rows - len(column), *column.shape[1:]), np.int64)
    return np.concatenate([column, more]) if len(more) else column


@dataclass
class _Place:
    """Where reading line by line has come to: what the lines before say about the next ones."""

    file: str = ""
    object: str = ""
    called_file: str = ""
    called_object: str = ""
    function: int = -1
    callee: int = -1
    is_call: bool = False
    #: The last position of a cost in each column; differences continue it.
    position: list[int] = field(default_factory=lambda: [0, 0])
    #: All costs so far.
    total: int = 0


class _Reader:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._events: list[str] = ["Cost"]
        self._columns = 1
        #: Compressed names: files, functions and objects each count for themselves.
        self._texts: dict[str, dict[str, str]] = {"f": {}, "n": {}, "o": {}}
        self._functions: dict[tuple[str, str, str], int] = {}
        self._thread = 0
        #: By function, and by function and line: what each event costs.
        self._own: dict[tuple[int, int, int], list[int]] = {}
        self._edges: dict[tuple[int, int, int], int] = {}
        self._creator = ""
        # Xdebug's single calls: function, callees and self cost; and the same as columns.
        self._single: list[tuple[int, list[int], int]] = []
        self._single_calls: tuple[NDArray[np.int64], ...] = ()
        self._at = _Place()

    def scan(self, data: bytes) -> bool:
        """Read all lines by the scanner; False, with nothing read, if they are not what callgrind writes."""
        if b"\r" in data:
            return False
        column = np.frombuffer(data, np.uint8)
        texts, sums = InternedNames(), _Sums()
        state = sums.state
        state[[s.FUNCTION, s.CALLEE]], state[s.LIMIT] = -1, _MOST
        result = s.FULL
        while result in (s.FULL, s.HEADER):
            state[s.PLACES], state[s.THREAD] = self._columns, self._thread
            result = s.scan_callgrind(column, state, *texts.arrays, *sums.arrays)
            if result == s.FULL:
                if state[s.TEXTS] + 1 >= len(texts.starts):
                    texts.grow(int(state[s.TEXTS]))
                sums.grow()
            elif result == s.HEADER:
                at = int(state[s.AT])
                stop = data.find(b"\n", at)
                stop = len(data) if stop < 0 else stop
                self._header(data[at:stop].decode("utf-8", "replace"))
                state[s.AT] = stop + 1
                state[s.IS_SINGLE] = self._creator.startswith("xdebug")
                if not sums.widen(len(self._events)):
                    break
        if result == s.DONE:
            self._take_sums(sums, texts.texts(column, int(state[s.TEXTS])), data)
            return True
        self._events, self._columns, self._creator, self._thread = ["Cost"], 1, "", 0
        return False

    def _take_sums(self, sums: _Sums, texts: list[str], data: bytes) -> None:
        """Keep what the scanner summed up, with the names of all functions."""
        for of, text, low, high in sums.named[: sums.state[s.NAMED]].tolist():
            name = data[low:high].decode("utf-8", "replace")
            self._texts[_TABLES[of]].setdefault(texts[text - 1][1:-1], name)
        known: dict[tuple[int, int], str] = {}

        def name_of(of: int, text: int) -> str:
            if (of, text) not in known:
                known[of, text] = self._text(_TABLES[of], texts[text - 1]) if text else ""
            return known[of, text]

        count = int(sums.state[s.FUNCTIONS])
        low = (1 << 32) - 1
        functions = [
            self._function(
                name_of(s.OF_FUNCTION, pair >> 32), name_of(s.OF_FILE, pair & low), name_of(s.OF_OBJECT, obj)
            )
            for pair, obj in zip(
                *(pairs[:count].tolist() for pairs in sums.functions.arrays[1:]), strict=True
            )
        ]
        count = int(sums.state[s.OWN])
        # Differences may lead to lines below 0.
        columns = (pairs[:count].astype(np.int64).tolist() for pairs in sums.own.arrays[1:])
        for who, line, costs in zip(*columns, sums.costs[:count].tolist(), strict=True):
            key = who >> 32, functions[who & low], line
            held = self._own.get(key)
            self._own[key] = costs if held is None else [a + b for a, b in zip(held, costs)]
        count = int(sums.state[s.EDGES])
        columns = (pairs[:count].tolist() for pairs in sums.edges.arrays[1:])
        for who, callee, weight in zip(*columns, sums.weights[:count].tolist(), strict=True):
            edge = who >> 32, functions[who & low], functions[callee]
            self._edges[edge] = self._edges.get(edge, 0) + weight
        known_functions = np.array(functions, np.int64)
        count = int(sums.state[s.SINGLES])
        function, cost, first = (column[:count] for column in sums.single)
        callees = sums.callees[: sums.state[s.CALLEES]]
        if count:
            self._single_calls = (
                known_functions[function], cost, np.append(first, len(callees)), known_functions[callees]
            )  # fmt: skip

    def read(self, text: str) -> None:
        """Read all lines, one by one."""
        for number, line in enumerate(text.split("\n"), 1):
            if not line:
                continue
            if line[0].isdigit() or line[0] in "+-*":
                self._cost_line(line.split(), number)
                continue
            key, sign, said = line.partition("=")
            if sign and key.isalpha():
                self._key_line(key, said.strip(), number)
            else:
                self._header(line)
        if self._single:
            called, own_costs = [one for _, one, _ in self._single], [one for *_, one in self._single]
            self._single_calls = (
                np.array([one for one, *_ in self._single], np.int64), np.array(own_costs, np.int64),
                np.cumsum([0, *map(len, called)]),
                np.array([one for some in called for one in some], np.int64),
            )  # fmt: skip

    def _cost_line(self, words: list[str], number: int) -> None:
        """Add what a line costs to its function, or what a call costs to its edge."""
        at, problems = self._at, self._recording.problems
        try:
            for column in range(self._columns):
                word = words[column] if column < len(words) else "*"
                if word[0] in "+-":
                    at.position[column] += int(word, 0)
                elif word != "*":
                    at.position[column] = int(word, 0)
            costs = [int(word) for word in words[self._columns :]]
        except (ValueError, IndexError):
            problems.add("malformed", f"line {number:,}")
            return
        if at.function < 0 or not costs:
            at.is_call = False
            return
        # A call costs what its callee's lines cost: that is in the sum already.
        most = max(map(abs, costs))
        if most > _MOST - (0 if at.is_call else at.total):
            problems.add("bad value", f"line {number:,}")
            return
        if at.is_call:
            at.is_call = False
            edge = (self._thread, at.function, at.callee)
            self._edges[edge] = self._edges.get(edge, 0) + costs[0]
            if self._single:
                self._single[-1][1].append(at.callee)
            return
        at.total += most
        key = (self._thread, at.function, at.position[self._columns - 1])
        if (held := self._own.get(key)) is None:
            self._own[key] = costs
        else:
            both = [a + b for a, b in zip(held, costs)]
            self._own[key] = both + held[len(costs) :] + costs[len(held) :]
        if self._single and self._single[-1][2] < 0:
            self._single[-1] = (*self._single[-1][:2], costs[0])

    def _key_line(self, key: str, said: str, number: int) -> None:
        """Note whose costs follow, or which call."""
        at = self._at
        if key == "fn":
            at.function = self._function(self._text("n", said), at.file, at.object)
            at.called_file, at.called_object = at.file, at.object
            if self._creator.startswith("xdebug"):
                self._single.append((at.function, [], -1))
        elif key == "fl":
            at.file = at.called_file = self._text("f", said)
        elif key == "ob":
            at.object = at.called_object = self._text("o", said)
        elif key in ("cfl", "cfi"):
            at.called_file = self._text("f", said)
        elif key == "cob":
            at.called_object = self._text("o", said)
        elif key == "cfn":
            at.callee = self._function(self._text("n", said), at.called_file, at.called_object)
            at.called_file, at.called_object = at.file, at.object
        elif key == "calls":
            at.is_call = at.callee >= 0
        elif key in ("fi", "fe", "jfi", "jfl", "jfn"):
            self._text("n" if key == "jfn" else "f", said)
        elif key not in ("jump", "jcnd"):
            self._recording.problems.add("unsupported", f"line {number:,}: {key}=")

    def _header(self, line: str) -> None:
        key, _, said = line.partition(":")
        if key == "events":
            self._events = said.split() or ["Cost"]
        elif key == "positions":
            self._columns = min(max(len(said.split()), 1), 2)
        elif key == "creator":
            self._creator = said.strip()
        elif found := _THREAD.match(line):
            self._thread = int(found[1])

    def _text(self, table: str, said: str) -> str:
        """Return a name that may be given once and then by its number."""
        found = _NAME.fullmatch(said)
        if found is None:
            return said
        number, name = found[1], found[2]
        if name:
            self._texts[table].setdefault(number, name)
        return self._texts[table].get(number, f"(unnamed {number})")

    def _function(self, name: str, file: str, obj: str) -> int:
        key = name, file, obj
        function = self._functions.get(key)
        if function is None:
            known = file if file not in ("???", "php:internal") else ""
            short = obj.rsplit("/", 1)[-1]
            if known:
                function = add_function(self._recording, name, known)
            elif short and obj != "???":
                said = names.split(name)
                inside = (("module", short), *said.containers)
                function = self._recording.function(f"{name} ({obj})", label=said.label, containers=inside)
            else:
                function = self._recording.function(name)
            self._functions[key] = function
        return function

    def lay(self) -> None:
        """Add calls and what they weigh."""
        if not self._own:
            raise ValueError("no line says what a function costs")
        if self._single_calls and self._lay_single(*self._single_calls):
            return
        rows = list(self._own.items())
        threads = {number: self._recording.thread(0, number or "all") for number, _, _ in self._own}
        first = self._recording.add_stacks(
            function=[function for (_, function, _), _ in rows],
            parent=np.full(len(rows), -1),
            line=[line if 0 < line < 1 << 31 else 0 for (_, _, line), _ in rows],
        )
        for column, event in enumerate(self._events):
            kind, factor = _UNITS.get(event, (event, 1))
            self._recording.add_samples(
                thread=[threads[number] for (number, _, _), _ in rows],
                kind=np.full(len(rows), self._recording.text("samples", kind)),
                weight=[factor * costs[column] if column < len(costs) else 0 for _, costs in rows],
                stack=first + np.arange(len(rows)),
            )
        kind, factor = _UNITS.get(self._events[0], ("", 1))
        if not kind.endswith("(ns)"):
            self._recording.problems.add("no time unit", f"costs are {self._events[0]}", len(rows))
        for number, thread in threads.items():
            own: dict[int, float] = {}
            for (of, function, _), costs in rows:
                if of == number:
                    own[function] = own.get(function, 0) + costs[0]
            edges = {(a, b): float(weight) for (of, a, b), weight in self._edges.items() if of == number}
            lay_call_graph(self._recording, thread, own, edges, factor)

    def _lay_single(
        self,
        function: NDArray[np.int64],
        cost: NDArray[np.int64],
        first: NDArray[np.int64],
        callees: NDArray[np.int64],
    ) -> bool:
        """Lay out calls that were written one by one as they ended; False if they don't fit together."""
        count = len(function)
        factor = _UNITS.get(self._events[0], ("", 1))[1]
        if too_long(np.maximum(cost, 0)) or too_long(factor * np.maximum(cost, 0)):
            return False
        caller, start, lasts, done = np.empty((4, count), np.int64)
        of, own, begins, called = (
            np.ascontiguousarray(column, np.int64) for column in (function, cost, first, callees)
        )
        if not s.lay_single(of, own, begins, called, factor, caller, start, lasts, done):
            return False
        self._recording.add_events(
            thread=np.full(count, self._recording.thread(0, "main")),
            kind=np.full(count, COMPLETE),
            function=function,
            time=start,
            end=start + lasts,
        )
        return True


FORMAT = registry.Format(
    name="callgrind",
    title="callgrind profile",
    suffixes=(".callgrind", ".cachegrind", ".out"),
    sniff=sniff,
    read=read,
    programs="Valgrind's callgrind, Xdebug, gperftools (by `google-pprof --callgrind`)",
    recipe=(
        "valgrind --tool=callgrind --callgrind-out-file=run.callgrind ./program",
        ("php -d zend_extension=xdebug -d xdebug.mode=profile -d xdebug.use_compression=0 script.php"),
        "LD_PRELOAD=libprofiler.so.0 CPUPROFILE=run.prof ./program; "
        "google-pprof --callgrind ./program run.prof > run.callgrind",
    ),
    left_out="jumps; paths of calls, which callgrind does not write, are estimated",
)
