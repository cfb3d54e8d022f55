"""What benchmarks share: where recordings are, the fastest of several runs, a row of the results."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tracevis3d as tv
from tracevis3d.trace.model import Calls

ROOT = Path(__file__).resolve().parents[1]
#: Where public recordings are; benchmarks on them are left out where they are absent.
SHARED = Path(os.environ.get("TRACEVIS3D_SHARED", ROOT.parent / "shared"))
RECORDED = SHARED / "traces" / "recorded"
#: Set to measure 100 million calls too (needs 9 GB of memory and half a minute).
HUGE = bool(os.environ.get("TRACEVIS3D_BENCH_HUGE"))


def recorded(name: str) -> list[tuple[str, Calls]]:
    """Return the calls of a recorded program; nothing where the recordings are absent."""
    path = RECORDED / name
    return [(name, tv.load(path, cache=False).calls)] if path.is_file() else []


def best(runs: int, work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of ``work`` and the milliseconds of its fastest run."""
    fastest = float("inf")
    for _ in range(runs):
        started = time.perf_counter()
        result = work()
        fastest = min(fastest, time.perf_counter() - started)
    return result, fastest * 1e3


def row(name: str, ours: float, peer: float, peer_name: str) -> dict[str, Any]:
    """Return a row of times in milliseconds."""
    return {
        "name": name,
        "ours": ours,
        "peer": peer,
        "peer_name": peer_name,
        "unit": "ms",
        "ratio": peer / ours,
    }
