"""A program that neither waits nor releases anything: there are no operations, and that is no error."""

import numpy as np

from tests.support import synthetic
from tracevis3d.drawing.frame import Frame
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings
from tracevis3d.views import registry


def test_a_trace_without_waits_has_threads_all_the_same():
    calls, first, count = synthetic.program(2_000)
    n = int(calls.function.max()) + 1
    names = Strings.of([f"function {i}" for i in range(n)])
    unknown, ids = np.full(n, -1, np.int32), tuple(range(len(first)))
    trace = Trace(
        calls=calls,
        functions=Functions(names, names, unknown, unknown, np.zeros(n, np.int32)),
        threads=Threads(ids, ids, ("",) * len(ids), ("",) * len(ids), np.asarray(first), np.asarray(count)),
        span_ns=int(calls.end.max()),
    )
    view = registry.find("threads")
    drawn = view.draw((trace,), view.parameters(), Frame(640, 360), lambda *_: None)
    assert drawn.counts["waits"] == 0
    assert drawn.counts["calls"] == len(calls)
