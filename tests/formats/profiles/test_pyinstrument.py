"""pyinstrument's sessions held against the JSON that the tool makes of the same session."""

import gzip
import json
from collections import Counter

import pytest

from tests.conftest import ROOT
from tests.support.profile_facts import spans
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.trace import profile

DATA = ROOT / "tests" / "data" / "profiles"


def recorded(name):
    return json.loads(gzip.decompress((DATA / name).read_bytes()))


def bare(name):
    """The name of a function without place and class."""
    return name.partition(" (")[0].rpartition(".")[2]


# By pyinstrument 5.1 and 4.7.
@pytest.mark.parametrize("name", ["words.pyisession.gz", "small47.pyisession.gz"])
def test_a_session_has_its_samples_in_order(name):
    trace, said = registry.open_trace(DATA / name), recorded(name)
    assert trace.source.format == "pyinstrument"
    assert len(trace.samples) == len(said["frame_records"]) == said["sample_count"]
    assert trace.samples.are_timed
    total = sum(seconds for _, seconds in said["frame_records"])
    assert abs(trace.span_ns - 1e9 * total) < len(said["frame_records"])
    assert abs(trace.origin_ns - 1e9 * said["start_time"]) < 1000
    last = [text.split("\0")[0] for text in said["frame_records"][-1][0]]
    frame, path = int(trace.samples.stack[-1]), []
    while frame >= 0:
        path.append(bare(trace.functions.name[trace.stacks.function[frame]]))
        frame = int(trace.stacks.parent[frame])
    assert path[::-1] == last
    assert not trace.problems


# By pyinstrument 5.1 and 3.4.
@pytest.mark.parametrize("name", ["words.pyinstrument.json.gz", "small34.pyinstrument.json.gz"])
def test_its_json_weighs_each_path(name):
    trace, said = registry.open_trace(DATA / name), recorded(name)
    own, waiting = Counter(), [(said["root_frame"], ())]
    while waiting:
        node, path = waiting.pop()
        path = (*path, bare(node["function"])) if node["function"] != "[self]" else path
        own[path] += round(1e9 * (node["time"] - sum(child["time"] for child in node["children"])))
        waiting += [(child, path) for child in node["children"]]
    found = Counter()
    for stack, weight in zip(trace.samples.stack.tolist(), trace.samples.weight.tolist(), strict=True):
        path = []
        while stack >= 0:
            path.append(
                trace.functions.name[trace.stacks.function[stack]].partition(" (")[0].rpartition(".")[2]
            )
            stack = int(trace.stacks.parent[stack])
        found[tuple(path[::-1])] += weight
    # Times are written as microseconds: what is left of them is rounded a few times.
    for path in found.keys() | own.keys():
        assert abs(found[path] - own[path]) <= 5000
    roots = trace.calls.parent < 0
    lasts = (trace.calls.end - trace.calls.start)[roots].sum()
    assert abs(int(lasts) - 1e9 * said["root_frame"]["time"]) < 10_000
    assert not trace.samples.are_timed


def test_lines_and_classes_of_a_session(tmp_path):
    path = tmp_path / "a.pyisession"
    rows = [
        [["f\0a.py\x005\1cTree\1l7", "[self]\0\x000"], 0.5],
        [[], 0.25],
        ["odd", 1],
        [["f\0a.py\x005"], -1],
    ]
    path.write_text(json.dumps({"frame_records": rows, "start_time": 2, "sample_count": 3}))
    trace = registry.open_trace(path)
    assert spans(trace) == [("Tree.f", 2 * 10**9, 25 * 10**8, 1)]
    assert trace.stacks.line.tolist() == [7]
    assert trace.functions.line.tolist() == [5]
    assert profile.totals(trace) == {"time (ns)": 75 * 10**7}
    assert trace.problems["malformed"].count == 2


@pytest.mark.parametrize("text", ['{"frame_records": []}', '{"target_description": "", "sample_count": 0}'])
def test_nothing_is_refused(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match="it has no"):
        registry.open_trace(path)
