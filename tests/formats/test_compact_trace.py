"""The Compact Trace Format: the thesis's sample, round trips, and files that lie."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.support import walked_traces
from tracevis3d.analysis.compact import compact
from tracevis3d.errors import InputError
from tracevis3d.features.call_tree.partial_tree import ALL, PartialTree
from tracevis3d.formats import registry

SAMPLE = Path(__file__).parents[1] / "data" / "fig28.ctf"


def same_calls(a, b) -> None:
    names_a = [a.functions.name[i] for i in a.calls.function.tolist()]
    names_b = [b.functions.name[i] for i in b.calls.function.tolist()]
    assert names_a == names_b
    assert np.array_equal(a.calls.depth, b.calls.depth)
    assert np.array_equal(a.calls.thread, b.calls.thread)


def test_the_sample_of_the_thesis() -> None:
    """As printed: the third group lacks the row Attribute.<init> of Fig. 27, so 37 rows instead of 38."""
    trace = tv.load(SAMPLE, cache=False)
    assert trace.source.format == "compact"
    assert set(trace.problems) == {"no times"}
    graph = compact(trace.calls, trace.threads)
    assert (len(graph), len(graph.edges), len(trace.functions)) == (13, 33, 13)
    tree = PartialTree(graph, levels=ALL)
    assert tree.size == 37
    rows = tree.construct(None, 0, 12).rows
    labels = [trace.functions.name[graph.subtrees.function[row.node]].split(".")[-1] for row in rows]
    assert labels == [
        "IBk main", "IBk <init>", "DistributionClassifier <init>", "Classifier <init>", "IBk setKNN",
        "Evaluation evaluateModel", "Utils getOption", "Instances <init>", "FastVector <init>",
        "FastVector addElement", "FastVector size", "Instances numAttributes",
    ]  # fmt: skip
    assert [row.iterations for row in rows] == [1, 1, 1, 1, 1, 1, 5, 1, 2, 3, 1, 1]
    # Unfolded: 12 rows above, the other calls of Instances.<init>, and what the labels repeat.
    assert len(trace.calls) == 37 + 4 + 1 + 2 + 1 + 1 + 1 + 2
    # The order of the sections' rows is the thesis's own; the graph comes back the same.
    assert sorted(graph.edges.count.tolist()) == sorted([1] * 26 + [2, 2, 2, 2, 3, 3, 5])


def test_what_it_cannot_hold_is_said(tmp_path) -> None:
    trace = walked_traces.walked_trace(3, steps=40, allocations=20)
    said = tv.save(trace, tmp_path / "walk.ctf")
    assert said[0] == "times of calls and names of threads are left out: compact trace (SEAT) can't hold them"
    assert (
        f"{len(trace.memory)} allocations and frees are left out: compact trace (SEAT) can't hold them"
        in said
    )
    assert not any("times" in sentence for sentence in tv.save(trace, tmp_path / "walk.tsv"))


def test_the_sample_comes_back(tmp_path) -> None:
    trace = tv.load(SAMPLE, cache=False)
    tv.save(trace, tmp_path / "again.ctf")
    text = (tmp_path / "again.ctf").read_text()
    assert "#Threads" not in text
    same_calls(trace, tv.load(tmp_path / "again.ctf", cache=False))


@given(st.integers(0, 2**32), st.integers(0, 120), st.integers(1, 3))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_round_trip(tmp_path, seed, steps, threads) -> None:
    trace = walked_traces.walked_trace(seed, steps=steps + 1, threads=threads, functions=5)
    tv.save(trace, tmp_path / "t.ctf.gz")
    same_calls(trace, tv.load(tmp_path / "t.ctf.gz", cache=False))


def read(tmp_path, text: str):
    path = tmp_path / "bad.ctf"
    path.write_text(text)
    return tv.load(path, cache=False)


def test_a_file_that_unfolds_without_end_is_refused(tmp_path) -> None:
    nodes = "\n".join(f"{i},0" for i in range(80))
    edges = "\n".join(f"{i},{i + 1},2" for i in range(79))
    with pytest.raises(InputError, match="more than 200,000,000 calls"):
        read(tmp_path, f"#Labels\nf,0\n#Nodes\n{nodes}\n#Edges\n{edges}\n")
    with pytest.raises(InputError, match=r"line 9: the edge to node 0 closes a cycle"):
        read(tmp_path, "#Labels\nf,0\n#Nodes\n0,0\n1,0\n2,0\n#Edges\n0,1\n1,0\n")
    with pytest.raises(InputError, match="the section '#Edges' is missing"):
        read(tmp_path, "#Labels\nf,0\n#Nodes\n0,0\n")
    with pytest.raises(InputError, match="no node is listed"):
        read(tmp_path, "#Labels\nf,0\n#Nodes\n#Edges\n")


def test_what_is_wrong_is_counted_with_its_place(tmp_path) -> None:
    trace = read(
        tmp_path,
        "#Labels\nf,0\nno number\n#Nodes\n0,0\n1,9\nx,1\n0,0\n#Edges\n0,1,3\n0,7,1\n0,1,2,3\n0,1,0\n",
    )
    assert len(trace.calls) == 4
    found = {kind: (p["count"], p["first"]) for kind, p in trace.problems.as_dict().items()}
    assert found["malformed"][0] == 3
    assert found["malformed"][1] == "line 3, section Labels"
    assert found["no name"] == (1, "node 1")
    assert found["listed twice"] == (1, "node 0")
    assert found["unknown"] == (2, "line 11")


@given(st.lists(st.sampled_from(
    ["#Labels\n", "#Nodes\n", "#Edges\n", "#Threads\n", "0,1\n", "1,0\n", "0,0,9\n", "f,0\n", ",\n", "\n",
     "-1,2\n", "99999999999999999999,1\n", "1,2,3,4,5\n", "0,1,999999999999\n"]), max_size=14))  # fmt: skip
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_makes_a_traceback(tmp_path, lines) -> None:
    with contextlib.suppress(InputError):
        assert len(read(tmp_path, "#Labels\n" + "".join(lines)).calls) > 0


def test_only_its_own_files_are_taken_for_it() -> None:
    assert registry.find("compact").sniff(b"#Labels (Label, Label_ID)\n", "x") == registry.SURE
    assert registry.find("compact").sniff(b"# a comment\na;b 3\n", "x.ctf") == registry.NO
