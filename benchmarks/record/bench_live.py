"""The live feed: from a publisher in another process to calls and to the scene, and what a tick costs.

Times of ticks are processor time, which other programs on the machine do not add to.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.protocol import Batch, Names, Welcome, decode, encode
from tracevis3d.live.publisher import Publisher
from tracevis3d.live.subscriber import Subscriber

#: Publishes argv[2] million events in batches of argv[3], argv[4] a second (0: as fast as it goes).
_PROGRAM = """
import sys, time
import numpy as np
from benchmarks.record.bench_live import program
from tracevis3d.live.publisher import Publisher
million, size, rate = float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
publisher = Publisher(sys.argv[1], patient=rate == 0)
print(publisher.endpoint, flush=True)
for i in range(64):
    publisher.number("functions", f"function {i}")
publisher.number("threads", (1, 1, "main"))
publisher.wait_for_viewer(20)
rows = program(size)
begun = time.monotonic()
n = int(million * 1e6) // size
for i in range(n):
    rows["time"] = rows["time"] + 10 * size
    while not publisher.put("calls", **rows) and rate == 0:
        time.sleep(0.001)
    if rate:
        time.sleep(max(0.0, begun + (i + 1) * size / rate - time.monotonic()))
publisher.close(30)
"""
#: The bare wire: the same bytes through a PUSH socket.
_WIRE = """
import sys, zmq
context = zmq.Context()
from benchmarks.record.bench_live import program
from tracevis3d.live.protocol import Batch, encode
socket = context.socket(zmq.PUSH)
socket.setsockopt(zmq.LINGER, 30000)
print(f"tcp://127.0.0.1:{socket.bind_to_random_port('tcp://127.0.0.1')}", flush=True)
frames = encode(Batch("calls", 0, 0, 0, program(int(sys.argv[3]))))
for _ in range(int(float(sys.argv[2]) * 1e6) // int(sys.argv[3])):
    socket.send_multipart(frames, copy=False)
socket.close()
context.term()
"""


def program(n: int) -> dict[str, Any]:
    """Return ``n`` events of a thread that calls up to eight deep."""
    depth = np.abs((np.arange(n) % 16) - 8)
    kind = np.where(np.arange(n) % 16 < 8, 1, 0).astype(np.uint8)
    kind = np.roll(kind, 8)
    function = np.where(kind == 0, np.arange(n) % 16, 15 - np.arange(n) % 16).astype(np.uint32)
    assert depth.max() <= 8
    return {
        "kind": kind, "thread": np.zeros(n, np.uint32), "function": function, "time": 10 * np.arange(n),
    }  # fmt: skip


def rows() -> list[dict[str, Any]]:
    """Measure; rates in million events a second, the others in milliseconds."""
    result = []
    with Publisher("tcp://127.0.0.1:*") as publisher, Subscriber(publisher.endpoint):
        pass  # import and compile
    _tree(100_000)
    for size in (10_000, 100_000):
        wire = _wire(40, size)
        taken, lost, _, _ = _feed(40, size, 0)
        name = f"publisher to calls, batches of {size:,}" + (f", {lost:,} rows lost" if lost else "")
        result.append(_row(name, taken, wire, "bare PUSH/PULL", "Mev/s", True))
    result.append(
        _row("decode and grow, no wire", _tree(20_000_000), _plain(1_000_000), "Python stack", "Mev/s", True)
    )
    result.append(
        _row("400,000 ends without begins", *_unmatched(400_000), "Python stack and counts", "ms", False)
    )
    _, lost, tick, latency = _feed(6, 1_000, 1e6, ticking=True)
    result.append(
        _row("longest usual tick (99 %) at 1 million events a second", tick, 8.0, "the goal", "ms", False)
    )
    result.append(
        _row("usual latency to the calls (50 %)", latency, 1000 / 30, "a frame at 30 a second", "ms", False)
    )
    assert lost < 60_000, f"{lost:,} of 6 million rows were lost at 1 million a second"
    result.append(_overload())
    return result + _scene()


def _overload() -> dict[str, Any]:
    """Publish faster than a viewer takes it: losses are reported, and the publisher is not held up."""
    with Publisher("tcp://127.0.0.1:*") as publisher, Subscriber(publisher.endpoint) as subscriber:
        while not publisher.viewers:
            subscriber.drain(0.01)
        rows = program(10_000)
        longest, put = 0.0, 0
        begun = time.monotonic()
        while time.monotonic() - begun < 2.0:
            started = time.perf_counter()
            publisher.put("calls", **rows)
            longest = max(longest, time.perf_counter() - started)
            put += 10_000
            if put % 200_000 == 0:
                subscriber.drain(0.002)
        while subscriber.rows + subscriber.lost < put and time.monotonic() - begun < 20:
            subscriber.drain(0.05, wait=0.05)
        told = subscriber.rows + subscriber.lost
        share = subscriber.lost / put
    name = f"overload, {100 * share:.0f} % lost: rows that came or were reported as lost"
    return _row(name, told / put, 1.0, "all", "share", True)


def _scene() -> list[dict[str, Any]]:
    """Measure ticks with the scene in Blender as a module; none where that is not installed."""
    try:
        import bpy
    except ImportError:
        return []
    result = []
    # Short calls by the million, and as many long ones as fill the window.
    for what, rate, window, threads in (
        ("1 million events a second", 1e6, 10.0, 1),
        ("100,000 bars in a window of 10 s", 21e3, 10.0, 16),
    ):
        for view in ("icicle", "threads", "interactions") if threads == 1 else ("icicle",):
            ticks, bars = _ticks(bpy, view, rate, window, threads)
            name = f"{view}, {what}: longest usual tick (99 %) to the scene, {bars:,} bars"
            result.append(_row(name, 1e3 * float(np.quantile(ticks, 0.99)), 8.0, "the goal", "ms", False))
            usual = 1e3 * float(np.median(ticks))
            result.append(_row(f"{view}, {what}: usual tick", usual, 1000 / 30, "30 a second", "ms", False))
    return result + _whole_way(bpy)


def _whole_way(bpy: Any) -> list[dict[str, Any]]:
    """Measure ticks from another process' publisher to the scene, and from an event to a pixel."""
    from tracevis3d.scene.live.live_view import LiveScene
    from tracevis3d.views.registry import live_form

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    made: list[LiveScene] = []
    latencies: list[float] = []

    def show(subscriber: Subscriber, clock: float) -> None:
        if not made:
            made.append(
                LiveScene(live_form("icicle").make(subscriber.trace, 10**10), scene, "stage", "benchmark")
            )
        made[0].tick(subscriber.clock(), clock)
        bpy.context.evaluated_depsgraph_get().update()
        latencies.append((time.time_ns() - subscriber.newest_since_1970()) / 1e6)

    _, lost, tick, _ = _feed(6, 1_000, 1e6, ticking=True, show=show)
    name = "whole way, 1 million events a second"
    result = [
        _row(f"{name}: longest usual tick (99 %), {lost:,} rows lost", tick, 8.0, "the goal", "ms", False),
        _row(f"{name}: usual latency from sending to the scene", float(np.median(latencies)), 1000 / 30,
             "a frame at 30 a second", "ms", False),
    ]  # fmt: skip
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = 960, 540
    now, alone, both = made[0].view.growing.now, [], []
    for turn in range(6):
        started = time.perf_counter()
        made[0].tick(now + turn * 10**7, 1e3 + turn / 30)
        ticked = time.perf_counter()
        bpy.ops.render.render()
        if turn:  # the first one compiles shaders
            both.append(1e3 * (time.perf_counter() - started))
            alone.append(1e3 * (time.perf_counter() - ticked))
    result.append(
        _row("from rows that are there to a rendered picture of 960 by 540, without a window",
             float(np.median(both)), float(np.median(alone)), "its rendering alone", "ms", False)
    )  # fmt: skip
    return result


def _ticks(bpy: Any, view: str, rate: float, window: float, threads: int) -> tuple[list[float], int]:
    """Return the processor time of the ticks of the last window, and how many bars were shown."""
    from tracevis3d.scene.live.live_view import LiveScene
    from tracevis3d.views.registry import live_form

    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(Names("functions", 0, tuple(f"m{i % 5}.f{i} (/a/m{i % 5}.py:{i})" for i in range(64))))
    growing.name(Names("threads", 0, tuple((1, t, f"thread {t}") for t in range(threads))))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    shown = LiveScene(
        live_form(view).make(growing, int(window * 1e9)), bpy.context.scene, "stage", "benchmark"
    )
    events = max(int(rate / 30 / threads) // 16 * 16, 16)
    given = program(events)
    step = int(1e9 / 30)
    given["time"] = (np.arange(events) * step // events).astype(np.int64)
    ticks = []
    for tick in range(int(36 * window)):
        frames = []
        for thread in range(threads):
            own = {**given, "thread": np.full(events, thread, np.uint32), "time": given["time"] + tick * step}
            frames.append(encode(Batch("calls", 0, 0, 0, own)))
        computed = time.process_time()
        for frame in frames:
            growing.add(decode(frame))  # type: ignore[arg-type]
        shown.tick((tick + 1) * step, tick / 30)
        bpy.context.evaluated_depsgraph_get().update()
        ticks.append(time.process_time() - computed)
    return ticks[int(6 * window) :], shown.ring.bars


def _feed(
    million: float,
    size: int,
    rate: float,
    ticking: bool = False,
    show: Callable[[Subscriber, float], None] | None = None,
) -> tuple[float, int, float, float]:
    words = [sys.executable, "-c", _PROGRAM, "tcp://127.0.0.1:*", str(million), str(size), str(rate)]
    silent = time.monotonic() + 120
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        endpoint = process.stdout.readline().strip()
        ticks, latencies, begun = [], [], 0.0
        with Subscriber(endpoint) as subscriber:
            while not subscriber.over and time.monotonic() < silent:
                started, computed = time.perf_counter(), time.process_time()
                subscriber.drain(0.005 if ticking else 0.01, wait=0.0 if ticking else 0.5)
                if subscriber.rows and not begun:
                    begun = started
                if begun and show is not None:
                    show(subscriber, started)
                if ticking:
                    if begun:
                        ticks.append(time.process_time() - computed)
                        latencies.append(subscriber.latency_ns / 1e6)
                    time.sleep(max(0.0, 1 / 30 - (time.perf_counter() - started)))
            spent = time.perf_counter() - begun
            lost = subscriber.lost
            received = subscriber.rows
        process.wait()
    # In the first second the scene is made and characters are drawn for the first time.
    ticks = ticks[30:] if show is not None else ticks
    tick = 1e3 * float(np.quantile(ticks, 0.99)) if ticks else 0.0
    return received / spent / 1e6, lost, tick, float(np.median(latencies)) if latencies else 0.0


def _wire(million: float, size: int) -> float:
    import zmq

    words = [sys.executable, "-c", _WIRE, "x", str(million), str(size)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        context = zmq.Context()
        socket = context.socket(zmq.PULL)
        socket.connect(process.stdout.readline().strip())
        batches = int(million * 1e6) // size
        socket.recv_multipart()
        started = time.perf_counter()
        for _ in range(batches - 1):
            socket.recv_multipart(copy=False)
        spent = time.perf_counter() - started
        socket.close()
        context.term()
        process.wait()
    return (batches - 1) * size / spent / 1e6


def _tree(n: int) -> float:
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(Names("functions", 0, tuple(f"f{i}" for i in range(64))))
    frames = encode(Batch("calls", 0, 0, 0, program(50_000)))
    started = time.perf_counter()
    for _ in range(n // 50_000):
        growing.add(decode(frames))  # type: ignore[arg-type]
    return n / (time.perf_counter() - started) / 1e6


def _plain(n: int) -> float:
    events = program(n)
    kinds, functions, times = (events[name].tolist() for name in ("kind", "function", "time"))
    started = time.perf_counter()
    stack: list[int] = []
    calls: list[list[int]] = []
    for kind, function, when in zip(kinds, functions, times, strict=True):
        if kind == 0:
            stack.append(len(calls))
            calls.append([function, len(stack), when, -1])
        elif stack:
            calls[stack.pop()][3] = when
    return n / (time.perf_counter() - started) / 1e6


def _unmatched(n: int) -> tuple[float, float]:
    """Return the milliseconds that ends without a begin take in a deep stack, ours and plain Python's."""
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    begins = {"kind": np.zeros(n, np.uint8), "thread": np.zeros(n, np.uint32),
              "function": np.zeros(n, np.uint32), "time": np.arange(n)}  # fmt: skip
    ends = {**begins, "kind": np.ones(n, np.uint8), "function": np.full(n, 1), "time": n + np.arange(n)}
    growing.add(Batch("calls", 0, 0, 0, begins))
    started = time.process_time()
    growing.add(Batch("calls", 1, 0, 0, ends))
    ours = time.process_time() - started
    assert growing.unmatched == n
    opened, kinds, functions = Counter({0: n}), ends["kind"].tolist(), ends["function"].tolist()
    unmatched = 0
    started = time.process_time()
    for kind, function in zip(kinds, functions, strict=True):
        if kind and not opened[function]:
            unmatched += 1
    plain = time.process_time() - started
    assert unmatched == n
    return 1000 * ours, 1000 * plain


def _row(name: str, ours: float, peer: float, peer_name: str, unit: str, more: bool) -> dict[str, Any]:
    return {
        "name": f"live feed, {name}",
        "ours": ours,
        "peer": peer,
        "peer_name": peer_name,
        "unit": unit,
        "ratio": ours / peer if more else peer / max(ours, 1e-9),
    }
