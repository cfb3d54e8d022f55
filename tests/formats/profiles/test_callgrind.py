"""Callgrind's profiles held against callgrind_annotate, Xdebug's against its own totals; damaged ones."""

import gzip
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.profile_facts import spans, weights_of
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.profiles import callgrind
from tracevis3d.kernels.formats.scan import callgrind as scan
from tracevis3d.trace import profile
from tracevis3d.trace.recording import Recording

DATA = ROOT / "tests" / "data" / "profiles"


def own_by_name(trace, kind):
    """Own weight by the name of the function alone: annotate names files in its own way."""
    found = Counter()
    for name, (own, _) in weights_of(trace, kind).items():
        found[name] += own
    return found


@pytest.mark.parametrize(("name", "events"), [("small", 1), ("small.instr", 9)])
def test_own_weights_are_those_of_callgrind_annotate(name, events):
    trace = registry.open_trace(DATA / f"{name}.callgrind.gz")
    said = [Counter() for _ in range(events)]
    rows = gzip.decompress((DATA / f"{name}.annotate.txt.gz").read_bytes()).decode().splitlines()
    totals = [int(word.replace(",", "")) for word in rows[0].split()[:events]]
    for row in rows[1:]:
        *costs, place = row.split(maxsplit=events)
        for event, cost in enumerate(costs):
            said[event][place.strip().rpartition(":")[2]] += int(cost.replace(",", "").replace(".", "0"))
    # The totals that callgrind writes are up to two more than its lines.
    assert all(0 <= b - a <= 2 for a, b in zip(profile.totals(trace).values(), totals, strict=True))
    for event in range(events):
        found = own_by_name(trace, event)
        # The names of two symbol versions are one in annotate's eyes.
        assert {n: w for n, w in found.items() if w} == {n: w for n, w in said[event].items() if w}


def test_paths_are_estimated_from_the_graph():
    trace = registry.open_trace(DATA / "small.callgrind.gz")
    assert trace.source.format == "callgrind"
    assert set(trace.problems) == {"no time unit", "no paths"}
    names = list(trace.functions.label)
    callers = Counter()
    for call, above in enumerate(trace.calls.parent.tolist()):
        callers[
            names[trace.calls.function[call]], names[trace.calls.function[above]] if above >= 0 else ""
        ] += 1
    assert callers["sum", "main"] == 1
    assert callers["qsort", "main"] == 1
    main = names.index("main")
    lasts = (trace.calls.end - trace.calls.start)[trace.calls.function == main]
    # callgrind_annotate --inclusive=yes says 980,622 for main.
    assert abs(int(lasts.sum()) - 980_622) < 0.01 * 980_622
    assert int(trace.functions.line[main]) == 0
    assert trace.files[trace.functions.file[main]] == "/home/user/small.c"
    assert trace.stacks.line.max() > 0


def test_xdebugs_calls_are_exact():
    trace = registry.open_trace(DATA / "php.cachegrind.gz")
    text = gzip.decompress((DATA / "php.cachegrind.gz").read_bytes()).decode()
    # Lines behind ``calls=`` are what callees cost; the summary adds what Xdebug itself took.
    total = sum(map(int, re.findall(r"(?m)(?<!calls=1 0 0\n)^\d+ (\d+) \d+$", text)))
    roots = trace.calls.parent < 0
    assert (trace.calls.end - trace.calls.start)[roots].tolist() == [10 * total]
    assert len(trace.calls) == len(re.findall(r"(?m)^fn=", text))
    counts = Counter(trace.functions.label[f] for f in trace.calls.function.tolist())
    # fib(12) makes 465 calls, 400 words are added.
    assert counts["fib"] == 465
    assert counts["Tree->add"] == 400
    assert not len(trace.samples)
    assert not trace.problems


HEAD = "version: 1\ncreator: callgrind-3\npositions: line\nevents: Ir\n\n"


