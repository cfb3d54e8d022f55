"""The growing trace against a plain stack; what it holds at any moment is an ordinary trace."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.live import growing as growing_module
from tracevis3d.live import thread_calls
from tracevis3d.live.growing import MOST_CALLS, GrowingTrace
from tracevis3d.live.protocol import BEGIN, END, Batch, Names, Welcome
from tracevis3d.trace.names import runs_on


def batch(table: str, columns: dict, sequence: int = 0) -> Batch:
    return Batch(table, sequence, 0, 0, {name: np.asarray(values) for name, values in columns.items()})


def events(rows) -> Batch:
    """Rows of kind, thread, function, time."""
    kind, thread, function, time = zip(*rows, strict=True)
    return batch("calls", {
        "kind": np.array(kind, np.uint8), "thread": np.array(thread, np.uint32),
        "function": np.array(function, np.uint32), "time": np.array(time, np.int64),
    })  # fmt: skip


def grown(*batches: Batch, names: bool = True, most_calls: int = MOST_CALLS) -> GrowingTrace:
    growing = GrowingTrace(most_calls)
    growing.begin(Welcome("s", "p", 1, 1000))
    if names:
        growing.name(Names("functions", 0, ("a", "b", "c", "d")))
        growing.name(Names("threads", 0, ((1, 10, "main"), (1, 11, ""))))
    for one in batches:
        growing.add(one)
    return growing


class Plain:
    """Begins and ends with lists."""

    def __init__(self) -> None:
        self.calls: dict[int, list] = {0: [], 1: []}
        self.stack: dict[int, list] = {0: [], 1: []}
        self.latest: dict[int, int] = {}
        self.unmatched = self.mismatched = self.back = self.farthest = 0

    def add(self, kind, thread, function, time) -> None:
        went = self.latest.get(thread, time) - time
        self.back += went > 0
        self.farthest = max(self.farthest, went)
        time = max(time, self.latest.get(thread, time))
        self.latest[thread] = time
        stack, calls = self.stack[thread], self.calls[thread]
        if kind == BEGIN:
            stack.append(len(calls))
            calls.append([function, len(stack), time, None])
        elif any(calls[i][0] == function for i in stack):
            while True:
                call = calls[stack.pop()]
                call[3] = time
                if call[0] == function:
                    break
                self.mismatched += 1
        else:
            self.unmatched += 1


ROWS = st.lists(
    st.tuples(st.sampled_from((BEGIN, END)), st.integers(0, 1), st.integers(0, 3), st.integers(0, 40)),
    min_size=1, max_size=80,
)  # fmt: skip


@given(ROWS, st.integers(1, 7), st.integers(-5, 45))
@settings(deadline=None, max_examples=200)
def test_same_calls_as_the_plain_stack(rows, pieces, since) -> None:
    check_against_the_plain_stack(rows, pieces, since)


def check_against_the_plain_stack(rows, pieces, since) -> None:
    growing, plain = grown(), Plain()
    for row in rows:
        plain.add(*row)
    for part in np.array_split(np.arange(len(rows)), pieces):
        if len(part):
            growing.add(events([rows[i] for i in part]))
    now = max(row[3] for row in rows)
    assert growing.now == now
    for low in (-(2**60), since):
        calls, count = growing.window(low)
        base = 0
        for thread in (0, 1):
            got = [
                (int(calls.function[i]), int(calls.start[i]), int(calls.end[i]))
                for i in range(base, base + int(count[thread]))
            ]
            base += int(count[thread])
            expected = [
                (function, start, max(now, low) if end is None else end)
                for function, _, start, end in plain.calls[thread]
                if end is None or end >= low or start >= low
            ]
            assert got == expected
        assert base == len(calls)
        for i in range(base):
            p = int(calls.parent[i])
            assert calls.extent[i] == 1 + sum(1 for j in range(base) if _below(calls, j, i))
            assert calls.depth[i] == (1 if p < 0 else calls.depth[p] + 1)
            if p >= 0:
                assert p < i < p + calls.extent[p]
    trace = growing.trace("tcp://x", lost=3)
    assert len(trace.calls) == sum(map(len, plain.calls.values()))
    assert trace.problems["lost"].count == 3
    problems = trace.problems
    result = (problems[kind].count if kind in problems else 0
            for kind in ("unmatched end", "mismatched end", "clock went back"))  # fmt: skip
    assert tuple(result) == (plain.unmatched, plain.mismatched, plain.back)
    labels = [trace.functions.name[f] for f in trace.calls.function.tolist()]
    assert labels == ["abcd"[call[0]] for thread in (0, 1) for call in plain.calls[thread]]


def _below(calls, j, i) -> bool:
    while j >= 0:
        j = int(calls.parent[j])
        if j == i:
            return True
    return False


@pytest.fixture
def small_tables(monkeypatch) -> None:
    monkeypatch.setattr(thread_calls, "_OPEN", 4)
    monkeypatch.setattr(thread_calls, "_FIRST", 8)


DEEP = st.lists(
    st.tuples(st.sampled_from((BEGIN,) * 5 + (END,)), st.just(0), st.integers(0, 150), st.integers(0, 5)),
    min_size=1, max_size=400,
)  # fmt: skip


@given(DEEP, st.integers(1, 5))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_deep_stacks_of_many_functions_as_the_plain_stack(small_tables, rows, pieces) -> None:
    growing, plain = grown(), Plain()
    growing.name(Names("functions", 0, tuple(f"f{i}" for i in range(151))))
    for row in rows:
        plain.add(*row)
    for part in np.array_split(np.arange(len(rows)), pieces):
        if len(part):
            growing.add(events([rows[i] for i in part]))
    calls, _ = growing.window(-(2**60))
    names = growing.functions()
    assert [
        (names[f], int(d), int(s), int(e))
        for f, d, s, e in zip(calls.function, calls.depth, calls.start, calls.end, strict=True)
    ] == [(f"f{f}", d, s, growing.now if e is None else e) for f, d, s, e in plain.calls[0]]
    thread = growing.calls_of_threads()[0]
    assert (thread.unmatched, thread.mismatched) == (plain.unmatched, plain.mismatched)
    assert thread.back == (plain.back, plain.farthest)
    assert thread.open == len(plain.stack[0])


def test_ends_without_begins_cost_the_same_in_a_deep_stack() -> None:
    """Processor time of 200,000 of them below 200,000 open calls, against 2,000 below 2,000."""

    def seconds(n: int) -> float:
        growing = grown()
        function = np.zeros(2 * n, np.uint32)
        function[n:] = 1
        columns = {
            "kind": np.repeat(np.array([BEGIN, END], np.uint8), n), "thread": np.zeros(2 * n, np.uint32),
            "function": function, "time": np.arange(2 * n),
        }  # fmt: skip
        begun = time.process_time()
        growing.add(batch("calls", columns))
        spent = time.process_time() - begun
        assert (growing.unmatched, growing.calls) == (n, n)
        return spent

    seconds(100)
    assert seconds(200_000) < 1000 * max(seconds(2_000), 2e-4)


def test_a_clock_that_goes_back_is_reported() -> None:
    rows = [(BEGIN, 0, 0, 5000), (END, 0, 0, 9000), (BEGIN, 0, 1, 2000), (END, 0, 1, 9500)]
    growing = grown(events(rows))
    problem = growing.trace().problems["clock went back"]
    assert (problem.count, problem.first) == (1, "thread main of the feed, by 7 µs at most")
    assert growing.went_back == (1, 7000)
    assert growing.clock_words() == "the clock went back once, by 7 µs at most"
    assert grown(events(rows[:2])).clock_words() == ""
    # What is reported again began before what came last.
    told_again = events([(BEGIN, 0, 2, 100)])
    growing.add(replace(told_again, again=True))
    assert growing.trace().problems["clock went back"].count == 1


def test_numbers_that_were_never_announced_and_a_new_session() -> None:
    growing = grown(events([(BEGIN, 5, 9, 0), (END, 5, 9, 7)]), names=False)
    growing.begin(Welcome("t", "p", 2, 1500))
    growing.name(Names("functions", 0, ("x",)))
    growing.name(Names("threads", 0, ((1, 10, "main"),)))
    growing.add(events([(BEGIN, 0, 0, 0)]))
    trace = growing.trace()
    assert list(trace.functions.name) == ["(function 9)", "x"]
    assert trace.calls.start.tolist() == [0, 500]
    assert trace.threads.process == (0, "1 (run 2)")
    assert growing.sessions == 2


def test_the_oldest_half_goes() -> None:
    growing = GrowingTrace(most_calls=100)
    growing.begin(Welcome("s", "p", 1, 0))
    growing.add(events([(BEGIN, 0, 0, 0)]))
    for i in range(300):
        growing.add(events([(BEGIN, 0, 1, i), (BEGIN, 0, 2, i), (END, 0, 2, i), (END, 0, 1, i)]))
    assert growing.calls <= 100
    assert growing.calls + growing.forgotten == 601
    trace = growing.trace()
    assert trace.calls.depth.tolist()[:3] == [1, 2, 3]  # the outermost call is still open, and still there
    assert trace.calls.start.max() == 299


def test_waits_memory_and_counters() -> None:
    growing = grown(events([(BEGIN, 0, 0, 0)]))
    growing.name(Names("operations", 0, ("Lock.acquire",)))
    growing.name(Names("objects", 0, ("lock 1", "lock 2")))
    growing.name(Names("counters", 0, ("load",)))
    growing.name(Names("functions", 0, ("main", "grow")))
    growing.name(Names("frames", 0, ((0, -1, 12), (1, 0, 7))))
    growing.add(batch("sync", {
        "kind": np.array([0, 1], np.uint8), "thread": np.array([0, 1], np.uint32),
        "operation": np.array([0, 7], np.uint32), "object": np.array([1, -1], np.int32),
        "start": np.array([3, 5]), "end": np.array([4, 5]),
    }))  # fmt: skip
    growing.add(batch("memory", {
        "kind": np.array([0, 1], np.uint8), "thread": np.array([0, 0], np.uint32), "time": np.array([6, 7]),
        "address": np.array([2**63 + 1, 2**63 + 1], np.uint64), "size": np.array([64, 0]),
        "stack": np.array([1, -1], np.int32),
    }))  # fmt: skip
    growing.add(batch("counters", {
        "series": np.array([0], np.uint32), "time": np.array([8]), "value": np.array([1.5]),
    }))  # fmt: skip
    trace = growing.trace()
    assert [trace.sync.names[i] for i in trace.sync.name.tolist()] == ["Lock.acquire", "(operation 7)"]
    assert [trace.sync.objects[i] for i in trace.sync.object.tolist()] == ["lock 2"]
    assert trace.memory.size.tolist() == [64, 0]
    inner, outer = trace.memory.stack[0], trace.stacks.parent[trace.memory.stack[0]]
    assert [trace.functions.name[trace.stacks.function[f]] for f in (inner, outer)] == ["grow", "main"]
    assert trace.stacks.line[[inner, outer]].tolist() == [7, 12]
    assert trace.memory.stack[1] == -1
    assert len(trace.counters) == 1
    assert growing.now == 8


@pytest.fixture
def small_segments(monkeypatch) -> None:
    monkeypatch.setattr(thread_calls, "_FIRST", 4)
    monkeypatch.setattr(thread_calls, "_LARGER", 2)
    monkeypatch.setattr(growing_module, "LARGEST", 16)


@given(ROWS, st.integers(1, 7), st.integers(-5, 45))
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_same_calls_in_small_segments(small_segments, rows, pieces, since) -> None:
    check_against_the_plain_stack(rows, pieces, since)


def test_deep_calls_go_through_many_segments(small_segments) -> None:
    rng = np.random.default_rng(4)
    growing, stack, now, wanted = grown(events([(BEGIN, 0, 0, 0)])), [], 0, 1
    starts, ends = {0: 0}, {}
    for _ in range(300):
        batch = []
        for _ in range(int(rng.integers(1, 9))):
            now += 1
            if stack and rng.random() < 0.5:
                function, number = stack.pop()
                ends[number] = now
                batch.append((END, 0, function, now))
            else:
                stack.append((int(rng.integers(0, 3)), wanted))
                starts[wanted] = now
                wanted += 1
                batch.append((BEGIN, 0, stack[-1][0], now))
        growing.add(events(batch))
    (thread,) = [t for t in growing.calls_of_threads() if t.kept]
    assert len(thread.segments) > 8
    assert thread.kept == thread.begun == growing.calls == wanted
    calls, _ = growing.window(-1)
    assert {
        i: (s, e) for i, (s, e) in enumerate(zip(calls.start.tolist(), calls.end.tolist(), strict=True))
    } == {i: (start, ends.get(i, now)) for i, start in starts.items()}


@given(ROWS, st.integers(1, 7), st.integers(20, 40), st.integers(-5, 45))
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_forgotten_is_the_oldest_that_ended(small_segments, rows, pieces, most, since) -> None:
    growing, whole = grown(most_calls=most), grown()
    for part in np.array_split(np.arange(len(rows)), pieces):
        if len(part):
            for into in (growing, whole):
                into.add(events([rows[i] for i in part]))
            # What is open stays, and of each thread the segment that grows.
            assert growing.calls <= max(most, sum(t.last.count for t in growing.calls_of_threads()))
    assert growing.calls + growing.forgotten == whole.calls
    for low in (-(2**60), since):
        kept, all_calls = growing.window(low)[0], whole.window(low)[0]
        columns = ("thread", "function", "start", "end")
        here, there = (
            [tuple(int(getattr(c, name)[i]) for name in columns) for i in range(len(c))]
            for c in (kept, all_calls)
        )
        rest = iter(there)
        assert all(call in rest for call in here)
        # What is open stays, and so do the calls that are around what stays.
        assert sum(call[3] >= growing.now for call in here) == sum(call[3] >= growing.now for call in there)


@given(ROWS, st.lists(st.integers(-3, 45), min_size=1, max_size=9))
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_call_around_a_moment(small_segments, rows, moments) -> None:
    growing, plain = grown(), Plain()
    for row in rows:
        plain.add(*row)
    for row in rows:
        growing.add(events([row]))
    for thread, calls in enumerate(growing.calls_of_threads()):
        found = calls.around(np.array(moments)).tolist()
        for moment, function in zip(moments, found, strict=True):
            over = [c for c in plain.calls[thread] if c[2] <= moment and (c[3] is None or c[3] >= moment)]
            assert function == (over[-1][0] if over else -1)


MEMORY = st.lists(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 5), st.integers(1, 9)),
        min_size=1, max_size=12,
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@given(MEMORY, st.lists(st.integers(-1, 42), min_size=1, max_size=4), st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_blocks_that_live_at_the_windows_begin_are_in_it(batches, moments, restart) -> None:
    """Against a dict; the moments go on and back, as pictures ask for them."""
    growing = grown()
    plain: list[tuple[int, int, int, int, int]] = []
    session = 0
    for number, rows in enumerate(batches):
        if number == restart:
            growing.begin(Welcome("another", "p", 2, 1000))
            session = 1
        kind, time, address, size = (np.array(column) for column in zip(*rows, strict=True))
        growing.add(batch("memory", {
            "kind": kind.astype(np.uint8), "thread": np.zeros(len(rows), np.uint32), "time": time,
            "address": address.astype(np.uint64), "size": size, "stack": np.full(len(rows), -1, np.int32),
        }))  # fmt: skip
        plain += [(session, *row) for row in rows]
    for low in moments:
        wanted: dict[tuple[int, int], tuple[int, int, int]] = {}
        later = []
        for run, kind, time, address, size in plain:
            if time >= low:
                later.append((kind, time, address, size))
            elif kind == 0:
                wanted[run, address] = (time, address, size)
            elif kind == 1:
                wanted.pop((run, address), None)
        trace = growing.trace(since=low)
        memory, trace_time = trace.memory, trace.memory.time + trace.origin_ns
        found = list(zip(memory.kind.tolist(), trace_time.tolist(), memory.address.tolist(),
                         memory.size.tolist(), strict=True))  # fmt: skip
        assert sorted(found) == sorted([*((0, *block) for block in wanted.values()), *later])


def test_blocks_are_looked_at_once_as_the_window_goes_on(monkeypatch) -> None:
    from tracevis3d.live.living_blocks import Living

    growing, taken = grown(), []
    real = Living.take
    monkeypatch.setattr(Living, "take", lambda self, rows: (taken.append(sum(len(r["time"]) for r in rows)),
                                                            real(self, rows)))  # fmt: skip
    for i in range(40):
        growing.add(batch("memory", {
            "kind": np.array([0, 0, 1], np.uint8), "thread": np.zeros(3, np.uint32),
            "time": 10 * i + np.arange(3), "address": np.array([2 * i, 2 * i + 1, 2 * i], np.uint64),
            "size": np.full(3, 64), "stack": np.full(3, -1, np.int32),
        }))  # fmt: skip
    for low in range(0, 400, 50):
        assert len(growing.trace(since=low).memory) == (low + 9) // 10 + 3 * (40 - (low + 9) // 10)
    assert sum(taken) == 3 * 35


def test_waits_and_transfers_are_the_calls_that_begin_with_them() -> None:
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(Names("functions", 0, ("work", "Lock.acquire", "read")))
    growing.name(Names("threads", 0, ((1, 7, "a"), (1, 8, "b"))))
    growing.name(Names("operations", 0, ("Lock.acquire", "read", "Lock.release")))
    growing.name(Names("objects", 0, ("lock",)))
    growing.add(events([
        # Of thread 1: a call that begins together with the wait, one before it that waited as well.
        (BEGIN, 1, 0, 5), (BEGIN, 1, 1, 6), (END, 1, 1, 8), (BEGIN, 1, 0, 20), (BEGIN, 1, 1, 20),
        (END, 1, 1, 30), (END, 1, 0, 40), (BEGIN, 0, 0, 1), (BEGIN, 0, 2, 20), (END, 0, 2, 25),
        (BEGIN, 0, 1, 50),
    ]))  # fmt: skip
    growing.add(batch("sync", {
        "kind": np.array([0, 2, 1, 0], np.uint8), "thread": np.array([1, 0, 1, 1], np.uint32),
        "operation": np.array([0, 1, 2, 0], np.uint32), "object": np.zeros(4, np.int32),
        "start": np.array([20, 20, 35, 6]), "end": np.array([30, 25, 35, 8]),
    }))  # fmt: skip
    growing.add(batch("waiting", {
        "thread": np.array([0], np.uint32), "operation": np.zeros(1, np.uint32),
        "object": np.zeros(1, np.int32), "start": np.array([50]), "holder": np.array([1], np.int32),
        "until": np.array([90]),
    }))  # fmt: skip
    trace = growing.trace()
    sync, calls = trace.sync, trace.calls

    def told(i: int) -> tuple[str, str, int]:
        tid, start = str(trace.threads.tid[sync.thread[i]]), int(sync.start[i] + trace.origin_ns)
        return tid, sync.names[sync.name[i]], start

    of = {told(i): int(sync.call[i]) for i in range(len(sync))}
    assert of["8", "Lock.release", 35] == -1
    for (tid, name, start), call in of.items():
        if call >= 0:
            assert trace.functions.name[calls.function[call]] == name
            assert int(calls.start[call] + trace.origin_ns) == start
            assert str(trace.threads.tid[calls.thread[call]]) == tid
    assert sum(call >= 0 for call in of.values()) == 4
    (lasting,) = np.flatnonzero(sync.contended == 2)
    assert (int(sync.end[lasting]), int(sync.holder[lasting])) == (90 - trace.origin_ns, 1)
    assert calls.end[sync.call[lasting]] == sync.end[lasting]


def test_it_begins_with_what_comes_first_as_the_trace_does() -> None:
    """A program that waited for a viewer began long after its feed: alarms are told on the file's clock."""
    growing = grown()
    assert growing.begins is None
    growing.add(events([(BEGIN, 0, 0, 5000), (END, 0, 0, 9000)]))
    growing.add(events([(BEGIN, 1, 1, 4000), (END, 1, 1, 9500)]))
    assert growing.begins == growing.trace().origin_ns == 4000


