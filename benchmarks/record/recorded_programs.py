"""Programs that report how long their own work took, run as they are and under a recorder."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT

_FRAME = """
import sys, time
{body}
started = time.{clock}()
work()
print(time.{clock}() - started)
"""


def write(path: Path, body: str, clock: str) -> Path:
    """Write a Python program that defines ``work``, as one that prints the seconds which that takes.

    ``clock`` is a function of ``time``: ``perf_counter``, or ``thread_time`` for processor time.
    """
    path.write_text(_FRAME.format(body=body, clock=clock))
    return path


def run(command: list[str]) -> tuple[float, float]:
    """Run a program; return the seconds that it has printed, and those of the process as a whole."""
    started = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    whole = time.perf_counter() - started
    # Others may have said something before and after.
    return next(float(word) for word in done.stdout.split() if _is_number(word)), whole


def _is_number(word: bytes) -> bool:
    return word.replace(b".", b"").replace(b"e-", b"").isdigit()


def row(name: str, ours: float, peer: float, peer_name: str, unit: str = "s") -> dict[str, Any]:
    """Return a row of results; a ratio above 1 means that ours takes less."""
    ratio = peer / ours if ours else float("inf")
    return {"name": name, "ours": ours, "peer": peer, "peer_name": peer_name, "unit": unit, "ratio": ratio}