def test_compressed_names_and_positions(tmp_path):
    path = tmp_path / "a.callgrind"
    path.write_text(
        f"{HEAD}fl=(1) a.c\nfn=(1) main\n5 10\n+2 3\n-1 1\n* 4\ncfn=(2) f\ncalls=2 9\n+1 20\n\n"
        "fn=(2)\n9 20\n\nfl=(1)\nfn=(1)\n5 2\n"
    )
    trace = registry.open_trace(path)
    assert list(trace.functions.name) == ["main (a.c)", "f (a.c)"]
    rows = zip(trace.stacks.function.tolist(), trace.stacks.line.tolist(), trace.samples.weight.tolist())
    assert sorted(rows) == [(0, 5, 12), (0, 6, 5), (0, 7, 3), (1, 9, 20)]
    assert spans(trace) == [("main", 0, 40, 1), ("f", 0, 20, 2)]


def test_recursion_ends(tmp_path):
    path = tmp_path / "a.callgrind"
    path.write_text(
        f"{HEAD}fn=a\n1 10\ncfn=b\ncalls=1 1\n1 30\n\n"
        "fn=b\n1 10\ncfn=a\ncalls=1 1\n1 20\ncfn=b\ncalls=1 1\n1 5\n"
    )
    trace = registry.open_trace(path)
    assert profile.totals(trace) == {"Ir": 20}
    assert trace.calls.depth.max() == 2


@pytest.mark.parametrize("cost", [-(10**30), -(2**60), 2**60])
@pytest.mark.parametrize(("event", "factor"), [("Ir", 1), ("Time_(us)", 1000)])
def test_no_sum_of_costs_leaves_64_bits(tmp_path, cost, event, factor):
    path = tmp_path / "a.callgrind"
    path.write_text(f"{HEAD.replace('Ir', event)}fn=f\n" + f"1 {cost}\n2 {10**15}\n" * 20 + "3 7\n")
    trace = registry.open_trace(path)
    assert trace.problems["bad value"].count == 20 + 16
    assert trace.samples.weight.tolist() == [4 * 10**15 * factor, 7 * factor]


def test_what_is_damaged_is_counted(tmp_path):
    path = tmp_path / "a.callgrind"
    path.write_text(f"{HEAD}fn=(9)\n1 x\nzz=1\n1 {10**19}\n1 3\nfn=f\n* 2\n")
    trace = registry.open_trace(path)
    assert {k: p.count for k, p in trace.problems.items() if not k.startswith("no ")} == {
        "malformed": 1, "unsupported": 1, "bad value": 1
    }  # fmt: skip
    assert set(trace.functions.name) == {"(unnamed 9)", "f"}
    path.write_text(f"{HEAD}fn=f\n")
    with pytest.raises(InputError, match="no line says what a function costs"):
        registry.open_trace(path)


# -- the scanner -------------------------------------------------------------------------------------


def read_both_ways(data):
    """Return what a profile says, read by the scanner and line by line; and whether the scanner took it."""
    found = []
    for by_scanner in (True, False):
        recording = Recording()
        reader = callgrind._Reader(recording)
        taken = reader.scan(data) if by_scanner else False
        if not taken:
            reader.read(data.decode("utf-8", "replace"))
        by_number = {number: key for key, number in reader._functions.items()}
        own = {
            (thread, by_number[function], line): [*costs, *[0] * len(reader._events)][: len(reader._events)]
            for (thread, function, line), costs in reader._own.items()
        }
        edges = {(t, by_number[a], by_number[b]): weight for (t, a, b), weight in reader._edges.items()}
        single = [column.tolist() for column in reader._single_calls]
        for column in (0, 3) if single else ():
            single[column] = [by_number[function] for function in single[column]]
        found.append((own, edges, reader._events, single, taken, dict(recording.problems)))
    (*fast, taken, _), (*slow, _, _) = found
    assert fast == slow
    return taken, found[1]


@pytest.mark.parametrize("name", ["small", "small.instr"])
def test_the_scanner_sums_up_what_the_lines_say(name):
    taken, (own, edges, *_) = read_both_ways(gzip.decompress((DATA / f"{name}.callgrind.gz").read_bytes()))
    assert taken
    assert own
    assert edges


