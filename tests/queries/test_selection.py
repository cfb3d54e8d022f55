"""The search field: a query selects the same calls with DuckDB as with Python's own SQLite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.walked_traces import walked_trace
from tests.waits.sync_traces import trace_of
from tracevis3d.analysis import search_results
from tracevis3d.analysis.search_results import TypedQuery
from tracevis3d.errors import UsageError
from tracevis3d.formats import registry
from tracevis3d.queries import database, plain_sql, selection

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


@given(
    st.integers(1, 4), st.integers(0, 3), st.sampled_from(["self_ns > 3", "function LIKE 'f%'", "id % 2 = 0"])
)
@settings(max_examples=20, deadline=None)
def test_a_query_selects_the_same_calls_without_duckdb(seed, depth, also):
    trace = walked_trace(seed)
    sql = f"SELECT id FROM calls WHERE depth > {depth} AND {also}"
    wanted = database.run(sql, [trace]).calls().tolist()
    assert plain_sql.calls(sql, trace).tolist() == wanted
    found = selection.find(trace, TypedQuery(sql))
    assert sorted(found.first(found.count).tolist()) == wanted
    assert found.count == len(wanted)
    start = trace.calls.start[found.first(found.count)]
    assert (np.diff(start) >= 0).all()


@pytest.mark.parametrize("missing", ["duckdb", "pyarrow"])
def test_where_one_of_both_is_missing_the_other_is_not_used(missing, monkeypatch):
    monkeypatch.setattr(selection, "find_spec", lambda name: None if name == missing else name)
    monkeypatch.setattr(selection.database, "run", lambda *_: pytest.fail("run by DuckDB"))
    trace = walked_trace(1, steps=9)
    assert selection.selected_calls("SELECT id FROM calls WHERE id < 3", trace).tolist() == [0, 1, 2]


def test_the_search_field_says_what_a_query_selects():
    trace = walked_trace(1)
    query = TypedQuery("select id from calls where depth = 1", start="0s", end="1h")
    found = selection.find(trace, query)
    roots = np.flatnonzero(trace.calls.depth == 1)
    assert found.count == len(roots)
    many = "1 call" if len(roots) == 1 else f"{len(roots)} calls"
    assert selection.summary(found, query).startswith(f"{many} of ")
    none = TypedQuery("SELECT id FROM calls WHERE depth = -1")
    assert selection.summary(selection.find(trace, none), none) == "The query selects no call"
    # Names that begin like a query are names.
    assert not selection.is_sql("select")
    assert selection.find(trace, TypedQuery("f")).count == search_results.find(trace, TypedQuery("f")).count


@pytest.mark.parametrize("missing", ["duckdb", None])
def test_numbers_that_are_no_calls_are_left_out(missing, monkeypatch):
    monkeypatch.setattr(selection, "find_spec", lambda name: None if name == missing else name)
    trace = walked_trace(1, steps=9)
    count = len(trace.calls)
    assert selection.selected_calls("SELECT id - 2 AS id FROM calls", trace).tolist() == [*range(count - 2)]
    assert selection.selected_calls("SELECT id + 2 AS id FROM calls", trace).tolist() == [*range(2, count)]


def test_a_window_has_its_first_moment_and_not_its_last():
    trace = trace_of("a 0 9 f\na 10 19 f\na 20 29 f")
    query = TypedQuery("SELECT id FROM calls", start="10ns", end="20ns")
    found = selection.find(trace, query)
    assert trace.calls.start[found.first(found.count)].tolist() == [10]


def test_without_duckdb_texts_have_a_longest():
    trace = walked_trace(1, steps=5)
    for size, fits in ((1 << 24, True), ((1 << 24) + 1, False)):
        sql = f"SELECT length(zeroblob({size})) AS size FROM calls LIMIT 1"
        if fits:
            assert plain_sql.run(sql, trace) == (["size"], [(size,)])
        else:
            with pytest.raises(UsageError, match="too big"):
                plain_sql.run(sql, trace)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT depth FROM calls", "no column id"),
        ("SELECT function AS id FROM calls", "other values than whole numbers"),
        ("SELECT nix FROM calls", "no such column: nix"),
        ("SELECT call_id AS id FROM matches", "no such table: matches"),
        ("SELECT id FROM calls; DROP TABLE calls", "one statement"),
        ("WITH a AS (SELECT 1) DELETE FROM calls", "not authorized"),
        ("SELECT load_extension('x') AS id FROM calls", "not authorized"),
        ("ATTACH '/tmp/never.db' AS x", "not authorized"),
    ],
)
def test_without_duckdb_a_query_only_reads(sql, said):
    with pytest.raises(UsageError, match=said):
        plain_sql.calls(sql, walked_trace(1))


def test_all_tables_are_there_without_duckdb():
    trace = registry.open_trace(ROOT / "examples" / "sync_pillow_8w.json.gz")
    for table in ("sync", "threads", "counters", "waits", "flows"):
        columns, rows = plain_sql.run(f"SELECT * FROM {table}", trace)
        assert columns == database.run(f"SELECT * FROM {table}", [trace]).columns
        assert len(rows) == database.run(f"SELECT count(*) AS n FROM {table}", [trace]).rows[0]["n"]
