"""What is known of lines, against plain loops over calls, samples, waits and allocations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.support.walked_traces import walked_trace
from tracevis3d import api
from tracevis3d.analysis.measures import self_times
from tracevis3d.errors import UsageError
from tracevis3d.features.source.findings import summary
from tracevis3d.features.source.metrics import Lines, chosen, lines_of
from tracevis3d.features.source.names import file_titles
from tracevis3d.trace.model import ALLOC, WAIT
from tracevis3d.trace.strings import Strings

PROFILES = ROOT / "tests" / "data" / "profiles"


@pytest.fixture(scope="module")
def markdown():
    return api.load(ROOT / "examples" / "vt_markdown_repeat1.json.gz")


@pytest.fixture(scope="module")
def threads():
    return api.load(ROOT / "examples" / "sync_pillow_8w.json.gz")


@pytest.fixture(scope="module")
def callgrind():
    return api.load(PROFILES / "small.instr.callgrind.gz")


def made(trace, height, color="auto", weighs="") -> Lines:
    return lines_of(trace, *chosen(trace, height, color, weighs))


def known(lines: Lines) -> dict[tuple[str, int], float]:
    """Return file and line -> what the height shows."""
    return {
        (lines.files[file], line): value
        for file, line, value in zip(lines.file.tolist(), lines.line.tolist(), lines.value.tolist())
        if value
    }


def place(trace, function, line=0):
    """Return the file and the line of a function, or of a line in it; None if unknown."""
    file = int(trace.functions.file[function])
    line = line or int(trace.functions.line[function])
    return (trace.files[file], line) if file >= 0 and line > 0 else None


def summed(pairs):
    found = defaultdict(float)
    for at, value in pairs:
        if at is not None and value:
            found[at] += value
    return dict(found)


@pytest.mark.parametrize("metric", ["time", "calls"])
def test_calls_count_where_their_functions_begin(markdown, metric):
    calls = markdown.calls
    own = self_times(calls).tolist() if metric == "time" else [1] * len(calls)
    plain = summed((place(markdown, f), value) for f, value in zip(calls.function.tolist(), own))
    assert known(made(markdown, metric)) == pytest.approx(plain)


@pytest.mark.parametrize("name", ["small.instr.callgrind.gz", "words.austin.gz", "node20.cpuprofile.gz"])
def test_samples_count_at_the_line_that_ran(name):
    trace = api.load(PROFILES / name)
    samples, stacks = trace.samples, trace.stacks
    plain = summed(
        (place(trace, int(stacks.function[stack]), int(stacks.line[stack])), weight)
        for stack, kind, weight in zip(samples.stack.tolist(), samples.kind.tolist(), samples.weight.tolist())
        if kind == 0 and stack >= 0
    )
    lines = made(trace, "weight")
    found = {at: value for at, value in known(lines).items() if at[0] in {*trace.files}}
    assert found == pytest.approx(plain)
    assert lines.unplaced == pytest.approx(
        1 - sum(known(lines).values()) / samples.weight[samples.kind == 0].sum(), abs=1e-9
    )


def ran(trace):
    """Return the lines that ran, by a walk over calls and stacks."""
    found = {place(trace, int(f)) for f in trace.calls.function.tolist()}
    for stack in set(trace.samples.stack.tolist()):
        while stack >= 0:
            found.add(place(trace, int(trace.stacks.function[stack]), int(trace.stacks.line[stack])))
            stack = int(trace.stacks.parent[stack])
    return found - {None}


@pytest.mark.parametrize("name", ["calls", "samples"])
def test_coverage_is_each_line_that_ran_once(markdown, callgrind, name):
    trace = markdown if name == "calls" else callgrind
    lines, plain = made(trace, "coverage"), ran(trace)
    assert known(lines) == dict.fromkeys(plain, 1.0)
    assert not lines.differ
    said = summary(trace, lines)
    most = max(sum(file == one for file, _ in plain) for one in trace.files)
    what = "where a function that ran begins" if name == "calls" else "that ran"
    assert said.startswith(f"{len(plain):,} lines {what}, in ")
    assert said.endswith(f": {most:,}")


def test_a_class_stands_for_a_file_that_is_unknown():
    trace = api.load(PROFILES / "words.jfr.json.gz")
    assert not len(trace.files)
    lines = made(trace, "auto")
    assert {*lines.files} <= {*trace.containers.name}
    assert lines.value.sum() > 0


def test_waits_count_at_their_lines_in_the_function_that_waits(threads):
    sync, calls = threads.sync, threads.calls
    line = np.arange(len(sync), dtype=np.int32) % 5
    trace = replace(threads, sync=replace(sync, line=line))
    pairs = []
    for row in np.flatnonzero((sync.kind == WAIT) & (sync.contended != 0) & (sync.call >= 0)).tolist():
        call, at = int(sync.call[row]), int(line[row])
        lasted = int(sync.end[row] - sync.start[row])
        who = int(calls.parent[call]) if at else call
        while not at and who >= 0 and not threads.functions.line[calls.function[who]]:
            who = int(calls.parent[who])
        if who >= 0:
            pairs.append((place(trace, int(calls.function[who]), at), lasted))
    assert pairs
    assert known(made(trace, "waits")) == pytest.approx(summed(pairs))


def test_allocations_count_at_their_stacks_lines_or_else_at_their_calls():
    trace = api.load(PROFILES / "words.prof")
    memory = walked_trace(3, steps=80, allocations=50)
    rows = np.flatnonzero(memory.memory.kind == ALLOC)
    assert len(rows)
    # The walk's functions have no places: give them some.
    n = len(memory.functions)
    functions = replace(
        memory.functions, file=np.zeros(n, np.int32), line=np.arange(1, n + 1, dtype=np.int32)
    )
    memory = replace(memory, functions=functions, files=Strings.of(["walk.py"]))
    plain = summed(
        (("walk.py", int(memory.calls.function[call]) + 1), size)
        for call, size in zip(memory.memory.call[rows].tolist(), memory.memory.size[rows].tolist())
        if call >= 0
    )
    assert known(made(memory, "bytes")) == pytest.approx(plain)
    stack = np.arange(len(memory.memory), dtype=np.int32) % len(trace.stacks)
    stacked = replace(
        memory, functions=trace.functions, files=trace.files, stacks=trace.stacks, calls=type(memory.calls)(),
        memory=replace(memory.memory, stack=stack),
    )  # fmt: skip
    plain = summed(
        (place(trace, int(trace.stacks.function[stack[row]]), int(trace.stacks.line[stack[row]])), 1)
        for row in rows.tolist()
    )
    assert known(made(stacked, "blocks")) == pytest.approx(plain)


def test_each_line_leads_to_the_longest_call_of_its_main_function(markdown):
    lines, calls = made(markdown, "time"), markdown.calls
    own, duration = self_times(calls), calls.end - calls.start
    for i in range(0, len(lines), 17):
        here = [
            f
            for f in range(len(markdown.functions))
            if place(markdown, f) == (lines.files[lines.file[i]], lines.line[i])
        ]
        heaviest = max(here, key=lambda f: own[calls.function == f].sum())
        assert lines.function[i] == heaviest
        assert duration[lines.call[i]] == duration[calls.function == heaviest].max()


def test_what_is_chosen_by_itself(markdown, callgrind):
    assert [one.title for one in chosen(markdown, "auto", "auto", "")] == ["self time", "calls"]
    assert [one.title for one in chosen(callgrind, "auto", "auto", "")] == ["instructions", "Dr"]
    assert [one.title for one in chosen(callgrind, "auto", "auto", "D1mr, Dw")] == ["D1mr", "Dw"]
    # One kind alone: the colour shows it as well.
    assert [one.title for one in chosen(callgrind, "weight", "weight", "D1mr")] == ["D1mr", "D1mr"]
    with pytest.raises(UsageError, match="no cats; it weighs instructions, Dr"):
        chosen(callgrind, "auto", "auto", "cats")
    with pytest.raises(UsageError, match="it is no profile"):
        chosen(markdown, "auto", "auto", "cats")


def test_the_sentence_is_true(markdown):
    lines = made(markdown, "time")
    top, ordered = int(lines.value.argmax()), np.sort(lines.value)[::-1]
    few = int(np.count_nonzero(np.cumsum(ordered) < 0.9 * ordered.sum())) + 1
    base = lines.files[lines.file[top]].rpartition("/")[2]
    label = markdown.functions.label[lines.function[top]]
    share = round(100 * lines.value[top] / lines.value.sum())
    assert summary(markdown, lines) == (
        f"{base}:{lines.line[top]} in {label} has {share} % of the self time; "
        f"{few} of {np.count_nonzero(lines.value)} lines have 90 %"
    )


def test_titles_of_files_differ_and_end_their_paths(markdown):
    files = [*markdown.files, "C:\\a\\x.py", "D:\\b\\x.py", ""]
    titles = file_titles(files)
    assert len({*titles}) == len(files)
    for file, title in zip(files[:-1], titles):
        assert file.replace("\\", "/").endswith(title)
