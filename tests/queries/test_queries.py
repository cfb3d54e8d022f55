"""Queries: the same numbers as plain Python, ready queries, refusals."""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.support.walked_traces import walked_trace
from tests.waits.sync_traces import trace_of
from tracevis3d.cli import main
from tracevis3d.errors import Cancelled, UsageError
from tracevis3d.queries import database, ready, results, sources
from tracevis3d.trace.model import Trace

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


def plain_calls(trace: Trace) -> list[dict]:
    """What the table ``calls`` says, call by call."""
    calls, titles = trace.calls, trace.functions.titles()
    rows: list[dict] = []
    for i in range(len(calls)):
        parent = int(calls.parent[i])
        name = titles[calls.function[i]]
        path = name if parent < 0 else rows[parent]["path"]
        if parent >= 0 and rows[parent]["function"] != name:
            path += f";{name}"
        rows.append(
            {
                "id": i,
                "function": name,
                "parent_id": None if parent < 0 else parent,
                "depth": int(calls.depth[i]),
                "duration_ns": int(calls.end[i] - calls.start[i]),
                "self_ns": int(calls.end[i] - calls.start[i]),
                "calls_below": int(calls.extent[i]) - 1,
                "path": path,
            }
        )
        if parent >= 0:
            rows[parent]["self_ns"] -= rows[-1]["duration_ns"]
    return rows


