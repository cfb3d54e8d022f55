"""The scanner, the checked way and a plain json reader come to the same trace, whatever the style."""

import json
import random
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.chrome_twin import load
from tests.support.chrome_twin import read as read_plainly
from tracevis3d.formats.chrome import read
from tracevis3d.progress import silent
from tracevis3d.trace.model import TABLES
from tracevis3d.trace.strings import Strings

SETTINGS = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

names = st.one_of(
    st.sampled_from(["f", "g (a.py:1)", "ns::C::m(int)", "a.b.C.m", 'with "quotes"', "back\\slash", ""]),
    st.text(max_size=40),
)
odd = st.one_of(
    st.none(),
    st.booleans(),
    st.just([]),
    st.just({}),
    st.just([1]),
    st.just({"a": [1, "}"]}),
    st.text(max_size=3),
)
whole = st.integers(-(10**6), 10**16)
times = st.one_of(
    whole,
    st.decimals(0, 10**9, places=3).map(float),
    st.floats(0, 2e15),
    st.floats(-10, 10),
    st.sampled_from(
        [0, -0.0, 1e-5, 1e22, 4611686018427387, 1.5e15, float("nan"), float("inf"), 0.0004, 0.9995]
    ),
    st.integers(0, 10**6).map(str),
    st.sampled_from(["12.5", "1e3", " 7 ", "x", "", "1_0", "-3.25", "00.5"]),
)
ids = st.one_of(
    st.integers(-5, 5), st.integers(0, 10**12), st.sampled_from(["1", "stream 7", "a\tb", 1.0, 2.5, 1e3])
)
arguments = st.one_of(
    st.just({}),
    st.dictionaries(
        st.text(max_size=4), st.one_of(st.integers(), st.text(max_size=6), st.floats()), max_size=3
    ),
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["wait", "release", "io", "other", 5]),
            "objects": st.one_of(st.lists(st.text(max_size=5), max_size=3), st.just("x"), st.just(["a", 1])),
        },
        optional={"contended": st.sampled_from([True, False, None, "x"]), "more": st.just({"kind": "io"})},
    ),
)
records = st.fixed_dictionaries(
    {},
    optional={
        "ph": st.one_of(st.sampled_from(list("XXXXBBBEEEiIRCMstfbenSTFpPNv")), odd),
        "name": st.one_of(names, names, names, odd, st.integers()),
        "ts": st.one_of(times, times, times, odd),
        "dur": st.one_of(times, times, odd),
        "pid": st.one_of(ids, ids, odd),
        "tid": st.one_of(ids, ids, odd),
        "cat": st.one_of(st.sampled_from(["a", "a,b", "fee"]), odd),
        "args": st.one_of(arguments, arguments, odd),
        "id": st.one_of(ids, odd),
        "id2": st.sampled_from([{"local": "0x1"}, {"global": 5}, {"x": 1}, "no"]),
        "bind_id": ids,
        "flow_in": st.sampled_from([True, False, "x"]),
        "flow_out": st.booleans(),
        "bp": st.sampled_from(["e", "x", 1]),
        "tts": st.integers(),
        "long key beyond eight": odd,
        "": odd,
    },
)
good = st.fixed_dictionaries(
    {
        "ph": st.sampled_from(list("XXXXBEBEiC")),
        "ts": st.one_of(st.integers(0, 1000), st.decimals(0, 1000, places=4).map(float)),
        "name": names,
        "pid": st.integers(0, 2),
        "tid": st.integers(0, 2),
    },
    optional={"dur": st.floats(0, 500), "args": arguments, "cat": st.just("c")},
)


