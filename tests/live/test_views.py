"""What live views show, against what a plain look at the same calls says; nothing here needs Blender."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.drawing.stream import LENGTH, Bars
from tracevis3d.errors import UsageError
from tracevis3d.kernels.layout.pick_bars import pick_bar
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.protocol import BEGIN, END, Batch, Names, Welcome
from tracevis3d.live.stream.alarms import Alarm
from tracevis3d.live.stream.calls import CallStream
from tracevis3d.live.stream.kinds import Kinds
from tracevis3d.live.stream.pages import MOST_PAGES, PAGE, Ring
from tracevis3d.scene.live.bar_mesh import TRIANGLES, color_corners, pick, shaded
from tracevis3d.views.registry import live_form, live_forms


def started(functions: int = 8, threads: int = 2) -> GrowingTrace:
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(
        Names("functions", 0, tuple(f"m{i % 3}.f{i} (/a/m{i % 3}.py:{i})" for i in range(functions)))
    )
    growing.name(Names("threads", 0, tuple((1, i, f"t{i}") for i in range(threads))))
    return growing


def calls(events: list[tuple[int, int, int, int]]) -> Batch:
    kind, thread, function, time = (np.array(c) for c in zip(*events, strict=True))
    columns = {"kind": kind.astype(np.uint8), "thread": thread.astype(np.uint32),
               "function": function.astype(np.uint32), "time": time.astype(np.int64)}  # fmt: skip
    return Batch("calls", 0, 0, 0, columns)


@st.composite
def walks(draw) -> list[tuple[int, int, int, int]]:
    """Begins and ends of one thread; some calls stay open."""
    events, stack, now = [], [], 0
    for _ in range(draw(st.integers(1, 80))):
        now += draw(st.integers(0, 30))
        if stack and draw(st.booleans()):
            events.append((END, 0, stack.pop(), now))
        else:
            stack.append(draw(st.integers(0, 7)))
            events.append((BEGIN, 0, stack[-1], now))
    return events


def ended(events) -> list[tuple[int, int, int]]:
    """Start, end and level of the calls that have ended."""
    stack, found = [], []
    for kind, _, _, when in events:
        if kind == BEGIN:
            stack.append(when)
        else:
            found.append((stack.pop(), when, len(stack)))
    return found


@given(walks(), st.lists(st.integers(1, 20), max_size=8), st.integers(1, 40))
@settings(deadline=None, max_examples=150)
def test_each_call_flows_once_however_it_comes(events, cuts, cell) -> None:
    growing = started()
    flow = CallStream(growing, lambda name: 0, 128)
    rows, at = [], 0
    for size in (*cuts, len(events)):
        part = events[at : at + size]
        at += size
        if not part:
            continue
        growing.add(calls(part))
        flow.learn()
        came = flow.advance(0, cell, 0)
        rows += zip(came.time.tolist(), came.level.tolist(), came.count.tolist(), strict=True)
    going = flow.open(0, growing.now)
    open_calls = int(np.count_nonzero(going.count == 0))
    rows += [(t, lv, c) for t, lv, c in zip(going.time.tolist(), going.level.tolist(), going.count.tolist(),
                                            strict=True) if c]  # fmt: skip
    whole = [(s, e, lv) for s, e, lv in ended(events) if e - s >= cell]
    assert sorted((s, e, lv) for (s, e), lv, count in rows if not count) == sorted(whole)
    assert sum(count or 1 for _, _, count in rows) == len(ended(events))
    assert open_calls == len(events) - 2 * len(ended(events))
    # A row of several covers the calls that it stands for, and lies at their level.
    for s, e, level in ended(events):
        if e - s < cell:
            assert any(a <= s and e <= b and lv == level for (a, b), lv, count in rows if count)


def test_forgetting_leaves_the_flow_as_it_is() -> None:
    growing = started()
    growing.most_calls = 60
    flow = CallStream(growing, lambda name: 0, 128)
    growing.add(calls([(BEGIN, 0, 0, 0), (BEGIN, 0, 1, 1)]))
    seen = 0
    for i in range(200):
        growing.add(calls([(BEGIN, 0, 2, 10 * i + 2), (END, 0, 2, 10 * i + 9)]))
        seen += len(flow.advance(0, 1, 0))
    growing.add(calls([(END, 0, 1, 5000)]))
    last = flow.advance(0, 1, 0)
    assert growing.forgotten > 0
    assert seen == 200
    assert last.time.tolist() == [[1, 5000]]
    assert len(flow.open(0, 6000)) == 1


class _Plain:
    """A flow whose rows a test decides."""

    along = "x"

    def __init__(self, window_ns: int) -> None:
        self.window_ns, self.relaid, self.recolored, self.coarse = window_ns, False, True, 1
        self.renewed = False
        self.coming = Bars.empty()

    def advance(self) -> Bars:
        coming, self.coming = self.coming, Bars.empty()
        return coming

    def ongoing(self, now: int) -> Bars:
        return Bars.empty()

    def lay_out(self) -> None:
        pass

    def sections(self, given: Bars) -> np.ndarray:
        out = np.zeros((len(given), 2, 4, 2), np.float32)
        out[..., 0] = given.key[:, None, None]
        out[..., 2:, 1] = 1.0
        return out

    def palette(self) -> np.ndarray:
        return np.ones((1, 4), np.float32)


def test_the_ring_holds_the_window_and_no_more() -> None:
    flow = _Plain(1000)
    ring = Ring(flow)
    for tick in range(400):
        now = 25 * (tick + 1)
        n = 40
        start = now - 25 + np.sort(np.random.default_rng(tick).integers(0, 24, n))
        flow.coming = Bars(np.stack([start, start + 1], axis=1), np.arange(n, dtype=np.int32),
                           np.zeros((n, 3), np.float32), np.zeros((n, 2), np.int32))  # fmt: skip
        ring.advance(now)
    assert ring.overrun == 0
    assert len(ring.pages) <= 4
    shown = sum(page.count for page in ring.pages)
    assert 1600 <= shown <= 1600 + 40 * 8
    for page in ring.pages:
        corner = page.corner[: page.count]
        # Where a corner is when its page has moved to where it belongs now.
        along = corner[..., 0] + (page.origin - now) * LENGTH / 1000
        drawn = corner[:, 4, 0] > corner[:, 0, 0]
        assert along[drawn].max() <= 1e-3
        assert along[drawn].min() >= -LENGTH - 8 * 25 * LENGTH / 1000
        assert not page.corner[page.count :].any()


def test_a_ring_that_is_full_gets_coarser() -> None:
    flow = _Plain(10**9)
    ring = Ring(flow)
    n = PAGE * 8
    for tick in range(MOST_PAGES // 8 + 2):
        time = np.full((n, 2), tick, np.int64)
        time[:, 1] += 1
        flow.coming = Bars(
            time, np.zeros(n, np.int32), np.zeros((n, 3), np.float32), np.zeros((n, 2), np.int32)
        )
        ring.advance(tick + 1)
    assert len(ring.pages) == MOST_PAGES
    assert ring.overrun == 2 * n
    assert flow.coarse > 1


def test_colours_stay_with_who_has_them() -> None:
    kinds = Kinds()
    first = [kinds.number(f"m{i}") for i in range(12)]
    kinds.weigh(np.array(first), np.arange(12, 0, -1, dtype=float))
    assert kinds.settle()
    before = kinds.colored
    assert len(before) == 10
    # A little more than the least is not enough to take a colour away.
    kinds.weigh(np.array(first), np.where(np.arange(12) == 11, 4.0, 3.0))
    kinds.settle()
    assert kinds.colored == before
    kinds.weigh(np.array([first[11]]), np.array([500.0]))
    assert kinds.settle()
    assert "m11" in kinds.colored


@pytest.mark.parametrize("view", live_forms())
def test_every_view_flows_calls_waits_and_memory(view) -> None:
    growing = started(functions=40, threads=3)
    growing.name(Names("objects", 0, ("lock",)))
    growing.name(Names("operations", 0, ("Lock.acquire",)))
    flow = live_form(view).make(growing, 1_000_000)
    ring = Ring(flow)
    rng = np.random.default_rng(5)
    for tick in range(60):
        begin = 20_000 * tick
        for thread in range(3):
            which = rng.integers(0, 40, 4).tolist()
            events = [(BEGIN, thread, w, begin + 100 * i) for i, w in enumerate(which)]
            events += [(END, thread, w, begin + 15_000 + 100 * i) for i, w in enumerate(reversed(which))]
            growing.add(calls(events))
        growing.add(Batch("sync", 0, 0, 0, {
            "kind": np.array([1, 0, 2], np.uint8), "thread": np.array([0, 1, 2], np.uint32),
            "operation": np.zeros(3, np.uint32), "object": np.zeros(3, np.int32),
            "start": np.array([begin + 9000, begin + 1000, begin + 3000]),
            "end": np.array([begin + 9000, begin + 9500, begin + 8000]),
        }))  # fmt: skip
        growing.add(Batch("memory", 0, 0, 0, {
            "kind": np.array([0, 0, 1], np.uint8), "thread": np.zeros(3, np.uint32),
            "time": begin + np.array([1, 2, 9000]),
            "address": np.array([100_000 * tick, 2**40 + 4096 * tick, 2**40 + 4096 * tick], np.uint64),
            "size": np.array([70_000, 300, 0]), "stack": np.full(3, -1, np.int32),
        }))  # fmt: skip
        ring.advance(growing.now)
        if tick % 20 == 10:
            ring.settle()
    assert ring.bars > 20
    for page in (*ring.pages, ring.open):
        assert np.isfinite(page.corner).all()
        color = np.full((page.room, 8, 4), np.nan, np.float32)
        color_corners(page.bars, shaded(ring.palette), color)
        assert np.isfinite(color).all()
    (low, high), (bottom, top) = flow.extent()
    corner = np.concatenate([page.corner[: page.count].reshape(-1, 3) for page in ring.pages if page.count])
    corner = corner[(corner != 0).any(axis=1)]
    assert low - 0.7 <= corner[:, 1].min() and corner[:, 1].max() <= high + 0.7  # noqa: PT018
    assert bottom - 0.1 <= corner[:, 2].min() and corner[:, 2].max() <= top + 0.7  # noqa: PT018
    assert all(flow.labels(growing.now).texts())
    assert flow.legend().entries
    # A click on an entry shows bars in its own colour, and in others that it stands for.
    assert all(
        entry.selector.has_color(np.array([entry.color])) or not entry.color
        for entry in flow.legend().entries
    )
    assert flow.facts() is not None
    if view == "threads":
        # What ended each wait is linked to it.
        assert any((page.bars.key[: page.count] >= 1 << 20).any() for page in ring.pages)


@pytest.mark.parametrize("view", ["icicle", "threads"])
def test_threads_that_are_over_give_their_lanes_to_others(view) -> None:
    growing = started(threads=200)
    flow = live_form(view).make(growing, 1000)
    ring = Ring(flow)
    # A thread for each request, as web servers have it, beside one that stays.
    growing.add(calls([(BEGIN, 0, 0, 0)]))
    for request in range(1, 200):
        at = 100 * request
        growing.add(calls([(BEGIN, request, 1, at), (END, request, 1, at + 80)]))
        ring.advance(growing.now)
        ring.settle()
    names = set(flow.labels(growing.now).texts())
    assert {"t0", "t199"} <= names
    assert "t50" not in names
    assert "not shown" not in flow.facts()


def test_there_is_no_such_view() -> None:
    with pytest.raises(UsageError, match="no live view: choose one of icicle"):
        live_form("cone").make(started(), 1)


def plain_pick(corner, count, ray):
    """The nearest bar whose faces the ray meets, by solving for each triangle."""
    best, found = np.inf, -1
    for i in range(count):
        for triangle in TRIANGLES:
            a, b, c = corner[i, triangle].astype(float)
            matrix = np.stack([a - b, a - c, ray[3:6]], axis=1)
            if abs(np.linalg.det(matrix)) < 1e-12:
                continue
            s, t, away = np.linalg.solve(matrix, a - ray[:3])
            if s >= -1e-9 and t >= -1e-9 and s + t <= 1 + 1e-9 and ray[6] <= away < best:
                best, found = away, i
    return found, best


@given(st.integers(0, 10_000), st.integers(1, 12))
@settings(deadline=None, max_examples=80)
def test_a_ray_meets_the_nearest_bar(seed, count) -> None:
    rng = np.random.default_rng(seed)
    corner = np.zeros((14, 8, 3), np.float32)
    low = rng.uniform(-3, 3, (count, 3))
    size = rng.uniform(0.1, 1.5, (count, 2, 3))
    for end in (0, 1):
        for c, (y, z) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
            corner[:count, 4 * end + c, 0] = low[:, 0] + end * size[:, 0, 0]
            corner[:count, 4 * end + c, 1] = low[:, 1] + y * size[:, end, 1]
            corner[:count, 4 * end + c, 2] = low[:, 2] + z * size[:, end, 2]
    toward = rng.normal(size=3)
    ray = np.array([*rng.uniform(-6, 6, 3), *(toward / np.linalg.norm(toward)), 0.0])
    if rng.random() < 0.8:
        ray[3:6] = low[0] + 0.5 * size[0, 0] - ray[:3]
        ray[3:6] /= np.linalg.norm(ray[3:6])
    best = np.array([np.inf])
    found = pick_bar(corner, count, TRIANGLES, ray, best)
    want, away = plain_pick(corner, count, ray)
    assert np.isclose(best[0], away, atol=1e-4) or (np.isinf(best[0]) and np.isinf(away))
    assert found == want or np.isclose(best[0], away, atol=1e-4)


@pytest.mark.parametrize("view", live_forms())
def test_what_is_pointed_at_says_what_it_is_also_when_pages_are_written_anew(view) -> None:
    growing = started(functions=40, threads=3)
    growing.name(Names("objects", 0, ("lock",)))
    growing.name(Names("operations", 0, ("Lock.acquire",)))
    flow = live_form(view).make(growing, 400_000)
    ring = Ring(flow)
    titles, seen = set(), 0
    for tick in range(80):
        begin = 20_000 * tick
        for thread in range(3):
            events = [(BEGIN, thread, (tick + i) % 40, begin + 100 * i) for i in range(3)]
            events += [(END, thread, (tick + i) % 40, begin + 15_000 + 100 * (3 - i)) for i in (2, 1, 0)]
            growing.add(calls(events))
        # A call that goes on.
        growing.add(calls([(BEGIN, 0, 39, begin + 19_000)] if tick == 0 else [(BEGIN, 0, 7, begin + 19_100),
                                                                              (END, 0, 7,
                                                                              begin + 19_200)]))  # fmt: skip
        growing.add(Batch("sync", 0, 0, 0, {
            "kind": np.array([1, 0, 2], np.uint8), "thread": np.array([0, 1, 2], np.uint32),
            "operation": np.zeros(3, np.uint32), "object": np.zeros(3, np.int32),
            "start": np.array([begin + 9000, begin + 1000, begin + 3000]),
            "end": np.array([begin + 9000, begin + 9500, begin + 8000]),
        }))  # fmt: skip
        growing.add(Batch("memory", 0, 0, 0, {
            "kind": np.array([0], np.uint8), "thread": np.zeros(1, np.uint32), "time": np.array([begin + 1]),
            "address": np.array([100_000 * (tick + 1)], np.uint64), "size": np.array([70_000]),
            "stack": np.full(1, -1, np.int32),
        }))  # fmt: skip
        now = growing.now
        ring.advance(now)
        if tick % 10 == 9:
            ring.settle()
        if tick < 40 or tick % 5:
            continue
        for page in (*ring.pages, ring.open):
            scale = LENGTH / flow.window_ns
            for i in range(0, page.count, 5):
                corner = page.corner[i].astype(float)
                if not corner.any() or np.ptp(corner, axis=0).min() < 1e-5:
                    continue
                middle = corner.mean(axis=0)
                middle[0] += (page.origin - now) * scale
                ray = np.array([*(middle - [0, 0, 50]), 0.0, 0.0, 1.0, 0.0])
                met = pick(ring, ray, now)
                assert met is not None
                row = met[0].bars[met[1] : met[1] + 1]
                at = now + round(middle[0] / scale)
                # It is one that is there at that moment.
                assert row.time[0, 0] - flow.cell_ns <= at <= row.time[0, 1] + 2 * flow.cell_ns
                said = flow.describe(row, at, now)
                seen += 1
                titles.add(said.title)
                assert said.title
                assert all(label and text for label, text in said.rows)
    assert seen > 20
    wanted = {
        "icicle": {"f39", "f7"}, "threads": {"Wait", "Input or output"}, "memory": {"Block of 68.4 KiB"},
        "interactions": {"m0 calls m1"},
    }[view]  # fmt: skip
    assert any(w in title for w in wanted for title in titles), titles


def test_threads_with_an_alarm_say_so_at_their_row() -> None:
    growing = started(threads=3)
    flow = live_form("threads").make(growing, 1000)
    for thread in range(3):
        growing.add(calls([(BEGIN, thread, 0, 10)]))
    Ring(flow).advance(growing.now)
    assert set(flow.labels(growing.now).texts()) == {"t0", "t1", "t2"}
    flow.alarms = (
        Alarm("deadlock", "lock", "t0 waits for t2", (0, 2)),
        Alarm("convoy", "x", "a queue", (2,)),
    )
    assert set(flow.labels(growing.now).texts()) == {"t0: deadlock", "t1", "t2: deadlock"}


def test_a_wait_that_has_not_ended_is_drawn_as_one() -> None:
    growing = started(threads=2)
    growing.name(Names("objects", 0, ("lock",)))
    growing.name(Names("operations", 0, ("Lock.acquire",)))
    flow = live_form("threads").make(growing, 1000)
    growing.add(calls([(BEGIN, 0, 0, 10), (BEGIN, 1, 0, 10)]))
    Ring(flow).advance(growing.now)
    growing.add(Batch("waiting", 0, 0, 0, {
        "thread": np.array([1], np.uint32), "operation": np.zeros(1, np.uint32),
        "object": np.zeros(1, np.int32), "start": np.array([200]), "holder": np.array([0], np.int32),
        "until": np.array([700]),
    }))  # fmt: skip
    going = flow.ongoing(growing.now)
    (waits,) = (going[i : i + 1] for i in range(len(going)) if going.time[i, 0] == 200)
    said = flow.describe(waits, 700, 700)
    assert (waits.time.tolist(), said.title, said.where) == ([[200, 700]], "Wait", "Lock.acquire")
    assert ("object", "lock") in said.rows
    assert ("so far", "500 ns") in said.rows
    # Its row ends it.
    growing.add(Batch("sync", 0, 0, 0, {
        "kind": np.zeros(1, np.uint8), "thread": np.array([1], np.uint32),
        "operation": np.zeros(1, np.uint32), "object": np.zeros(1, np.int32), "start": np.array([200]),
        "end": np.array([800]),
    }))  # fmt: skip
    assert 200 not in flow.ongoing(growing.now).time[:, 0]


def waiting_rows(rows) -> Batch:
    """Return ended waits: thread, number of the operation, start, end."""
    thread, operation, start, end = (np.array(column) for column in zip(*rows, strict=True))
    return Batch("sync", 0, 0, 0, {
        "kind": np.zeros(len(rows), np.uint8), "thread": thread.astype(np.uint32),
        "operation": operation.astype(np.uint32), "object": np.zeros(len(rows), np.int32),
        "start": start, "end": end,
    })  # fmt: skip


def test_contention_other_waits_and_sleep_are_distinguished() -> None:
    growing = started(threads=3)
    growing.name(Names("functions", 8, ("time.sleep",)))
    growing.name(Names("objects", 0, ("it",)))
    growing.name(Names("operations", 0, ("Lock.acquire", "Queue.get")))
    flow = live_form("threads").make(growing, 1000)
    growing.add(calls([(BEGIN, thread, 0, 10) for thread in range(3)]))
    ring = Ring(flow)
    ring.advance(growing.now)
    growing.add(calls([(BEGIN, 0, 8, 100), (END, 0, 8, 300)]))
    growing.add(waiting_rows([(1, 0, 100, 400), (2, 1, 100, 350)]))
    made = flow.advance()
    entries = {entry.text: entry.selector for entry in flow.legend().entries}
    found = {
        text: {int(made.key[i]) for i in range(len(made)) if selector.has_color(made.color[i, :1]).all()}
        for text, selector in entries.items()
    }
    assert found["waits for what another may hold"] == {1}
    assert found["other waits, or sleep"] == {0, 2}
    # Contention has a colour of its own, which nothing else has.
    palette = flow.palette()
    colors = {text: tuple(palette[selector.colors[0][0]]) for text, selector in entries.items()}
    assert list(colors.values()).count(colors["waits for what another may hold"]) == 1
    asleep = next(made[i : i + 1] for i in range(len(made)) if made.key[i] == 0 and made.time[i, 0] == 100)
    assert flow.describe(asleep, 400, 400).title == "sleep"


def test_the_longest_wait_is_that_of_any_thread_also_if_it_has_not_ended() -> None:
    growing = started(threads=30)
    growing.name(Names("functions", 8, ("time.sleep",)))
    growing.name(Names("operations", 0, ("Lock.acquire", "Queue.get")))
    growing.name(Names("objects", 0, ("lock",)))
    flow = live_form("threads").make(growing, 1_000_000)
    assert flow.facts() == "0 waits"
    growing.add(calls([(BEGIN, thread, 0, 10_000) for thread in range(30)]))
    ring = Ring(flow)
    ring.advance(growing.now)
    growing.add(waiting_rows([(2, 0, 100_000, 300_000), (29, 0, 100_000, 400_000), (2, 0, 400_000, 450_000)]))
    ring.advance(growing.now)
    # Who waits for work is not held up by anybody, nor is who gets it at once.
    growing.add(waiting_rows([(3, 1, 100_000, 480_000), *[(4, 0, 480_000, 484_999)] * 100]))
    ring.advance(growing.now)
    assert (
        flow.facts()
        == "104 waits, the longest of t29: 300 µs for what others may hold; 6 more threads not shown"
    )
    # A short call that has ended, deeper than the sleep, does not run any more.
    growing.add(
        calls([(BEGIN, 1, 1, 490_000), (BEGIN, 1, 2, 491_000), (END, 1, 2, 492_000), (END, 1, 1, 493_000)])
    )
    growing.add(calls([(BEGIN, 1, 8, 500_000)]))
    growing.add(Batch("waiting", 0, 0, 0, {
        "thread": np.array([2], np.uint32), "operation": np.zeros(1, np.uint32),
        "object": np.zeros(1, np.int32), "start": np.array([500_000]), "holder": np.array([0], np.int32),
        "until": np.array([700_000]),
    }))  # fmt: skip
    ring.advance(growing.now)
    flow.ongoing(growing.now)
    words = "105 waits, the longest of t2: 450 µs for what others may hold", "now 1 held up, 1 asleep"
    assert flow.facts() == "; ".join([*words, "6 more threads not shown"])
