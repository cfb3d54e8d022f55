"""Stacks that bpftrace counted, in both of its forms, held against a plain reading and its own counts."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.profile_facts import weights_of
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.lines import bpftrace
from tracevis3d.trace import profile
from tracevis3d.trace.recording import Recording

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


def plainly(text):
    """Return the entries of a text, (map, frames, label, weight) each, and its problems, line by line."""
    found, problems, name, key, is_open = [], Counter(), "", [], False

    def add(map_name, frames, others, value):
        try:
            weight = int(value)
        except ValueError:
            weight = -1
        if 0 <= weight < 1 << 62:
            label = ", ".join(filter(None, (other.strip(", ") for other in others)))
            found.append((map_name, frames, label, weight))
        else:
            problems["bad value"] += 1

    def add_json(line):
        try:
            said = json.loads(line)
        except ValueError:
            problems["malformed"] += 1
            return
        for map_name, values in said["data"].items():
            if not any("\n" in one for one in values):
                problems["unsupported"] += 1
                continue
            for one, value in values.items():
                rows = one.split("\n")
                inside = rows[1:-1]
                others = [rows[0], *(row for row in inside if row[:1] == ","), *rows[1:][-1:]]
                add(map_name, [row for row in inside if row[:1] != ","], others, str(value))

    for line in text.split("\n"):
        if is_open and line[:1] in (" ", "\t"):
            key.append(line)
        elif is_open:
            before, closed, value = line.rpartition("]: ")
            key.append(before if closed else line)
            if closed:
                frames = [row for row in key if row[:1] in (" ", "\t")]
                add(name, frames, [row for row in key if row[:1] not in (" ", "\t")], value)
            elif line.endswith("]:"):
                problems["unsupported"] += 1
            is_open = not closed and not line.endswith("]:")
        elif line[:1] == "@":
            name, opened, rest = line.partition("[")
            key, is_open = [rest], bool(opened) and "]" not in rest
            problems["unsupported"] += not is_open and ":" in line
        elif line.startswith('{"type"'):
            add_json(line)
    problems["truncated"] += is_open
    return found, +problems


def quickly(text):
    """Return the same as the reader finds it."""
    recording = Recording()
    reader = bpftrace._Reader(recording)
    reader.take(np.frombuffer(text.encode() or b"\n", np.uint8))
    frames, labels, maps = (
        {number: one for one, number in table.items()}
        for table in (reader._functions, reader._threads, reader._maps)
    )
    found = []
    for entries in reader._entries:
        function, at = list(map(frames.get, np.asarray(entries.function).tolist())), 0
        for size, thread, name, weight in zip(
            *(np.asarray(one).tolist() for one in entries[1:]), strict=True
        ):
            found.append((maps[name], function[at : at + size], labels[thread], weight))
            at += size
    return found, Counter({kind: p.count for kind, p in recording.problems.items()})


LINES = st.sampled_from(
    ["@[", "@us[", "@[ , bash", "@[  indented", "@[a]: 1", "@n: 2", "@", "    read+3", "\tffff main+1 (c.so)",
     "   ü+1", " ", ", ", ",", ", bash, 7", "x]: y]: 5", "]: 3", ", b]: 4\r", "]: -1", "]: 1_0", "]: many",
     "]: 9223372036854775807", "]:", ", c]:", "hello: [", '{"type": "map", "data": {"@": {"\\n f\\n,b": 2}}}',
     '{"type": "map", "data": {"@x": {"a": 2}}}', '{"type": "map"', ""]
)  # fmt: skip


@given(st.lists(LINES, max_size=40))
@example(["@[", *[", part"] * 20, "    f", "]: 1"])
def test_entries_are_those_of_a_plain_reading(lines):
    text = "\n".join(lines)
    assert quickly(text) == plainly(text)


def test_a_table_that_is_full_is_made_anew():
    text = "@[\n f\n g, h\n,a]: 1\n" * 3000
    assert quickly(text) == plainly(text)