def write(events, style):
    """Write the events as JSON in one of many styles; it is seeded, so that a failure can be repeated."""
    pick = random.Random(style)
    options = {"ensure_ascii": pick.random() < 0.5}
    form = pick.choice(["array", "object", "late", "unclosed"])
    if pick.random() < 0.4:
        options["separators"] = (",", ":")
    elif pick.random() < 0.5:
        options["indent"] = pick.choice([1, 4, "\t"])
    parts = []
    for event in events:
        if isinstance(event, dict) and pick.random() < 0.5:
            items = list(event.items())
            pick.shuffle(items)
            event = dict(items)
        text = json.dumps(event, **options)
        if isinstance(event, dict) and event and pick.random() < 0.1:
            # The same key twice: the last one counts.
            key = pick.choice(list(event))
            text = "{" + json.dumps(key) + ": " + pick.choice(["1", '"B"', "null"]) + ", " + text[1:]
        parts.append(text)
    comma = pick.choice([",", ", ", ",\n", " ,\r\n"])
    body = "[" + pick.choice(["", "\n", " "]) + comma.join(parts)
    if form == "unclosed":
        return body
    body += pick.choice(["", " ", "\n"]) + "]"
    if form == "array":
        return body
    if form == "object":
        return '{"traceEvents": ' + body + ', "displayTimeUnit": "ns"}'
    return '{"metadata": {"a": ["]", {}]}, "otherData":5,\n"traceEvents" :' + body + "}\n"


def same(left, right):
    for table in TABLES:
        for column in [f.name for f in fields(getattr(left, table))]:
            a, b = getattr(getattr(left, table), column), getattr(getattr(right, table), column)
            if isinstance(a, np.ndarray):
                np.testing.assert_array_equal(a, b, err_msg=f"{table}.{column}")
            elif isinstance(a, Strings):
                assert list(a) == list(b), f"{table}.{column}"
            else:
                assert a == b, f"{table}.{column}"
    assert list(left.files) == list(right.files)
    assert left.problems.as_dict() == right.problems.as_dict()
    assert (left.origin_ns, left.span_ns) == (right.origin_ns, right.span_ns)


def read_rows(path, monkeypatch=None, **options):
    """Read a file, and keep what the reader recorded before the trace was built."""
    kept = []
    original = read.make_trace

    def keep(recorded):
        kept.append(recorded)
        return original(recorded)

    read.make_trace = keep
    try:
        trace = read.read(path, silent, **options)
    finally:
        read.make_trace = original
    return kept[0], trace


def check(text, tmp_path, events=None, piece=read.PIECE):
    path = tmp_path / "t.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    recorded, fast = read_rows(path, piece=piece)
    _, slow = read_rows(path, scanner=False)
    same(fast, slow)
    if events is None:
        return fast
    calls, marks, counters, sync, problems = read_plainly(events)
    rows = recorded.rows
    maker = __import__("tracevis3d.formats.chrome.trace", fromlist=["_Maker"])._Maker(recorded)
    n = rows.n_events
    found = []
    for i in range(n):
        process, tid = np.frombuffer(maker._raw[int(rows.thread[i])], np.int64).tolist()
        process = None if process < 0 else maker._text(process >> 1)
        tid = None if tid < 0 else maker._text(tid >> 1)
        process = "0" if process is None else process
        thread = process, process if tid is None else tid
        name = int(rows.function[i])
        found.append(
            (
                thread,
                int(rows.kind[i]),
                None if name < 0 else maker._text(name),
                int(rows.time[i]),
                int(rows.stop[i]),
                bool(rows.place[i] >> 31),
            )
        )
    assert found == calls
    assert len(fast.instants) == len(marks)
    threads = [(str(p), str(t)) for p, t in zip(fast.threads.process, fast.threads.tid)]
    shown = [
        (threads[t], fast.instants.names[n], time + fast.origin_ns)
        for t, n, time in zip(fast.instants.thread, fast.instants.name, fast.instants.time.tolist())
    ]
    assert sorted(shown) == sorted(marks)
    assert sorted(fast.counters.value.tolist()) == sorted(value for *_, value in counters)
    assert sorted((fast.counters.time + fast.origin_ns).tolist()) == sorted(
        begin for *_, begin, _ in counters
    )
    waits = fast.sync
    result = [
        (
            threads[waits.thread[i]],
            int(waits.start[i]) + fast.origin_ns,
            ("wait", "release", "io")[waits.kind[i]],
            int(waits.contended[i]),
            waits.names[int(waits.name[i])],
            tuple(waits.objects[int(o)] for o in waits.object[waits.first[i] : waits.first[i + 1]]),
        )
        for i in range(len(waits))
    ]
    assert sorted(result) == sorted(sync)
    counted = {kind: problem.count for kind, problem in fast.problems.items()}
    for kind in ("no name", "no thread", "no duration", "bad time", "bad value", "malformed", "unsupported"):
        assert counted.get(kind, 0) == problems.get(kind, 0), kind
    return fast


