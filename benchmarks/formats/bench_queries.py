"""SQL over a trace's columns: GROUP BY against pandas and Perfetto's engine; Parquet against pandas."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import tracevis3d as tv
from benchmarks.formats.bench_chrome import perfetto
from benchmarks.measure import SHARED, best, row
from tests.support import synthetic
from tests.support.walked_traces import walked_trace
from tracevis3d.queries import database
from tracevis3d.trace.model import Threads
from tracevis3d.trace.strings import Strings

SQL = (
    "SELECT function, count(*) AS calls, sum(duration_ns) AS ns FROM calls GROUP BY function ORDER BY ns DESC"
)
#: The same question in Perfetto's words.
PERFETTO = "select name, count(*) as calls, sum(dur) as ns from slice group by name order by ns desc"


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    return [*_generated(14_000_000), *_recorded()]


def _generated(n: int) -> list[dict[str, Any]]:
    functions = 1500
    calls, first, count = synthetic.program(n, threads=4)
    numbers = tuple(range(4))
    trace = replace(
        walked_trace(1),
        calls=calls,
        threads=Threads(numbers, numbers, ("",) * 4, ("",) * 4, first, count),
    )
    known = trace.functions
    names = Strings.of(f"function_{i}" for i in range(functions))
    none = {
        "container": known.container[:1].repeat(functions) * 0 - 1,
        "file": known.file[:1].repeat(functions) * 0 - 1,
    }
    trace = replace(
        trace,
        functions=replace(known, name=names, label=names, line=known.line[:1].repeat(functions) * 0, **none),
    )
    answer, ours = best(3, partial(database.run, SQL, [trace]))
    frame = trace.calls.to_pandas()

    def grouped() -> Any:
        frame["duration_ns"] = frame["end_ns"] - frame["start_ns"]
        return frame.groupby("function", observed=True)["duration_ns"].agg(["count", "sum"])

    table, peer = best(1, grouped)
    assert {r["function"]: int(r["ns"]) for r in answer.rows} == table["sum"].to_dict()
    result = [row(f"queries: GROUP BY over {n:,} calls", ours, peer, "pandas")]
    with tempfile.TemporaryDirectory() as folder:
        _, ours = best(1, partial(tv.save, trace, Path(folder) / "x.parquet"))
        _, peer = best(1, partial(frame.to_parquet, Path(folder) / "peer.parquet"))
    return [*result, row(f"queries: {n:,} calls as Parquet", ours, peer, "pandas to_parquet")]


def _recorded() -> list[dict[str, Any]]:
    packed = SHARED / "traces" / "recorded" / "vt_pylint_0.9M.json.gz"
    if not packed.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        with gzip.open(packed, "rb") as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 22)
        measured = perfetto(path, PERFETTO)
    if measured is None:
        return []
    trace = tv.load(packed)
    _, ours = best(5, partial(database.run, SQL, [trace]))
    name = f"queries: GROUP BY over {len(trace):,} recorded calls"
    return [row(name, ours, 1e3 * measured["query"], "Perfetto's engine")]
