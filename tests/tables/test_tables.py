"""Tables: what their columns say, as plain rows, Arrow, pandas and Polars."""

from __future__ import annotations

import builtins
import importlib
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.errors import UsageError
from tracevis3d.tables.arrow import needed, unique
from tracevis3d.tables.column import Column
from tracevis3d.tables.table import Table
from tracevis3d.trace.model import TABLES, Sync, Trace
from tracevis3d.trace.strings import Strings

pytest.importorskip("pyarrow")


@st.composite
def tables(draw) -> Table:
    rows = draw(st.integers(0, 20))
    names = draw(st.lists(st.text(max_size=3), min_size=1, max_size=4))
    whole = st.lists(st.integers(-(2**62), 2**62), min_size=rows, max_size=rows)
    gaps = st.lists(st.integers(-1, 100), min_size=rows, max_size=rows)
    codes = st.lists(st.integers(-1, len(names) - 1), min_size=rows, max_size=rows)
    counts = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    first = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    lists = draw(st.lists(st.integers(0, len(names) - 1), min_size=int(first[-1]), max_size=int(first[-1])))
    return Table(
        "made",
        {
            "whole": Column(np.array(draw(whole), np.int64)),
            "gaps": partial(Column, np.array(draw(gaps), np.int32), has_gaps=True),
            "names": Column(np.array(draw(codes), np.int32), unique(names)),
            "texts": Column(draw(st.lists(st.text(max_size=3), min_size=rows, max_size=rows))),
            "flags": Column(np.array(draw(gaps), np.int64) > 50),
            "lists": Column(np.array(lists, np.int32), unique(names), first=first),
        },
    )


@given(tables())
@settings(max_examples=60, deadline=None)
def test_all_forms_say_the_same(table: Table) -> None:
    rows = table.as_rows()
    assert len(table) == len(rows)
    arrow = table.to_arrow()
    arrow.validate(full=True)
    assert arrow.to_pylist() == rows
    frame = table.to_pandas()
    for name in ("whole", "gaps", "names", "texts", "flags"):
        is_known = frame[name].notna()
        assert [value if known else None for value, known in zip(frame[name], is_known, strict=True)] == [
            row[name] for row in rows
        ]
    # Integers stay what they are, though some stand for nothing.
    gaps = any(row["gaps"] is None for row in rows)
    assert (str(frame["whole"].dtype), str(frame["gaps"].dtype)) == ("int64", "Int32" if gaps else "int32")
    assert table.to_polars().to_dicts() == rows


@given(st.lists(st.sampled_from(["a", "b", "a #2", "", "b #3"]), max_size=8))
def test_unique_texts(texts: list[str]) -> None:
    found = unique(texts)
    assert len(set(found)) == len(found) == len(texts)
    for text, chosen in zip(texts, found, strict=True):
        assert chosen.startswith(text)


def test_the_second_of_a_name_is_number_two() -> None:
    assert unique(["a", "b", "a", "a", "a #2"]) == ["a", "b", "a #2", "a #3", "a #2 #2"]


def test_columns_are_shared() -> None:
    trace = walked_trace(1, steps=500)
    arrow = trace.calls.to_arrow()
    for name, column in (("start_ns", trace.calls.start), ("depth", trace.calls.depth)):
        assert arrow[name].chunk(0).buffers()[1].address == column.ctypes.data
    indices = arrow["function"].chunk(0).indices
    assert indices.buffers()[1].address == trace.calls.function.ctypes.data


def test_only_makes_no_other_column() -> None:
    table = Table("t", {"a": Column(np.arange(3)), "b": lambda: pytest.fail("b was made")})
    assert table.only(["a"]).as_rows() == [{"a": 0}, {"a": 1}, {"a": 2}]
    assert len(table) == 3


