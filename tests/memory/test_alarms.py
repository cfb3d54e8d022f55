"""Alarms about memory: a call site that only allocates, beside one that frees what it allocates."""

import numpy as np
import pytest

from tracevis3d.features.memory.live.alarms import MemoryAlarms
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.protocol import Batch, Names, Welcome

ALLOC, FREE = 0, 1
MS = 1_000_000


def sites(keeps: bool, size: int) -> list[tuple[str, str]]:
    """Return the kinds and call sites of the alarms at the end of 12 s of two call sites."""
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(Names("functions", 0, ("base (/a.py:1)", "remember (/a.py:7)", "compute (/a.py:9)")))
    growing.name(Names("threads", 0, ((1, 1, "main"),)))
    growing.name(Names("frames", 0, ((0, -1, 1), (1, -1, 8), (2, -1, 10))))
    alarms, last, found = MemoryAlarms(growing), -1, []
    assert alarms.look(0) == []
    rows = [(ALLOC, 0, 1 << 40, 1 << 20, 0)]
    for step in range(240):
        at = (50 * step + 1) * MS
        if step % 2 == 0:
            rows += [(ALLOC, at, (1 << 41) + 4096 * step, size, 1)]
            rows += [(FREE, at, (1 << 41) + 4096 * (step - 20), 0, 1)] if not keeps and step >= 20 else []
        rows += [(ALLOC, at, (1 << 42) + 4096 * step, 5000, 2)]
        rows += [(FREE, at, (1 << 42) + 4096 * last, 0, 2)] if last >= 0 else []
        last = step
        kind, time, address, length, stack = zip(*rows, strict=True)
        growing.add(Batch("memory", 0, 0, 0, {
            "kind": np.array(kind, np.uint8), "thread": np.zeros(len(rows), np.uint32),
            "time": np.array(time), "address": np.array(address, np.uint64),
            "size": np.array(length), "stack": np.array(stack, np.int32),
        }))  # fmt: skip
        rows = []
        found = alarms.look(at)
    return [(alarm.kind, alarm.about) for alarm in found]


@pytest.mark.parametrize(
    ("keeps", "size", "wanted"),
    [(True, 20_000, [("leak", "remember:8")]), (False, 20_000, []), (True, 200, [])],
)
def test_a_call_site_that_only_allocates_is_reported(keeps, size, wanted) -> None:
    assert sites(keeps, size) == wanted
