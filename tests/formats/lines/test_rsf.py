"""Rigi Standard Format: what is read, what is mended, what is refused."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.picked import PickedElement
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.lines.rsf import _nest, sniff
from tracevis3d.views.describe import describe, describe_call

SMALL = """\
# a small run
contain app app.ui
contain app app.core
contain app.ui app.ui.Window
contain app.core app.core.Model
call app.ui.Window app.core.Model 100 1 load Window.java:12 path="a b.txt" result=3
call app.core.Model app.core.Model 110 1 parse
call app.core.Model app.core.Model 120 1 parse
call app.core.Model app.ui.Window 130 1 changed
call app.ui.Window app.core.Model 150 1 save
"""


def read(tmp_path, text, name="run.rsf"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return registry.open_trace(path)


def tree(trace):
    """Return the calls as (depth, label) in order."""
    labels = list(trace.functions.label)
    return [
        (int(d), labels[f]) for d, f in zip(trace.calls.depth, trace.calls.function.tolist(), strict=True)
    ]


def test_calls_nest_under_their_callers(tmp_path):
    trace = read(tmp_path, SMALL)
    assert trace.source.format == "rsf"
    # Nobody called Window: it is opened when it first calls. parse again is a loop; save is called by the
    # innermost open call of Window, which is changed.
    assert tree(trace) == [
        (1, "Window"),
        (2, "Model.load"),
        (3, "Model.parse"),
        (3, "Model.parse"),
        (4, "Window.changed"),
        (5, "Model.save"),
    ]
    assert trace.calls.start.tolist() == [0, 0, 10, 20, 30, 50]
    assert trace.origin_ns == 100
    assert not trace.problems


def test_containers_are_kept_as_the_functions_path(tmp_path):
    trace = read(tmp_path, SMALL)
    containers, functions = trace.containers, trace.functions
    path = []
    at = int(functions.container[list(functions.name).index("app.core.Model.load")])
    while at >= 0:
        path.append(containers.name[at])
        at = int(containers.parent[at])
    assert path == ["app.core.Model", "app.core", "app"]


def test_what_follows_the_method_is_the_calls_arguments(tmp_path):
    trace = tv.load(_write(tmp_path, SMALL))
    load = [i for i in range(len(trace)) if trace.arguments(i)]
    assert len(load) == 1
    assert trace.functions.label[int(trace.calls.function[load[0]])] == "Model.load"
    assert trace.arguments(load[0]) == {
        "path": "a b.txt",
        "result": "3",
        "fields": ["Window.java:12"],
    }


def test_a_place_in_the_source_is_the_methods_unless_it_is_the_callers(tmp_path):
    trace = read(
        tmp_path,
        "call app.A app.B 1 1 run src/B.java:7 x=1\ncall app.B app.C 2 1 go B.java:9\n"
        "call app.B app.D 3 1 stop Other.java:3\ncall app.B app.E 4 1 on result=2\n",
    )
    places = {}
    for i, label in enumerate(trace.functions.label):
        file = int(trace.functions.file[i])
        places[label] = (trace.files[file] if file >= 0 else "", int(trace.functions.line[i]))
    assert places["app.B.run"] == ("src/B.java", 7)
    assert places["app.D.stop"] == ("Other.java", 3)
    # B calls C in line 9 of its own file; of E no place is known.
    assert places["app.C.go"][0] == places["app.E.on"][0] == ""


def test_what_was_recorded_with_a_call_is_in_its_tooltip(tmp_path):
    trace = tv.load(_write(tmp_path, SMALL))
    (load,) = (i for i in range(len(trace)) if trace.arguments(i))
    rows = dict(describe_call(trace, load).rows)
    assert (rows["path"], rows["result"], rows["recorded"]) == ("a b.txt", "3", "Window.java:12")
    assert "recorded" not in dict(describe_call(trace, load + 1).rows)
    (tmp_path / "run.rsf").unlink()
    assert "recorded" not in dict(describe_call(trace, load).rows)


def test_what_the_drum_draws_says_place_call_site_parameters_and_result(tmp_path):
    text = SMALL.replace(" 110 1 parse", " 110 1 parse src/core/Model.java:7 n=2 result=ok")
    trace = tv.load(_write(tmp_path, text))
    meaning = tv.interactions(trace, level="class").drawing(Frame(960, 540)).meaning["interaction"]
    ((source, calls),) = meaning.calls
    told = {}
    for i, call in enumerate(calls.tolist()):
        (said,) = describe(PickedElement("interaction", id=i, calls={source: call}), [trace])
        told.setdefault(said.title, (said.where, dict(said.rows)))
    where, rows = told["Model.load"]
    assert where == "app.core.Model"
    assert (rows["path"], rows["result"], rows["recorded"]) == ("a b.txt", "3", "Window.java:12")
    where, rows = told["Model.parse"]
    assert where.endswith("src/core/Model.java:7")
    assert (rows["n"], rows["result"]) == ("2", "ok")


def _write(tmp_path, text):
    path = tmp_path / "run.rsf"
    path.write_text(text)
    return path


def test_times_threads_and_methods_may_be_missing(tmp_path):
    trace = read(tmp_path, "call A B\ncall B C\ncall A C\n")
    assert tree(trace) == [(1, "A"), (2, "B"), (3, "C"), (2, "C")]
    assert np.all(np.diff(trace.calls.start[1:]) > 0)
    assert trace.problems["no time unit"].count == 3
    two = read(tmp_path, "call A B 5 x\ncall A B 6 y\n")
    assert len(two.threads) == 2


def test_objects_belong_to_their_class(tmp_path):
    trace = read(tmp_path, "contain p p.A\ncall p.A@1 p.B#7 1 1 f\ncall p.A@2 p.B@8 2 1 f\n")
    assert set(trace.functions.name) == {"p.A", "p.B.f"}


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("call A B 1 1 f\ncall A\ncall A B 2 1 f\n", "malformed", "line 2"),
        ("call A B 1 1 f\ncall A B soon 1 f\n", "bad time", "line 2"),
        ("call A B 9 1 f\ncall A C 3 1 g\n", "out of order", "line 2"),
        ("type A class\ncall A B 9 1 f\n", "unsupported", "line 1"),
        ("call A B 9 1 f\ncall A B 10 1 f\ncall A B\n", "no time unit", "line 3"),
    ],
)
def test_what_is_off_is_counted_with_its_line(tmp_path, text, kind, place):
    trace = read(tmp_path, text)
    assert place in trace.problems[kind].first
    assert len(trace) >= 2


def test_no_call_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="no line is a call"):
        read(tmp_path, "contain A B\ncontain A C\n")


def test_containers_in_a_ring_end(tmp_path):
    trace = read(tmp_path, "contain A B\ncontain B A\ncontain C C\ncall A B 1 1 f\n")
    assert len(trace) == 2


def test_damaged_and_other_encodings(tmp_path):
    packed = gzip.compress(SMALL.encode() * 50)
    cut = read(tmp_path, packed[: len(packed) * 9 // 10], "cut.rsf.gz")
    assert "truncated" in cut.problems
    assert tree(read(tmp_path, SMALL.encode("utf-16"), "wide.rsf"))[0] == (1, "Window")
    assert tree(read(tmp_path, b"\xef\xbb\xbf" + SMALL.encode(), "marked.rsf"))[0] == (1, "Window")


def test_the_sniff_leaves_other_texts_alone():
    assert sniff(b"contain a b\ncall a b 1\n", "x") > sniff(b"call me maybe\nother words\nagain\n", "x")
    assert sniff(b"1\t+\tf\t12\n", "x") == 0
    assert sniff(b"main;f;g 12\n", "x") == 0


calls_of_elements = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), max_size=60)


@settings(max_examples=200, deadline=None)
@given(calls_of_elements)
def test_the_kernel_nests_like_its_plain_twin(rows):
    expected = plain_nesting(rows)
    if not rows:
        return
    n = len(rows)
    ends = np.array([(a, b) for a, b, _ in rows], np.int32)
    function = np.array([3 * b + m for _, b, m in rows], np.int32)
    outside = np.array([100 + a for a, _, _ in rows], np.int32)
    order = np.arange(n)
    events = _nest(order, np.zeros(n, np.int64), 1, ends, function, outside, np.arange(n))
    depth, found = 0, []
    for kind, f, row in zip(events.kind.tolist(), events.function.tolist(), events.row.tolist(), strict=True):
        if kind == 0:
            depth += 1
            found.append((depth, f, row))
        else:
            depth -= 1
    assert depth == 0
    assert found == expected


def plain_nesting(rows):
    """Return (depth, function, row) of each call, found by looking through the whole stack."""
    stack, found = [], []  # (element, function)
    for i, (source, target, method) in enumerate(rows):
        function = 3 * target + method
        while stack and stack[-1][0] != source:
            stack.pop()
        if source == target and stack:
            begin = len(stack)
            while begin > 0 and stack[begin - 1][0] == source:
                begin -= 1
            again = [d for d in range(begin + 1, len(stack)) if stack[d][1] == function]
            if again:
                del stack[again[-1] :]
        if not stack:
            stack.append((source, 100 + source))
            found.append((1, 100 + source, -1))
        stack.append((target, function))
        found.append((len(stack), function, i))
    return found


def test_a_recorded_run_keeps_every_call_and_caller(recorded):
    trace = registry.open_trace(recorded / "extravis_J48_weather.rsf.gz")
    twin = registry.open_trace(recorded / "weka_J48_weather.tsv.gz")
    assert len(trace) == len(twin) == 103_140
    assert set(trace.functions.label) >= {"Distribution.add", "Evaluation.evaluateModel"}

    def between_classes(t):
        owner = t.functions.container[t.calls.function]
        names = list(t.containers.name)
        callers = np.where(t.calls.parent >= 0, owner[np.maximum(t.calls.parent, 0)], -1)
        pairs, times = np.unique(np.stack([callers, owner]), axis=1, return_counts=True)
        return {
            (names[a].rsplit(".", 1)[-1], names[b].rsplit(".", 1)[-1]): n
            for (a, b), n in zip(pairs.T.tolist(), times.tolist(), strict=True)
            if a >= 0
        }

    assert between_classes(trace) == between_classes(twin)
