"""Filters: each against its sentence, the stack against a plain twin, and the trace that is left."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.support import walked_traces
from tracevis3d.cli import main
from tracevis3d.errors import InputError, UsageError
from tracevis3d.features.call_tree.partial_tree import ALL, PartialTree
from tracevis3d.filters import registry
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.listed import listed
from tracevis3d.filters.reduce import reduced
from tracevis3d.filters.stack import HIDDEN, SHOWN, WHOLE, Applied, apply, as_text, parse  # fmt: skip
from tracevis3d.trace.events import BEGIN, END
from tracevis3d.trace.model import Source, Trace
from tracevis3d.trace.recording import Recording


def trace_of(text: str) -> Trace:
    """Build a trace from words: ``name(`` begins a call, ``)`` ends it; 10 ns pass between events."""
    from tracevis3d.formats.names import split

    recording = Recording()
    thread = recording.thread(1, 1)
    kinds, functions, stack = [], [], []
    for word in text.replace("(", "( ").replace(")", " ) ").split():
        if word == ")":
            kinds.append(END)
            functions.append(stack.pop())
        else:
            kinds.append(BEGIN)
            stack.append(recording.function(word.removesuffix("(")))
            functions.append(stack[-1])
    n = len(kinds)
    recording.add_events(thread=[thread] * n, kind=kinds, function=functions, time=np.arange(n) * 10)
    return recording.finish(Source(), split)


def marked(trace: Trace, name: str, **values) -> list[str]:
    """Return the labels of the functions whose calls a filter marks, in the order of the calls."""
    facts = Facts(trace)
    applied = apply([Applied(name, values, what="call")], facts)
    found = trace.calls.function[applied.state == HIDDEN]
    return [trace.functions.label[i] for i in found.tolist()]


JAVA = trace_of(
    "a.Main.main( a.Point.<init>( a.Point.setX() ) b.Line.<init>() a.Point.getX() b.Line.draw( b.Util.log() )"
    " c.Circle.draw( b.Util.log() a.Point.getX() ) a.Point.finalize() b.Util.log()"
    " c.Circle.isEmpty( b.Util.log() ) )"
)


def test_roles() -> None:
    assert marked(JAVA, "constructors") == ["Point.<init>", "Line.<init>", "Point.finalize"]
    assert marked(JAVA, "constructors", destructors=False) == ["Point.<init>", "Line.<init>"]
    assert marked(JAVA, "accessors") == ["Point.setX", "Point.getX", "Point.getX"]
    assert marked(JAVA, "accessors", leaves=False)[-1] == "Circle.isEmpty"
    assert marked(JAVA, "polymorphic") == ["Line.draw", "Circle.draw"]
    others = trace_of("Shape::Shape( Shape::~Shape() ) Shape::settle() Shape.__init__() Shape.__getattr__()")
    assert marked(others, "constructors") == ["Shape::Shape", "Shape::~Shape", "Shape.__init__"]
    assert marked(others, "accessors") == ["Shape.__getattr__"]


def test_names_modules_threads_and_moments() -> None:
    assert marked(JAVA, "name", pattern="draw") == ["Line.draw", "Circle.draw"]
    assert marked(JAVA, "name", pattern="*.get?", kind="wildcard") == ["Point.getX"] * 2
    assert marked(JAVA, "name", pattern=r"^Util\.", kind="regex", case=True) == ["Util.log"] * 4
    assert set(marked(JAVA, "name", pattern="draw", others=True)).isdisjoint({"Line.draw", "Circle.draw"})
    assert set(marked(JAVA, "module", pattern="c")) == {"Circle.draw", "Circle.isEmpty"}
    assert marked(JAVA, "depth", below=2) == ["Point.setX", "Util.log", "Util.log", "Point.getX", "Util.log"]
    assert marked(JAVA, "duration", below="11ns").count("Util.log") == 4
    assert marked(JAVA, "duration", below="", above="100ns") == ["Main.main"]
    end = JAVA.span_ns
    assert marked(JAVA, "time", start=f"{end - 35}ns") == [
        JAVA.functions.label[f] for f in JAVA.calls.function[JAVA.calls.end < end - 35].tolist()
    ]
    assert marked(JAVA, "thread", threads="1")[0] == "Main.main"
    assert marked(JAVA, "thread", threads="1", others=True) == []
    assert marked(JAVA, "calls", calls="1") == ["Point.<init>"]
    assert marked(JAVA, "calls", calls="2", others=True)[:1] == ["Line.<init>"]


@given(st.integers(0, 2**32), st.integers(1, 300))
@settings(deadline=None, max_examples=60)
def test_utilityhood_is_the_published_one(seed, steps) -> None:
    trace = walked_traces.walked_trace(seed, steps=steps, threads=2, functions=8)
    facts = Facts(trace)
    calls, n = trace.calls, len(trace.functions)
    callers: dict[int, set] = {f: set() for f in range(n)}
    callees: dict[int, set] = {f: set() for f in range(n)}
    for i in range(len(calls)):
        if calls.parent[i] >= 0:
            above, below = int(calls.function[calls.parent[i]]), int(calls.function[i])
            callers[below].add(above)
            callees[above].add(below)
    assert facts.fan_in.tolist() == [len(callers[f]) for f in range(n)]
    assert facts.fan_out.tolist() == [len(callees[f]) for f in range(n)]
    containers = np.asarray(trace.functions.container)
    assert facts.modules_in.tolist() == [len({int(containers[c]) for c in callers[f]}) for f in range(n)]
    for f in range(n):
        expected = len(callers[f]) / n * math.log(n / (len(callees[f]) + 1)) / math.log(n) if n > 1 else 0
        assert facts.utilityhood[f] == pytest.approx(max(expected, 0))


def test_utilities() -> None:
    trace = trace_of("main( a( log() ) b( log() ) c( log() a( log() ) ) log() )")
    assert set(marked(trace, "utilities")) == {"log"}
    assert set(marked(trace, "utilities", callers=5)) == set()
    assert set(marked(trace, "utilities", also="b", never="log")) == {"b"}
    with pytest.raises(UsageError, match="there is no function 'x'"):
        marked(trace, "utilities", also="x")


def test_patterns_keep_their_first_occurrence() -> None:
    trace = trace_of("main( f( g() ) h() f( g() ) f( g() g() ) )")
    assert marked(trace, "patterns") == ["f"]
    assert marked(trace, "patterns", keep="none") == ["f", "f"]
    assert marked(trace, "patterns", criterion="collapsed", keep="none") == ["f", "f", "f"]
    assert marked(trace, "patterns", size=1) == ["f", "g", "g", "g"]
    assert marked(trace, "patterns", times=3) == []


EFFECT = st.sampled_from(("hide", "fade", "sink"))


@given(st.integers(0, 2**32), st.integers(1, 120), st.lists(
    st.tuples(st.sampled_from(("name", "depth", "patterns")), EFFECT, st.sampled_from(("subtree", "call")),
              st.booleans(), st.integers(-1, 200)), max_size=4))  # fmt: skip
@settings(deadline=None, max_examples=150)
def test_a_stack_does_what_its_sentence_says(seed, steps, drawn) -> None:
    trace = walked_traces.walked_trace(seed, steps=steps, threads=2, functions=5)
    calls, n = trace.calls, len(trace.calls)
    if not n:
        return
    facts = Facts(trace)
    values = {"name": {"pattern": "f1"}, "depth": {"below": 2}, "patterns": {"size": 1}}
    stack = [
        Applied(name, values[name], effect, what, within if 0 <= within < n else WHOLE, on)
        for name, effect, what, on, within in drawn
    ]
    state = [0] * n
    for applied in stack:
        if not applied.on:
            continue
        marks = registry.find(applied.name).mark(facts, applied.parameters())
        scope = range(n)
        if applied.within != WHOLE:
            scope = range(applied.within, applied.within + int(calls.extent[applied.within]))
        for i in scope:
            node = int(facts.graph.subtrees.of_call[i])
            flag = {"function": int(calls.function[i]), "node": node, "call": i}[marks.of]
            if marks.flags[flag]:
                below = int(calls.extent[i]) if applied.what == "subtree" else 1
                state[i : i + below] = [{"hide": 1, "fade": 2, "sink": 3}[applied.effect]] * below
    filtered = apply(stack, facts)
    assert filtered.state.tolist() == state
    assert sum(one.settled for one in filtered.effects) == n - state.count(SHOWN)
    assert parse(as_text(stack)) == [
        Applied(a.name, {k: str(v) for k, v in a.values.items()}, a.effect, a.what, a.within, a.on)
        for a in stack
    ]
    if HIDDEN in state and state.count(HIDDEN) == n:
        with pytest.raises(InputError, match="hide every call"):
            reduced(trace, filtered)
        return
    left = reduced(trace, filtered)
    kept = [i for i in range(n) if state[i] != HIDDEN]
    assert left.calls.start.tolist() == [int(calls.start[i]) for i in kept]
    for k, i in enumerate(kept):
        above = int(calls.parent[i])
        while above >= 0 and state[above] == HIDDEN:
            above = int(calls.parent[above])
        assert left.calls.parent[k] == (kept.index(above) if above >= 0 else -1)
        depth = int(left.calls.depth[left.calls.parent[k]]) if above >= 0 else 0
        assert left.calls.depth[k] == depth + 1
        inside = [j for j in kept if i <= j < i + int(calls.extent[i])]
        assert left.calls.extent[k] == len(inside)


def test_nodes_that_are_hidden_everywhere() -> None:
    trace = trace_of("main( f( g() ) h() f( g() ) )")
    facts = Facts(trace)
    stack = parse("name(pattern=f); !name(pattern=main)")
    found = listed(stack, facts, apply(stack, facts))
    assert found.graph is facts.graph, "marks of functions need no graph of their own"
    assert found.marked is not None
    labels = {trace.functions.label[facts.graph.subtrees.function[c]] for c in np.flatnonzero(found.marked)}
    assert labels == {"f"}
    assert found.hidden(0, len(trace.calls)) == 4
    assert found.hidden(1, 3) == 2


WHAT = st.sampled_from(("subtree", "call"))
KINDS = st.sampled_from(("name", "depth", "patterns", "duration"))


@given(
    st.integers(0, 2**32),
    st.integers(1, 120),
    st.lists(st.tuples(KINDS, EFFECT, WHAT, st.booleans(), st.integers(-1, 60)), max_size=4),
)
@settings(deadline=None, max_examples=120)
def test_a_tree_lists_the_calls_that_are_left(seed, steps, drawn) -> None:
    """Filters of single calls, too: every call that is left has a row, and no other has."""
    trace = walked_traces.walked_trace(seed, steps=steps, threads=2, functions=4)
    calls, n = trace.calls, len(trace.calls)
    if not n:
        return
    facts = Facts(trace)
    lasting = f"{int(np.median(calls.end - calls.start))}ns"
    values = {"name": {"pattern": "f1"}, "depth": {"below": 2}, "patterns": {"size": 1},
              "duration": {"below": lasting}}  # fmt: skip
    stack = [
        Applied(name, values[name], effect, what, within if 0 <= within < n else WHOLE, on)
        for name, effect, what, on, within in drawn
    ]
    filtered = apply(stack, facts)
    hidden = filtered.state == HIDDEN
    found = listed(stack, facts, filtered)
    assert found.hidden(0, n) == np.count_nonzero(hidden)
    tree = PartialTree(found.graph, levels=ALL, filtered=found.marked, calls=found.calls, places=found.places)
    paths = set()
    left = None if hidden.all() else reduced(trace, filtered)
    for k, call in enumerate(np.flatnonzero(~hidden).tolist()):
        path, iterations = tree.path_of(call)
        assert tree.call(path, iterations) == call
        assert tree.is_shown(path)
        assert left is not None
        assert len(path) == left.calls.depth[k]
        assert found.graph.subtrees.function[tree.node(path)] == calls.function[call]
        paths.add(path)
    assert tree.size == len(paths)
    for path in paths:
        assert [tree.call(path), len(tree.calls(path, 3))] == [tree.calls(path, 3)[0], min(
            3, tree.construct(path, 0, 1).rows[0].iterations)]  # fmt: skip
    for call in np.flatnonzero(hidden).tolist():
        above = call
        while above >= 0 and hidden[above]:
            above = int(calls.parent[above])
        try:
            path = tree.nearest_shown(tree.path_of(call)[0])
        except UsageError:
            path = None
        expected = tree.path_of(above)[0] if above >= 0 else None
        assert path == expected
    folded = PartialTree(
        found.graph, levels=ALL, filtered=found.marked, folded=True, calls=found.calls, places=found.places
    )
    paths = set()
    for call in np.flatnonzero(~hidden).tolist():
        path, iterations = folded.path_of(call)
        assert folded.call(path, iterations) == call
        assert folded.is_shown(path)
        paths.add(path)
    rows = folded.construct(None, 0, folded.size).rows
    assert paths == {row.path for row in rows if not folded.is_sequence(row.node)}
    for row in rows:
        taken = folded.calls(row.path, n).tolist()
        assert folded.call(row.path) == taken[0]
        assert folded.last(row.path) == taken[-1]
    whole = listed(stack, facts, filtered, whole=True)
    every = PartialTree(whole.graph, levels=ALL, filtered=whole.marked, show_filtered=True)
    for call in range(n):
        path, _ = every.path_of(call)
        assert every.is_shown(path)
        if filtered.own[call]:
            assert every.is_filtered(path)
        if every.is_filtered(path):
            assert hidden[call]


def test_text_of_a_stack_with_everything_in_it() -> None:
    stack = [
        Applied("name", {"pattern": 'a;b,"c"\\ (d)', "kind": "substring"}, "sink", "call", 7),
        Applied("utilities", {}, on=False),
        Applied("duration", {"below": ""}),
    ]
    assert parse(as_text(stack)) == stack
    for text, reason in {
        "nothing": "there is no filter 'nothing'",
        "name(pattern)": "can't be read from 'pattern' on",
        "depth(below=x)": "depth: below=x: a whole number is expected",
        "depth(over=2)": "depth: there is no parameter 'over'",
        "depth(effect=burn)": "depth: effect=burn",
        "depth(what=all)": "depth: what=all",
        "depth(within=x)": "the number of a call is expected",
        "depth below": "can't be read: name",
    }.items():
        with pytest.raises(UsageError, match=reason):
            parse(text)
    with pytest.raises(UsageError, match="there is no such call"):
        apply(parse("depth(within=99999)"), Facts(JAVA))


def test_whole_way(tmp_path, capsys) -> None:
    tv.save(JAVA, tmp_path / "in.tv3")
    words = ["filter", str(tmp_path / "in.tv3"), "--constructors", "--name", "pattern=log,what=call"]
    assert main([*words, "-o", str(tmp_path / "out.tv3"), "--json", "--quiet"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [f["name"] for f in printed["filters"]] == ["constructors", "name"]
    assert (printed["calls"], printed["shown"], printed["hidden"]) == (14, 6, 8)
    left = tv.load(tmp_path / "out.tv3", cache=False)
    assert [left.functions.label[f] for f in left.calls.function.tolist()] == [
        "Main.main", "Point.getX", "Line.draw", "Circle.draw", "Point.getX", "Circle.isEmpty",
    ]  # fmt: skip
    assert tv.filtered(JAVA, "constructors; name(pattern=log, what=call)").calls.depth.tolist() == [
        1,
        2,
        2,
        2,
        3,
        2,
    ]
    assert main(["filter", str(tmp_path / "in.tv3")]) == 2
    assert main(["filter", str(tmp_path / "in.tv3"), "--name", "pattern="]) == 2
    assert main(["filters"]) == 0
    assert main(["filters", "utilities"]) == 0
    assert "utilityhood" in capsys.readouterr().out.lower()


def test_any_view_of_what_is_left(tmp_path, capsys) -> None:
    from tracevis3d.api import Figure

    whole = Figure("icicle", (JAVA,)).drawing()
    left = Figure("icicle", (JAVA,), filters="name(pattern=log); constructors(effect=fade)").drawing()
    calls = {
        int(i)
        for element in left.elements
        if element.kind == "call"
        for i in element.id
        if element.look == "solid"
    }
    labels = {JAVA.functions.label[JAVA.calls.function[i]] for i in calls}
    assert "Util.log" not in labels
    assert "Line.draw" in labels
    ghosts = [e for e in left.elements if e.kind == "call" and e.look == "ghost"]
    assert sorted(JAVA.functions.label[JAVA.calls.function[i]] for e in ghosts for i in e.id) == [
        "Line.<init>", "Point.<init>", "Point.finalize", "Point.setX",
    ]  # fmt: skip
    assert sum(map(len, left.elements)) == sum(map(len, whole.elements)) - 4
    cone = Figure("cone", (JAVA,), filters="name(pattern=log)").drawing()
    assert cone.counts["hidden_calls"] == 4
    tv.save(JAVA, tmp_path / "in.tv3")
    words = ["render", "icicle", str(tmp_path / "in.tv3"), "-o", str(tmp_path / "x.png")]
    assert main([*words, "--filters", "nothing"]) == 2
    assert "there is no filter" in capsys.readouterr().err


def test_a_filter_that_marks_nothing_says_what_could_be_meant(capsys, tmp_path) -> None:
    def hints(text: str) -> list[str]:
        return [one.hint for one in apply(parse(text), Facts(JAVA)).effects]

    assert hints("name(pattern=getX)") == [""]
    assert hints("module(pattern=a.Point)") == [""]  # the class's whole name
    (said,) = hints("name(pattern=Point.getZ)")
    assert said.startswith("name(pattern=Point.getZ) marks no call; similar names are: Point.")
    (said,) = hints("module(pattern=Point.a)")
    assert "marks no call" in said
    (said,) = hints("depth(below=99)")
    assert said == "depth(below=99) marks no call"
    # One that marks nothing doesn't hide what others say.
    assert [bool(hint) for hint in hints("name(pattern=zzz); name(pattern=log)")] == [True, False]
    from tracevis3d.api import Figure

    path = tmp_path / "in.tv3"
    tv.save(JAVA, path)
    assert main(["filter", str(path), "--name", "pattern=getY", "--quiet"]) == 0
    assert "similar names are: " in capsys.readouterr().out
    for view in ("icicle", "cone"):
        drawing = Figure(view, (JAVA,), filters="name(pattern=getY)").drawing()
        assert any("similar names are" in note for note in drawing.notes), view