@SETTINGS
@given(st.lists(st.one_of(records, good, odd), max_size=12), st.integers(0, 10**6))
@example([{"ph": "X", "ts": 0.0004, "dur": 0.0002, "name": "f"}], 0)
@example(
    [
        {"ph": "X", "ts": 1, "dur": 2, "name": "f", "pid": "5", "tid": "7"},
        {"ph": "i", "ts": 1, "pid": 5, "tid": 7},
    ],
    1,
)
def test_any_records_in_any_style(tmp_path, events, style):
    text = write(events, style)
    whole_text = text if text.rstrip().endswith(("]", "}")) or '"traceEvents"' in text else text + "]"
    if text.lstrip().startswith("[") and text.count("[") and not text.rstrip().endswith("]"):
        whole_text = text + "]"
    try:
        document = load(whole_text)
    except ValueError:
        document = load(text + "]")
    parsed = document["traceEvents"] if isinstance(document, dict) else document
    check(text, tmp_path, parsed)


@SETTINGS
@given(st.lists(good, min_size=1, max_size=40), st.integers(0, 10**6), st.integers(64, 700))
def test_any_cut_into_pieces(tmp_path, events, style, piece):
    check(write(events, style), tmp_path, load(json.dumps(events)), piece=piece)


@SETTINGS
@given(st.lists(good, min_size=1, max_size=10), st.integers(0, 10**6), st.data())
def test_damaged_files_are_read_alike(tmp_path, events, style, data):
    text = write(events, style)
    at = data.draw(st.integers(1, len(text)))
    damage = data.draw(st.sampled_from(["cut", "drop", "junk", "brace"]))
    if damage == "cut":
        text = text[:at]
    elif damage == "drop":
        text = text[:at] + text[at + data.draw(st.integers(1, 60)) :]
    else:
        text = text[:at] + ("\0garbage" if damage == "junk" else "}") + text[at:]
    path = tmp_path / "t.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    for scanner in (True, False):
        read.read(path, silent, scanner=scanner)


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ('"ts":1.2345,"dur":0', 1235, 1235),  # half up
        ('"ts":1.2344999999999999,"dur":0', 1234, 1234),
        ('"ts":0.0004,"dur":0.0002', 0, 1),  # the end is of the exact sum
        ('"ts":-0.0005,"dur":0', 0, 0),
        ('"ts":-0.0006,"dur":0.0012', -1, 1),
        ('"ts":1.8e15,"dur":"2.5"', 1_800_000_000_000_000_000, 1_800_000_000_000_002_500),
        ('"ts":1763699871123456.789,"dur":1e-3', 1763699871123456789, 1763699871123456790),
        ('"ts":"12","dur":0.12345678901234567', 12000, 12123),
    ],
)
def test_times_are_exact(tmp_path, text, begin, end):
    trace = check('[{"ph":"X","name":"f","pid":1,"tid":1,' + text + "}]", tmp_path)
    assert trace.origin_ns + int(trace.calls.start[0]) == begin
    assert trace.origin_ns + int(trace.calls.end[0]) == end