def test_the_scanner_reads_single_calls_as_the_lines_say():
    taken, found = read_both_ways(gzip.decompress((DATA / "php.cachegrind.gz").read_bytes()))
    assert taken
    functions, costs, first, callees = found[3]
    assert len(functions) == len(costs) == len(first) - 1 == 8_852
    assert len(callees) == first[-1] > 0


@st.composite
def single_calls(draw):
    """Calls as Xdebug writes them, each when it ends; sometimes one has other callees than have ended."""
    calls = []

    def make(depth):
        below = draw(st.integers(0, 3 if depth < 4 else 0))
        callees = [make(depth + 1) for _ in range(below)]
        function = draw(st.integers(0, 2))
        if callees and draw(st.integers(0, 9)) == 0:
            callees[0] += 1
        calls.append((function, callees, draw(st.integers(-1, 5))))
        return function

    for _ in range(draw(st.integers(0, 3))):
        make(0)
    return calls


def plain_single(calls, factor):
    """Caller, begin and duration of each call; None if they don't fit together."""
    done, caller, begin, lasts, inside_of = [], [-1] * len(calls), [0] * len(calls), [], {}
    for number, (_, callees, cost) in enumerate(calls):
        inside = done[len(done) - len(callees) :] if callees else []
        if [calls[call][0] for call in inside] != callees:
            return None
        done = [*done[: len(done) - len(inside)], number]
        inside_of[number] = inside
        lasts.append(sum(lasts[call] for call in inside) + max(cost, 0) * factor)

    def place(call, at):
        begin[call] = at
        for one in inside_of[call]:
            caller[one] = call
            place(one, at)
            at += lasts[one]

    at = 0
    for call in done:
        place(call, at)
        at += lasts[call]
    return caller, begin, lasts


@settings(max_examples=150, deadline=None)
@given(single_calls(), st.sampled_from([1, 10]))
def test_single_calls_are_laid_out_as_a_plain_stack_does(calls, factor):
    function = np.array([one[0] for one in calls], np.int64)
    cost = np.array([one[2] for one in calls], np.int64)
    first = np.cumsum([0, *(len(one[1]) for one in calls)]).astype(np.int64)
    callees = np.array([callee for one in calls for callee in one[1]], np.int64)
    caller, begin, lasts, done = np.empty((4, len(calls)), np.int64)
    fits = scan.lay_single(function, cost, first, callees, factor, caller, begin, lasts, done)
    expected = plain_single(calls, factor)
    assert fits == (expected is not None)
    if expected is not None:
        assert (caller.tolist(), begin.tolist(), lasts.tolist()) == expected


NAMES = st.sampled_from(["(1)", "(2)", "(1) main", "(2) f g", "plain", "(3) x"])
PLACES = st.sampled_from(["12", "+3", "-2", "*", "0x1f", "0", "7"])
LINES = st.one_of(
    st.builds(
        "{}={}".format, st.sampled_from(["fn", "cfn", "fl", "cfi", "cfl", "ob", "cob", "fi", "fe"]), NAMES
    ),
    st.builds("{} {}".format, PLACES, st.integers(0, 99)),
    st.builds("{} {} {}".format, PLACES, st.integers(-9, 99), st.integers(-(10**9), 10**19)),
    st.sampled_from(
        ["calls=2 5", "", "thread: 2", "totals: 5", "jump=1 2", "12", "desc: x", "+1 08", "1 -3"]
    ),
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(LINES, max_size=30),
    st.sampled_from(["Ir", "Ir Dr", "Ir Dr Dw"]),
    st.sampled_from(["callgrind-3", "xdebug 3.2.0"]),
)
def test_any_lines_are_summed_up_alike(lines, events, creator):
    # A name is given before its number stands for it, as callgrind writes them.
    head = [f"creator: {creator}", f"events: {events}", "fn=(1) main", "fl=(1) a.c", "ob=(1) a.out"]
    head += ["fn=(2) g", "fl=(2) b.c", "ob=(2) b.so", "fn=(3) h", "fl=(3) c.c", "ob=(3) c.so"]
    read_both_ways("\n".join([*head, *lines]).encode())