@given(st.integers(0, 10_000), st.integers(1, 120), st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_calls_are_those_of_the_trace(seed: int, steps: int, threads: int) -> None:
    trace = walked_trace(seed, steps=steps, threads=threads, functions=5)
    wanted = plain_calls(trace)
    columns = ", ".join(wanted[0]) if wanted else "id"
    assert database.run(f"SELECT {columns} FROM calls ORDER BY id", [trace]).rows == wanted


def test_long_paths_lose_their_middle() -> None:
    trace = walked_trace(1, steps=50)
    depth = 100
    function = np.arange(depth, dtype=np.int32) % 2
    at = np.arange(depth)
    calls = replace(
        trace.calls,
        function=function,
        parent=at - 1,
        depth=(at + 1).astype(np.int32),
        start=at,
        end=2 * depth - at,
        extent=depth - at,
        thread=np.zeros(depth, np.int32),
    )
    deep = replace(trace, calls=calls)
    rows = database.run("SELECT path FROM calls ORDER BY id", [deep]).rows
    paths = [row["path"].split(";") for row in rows]
    assert [len(path) for path in paths[:3]] == [1, 2, 3]
    assert max(map(len, paths)) <= sources.MOST_NAMES + 1
    assert "…" in paths[-1]
    assert paths[-1][0] == paths[0][0]


def test_ready_queries_run(recorded) -> None:
    one = tv.load(recorded / "sync_pillow_8w.json.gz")
    two = tv.load(recorded / "vt_markdown_repeat1.json.gz"), tv.load(recorded / "vt_markdown_repeat2.json.gz")
    for query in ready.READY:
        traces = two if query.traces[0] == 2 else (one,)
        answer = tv.query(query.name, *traces)
        assert answer.columns
        assert answer.sql == query.sql
    hot = tv.query("hot-functions", one).rows
    own = np.bincount(one.calls.function, sources.self_time_of(one), len(one.functions))
    assert [int(row["self_ns"]) for row in hot] == sorted(own.astype(int).tolist(), reverse=True)[:20]
    edges = Counter()
    titles = one.functions.titles()
    for child, parent in enumerate(one.calls.parent.tolist()):
        if parent >= 0:
            edges[titles[one.calls.function[parent]], titles[one.calls.function[child]]] += 1
    found = {(row["caller"], row["callee"]): row["calls"] for row in tv.query("call-edges", one).rows}
    assert found
    assert all(edges[edge] == count for edge, count in found.items())
    assert min(found.values()) >= sorted(edges.values(), reverse=True)[len(found) - 1]


def test_waits_are_those_of_the_analysis(recorded) -> None:
    trace = tv.load(recorded / "sync_pillow_8w.json.gz")
    wanted = tv.waits(trace, every=True)["waits"]
    titles = dict(zip(trace.threads.tid, trace.threads.titles(), strict=True)) | {None: None}
    rows = tv.query("SELECT * FROM waits ORDER BY id", trace).rows
    assert len(rows) == len(wanted)
    for row, said in zip(rows, wanted, strict=True):
        assert (row["start_ns"], row["end_ns"], row["blocked"]) == (
            said["start_ns"], said["end_ns"], said["blocked"],
        )  # fmt: skip
        assert (row["thread"], row["woken_by"], row["held_by"]) == tuple(
            titles[said[name]] for name in ("thread", "woken_by", "held_by")
        )


def test_what_is_unknown_of_a_wait_is_null() -> None:
    trace = trace_of("""
    a 0 90 m.run
    a 10 30 Event.wait wait E,F 1
    a 40 50 Event.wait wait - 1
    b 20 20 Event.set release E
    b 60 70 Event.wait wait F 0
    """)
    sync, call = trace.sync, trace.sync.call.copy()
    call[sync.start == 60] = -1
    trace = replace(trace, sync=replace(sync, call=call))
    columns = "call_id, object, operation, duration_ns, blocked, nested, woken_ns"
    rows = [tuple(row.values()) for row in tv.query(f"SELECT {columns} FROM waits ORDER BY id", trace).rows]
    first, second = (int(c) for c in sync.call[np.isin(sync.start, (10, 40))])
    assert rows == [
        (first, "E", "Event.wait", 20, True, False, 20), (second, None, "Event.wait", 10, True, False, None),
        (None, "F", "Event.wait", 10, False, False, None),
    ]  # fmt: skip


def test_blocks_are_those_of_the_memory() -> None:
    trace = walked_trace(7, steps=300, allocations=200)
    sql = "SELECT count(*) AS n, count(*) FILTER (freed_ns IS NULL) AS live FROM blocks"
    (row,) = tv.query(sql, trace).rows
    blocks = sources.table("blocks", [trace])
    freed = [r["freed_ns"] for r in blocks.as_rows()]
    assert row["n"] == len(blocks) == tv.memory_facts(trace)["blocks"]
    assert row["live"] == sum(end is None for end in freed)


def test_two_traces(recorded) -> None:
    a, b = (tv.load(recorded / f"vt_sphinxtext_{run}.json.gz") for run in "EF")
    called = defaultdict(set)
    for letter, trace in (("A", a), ("B", b)):
        titles = trace.functions.titles()
        for function in np.unique(trace.calls.function):
            called[titles[function]].add(letter)
    only = [name for name, runs in called.items() if len(runs) == 1]
    (row,) = tv.query(
        "SELECT count(*) AS n FROM (SELECT function FROM calls GROUP BY function "
        "HAVING count(DISTINCT trace) = 1)", a, b,
    ).rows  # fmt: skip
    assert row["n"] == len(only)
    comparison = tv.match(a, b)
    sql = "SELECT trace, count(*) FILTER (matched) AS n FROM matches GROUP BY trace ORDER BY trace"
    found = [row["n"] for row in tv.query(sql, a, b).rows]
    assert found == [int(comparison.matched(run).sum()) for run in range(2)]
    findings = tv.table("findings", a, b).as_rows()
    assert [f["kind"] for f in findings] == [f.kind for f in tv.explain(a, b)]
    answer = tv.query("SELECT trace, id FROM calls WHERE id < 3 AND (trace = 'A' OR id = 1)", a, b)
    assert answer.calls().tolist() == answer.calls(0).tolist() == [0, 1, 2]
    assert answer.calls(1).tolist() == [1]


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("", "the query is empty"),
        ("nonsense", "there is no ready query 'nonsense': the names are hot-functions"),
        ("only-in-one", "the query 'only-in-one' takes 2 traces, not 1"),
        (
            "SELECT nix FROM calls",
            'column "nix" not found in FROM clause; the columns of calls are id, function',
        ),
        ("SELECT 1 FROM nowhere", "nowhere does not exist"),
        ("SELECT 1 FROM matches", "matches does not exist"),
        ("SELEC 1 x", "syntax error"),
        ("SELECT * FROM read_csv('/etc/hostname')", "file system operations are disabled"),
        ("COPY (SELECT 1) TO '/tmp/never.csv'", "file system operations are disabled"),
        ("SET enable_external_access = true", "the configuration has been locked"),
        ("ATTACH '/tmp/never.db'", "file system operations are disabled"),
        ("INSTALL httpfs", "can't be run"),
    ],
)
def test_what_can_not_be_run_is_refused(sql: str, why: str) -> None:
    with pytest.raises(UsageError) as error:
        database.run(sql, [walked_trace(1)])
    assert why in str(error.value)
    assert "\n" not in str(error.value)
    assert "LINE" not in str(error.value)