def test_what_a_trace_does_not_know_of_its_rows_is_nothing() -> None:
    sync = Sync(
        call=np.zeros(2, np.int64), thread=np.zeros(2, np.int32), start=np.arange(2), end=np.arange(2),
        kind=np.zeros(2, np.uint8), contended=np.zeros(2, np.int8), name=np.zeros(2, np.int32),
        first=np.zeros(3, np.int64), names=Strings.of(["wait"]), line=np.empty(0, np.int32),
    )  # fmt: skip
    assert sync.table().column("line").as_list() == [None, None]
    assert sync.table().column("operation").as_list() == ["wait", "wait"]
    # A number below 0 is one all the same, where nothing else is said.
    late = replace(sync, start=np.array([-5, 3])).table()
    assert late.column("start_ns").as_list() == [-5, 3]


def test_lists_have_texts_or_numbers_in_them() -> None:
    pa = pytest.importorskip("pyarrow")
    first = np.array([0, 2, 3])
    texts, numbers = (
        Column(np.array([0, 1, 0]), ["a", "b"], first=first),
        Column(np.array([4, 5, 6]), first=first),
    )
    made = Table("lists", {"texts": texts, "numbers": numbers}).to_arrow()
    assert made.schema.types == [pa.large_list(pa.string()), pa.large_list(pa.int64())]
    assert made.to_pydict() == {"texts": [["a", "b"], ["a"]], "numbers": [[4, 5], [6]]}


def test_a_table_without_columns_has_no_rows() -> None:
    assert len(Table("none", {})) == len(Table("none", {}).as_rows()) == 0


def test_names_in_place_of_numbers() -> None:
    trace = walked_trace(2, steps=300, threads=2, allocations=20)
    frame = trace.calls.to_pandas()
    assert frame["function"].tolist() == [trace.functions.label[f] for f in trace.calls.function]
    assert frame["thread"].tolist() == [trace.threads.title(t) for t in trace.calls.thread]
    assert frame["parent_id"].fillna(-1).tolist() == trace.calls.parent.tolist()
    assert set(trace.memory.to_pandas()["kind"]) <= {"alloc", "free", "access"}
    for name in TABLES:
        getattr(trace, name).to_polars()


def test_another_trace_with_the_same_calls_has_its_own_names() -> None:
    trace = walked_trace(3, steps=100)
    label = Strings.of(f"other {i}" for i in range(len(trace.functions)))
    other = replace(trace, functions=replace(trace.functions, label=label))
    assert other.calls.start is trace.calls.start
    assert other.calls.to_pandas()["function"].str.startswith("other").all()
    assert not trace.calls.to_pandas()["function"].str.startswith("other").any()
    assert replace(trace, span_ns=5).calls is trace.calls


def test_functions_of_one_name_are_told_apart() -> None:
    trace = walked_trace(4, steps=50, functions=4)
    n = len(trace.functions)
    functions = replace(
        trace.functions,
        label=Strings.of(["run"] * n),
        file=np.array([0] + [1] * (n - 1), np.int32),
        line=np.arange(n, dtype=np.int32),
    )
    titles = Trace(functions=functions, files=Strings.of(["/a/x.py", "y.py"])).functions.titles()
    assert titles[:3] == ["run (x.py:0)", "run (y.py:1)", "run (y.py:2)"]


def test_reprs_are_short_and_escaped() -> None:
    trace = walked_trace(5, steps=100)
    trace = replace(trace, source=replace(trace.source, path="<script>.json"))
    assert repr(trace).startswith("<Trace <script>.json: ")
    assert len(repr(trace)) < 200
    assert "<script>" not in trace._repr_html_()
    assert f"{len(trace.calls):,}" in trace._repr_html_()
    assert repr(trace.calls) == f"<Calls: {len(trace.calls):,} rows>"


def test_what_is_missing_is_said(monkeypatch) -> None:
    found = builtins.__import__

    def fails(name, *rest, **others):
        if name.startswith("polars"):
            raise ModuleNotFoundError("No module named 'polars'", name="polars")
        return found(name, *rest, **others)

    monkeypatch.setattr(importlib.import_module(needed.__module__), "import_module", lambda name: fails(name))
    with pytest.raises(UsageError, match=r"polars is needed: pip install 'tracevis3d\[tables\]'"):
        needed("polars")
