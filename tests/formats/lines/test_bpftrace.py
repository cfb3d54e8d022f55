"""Stacks that bpftrace counted, in both of its forms, held against a plain reading and its own counts."""

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.profile_facts import weights_of
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.trace import profile

DATA = ROOT / "tests" / "data" / "profiles"


def own(trace, kind=0):
    return {name: weight for name, (weight, _) in weights_of(trace, kind, named=str).items() if weight}


def test_stacks_as_text_are_those_that_bpftrace_counted():
    path = DATA / "words.bpftrace"
    trace, text = registry.open_trace(path), path.read_text()
    assert trace.source.format == "bpftrace"
    entries = re.findall(r"@\[(.*?)\]: (\d+)", text, re.DOTALL)
    innermost = Counter()
    for key, count in entries:
        innermost[key.split("\n    ")[1].split("+")[0].strip(", \n")] += int(count)
    assert own(trace) == dict(innermost)
    # The same probe counted its samples by itself.
    assert profile.totals(trace) == {"samples": int(re.search(r"@samples: (\d+)", text)[1])}
    assert trace.threads.tid == ("words",)
    assert {kind: p.count for kind, p in trace.problems.items()} == {
        "unsupported": 1, "no time unit": len(entries)
    }  # fmt: skip


def test_stacks_as_json_have_weights_of_two_kinds():
    path = DATA / "words_json.bpftrace"
    trace = registry.open_trace(path)
    maps = {}
    for line in path.read_text().splitlines():
        if line.startswith('{"type": "map"'):
            maps |= json.loads(line)["data"]
    counts = Counter()
    for key, count in maps["@"].items():
        counts[re.match(r"\n\t[0-9a-f]+ (.*?)(\+\d+)? \(", key)[1]] += count
    assert own(trace) == dict(counts)
    assert profile.totals(trace) == {"samples": maps["@samples"], "@ns": sum(maps["@ns"].values())}
    assert sum(maps["@ns"].values()) == 5_000_000 * maps["@samples"]
    inside = {trace.containers.name[k] for k in trace.functions.container.tolist() if k >= 0}
    assert "words" in inside
    assert any(str(tid).startswith("words,") for tid in trace.threads.tid)


def test_a_newer_version_of_bpftrace_is_read_as_it_counted():
    """Version 0.27 writes no commas beside stacks; in JSON it indents none and leaves out perf's blanks."""
    path = DATA / "words_0_27.bpftrace"
    trace, text = registry.open_trace(path), path.read_text()
    innermost = Counter()
    for frame, count in re.findall(r"@\[\n +(\S+)\n[^]]*\]: (\d+)", text):
        innermost[frame.split("+")[0]] += int(count)
    assert own(trace) == dict(innermost)
    assert profile.totals(trace) == {"samples": int(re.search(r"@samples: (\d+)", text)[1])}
    assert trace.threads.tid == ("words",)


def test_json_of_a_newer_version_is_read_as_it_counted():
    path = DATA / "words_0_27_json.bpftrace"
    trace, maps = registry.open_trace(path), {}
    for line in path.read_text().splitlines():
        maps |= json.loads(line)["data"]
    assert profile.totals(trace) == {
        "samples": maps["@samples"], "@kernel": maps["@samples"], "@ns": sum(maps["@ns"].values())
    }  # fmt: skip
    # The same stacks as plain names and in perf's form.
    by_name = Counter()
    for key, count in maps["@"].items():
        kernel, user = re.fullmatch(r"(.*),\n(.*),words,\d+", key, re.DOTALL).groups()
        frames = (kernel + user).strip("\n").split("\n")
        by_name[frames[0].split("+")[0]] += count
    assert own(trace) == dict(by_name)
    user = Counter()
    for key, ns in maps["@ns"].items():
        frame = key.split("\n\t")[1].partition("\n")[0]
        said = frame.partition("(")[0]
        unknown = re.fullmatch(r"[0-9a-f]+(0x[0-9a-f]+)", said)
        user[unknown[1] if unknown else said[6:].split("+")[0]] += ns
    assert own(trace, trace.samples.kinds.index("@ns")) == dict(user)
    assert {"__schedule", "mix"} <= set(trace.functions.label)
    assert len(set(trace.threads.tid)) == 3  # two threads, and a map without them


def test_what_is_damaged_or_no_stack_is_counted(tmp_path):
    path = tmp_path / "a.bpftrace"
    stack = "@[\n    read+3\n    main+9\n]: 4\n"
    more = "@us[\n    f+1\n]:\n[1, 2)  5 |@@|\n\n@[bash]: 3\n@n: 2\n@[\n    g+1\n]: many\n"
    more += '{"type": "map", "data": {\n'
    path.write_text("hello\n" + stack + more + "@[\n    cut+1\n")
    trace = registry.open_trace(path)
    assert own(trace) == {"read": 4}
    assert {kind: p.count for kind, p in trace.problems.items()} == {
        "unsupported": 3, "bad value": 1, "malformed": 1, "truncated": 1, "no time unit": 1
    }  # fmt: skip
    path.write_text("@[\n    f+1\n]: -3\n")
    with pytest.raises(InputError, match="no map has a stack in its key"):
        registry.open_trace(path)


NAMES = st.sampled_from(["main", "read", "std::map<int, int>::find", "operator[]", "0x7f00", "a b"])
ENTRIES = st.tuples(
    st.lists(NAMES, min_size=1, max_size=4), st.sampled_from(["", "bash", "a, b"]), st.integers(0, 9)
)


@given(st.lists(ENTRIES, min_size=1, max_size=6), st.booleans())
def test_paths_and_weights_are_those_that_were_written(tmp_path_factory, entries, as_json):
    path = tmp_path_factory.mktemp("bpf") / "a.bpftrace"
    text, merged = "", {}
    for frames, label, count in entries:
        rows = "".join(f"\n    {name}+{7 * k}" for k, name in enumerate(frames))
        if as_json:
            merged[f"{rows}\n" + (f",{label}" if label else "")] = count
        else:
            text += f"@[{rows}\n" + (f", {label}" if label else "") + f"]: {count}\n"
    path.write_text(json.dumps({"type": "map", "data": {"@": merged}}) if as_json else text)
    expected = Counter()
    for key, count in merged.items():
        expected[key.strip("\n ").split("\n")[0].split("+")[0]] += count
    for frames, _, count in () if as_json else entries:
        expected[frames[0]] += count
    assert own(registry.open_trace(path)) == +expected
