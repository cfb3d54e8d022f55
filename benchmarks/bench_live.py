"""The live feed: from a publisher in another process to calls, and what a tick costs."""

from __future__ import annotations

import subprocess
import sys
import time
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
from benchmarks.bench_live import program
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
from benchmarks.bench_live import program
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
        assert lost == 0
        result.append(
            _row(f"publisher to calls, batches of {size:,}", taken, wire, "bare PUSH/PULL", "Mev/s", True)
        )
    result.append(
        _row("decode and grow, no wire", _tree(20_000_000), _plain(1_000_000), "Python stack", "Mev/s", True)
    )
    _, lost, tick, latency = _feed(6, 1_000, 1e6, ticking=True)
    result.append(
        _row("longest usual tick (99 %) at 1 million events a second", tick, 8.0, "the goal", "ms", False)
    )
    result.append(
        _row("usual latency to the calls (50 %)", latency, 1000 / 30, "a frame at 30 a second", "ms", False)
    )
    assert lost == 0
    return result


def _feed(million: float, size: int, rate: float, ticking: bool = False) -> tuple[float, int, float, float]:
    words = [sys.executable, "-c", _PROGRAM, "tcp://127.0.0.1:*", str(million), str(size), str(rate)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        endpoint = process.stdout.readline().strip()
        ticks, latencies, begun = [], [], 0.0
        with Subscriber(endpoint) as subscriber:
            while not subscriber.over:
                started = time.perf_counter()
                subscriber.drain(0.01, wait=0.0 if ticking else 0.5)
                if subscriber.rows and not begun:
                    begun = started
                if ticking:
                    if begun:
                        ticks.append(time.perf_counter() - started)
                        latencies.append(subscriber.latency_ns / 1e6)
                    time.sleep(max(0.0, 1 / 30 - (time.perf_counter() - started)))
            spent = time.perf_counter() - begun
            lost = subscriber.lost
            received = subscriber.rows
        process.wait()
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


def _row(name: str, ours: float, peer: float, peer_name: str, unit: str, more: bool) -> dict[str, Any]:
    return {
        "name": f"live feed, {name}",
        "ours": ours,
        "peer": peer,
        "peer_name": peer_name,
        "unit": unit,
        "ratio": ours / peer if more else peer / max(ours, 1e-9),
    }
