"""What rules make of recorded operations, calls, ends of threads and arrows, against a plain twin."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.waits.sync_traces import lines, trace_of
from tracevis3d.features.waits.operations import (
    DONE,
    FAILED,
    TIMED_OUT,
    UNFINISHED,
    operations,
    state_of_call,
    state_of_wait,
)
from tracevis3d.features.waits.rules import STATES, FlowRule, Rule, Rules
from tracevis3d.trace.model import IO, RELEASE, WAIT, Flows, Strings

NAMES = ("K.grab", "K.drop", "K.peek", "read", "loop")
KINDS = {"wait": WAIT, "release": RELEASE, "io": IO}


def rules_of(pick, count):
    """Return rules of which several may fit a name, and rules for arrows."""
    found = tuple(
        Rule(
            tuple(pick([*NAMES, "K.*", "?oop"]) for _ in range(pick([1, 2]))),
            pick(["wait", "wait", "release", "io", "other"]),
            pick(["", "X", "{caller}", "{thread}", "T:{thread}", "{process}{function}{caller}"]),
            pick([False, True]),
            pick(["object", "room"]),
            pick(["", "", "room", "done"]),
            pick([False, True]),
            pick(["", "T:{name}", "{tid}"]),
            pick([(), (), ("loop",), ("K.p*", "read")]),
            pick([0, 0, 1, 3]),
            pick([False, True]),
            pick([False, True]),
            pick(["", *STATES]),
        )
        for _ in range(count)
    )
    flows = (FlowRule(("post*", "send")), FlowRule(("s*",), "{flow} from {source}"))
    return Rules(found, flows[: pick([0, 1, 2])])


def program_of(pick, threads, most):
    """Return a trace of nested calls, some of which are recorded operations, and of arrows."""
    rows = []
    recorded = pick([(), ("io",), ("wait", "release", "io")])
    for thread in threads:
        time = pick(range(5))
        for _ in range(pick(range(most + 1))):
            end = time + pick([0, 1, 1, 2, 3, 9])
            for begin, stop in [(time, end), (time, end), (time + 1, end)][: pick([1, 2, 3])]:
                row = (thread, begin, max(stop, begin), pick(NAMES))
                if recorded and pick([False, True]):
                    row += (pick(recorded), pick(["-", "X", "T:a,X", "T:b", "c"]))
                    row += pick([(), (0,), (1,), (2,)])
                    how = pick(["", "", "", " (timed out)", " (failed)"])
                    row = (*row[:3], row[3] + how, *row[4:])
                rows.append(row)
            time = end + pick([1, 2, 3])
    trace = trace_of(lines(rows))
    n, count = pick(range(7)), len(trace.calls)
    if count and n:
        source, target = (np.array([pick(range(-1, count)) for _ in range(n)]) for _ in range(2))
        start = np.sort([pick(range(trace.span_ns + 1)) for _ in range(n)])
        of = [np.where(ends >= 0, trace.calls.thread[ends], -1).astype(np.int32) for ends in (source, target)]
        name = np.array([pick([0, 1, 2]) for _ in range(n)], np.int32)
        names = Strings.of(["posted", "send", "other"])
        trace = replace(trace, flows=Flows(source, target, *of, start, start, name, names))
    if recorded and pick([False, True]):
        columns = {
            name: np.array([pick(options) for _ in range(len(trace.sync))], np.int32)
            for name, options in (("line", [0, 3, 4]), ("holder", [-1, 0]))
        }
        trace = replace(trace, sync=replace(trace.sync, **columns))
    processes = tuple(pick("pq") for _ in range(len(trace.threads)))
    return replace(trace, threads=replace(trace.threads, process=processes))


@st.composite
def small(draw):
    """Return a small program, and a few rules."""

    def pick(options):
        return draw(st.sampled_from(options))

    return program_of(pick, "abc"[: pick([1, 2, 3])], 5), rules_of(pick, pick(range(6)))


def large(seed):
    """Return a program in which most may happen, and rules."""
    pick = Random(seed).choice
    return program_of(pick, "abc", 12), rules_of(pick, 6)


def fits(patterns, name):
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def thread_named(trace, template, text):
    """Return the thread that a text names; -1: none."""
    begin = template.partition("{")[0]
    named = [t for t, tid in enumerate(trace.threads.tid) if text == begin + str(tid)]
    return named[0] if named else -1


def row_of(rule, **more):
    """Return what a rule says of one operation."""
    kind = KINDS[rule.kind]
    return {
        "kind": kind,
        "wants": rule.wants if kind == WAIT else None,
        "gives": (rule.gives or ("object" if kind == RELEASE else None)),
        "asks": rule.holds and kind == WAIT,
        "holds": rule.holds and kind == WAIT,
        "all": rule.all,
        "one": rule.one and kind == WAIT,
        "state": rule.state or ("contention" if rule.holds else "signal"),
        "ending": DONE,
        "line": 0,
        "about": -1,
        "holder": -1,
    } | more


def plain_operations(trace, rules):
    """Return each operation, by thread and start, and what lasts longer first."""
    calls, sync, names = trace.calls, trace.sync, trace.functions.name
    found, ends = [], set()
    words = {value: word for word, value in KINDS.items()}
    for i in range(len(sync)):
        name, said = sync.names[sync.name[i]], int(sync.kind[i])
        done = name.removesuffix(" (timed out)").removesuffix(" (failed)")
        rule = next(
            (r for r in rules.rules if not r.within and (fits(r.names, name) or fits(r.names, done))), None
        )
        if rule is None or (not rule.own and KINDS.get(rule.kind, -1) != said):
            rule = Rule((name,), words[said])
        ending = TIMED_OUT if "timed" in name else FAILED if "failed" in name else DONE
        ending = UNFINISHED if sync.contended[i] == 2 else ending
        if rule.kind == "other":
            continue
        objects = [sync.objects[o] for o in sync.object[sync.first[i] : sync.first[i + 1]]]
        about = thread_named(trace, rule.thread, objects[0]) if rule.thread and objects else -1
        if rule.thread and objects and rule.kind == "wait":
            ends.add((objects[0], about, rule.wants))
        start, end, contended = int(sync.start[i]), int(sync.end[i]), int(sync.contended[i])
        blocked = contended >= 1 if contended >= 0 else end - start >= max(rule.blocks, 1)
        gives = None if rule.kind == "io" else row_of(rule)["gives"]
        if rule.kind == "wait" and ending != DONE:
            gives = None
        found.append(row_of(
            rule, call=int(sync.call[i]), thread=int(sync.thread[i]), start=start, end=end, name=name,
            line=int(sync.line[i]) if len(sync.line) else 0,
            holder=int(sync.holder[i]) if len(sync.holder) else -1,
            blocked=blocked and rule.kind == "wait", objects=objects, about=about, gives=gives, ending=ending,
            holds=rule.holds and rule.kind == "wait" and ending == DONE,
        ))  # fmt: skip
    told = set(sync.call.tolist())
    mine = [r for r in rules.rules if r.own or not len(sync) or r.state == "sleep"]
    for call in range(len(calls)):
        name, up = names[calls.function[call]], int(calls.parent[call])
        around = names[calls.function[up]] if up >= 0 else None
        rule = next(
            (
                r
                for r in mine
                if fits(r.names, name) and (not r.within or (around and fits(r.within, around)))
            ),
            None,
        )
        if call in told or rule is None or rule.kind == "other":
            continue
        thread = int(calls.thread[call])
        label = trace.functions.label
        object = (
            rule.object.replace("{function}", label[calls.function[call]])
            .replace("{thread}", trace.threads.title(thread))
            .replace("{caller}", label[calls.function[up]] if up >= 0 else "no caller")
            .replace("{process}", trace.threads.process[thread])
        )
        about = thread_named(trace, rule.thread, object) if rule.thread and object else -1
        if rule.thread and object and rule.kind == "wait":
            ends.add((object, about, rule.wants))
        start, end = int(calls.start[call]), int(calls.end[call])
        found.append(row_of(
            rule, call=call, thread=thread, start=start, end=end, name=label[calls.function[call]],
            blocked=rule.kind == "wait" and end - start >= max(rule.blocks, 1),
            objects=[object] if object else [], about=about,
        ))  # fmt: skip
    for text, thread, gift in ends:
        of = [int(calls.end[i]) for i in range(len(calls)) if calls.thread[i] == thread]
        if of:
            found.append(row_of(
                Rule((), "release", gives=gift), call=-1, thread=thread, start=max(of), end=max(of),
                name="thread end", blocked=False, objects=[text],
            ))  # fmt: skip
    if all(kind == IO for kind in sync.kind):
        found += plain_arrows(trace, rules)
    handed_out = plain_places(found)
    for row in found:
        if row["asks"] and handed_out.intersection(row["objects"]):
            row |= {"asks": False, "holds": False, "state": "signal"}
    return sorted(found, key=lambda r: (r["thread"], r["start"], -r["end"]))


def plain_places(rows):
    """Return the objects that others give than take them."""
    found = set()
    for object in {object for row in rows for object in row["objects"]}:
        takers = [row["thread"] for row in rows for of in row["objects"] if row["holds"] and of == object]
        gives = [row for row in rows if row["kind"] == RELEASE and row["gives"] is not None]
        givers = {row["thread"] for row in gives if object in row["objects"]}
        if givers and takers and not givers & set(takers):
            found.add(object)
    return found


def plain_arrows(trace, rules):
    """Return arrows to other threads as releases, and idle times that the first of them ended as waits."""
    calls, flows, found, idle = trace.calls, trace.flows, [], {}
    for i in range(len(flows)):
        name, target = flows.names[flows.name[i]], int(flows.target[i])
        rule = next((r for r in rules.flows if fits(r.names, name)), None)
        by, to, start = int(flows.source_thread[i]), int(flows.target_thread[i]), int(flows.start[i])
        if rule is None or target < 0 or by < 0 or by == to:
            continue
        titles = trace.threads.title
        text = (
            rule.object.replace("{target}", titles(to))
            .replace("{source}", titles(by))
            .replace("{flow}", name)
        )
        found.append(row_of(
            Rule((), "release"), call=int(flows.source[i]), thread=by, start=start, end=start, name=name,
            blocked=False, objects=[text],
        ))  # fmt: skip
        root = target
        while calls.parent[root] >= 0:
            root = int(calls.parent[root])
        before = [j for j in range(root) if calls.thread[j] == to and calls.depth[j] == 1]
        if before and calls.end[before[-1]] <= start <= calls.start[root] and root not in idle:
            begin, end = int(calls.end[before[-1]]), int(calls.start[root])
            idle[root] = row_of(
                Rule((), "wait", state="idle"), call=-1, thread=to, start=begin, end=end, name="idle",
                blocked=end > begin, objects=[text],
            )  # fmt: skip
    return found + list(idle.values())


def key(row):
    return tuple(str(row[name]) for name in sorted(row))


def in_process(text):
    """Return the trace of a text, whose threads are those of one process."""
    trace = trace_of(text)
    return replace(trace, threads=replace(trace.threads, process=("p",) * len(trace.threads)))


#: Objects that are named after their threads; recorded operations that a rule says are none.
NAMED = in_process("a 0 2 K.grab\nb 1 3 K.grab"), Rules((Rule(("K.*",), "wait", "{thread}"),), ())
#: The last operation waits for the end of a thread that it does not name.
JOINS_NOBODY = (
    in_process("a 0 2 K.join wait T:b 1\nb 0 9 K.join wait - 1"),
    Rules((Rule(("K.*",), "wait", thread="T:{tid}"),), ()),
)
#: A function is called by the first call of all, by another, and by none.
CALLED_BY_NONE = (
    in_process("a 0 9 loop\na 2 3 K.grab\na 10 19 read\na 10 15 K.grab\na 20 25 K.grab"),
    Rules((Rule(("K.*",), "wait", "{caller}"),), ()),
)
#: What says that it names threads names nothing.
NAMES_NOTHING = (
    in_process("a 0 2 K.join\nb 0 9 loop"),
    Rules((Rule(("K.*",), "wait", thread="T:{tid}"),), ()),
)
#: What waits is no call; the last call of all is not recorded.
IN_NO_CALL = in_process("a 0 2 K.grab wait X 1\na 3 5 read"), Rules((Rule(("read",), "io", own=True),), ())
IN_NO_CALL[0].sync.call[:] = -1
#: The first object of all is a thread; arrows come after its end.
JOINS_FIRST = (
    replace(
        in_process("a 0 2 K.join\nb 0 9 loop"),
        flows=Flows(
            np.array([0]), np.array([1]), np.array([0], np.int32), np.array([1], np.int32),
            np.array([0]), np.array([0]), np.array([0], np.int32), Strings.of(["send"]),
        ),
    ),
    Rules((Rule(("K.*",), "wait", "T:b", thread="T:{tid}"),), (FlowRule(("send",)),)),
)  # fmt: skip
NONE = (
    in_process("a 0 2 K.grab wait X 1\na 3 3 read release X"),
    Rules((Rule(("K.*",), "other", own=True),), ()),
)


@given(small() | st.builds(large, st.integers(0, 1 << 32)))
@example(NAMED)
@example(NONE)
@example(JOINS_NOBODY)
@example(CALLED_BY_NONE)
@example(JOINS_FIRST)
@example(IN_NO_CALL)
@example(NAMES_NOTHING)
@settings(max_examples=60, deadline=None)
def test_operations_are_those_of_the_plain_twin(program) -> None:
    trace, rules = program
    ops = operations(trace, rules)
    gift = [*ops.gifts, None]
    found = [
        {
            "kind": int(ops.kind[i]), "wants": gift[ops.wants[i]], "gives": gift[ops.gives[i]],
            "asks": bool(ops.asks[i]), "holds": bool(ops.holds[i]), "all": bool(ops.all[i]),
            "one": bool(ops.one[i]), "state": STATES[ops.state[i]], "ending": int(ops.ending[i]),
            "line": int(ops.line[i]), "about": int(ops.about[i]),
            "holder": int(ops.holder[i]), "call": int(ops.call[i]), "thread": int(ops.thread[i]),
            "start": int(ops.start[i]), "end": int(ops.end[i]), "name": ops.names[ops.name[i]],
            "blocked": bool(ops.blocked[i]), "objects": ops.of(i),
        }
        for i in range(len(ops))
    ]  # fmt: skip
    order = [(row["thread"], row["start"], -row["end"]) for row in found]
    assert order == sorted(order)
    assert sorted(map(key, found)) == sorted(map(key, plain_operations(trace, rules)))
    for i, row in enumerate(found):
        before = [r for r in found[:i] if r["kind"] == WAIT and r["thread"] == row["thread"]]
        assert ops.nested[i] == (row["kind"] == WAIT and any(row["end"] <= r["end"] for r in before))
    assert ops.lasted.tolist() == [row["end"] - row["start"] for row in found]
    which, objects = ops.per_object(np.arange(len(ops)))
    assert list(zip(which.tolist(), (ops.objects[o] for o in objects))) == [
        (i, object) for i, row in enumerate(found) for object in row["objects"]
    ]


@pytest.mark.parametrize(
    ("lasts", "least", "blocked"),
    [(2, 3, False), (3, 3, True), (4, 3, True), (0, 0, False), (1, 0, True), (1, 2, False)],
)
def test_what_is_not_recorded_has_blocked_from_the_least_time_on(lasts, least, blocked) -> None:
    for recorded in (" wait X", ""):
        trace = trace_of(f"a 0 1 loop\na 5 {5 + lasts} K.grab{recorded}")
        assert trace.sync.contended.tolist() == [-1] * bool(recorded)
        ops = operations(trace, Rules((Rule(("K.*",), "wait", blocks=least),), ()))
        assert ops.blocked.tolist() == [blocked]


@pytest.mark.parametrize(
    ("name", "label", "state"),
    [
        ("nap", "nap", "sleep"),
        ("mine", "mine", "signal"),
        ("T.mine (t.py:1)", "T.mine", "contention"),
        ("mine (t.py:1)", "mine", None),
        ("K.grab", "K.grab", None),
        ("deep", "deep", None),
        ("other", "other", None),
    ],
)
def test_what_calls_wait_for_that_no_recorder_records(name, label, state) -> None:
    rules = Rules(
        (
            Rule(("K.*",), "wait"),
            Rule(("deep",), "wait", own=True, within=("loop",)),
            Rule(("nap",), "wait", state="sleep"),
            Rule(("mine",), "wait", own=True),
            Rule(("T.mine",), "wait", own=True, holds=True),
        ),
        (),
    )
    assert state_of_call(name, label, rules) == (STATES.index(state) if state else -1)
    for ending in ("", " (timed out)"):
        assert STATES[state_of_wait(name + ending, rules)] == ("sleep" if name == "nap" else "signal")


@pytest.mark.parametrize("caller", ["loop", "loop (/l.py:1)", None])
def test_rules_may_leave_out_paths_and_lines(caller) -> None:
    trace = trace_of("a 0 9 loop~(/l.py:1)\na 1 5 K.grab~(/k.py:3)\na 10 12 K.grab~(/k.py:3)")
    rule = Rule(("K.grab",), "wait", within=(caller,) if caller else ())
    ops = operations(trace, Rules((rule,), ()))
    assert [ops.names[name] for name in ops.name] == ["K.grab"] * (1 if caller else 2)


def test_a_thread_was_not_idle_before_its_first_call() -> None:
    """What the thread listed before it did last says nothing of it."""
    trace = trace_of("a 0 3 loop\nb 6 9 loop\nb 12 15 loop")
    for start, kinds in ((6, [RELEASE]), (12, [RELEASE, WAIT])):
        target = np.flatnonzero(trace.calls.start == start)
        flows = Flows(
            np.array([0]), target, np.array([0], np.int32), np.array([1], np.int32),
            np.array([start - 2]), np.array([start]), np.array([0], np.int32), Strings.of(["send"]),
        )  # fmt: skip
        ops = operations(replace(trace, flows=flows), Rules((), (FlowRule(("send",)),)))
        assert ops.kind.tolist() == kinds


def test_an_arrow_from_nowhere_is_no_release() -> None:
    trace = trace_of("a 0 2 loop\na 6 9 loop\nb 0 9 loop")
    for source, thread, at, kinds in (
        (2, 1, 4, [WAIT, RELEASE]), (2, 1, 2, [WAIT, RELEASE]), (-1, -1, 4, []),
    ):  # fmt: skip
        flows = Flows(
            np.array([source]), np.array([1]), np.array([thread], np.int32), np.array([0], np.int32),
            np.array([at]), np.array([6]), np.array([0], np.int32), Strings.of(["send"]),
        )  # fmt: skip
        ops = operations(replace(trace, flows=flows), Rules((), (FlowRule(("send",)),)))
        assert ops.kind.tolist() == kinds


def test_an_arrow_may_go_to_the_first_call_of_all() -> None:
    trace = trace_of("b 4 4 loop\na 0 9 loop")
    flows = Flows(
        np.array([1]), np.array([0]), np.array([1], np.int32), np.array([0], np.int32),
        np.array([4]), np.array([6]), np.array([0], np.int32), Strings.of(["send"]),
    )  # fmt: skip
    ops = operations(replace(trace, flows=flows), Rules((), (FlowRule(("send",)),)))
    assert ops.kind.tolist() == [RELEASE]