@pytest.mark.parametrize("table", ["calls", "matches"])
def test_of_two_traces_the_columns_are_said_too(table: str) -> None:
    with pytest.raises(UsageError, match=f'"nix" not found .*; the columns of {table} are '):
        database.run(f"SELECT nix FROM {table}", [walked_trace(1, steps=5), walked_trace(2, steps=5)])


def test_long_call_paths_are_cut_in_the_middle() -> None:
    names = [f"f{i}" for i in range(40)]
    rows = "\n".join(f"a {i} {90 - i} {name}" for i, name in enumerate(names))
    paths = tv.table("calls", trace_of(rows)).column("path").as_list()
    assert paths[:32] == [";".join(names[: i + 1]) for i in range(32)]
    assert paths[32:] == [";".join([*names[:16], "…", *names[i - 14 : i + 1]]) for i in range(32, 40)]


def test_a_ready_query_takes_a_trace_at_least() -> None:
    for query in ready.READY:
        least, most = query.traces
        with pytest.raises(UsageError, match=f"takes {least} t.*, not 0$"):
            ready.written_out(query.name, 0)
        assert (
            ready.written_out(query.name.upper(), least) == ready.written_out(query.name, most) == query.sql
        )


@pytest.mark.parametrize("name", ["only-in-one", "changed-calls", "changed-time", "unmatched"])
@pytest.mark.parametrize("traces", [1, 3])
def test_a_ready_query_about_two_traces_takes_two(name: str, traces: int) -> None:
    with pytest.raises(UsageError, match=f"takes 2 traces, not {traces}"):
        ready.written_out(name, traces)


@pytest.mark.parametrize(
    ("name", "traces", "wanted"), [("call-edges", 2, "1 trace"), ("hot-functions", 27, "1 to 26 traces")]
)
def test_a_ready_query_takes_so_many_traces_at_most(name: str, traces: int, wanted: str) -> None:
    with pytest.raises(UsageError, match=f"takes {wanted}, not {traces}$"):
        ready.written_out(name, traces)
    assert ready.written_out(name, traces - 1)


def test_of_several_traces_each_has_a_name_in_the_first_column() -> None:
    assert [database.letter(trace) for trace in (0, 1, 25, 26, 27)] == ["A", "B", "Z", "T27", "T28"]
    traces = [walked_trace(seed, steps=5) for seed in (1, 2)]
    one, two = (database.run("SELECT * FROM calls", traces[:many]).columns for many in (1, 2))
    assert two == ["trace", *one]


def test_written_json_has_letters_as_they_are(tmp_path) -> None:
    trace = trace_of("a 0 90 größe")
    results.write(database.run("SELECT function FROM calls", [trace]), tmp_path / "answer.json")
    assert "größe" in (tmp_path / "answer.json").read_text("utf-8")


def test_numbers_as_people_read_them() -> None:
    import pyarrow as pa

    columns = {
        "whole": [Decimal("12345678901234567890123"), None], "part": [Decimal("1234.50"), Decimal("2.00")],
        "float": [1234567.0, 0.5], "yes": [True, False],
    }  # fmt: skip
    answer = database.Answer(pa.table(columns), "")
    assert results.texts(answer, 2) == [
        ["12,345,678,901,234,567,890,123", "1,234.50", "1.23457e+06", "yes"], ["", "2", "0.5", "no"]
    ]  # fmt: skip
    assert results.texts(answer, 1) == results.texts(answer, 2)[:1]


