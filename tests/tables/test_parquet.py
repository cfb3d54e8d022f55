"""Folders of Parquet tables: nothing is lost, and what is damaged is told."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest

import tracevis3d as tv
from tests.support.walked_traces import walked_trace
from tracevis3d.cli import main
from tracevis3d.errors import InputError
from tracevis3d.trace.model import TABLES, Trace

pytest.importorskip("pyarrow")
import pyarrow as pa
import pyarrow.parquet as pq


def same(one: Trace, other: Trace) -> None:
    for name in TABLES:
        a, b = getattr(one, name), getattr(other, name)
        for f in fields(a):
            x, y = getattr(a, f.name), getattr(b, f.name)
            if f.metadata.get("optional") and (x < 0).all():
                assert (y < 0).all()  # nothing is known: empty, or -1 in all rows
            elif isinstance(x, np.ndarray):
                assert x.dtype == y.dtype, (name, f.name)
                assert np.array_equal(x, y), (name, f.name)
            else:
                assert [*x] == [*y], (name, f.name)
    assert (one.origin_ns, one.span_ns) == (other.origin_ns, other.span_ns)
    assert [*one.files] == [*other.files]
    assert one.problems.as_dict() == other.problems.as_dict()


FILES = (
    "sync_pillow_8w.json.gz",
    "chromium_docs_page.json.gz",
    "memray_markdown.records.tsv.gz",
    "vt_black_multiproc.json.gz",
)


@pytest.mark.parametrize("name", FILES)
def test_there_and_back(recorded, tmp_path, name) -> None:
    trace = tv.load(recorded / name)
    folder = tmp_path / "run.parquet"
    assert main(["convert", str(recorded / name), str(folder), "--quiet"]) == 0
    same(trace, tv.load(folder, cache=False))
    assert main(["convert", str(folder), str(tmp_path / "back.tv3"), "--quiet"]) == 0
    same(trace, tv.load(tmp_path / "back.tv3"))
    # A folder of ours is replaced, another one is not.
    assert tv.save(trace, folder) == []
    other = tmp_path / "other.parquet"
    other.mkdir()
    (other / "mine.txt").write_text("keep me")
    with pytest.raises(InputError, match="is not a folder of tables"):
        tv.save(trace, other)
    assert (other / "mine.txt").exists()
    assert not list(tmp_path.glob(".*"))


def test_counters_and_empty_tables(tmp_path) -> None:
    trace = walked_trace(3, steps=100, allocations=10)
    tv.save(trace, tmp_path / "x.parquet")
    same(trace, tv.load(tmp_path / "x.parquet", cache=False))


def rewritten(path, change) -> None:
    table = pq.read_table(path)
    pq.write_table(change(table), path)


def filled(path, name, value) -> None:
    """Write the same value into all rows of a column."""
    rewritten(path, lambda t: t.set_column(t.column_names.index(name), name, pa.array([value] * len(t))))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda f: (f / "functions.parquet").unlink(), "functions.parquet is missing: copy the whole folder"),
        (lambda f: (f / "calls.parquet").write_bytes(b"PAR1 nonsense"), "calls.parquet can't be used"),
        (lambda f: (f / "trace.json").write_text("{"), "trace.json can't be used"),
        (lambda f: (f / "trace.json").write_text("{}"), "'tracevis3d_tables' is missing"),
        (
            lambda f: rewritten(f / "calls.parquet", lambda t: t.drop(["depth"])),
            "column depth is missing",
        ),
        (lambda f: rewritten(f / "calls.parquet", lambda t: t.slice(0, 5)), "calls of"),
        (lambda f: filled(f / "calls.parquet", "depth", 1.5), "whole numbers are expected"),
        (lambda f: filled(f / "calls.parquet", "function_id", 10**12), "does not fit into int32"),
        (lambda f: filled(f / "calls.parquet", "function_id", 10**6), "fit into the tree of calls"),
        (lambda f: filled(f / "memory.parquet", "kind", "lent"), "'lent' is not one of alloc, free, access"),
    ],
)
def test_damage_is_told_in_one_sentence(tmp_path, change, why) -> None:
    folder = tmp_path / "x.parquet"
    tv.save(walked_trace(3, steps=100, threads=2, allocations=10), folder)
    change(folder)
    with pytest.raises(InputError) as error:
        tv.load(folder, cache=False)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def test_a_newer_version_is_told(tmp_path) -> None:
    folder = tmp_path / "x.parquet"
    tv.save(walked_trace(3), folder)
    facts = json.loads((folder / "trace.json").read_text())
    (folder / "trace.json").write_text(json.dumps(facts | {"tracevis3d_tables": 2}))
    with pytest.raises(InputError, match="newer version"):
        tv.load(folder, cache=False)


def test_what_pandas_writes_is_read(tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    trace = walked_trace(5, steps=200, threads=2)
    folder = tmp_path / "x.parquet"
    tv.save(trace, folder)
    frame = pandas.read_parquet(folder / "calls.parquet")
    frame["function_id"] = frame["function_id"].astype("int64")
    frame.to_parquet(folder / "calls.parquet")
    same(trace, tv.load(folder, cache=False))