def test_what_has_not_ended_while_the_program_goes_on_is_no_finding():
    """A lock that is held now, and a wait that lasts, may end as long as the program goes on."""
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    for kind, names in (
        ("functions", ("run",)),
        ("threads", ((1, 1, "holder"), (1, 2, "waiter"))),
        ("objects", ("Lock-1", "Event-1")),
        ("operations", ("Lock.acquire", "Lock.release", "Event.wait")),
    ):
        growing.name(Names(kind, 0, names))
    growing.add(Batch("calls", 0, 0, 0, {
        "kind": np.zeros(2, np.uint8), "thread": np.arange(2, dtype=np.uint32),
        "function": np.zeros(2, np.uint32), "time": np.zeros(2, np.int64),
    }))  # fmt: skip
    rows = [(0, 0, 0, 10, 10), (1, 1, 0, 20, 20), (0, 0, 0, 500, 500)]
    kind, operation, thing, start, end = (np.array(column) for column in zip(*rows, strict=True))
    growing.add(Batch("sync", 0, 0, 0, {
        "kind": kind.astype(np.uint8), "thread": np.zeros(3, np.uint32),
        "operation": operation.astype(np.uint32), "object": thing.astype(np.int32),
        "start": start, "end": end,
    }))  # fmt: skip
    growing.add(Batch("waiting", 0, 0, 0, {
        "thread": np.array([1], np.uint32), "operation": np.array([2], np.uint32),
        "object": np.array([1], np.int32), "start": np.array([100]), "holder": np.array([-1], np.int32),
        "until": np.array([1000]),
    }))  # fmt: skip
    lasting = {"held to the end", "never released"}
    now = growing.trace()
    assert runs_on(now)
    assert not lasting & {finding.kind for finding in findings(find_waits(now))}
    growing.is_over = True
    then = growing.trace()
    assert not runs_on(then)
    assert lasting <= {finding.kind for finding in findings(find_waits(then))}