def test_a_query_can_be_stopped() -> None:
    begun = threading.active_count()

    def stop(done: float, what: str) -> None:
        if what == "running the query":
            raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        database.run("SELECT count(*) FROM range(100000000000)", [walked_trace(1)], stop)
    assert threading.active_count() == begun


def test_no_column_is_made_that_no_one_asks_for(monkeypatch) -> None:
    monkeypatch.setattr(sources, "_path_texts", lambda trace: pytest.fail("paths were made"))
    assert database.run("SELECT count(*) AS n FROM calls", [walked_trace(1)]).rows[0]["n"]
    with pytest.raises(BaseException, match="paths were made"):
        database.run("SELECT * FROM calls", [walked_trace(1)])


def test_selected_calls_are_lit() -> None:
    trace = walked_trace(3, steps=400, threads=1)
    figure = tv.Figure("icicle", (trace,), {}, select="SELECT id FROM calls WHERE depth = 2")
    drawing = figure.drawing()
    shown = [element for element in drawing.elements if element.kind == "call" and element.look != "ghost"]
    ghosts = [element for element in drawing.elements if element.kind == "call" and element.look == "ghost"]
    lit = {call for element in shown for call in element.id.tolist()}
    assert lit
    assert all(trace.calls.depth[i] == 2 for i in lit)
    assert ghosts
    with pytest.raises(UsageError, match="selects no call"):
        tv.Figure("icicle", (trace,), {}, select="SELECT id FROM calls WHERE depth = -1").drawing()
    with pytest.raises(UsageError, match="it has no column id, only depth"):
        tv.Figure("icicle", (trace,), {}, select="SELECT depth FROM calls").drawing()
    with pytest.raises(UsageError, match="its column id is of the type"):
        tv.Figure("icicle", (trace,), {}, select="SELECT function AS id FROM calls").drawing()


def test_the_command(recorded, tmp_path, capsys) -> None:
    trace = str(recorded / "vt_markdown_repeat1.json.gz")
    assert main(["query", "--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in sources.declared())
    assert all(query.name in listed for query in ready.READY)
    sql = "SELECT function, count(*) AS n FROM calls GROUP BY 1 ORDER BY n DESC, 1 LIMIT 3"
    assert main(["query", trace, sql, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert main(["query", trace, sql, "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["function,n", *(f"{row['function']},{row['n']}" for row in rows)]
    assert main(["query", trace, sql, "--limit", "1"]) == 0
    head, line, first, more = capsys.readouterr().out.splitlines()
    assert head.split() == ["function", "n"]
    assert set(line) == {"─", " "}
    assert first.split() == [rows[0]["function"], f"{rows[0]['n']:,}"]
    assert more == "and 2 more rows: --limit 0 prints all"
    import pyarrow.parquet

    for suffix in ("csv", "json", "parquet"):
        out = tmp_path / f"answer.{suffix}"
        assert main(["query", trace, sql, "-o", str(out)]) == 0
    assert json.loads((tmp_path / "answer.json").read_text()) == rows
    assert (tmp_path / "answer.csv").read_text().splitlines() == lines
    assert pyarrow.parquet.read_table(tmp_path / "answer.parquet").to_pylist() == rows
    for words, why in (
        (["query", trace], "one or more traces and then a query"),
        (["query", trace, sql, "-o", "x.xls"], "written as .csv, .json, .parquet"),
        (["query", trace, sql, "--limit", "-1"], "0 is the minimum"),
        (["query", trace, "SELECT nix FROM calls"], "nix"),
    ):
        assert main(words) == 2
        assert why in capsys.readouterr().err


def test_tables_of_views_are_declared_once() -> None:
    names = [table.name for table in sources._MODEL]
    for view in sources.registry.loadable():
        names += [table.name for table in view.tables]
    assert len(names) == len(set(names))
    with pytest.raises(UsageError, match="there is no table 'nix': choose one of calls"):
        tv.table("nix", walked_trace(1))
    with pytest.raises(UsageError, match=r"the table 'matches' is about 2 trace\(s\), not 1"):
        tv.table("matches", walked_trace(1))
