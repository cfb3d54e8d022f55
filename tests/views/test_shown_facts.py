"""What panels say about a trace and its drawing."""

import tracevis3d as tv
from tests.conftest import ROOT
from tests.filters.test_filters import JAVA
from tracevis3d.drawing.frame import Frame
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace
from tracevis3d.trace.problems import KINDS
from tracevis3d.views import shown_facts


def test_a_trace_in_words():
    facts = dict(shown_facts.of_trace(JAVA))
    assert facts["Calls"] == str(len(JAVA.calls))
    assert facts["Depth"] == str(max(JAVA.calls.depth.tolist()))
    assert facts["Threads"] == "1"
    assert dict(shown_facts.of_trace(Trace()))["Calls"] == "0"
    assert "Records" not in facts


def test_what_has_no_times_has_no_duration_and_memory_no_calls(tmp_path):
    path = tmp_path / "a.records.tsv"
    head = "# total_allocations 2 peak_memory 64\n# seq\ttid\taddress\tsize\tallocator\tstack_id\n"
    path.write_text(head + "0\t1\t0x10\t64\tMALLOC\t1\n1\t1\t0x10\t0\tFREE\t0\n")
    trace = tv.load(path)
    facts = dict(shown_facts.of_trace(trace))
    assert facts["Records"] == f"{trace.span_ns:,}"
    assert "Duration" not in facts
    assert "Calls" not in facts
    assert facts["Events"] == f"{len(trace.memory):,}"
    assert "long" not in {what for _, what in trace._facts()}


def test_a_profile_without_times_has_what_it_weighs_and_no_duration():
    trace = tv.load(ROOT / "examples" / "pyspy_pylint.collapsed.txt.gz", cache=False)
    facts = dict(shown_facts.of_trace(trace))
    assert facts["Samples"] == "488"
    assert "Duration" not in facts
    assert "long" not in {what for _, what in trace._facts()}


def test_each_kind_of_problem_has_its_count_and_first_place():
    kind = next(iter(KINDS))
    trace = Trace()
    assert shown_facts.of_problems(trace) == []
    trace.problems.add(kind, "byte 7", 1200)
    ((name, count, words),) = shown_facts.of_problems(trace)
    assert (name, count) == (kind, "1,200")
    assert words == f"{KINDS[kind]} (first: byte 7)"


def test_what_is_drawn_of_the_data_is_counted():
    drawing = tv.icicle(JAVA).drawing(Frame(1280, 720), silent)
    rows = dict(shown_facts.of_drawing(drawing, {"labels": 1234}))
    assert rows["Labels"] == "1,234"
    calls = [len(e) for e in drawing.elements if e.kind == "call" and len(getattr(e, "time", ()))]
    assert rows["Calls Drawn"] == f"{sum(calls):,}"
