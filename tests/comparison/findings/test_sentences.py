"""Each kind of finding in words: the sentence with its figures, and the caption above a picture."""

from __future__ import annotations

import pytest

from tests.comparison.test_findings import leaf, traced
from tracevis3d.features.comparison import tables
from tracevis3d.features.comparison.findings.evidence import Finding
from tracevis3d.features.comparison.findings.find import find
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.comparison.report.sentences import caption, sentence, share_of, way

_WAY = ("main", "run", "step", "read")
_ALIKE = {"function": "parse", "path": ["main", "run", "parse"], "similarity": 0.75}
_UNMATCHED = {
    "trace": "A",
    "first": "read",
    "last": "read",
    "longest_ns": 900,
    "longest_start_ns": 1500,
    "new": False,
}


def _part(function, *callers):
    return {"function": function, "path": [*callers, function]}


_OFFSET = {"change_ns": 500, "after": "init", "within": "wait"}
_TIME = {"change_ns": 500, "cause_self_ns": [1000, 1500], "pace": 1.0, "factor": 1.0, "median_ns": [10, 20]}
_STALL = {
    "trace": "B",
    "stalls": [{"function": "read", "start_ns": 2500}],
    "count": 1,
    "longest_ns": 700,
    "change_ns": -900,
    "single": True,
}
_WEIGHT = {"itself": True, "weight": [0, 114], "total": [600, 600], "pace": 1, "paths": 1, "kind": "samples"}
_ONLY = {"trace": "B", "callers": ["step"], "caller_count": 1, "most_alike": _ALIKE}
_ALONE = {"trace": "A", "elsewhere": 0, "paths": 1}
_REPETITIONS = {"calls_of_function": [2, 3], "with": [], "paths": 1}
#: Kind, functions, path, calls, times, calls with all below, details; the sentence and the caption.
CASES = [
    ("unmatched",("read",""),_WAY,(1,0),(900,0),(1,0),_UNMATCHED,
        "A stretch of A without a match in B: `read` below `… > run > step`, 900 ns with 1 call, from "
        "1.5 µs on.",
        "read: once in A, without a match (900 ns)"),
    ("unmatched",("read",""),_WAY[:1],(2,0),(1900,0),(5,0),_UNMATCHED|{"last":"show","new":True},
        "2 stretches of A without a match in B: `read` to `show`, 1.9 µs with 5 calls, the longest 900 "
        "ns, from 1.5 µs on. B never calls `read`.",
        "read: twice in A, without a match (1.9 µs)"),
    ("unmatched",("","read"),_WAY,(0,1),(0,900),(0,3),_UNMATCHED|{"trace":"B"},
        "A stretch of B without a match in A: `read` below `… > run > step`, 900 ns with 3 calls, from "
        "1.5 µs on.",
        "read: once in B, without a match (900 ns)"),
    ("moved",("read","read"),_WAY,(1,2),(900,800),(1,5),
     {"parts":[[_part("read","main")],[_part("read","main","run")]]},
        "A calls `read` below `main` (900 ns, 1 call), B below `main > run` (800 ns, 5 calls with all "
        "below).",
        "read in A, read in B: the same work below other callers (900 ns and 800 ns)"),
    ("moved",("read","get"),_WAY,(1,1),(900,800),(1,2),
     {"parts":[[_part(f,"main") for f in "abcd"],[_part(f,"main") for f in "xyz"]]},
        "What A does in `a`, `b`, `c` and 1 more (900 ns, 1 call) below `main`, B does there in `x`, "
        "`y`, `z` (800 ns, 2 calls).",
        "read in A, get in B: the same work below other callers (900 ns and 800 ns)"),
    ("moved",("read","get"),_WAY,(1,1),(900,800),(1,2),{"parts":[[_part("a")],[_part("x","main","run","go")]]},
        "What A does as a root call in `a` (900 ns, 1 call), B does below `… > run > go` in `x` (800 "
        "ns, 2 calls).",
        "read in A, get in B: the same work below other callers (900 ns and 800 ns)"),
    ("moved",("read","read"),_WAY,(1,1),(900,800),(1,1),
     {"parts":[[_part("read","main")],[_part("read","a"),_part("b","c")]]},
        "What A does below `main` in `read` (900 ns, 1 call), B does below `a` in `read`, `b` (800 ns, "
        "1 call).",
        "read in A, read in B: the same work below other callers (900 ns and 800 ns)"),
    ("only",("","read"),_WAY,(0,2),(0,900),(0,5),_ONLY,
        "`read` is called twice in B and never in A: 900 ns with 3 calls below, by `step`. The most "
        "similar call in A is `parse` below `main > run` (similarity 0.75).",
        "read: twice in B, never in A (900 ns)"),
    ("only",("","read"),_WAY,(0,1),(0,900),(0,1),
     _ONLY|{"callers":["step","run"],"caller_count":3,"most_alike":None},
        "`read` is called once in B and never in A: 900 ns, by `step`, `run` and 1 other. Nothing in A "
        "matches it.",
        "read: once in B, never in A (900 ns)"),
    ("only",("read",""),_WAY,(1000,0),(900,0),(1000,0),_ONLY|{"trace":"A","callers":[],"caller_count":0},
        "`read` is called 1,000 times in A and never in B: 900 ns. The most similar call in B is "
        "`parse` below `main > run` (similarity 0.75).",
        "read: 1,000 times in A, never in B (900 ns)"),
    ("only",("","read"),_WAY,(0,1),(0,900),(0,2),_ONLY|{"callers":["step"],"caller_count":4},
        "`read` is called once in B and never in A: 900 ns with 1 call below, by `step` and 3 others. "
        "The most similar call in A is `parse` below `main > run` (similarity 0.75).",
        "read: once in B, never in A (900 ns)"),
    ("alone",("read",""),_WAY,(3,0),(900,0),(7,0),_ALONE,
        "Only A calls `read` below `… > run > step`: 3 times, 900 ns with 4 calls below (B never calls "
        "it). Nothing in B matches it.",
        "read below step: 3 times in A, not in B (900 ns)"),
    ("alone",("read",""),_WAY[:1],(3,0),(900,0),(3,0),
     _ALONE|{"elsewhere":2,"with":["b","c","d"],"most_alike":_ALIKE},
        "Only A calls `read`: 3 times, 900 ns (B calls it twice, elsewhere). So often it calls `b`, "
        "`c`, `d` there, too. The most similar call in B is `parse` below `main > run` (similarity 0.75).",
        "read: 3 times in A, not in B (900 ns)"),
    ("alone",("read",""),_WAY[:1]+_WAY[-1:],(1,0),(900,0),(1,0),
     _ALONE|{"most_alike":_ALIKE|{"path":["main","run","step","go","parse"]}},
        "Only A calls `read` below `main`: once, 900 ns (B never calls it). The most similar call in B "
        "is `parse` below `… > step > go` (similarity 0.75).",
        "read below main: once in A, not in B (900 ns)"),
    ("alone",("","read"),_WAY,(0,3),(0,900),(0,4),_ALONE|{"trace":"B","paths":2,"with":list("bcdef")},
        "Only B calls `read` on 2 call paths, most of its time below `… > run > step`: 3 times, 900 ns "
        "with 1 call below (A never calls it). So often it calls `b`, `c`, `d` and 2 more there, too. "
        "Nothing in A matches it.",
        "read: 3 times in B, not in A (900 ns)"),
    ("alone",("read",""),_WAY[:1]+_WAY[-1:],(3,0),(900,0),(7,0),_ALONE|{"paths":2},
        "Only A calls `read` on 2 call paths, most of its time below `main`: 3 times, 900 ns with 4 calls "
        "below (B never calls it). Nothing in B matches it.",
        "read: 3 times in A, not in B (900 ns)"),
    ("alone",("read",""),_WAY[:1],(3,0),(900,0),(7,0),_ALONE|{"paths":2},
        "Only A calls `read` on 2 call paths: 3 times, 900 ns with 4 calls below (B never calls it). "
        "Nothing in B matches it.",
        "read: 3 times in A, not in B (900 ns)"),
    ("repetitions",("read","get"),_WAY,(2,3),(900,1900),(5,1),_REPETITIONS,
        "`read` is called twice in A and 3 times in B below `… > run > step`: 900 ns and 1.9 µs, with "
        "all below 5 and 1 call.",
        "read below step: twice in A, 3 times in B"),
    ("repetitions",("read","read"),_WAY,(2,3),(900,1900),(5,9),
     _REPETITIONS|{"calls_of_function":[4,0],"itself":[1,2],"with":["a"]},
        "`read` is called twice in A and 3 times in B below `… > run > step`: 900 ns and 1.9 µs, with "
        "all below 5 and 9 calls. It calls itself 1 time in A and 2 times in B. In all, A calls it 4 "
        "times and B never. So are, by nearly the same factor, `a`.",
        "read below step: twice in A, 3 times in B"),
    ("repetitions",("read","read"),_WAY,(2,3),(900,1900),(5,9),_REPETITIONS|{"calls_of_function":[2,4],"paths":3},
        "`read` is called twice in A and 3 times in B on 3 call paths, most of its time below `… > run "
        "> step`: 900 ns and 1.9 µs, with all below 5 and 9 calls. In all, A calls it twice and B 4 "
        "times.",
        "read: twice in A, 3 times in B"),
    ("offset",("read","get"),_WAY,(1,1),(900,1900),(1,1),_OFFSET,
        "Everything from `read` on starts 500 ns later in B: after `init`, `wait` waits 900 ns in A "
        "and 1.9 µs in B.",
        "Everything from read on starts 500 ns later in B"),
    ("offset",("read","read"),_WAY,(1,1),(900,1900),(1,1),_OFFSET|{"change_ns":-500,"after":"","within":""},
        "Everything from `read` on starts 500 ns earlier in B: at first, nothing runs 900 ns in A and "
        "1.9 µs in B.",
        "Everything from read on starts 500 ns earlier in B"),
    ("offset",("read","read"),_WAY,(1,1),(900,901),(1,1),_OFFSET|{"change_ns":1},
        "Everything from `read` on starts 1 ns later in B: after `init`, `wait` waits 900 ns in A and "
        "901 ns in B.",
        "Everything from read on starts 1 ns later in B"),
    ("slower",("read","read"),_WAY,(2,3),(900,1900),(5,9),_TIME,
        "`read` itself takes 1 µs in A and 1.5 µs in B (2 and 3 calls): 500 ns more.",
        "read itself: 1 µs in A, 1.5 µs in B"),
    ("slower",("read","get"),_WAY,(3,3),(900,1900),(5,9),_TIME|{"pace":1.03},
        "`read` itself takes 1 µs in A, and `get` in its place 1.5 µs in B (3 calls): 500 ns more than "
        "expected from the pace of both runs. The median call takes 10 ns and 20 ns; stalls are left "
        "out of the change.",
        "read itself: 1 µs in A, 1.5 µs in B"),
    ("faster",("read","read"),_WAY,(1,1),(900,1900),(5,9),_TIME|{"change_ns":-500,"factor":0.9},
        "`read` itself takes 1 µs in A and 1.5 µs in B (1 call): 500 ns less than expected from the "
        "pace of both runs.",
        "read itself: 1 µs in A, 1.5 µs in B"),
    ("faster",("read","read"),_WAY,(3,1000),(900,1900),(5,9),
     _TIME|{"change_ns":-500,"pace":0.985,"factor":1.015},
        "`read` itself takes 1 µs in A and 1.5 µs in B (3 and 1,000 calls): 500 ns less. The median "
        "call takes 10 ns and 20 ns; stalls are left out of the change.",
        "read itself: 1 µs in A, 1.5 µs in B"),
    ("faster",("read","read"),_WAY,(2,1000),(900,1900),(5,9),_TIME|{"pace":0.97,"factor":1.0},
        "`read` itself takes 1 µs in A and 1.5 µs in B (2 and 1,000 calls): 500 ns less than expected "
        "from the pace of both runs.",
        "read itself: 1 µs in A, 1.5 µs in B"),
    ("stall",("","read"),_WAY,(0,1),(0,700),(0,1),_STALL,
        "B stalls once, for 700 ns, in `read`, from 2.5 µs on. It is the only such call, so it may "
        "also have had more to do.",
        "B stalls once, for 700 ns, in read, from 2.5 µs on"),
    ("stall",("","read"),_WAY,(0,1),(0,700),(0,1),
     _STALL|{"count":2,"single":False,"stalls":[*_STALL["stalls"],{"function":"get","start_ns":0}]},
        "B stalls twice, for 900 ns in all: the longest takes 700 ns, in `read`, from 2.5 µs on. Other "
        "calls like it take no longer than in the other run.",
        "B stalls twice, for 900 ns in all"),
    ("drift",("read","get"),_WAY,(1,1),(900,1900),(1,1),{"start":False,"factor":2.111},
        "Everything in `read` below `… > run > step` takes 2.11 times as long in B, stalls left out "
        "(900 ns and 1.9 µs with them). The rest of the run does not.",
        "Everything in read below … > run > step takes 2.11 times as long in B, stalls left out (900 "
        "ns and 1.9 µs with them)"),
    ("drift",("read","read"),_WAY,(1,1),(900,1900),(1,1),{"start":True,"modules":1,"compiled":[3,1200]},
        "Importing the same 1 module takes 900 ns in A and 1.9 µs in B: B compiles 1,200 of them anew.",
        "Importing the same 1 module takes 900 ns in A and 1.9 µs in B"),
    ("drift",("read","read"),_WAY,(1,1),(900,1900),(1,1),{"start":True,"modules":7,"compiled":[3,1]},
        "Importing the same 7 modules takes 900 ns in A and 1.9 µs in B: A compiles 3 of them anew.",
        "Importing the same 7 modules takes 900 ns in A and 1.9 µs in B"),
    ("drift",("read","read"),_WAY,(1,1),(900,1900),(1,1),{"start":True,"modules":7,"compiled":[3,3]},
        "Importing the same 7 modules takes 900 ns in A and 1.9 µs in B.",
        "Importing the same 7 modules takes 900 ns in A and 1.9 µs in B"),
    ("pace",("",""),(),(0,0),(900,1900),(0,0),{"factor":2.111,"varies":0.125},
        "Everything that both do takes 2.11 times as long in B, in all call paths alike: 900 ns and "
        "1.9 µs. Half of the paths are within 12 % of that.",
        "Everything that both do takes 2.11 times as long in B, in all call paths alike"),
    ("pace",("",""),(),(0,0),(900,1900),(0,0),{"factor":2.111,"kind":"samples"},
        "Everything in both profiles has 2.11 times as much in B.",
        "Everything in both profiles has 2.11 times as much in B"),
    ("order",("read","read"),_WAY,(1,1),(900,1900),(1,1),{"after":["init",""],"functions":["read"]},
        "`read` comes after `init` in A and first in B within `… > run > step`: 900 ns and 1.9 µs.",
        "read comes after init in A and first in B within … > run > step"),
    ("order",("read","get"),_WAY[:1],(1,1),(900,1900),(1,1),
     {"after":["","show"],"functions":["read","a","b"]},
        "`read` and 2 more come first in A and after `show` in B: 900 ns and 1.9 µs.",
        "read and 2 more come first in A and after show in B"),
    ("order",("read","read"),_WAY[2:],(1,1),(900,1900),(1,1),
     {"after":["init","init"],"after_calls":[1,3],"functions":["read","a"]},
        "`read` and 1 more come after 1 call of `init` in A and after 3 calls of `init` in B within `step`: "
        "900 ns and 1.9 µs.",
        "read and 1 more come after 1 call of init in A and after 3 calls of init in B within step"),
    ("renamed",("read","get"),_WAY,(1,2),(900,1900),(1,1),{},
        "Where A calls `read`, B calls `get`, which does similar work: 1 call and 2 calls, 900 ns and "
        "1.9 µs.",
        "Where A calls read, B calls get, which does similar work"),
    ("renamed",("read","get"),_WAY,(1,2),(900,1900),(1,1),{"name_score":91.4},
        "`read` of A is `get` of B (names alike by 91 of 100): 1 call and 2 calls, 900 ns and 1.9 µs.",
        "read of A is get of B (names alike by 91 of 100)"),
    ("wrapped",("read","read"),_WAY,(1,2),(900,1900),(1,1),{"through":[["a","b"],[]]},
        "`read` is called by A through `a > b`, by B directly.",
        "read is called by A through a > b, by B directly"),
    ("wrapped",("read","get"),_WAY,(1,2),(900,1900),(1,1),{"through":[[],["c"]]},
        "`read` is called by A directly, by B through `c`.",
        "read is called by A directly, by B through c"),
    ("heavier",("","read"),_WAY,(0,1),(0,1),(0,1),_WEIGHT,
        "`read` itself has 19 % of the samples (114) in B and nothing in A below `… > run > step`.",
        "read itself: 0 % of the samples (0) in A, 19 % of the samples (114) in B"),
    ("heavier",("read","read"),_WAY[:1],(1,1),(1,1),(1,1),
     _WEIGHT|{"weight":[60,114],"itself":False,"pace":1.5,"paths":2},
        "`read` with all that it calls has 10 % of the samples (60) in A and 19 % of the samples (114) "
        "in B; the rest has 1.50 times as much in B, on 2 call paths.",
        "read: 10 % of the samples (60) in A, 19 % of the samples (114) in B"),
    ("heavier",("read","read"),_WAY[2:],(1,1),(1,1),(1,1),
     _WEIGHT|{"weight":[1,114],"paths":2,"mostly":True,"without":["go"]},
        "`read` itself, not counting below `go`, has 0.2 % of the samples (1) in A and 19 % of the samples "
        "(114) in B, on 2 call paths, mostly below `step`.",
        "read itself, not counting below go: 0.2 % of the samples (1) in A, 19 % of the samples (114) in B"),
    ("lighter",("read","read"),_WAY[2:],(1,1),(1,1),(1,1),
     _WEIGHT|{"weight":[114,1],"itself":False,"paths":2,"mostly":False,"without":["read","go"]},
        "`read` with all that it calls, not counting itself and `go`, has 19 % of the samples (114) in A and "
        "0.2 % of the samples (1) in B, on 2 call paths, the heaviest below `step`.",
        "read, not counting itself and go: 19 % of the samples (114) in A, 0.2 % of the samples (1) in B"),
    ("lighter",("read","read"),_WAY[:1],(1,1),(1,1),(1,1),
     _WEIGHT|{"weight":[114,1],"itself":False,"paths":2,"mostly":True,"without":["go","a","b"]},
        "`read` with all that it calls, not counting `go` and 2 others, has 19 % of the samples (114) in A "
        "and 0.2 % of the samples (1) in B, on 2 call paths.",
        "read, not counting go and 2 others: 19 % of the samples (114) in A, 0.2 % of the samples (1) in B"),
    ("lighter",("read",""),_WAY,(1,0),(1,0),(1,0),
     _WEIGHT|{"weight":[60,0],"total":[600,0],"kind":"allocated (bytes)"},
        "`read` itself has 10 % of the allocated (60 B) in A and nothing in B below `… > run > step`.",
        "read itself: 10 % of the allocated (60 B) in A, 0 % of the allocated (0 B) in B"),
    ("alike",("",""),(),(0,0),(900,1900),(1,2),{"kind":"samples","total":[600,1]},
        "The profiles are alike: 600 samples and 1 sample, and no function differs by more than "
        "chance explains.",
        "The profiles are alike"),
    ("alike",("",""),(),(0,0),(900,1900),(1,2),{"kind":"cpu (ns)","total":[600,1],"samples":[300,299]},
        "The profiles are alike: 600 ns cpu and 1 ns cpu, and no function differs by more than chance "
        "explains in 300 and 299 samples.",
        "The profiles are alike"),
    ("alike",("",""),(),(0,0),(900,1900),(1,2),{"kind":"cpu (ns)","total":[600,1],"samples":[300,301]},
        "The profiles are alike: 600 ns cpu and 1 ns cpu, and no function differs by more than chance "
        "explains.",
        "The profiles are alike"),
    ("alike",("",""),(),(0,0),(900,1900),(1,2),{"kind":"heap (bytes)","total":[600,1],"samples":[1,1]},
        "The profiles are alike: 600 B heap and 1 B heap, and no class differs by 15 %, and by 1 % of the "
        "whole.",
        "The profiles are alike"),
    ("alike",("",""),(),(0,0),(900,1900),(1,2),{"same_calls":True,"most_ns":0},
        "Both runs make the same 1 call in the same order.",
        "Both runs make the same 1 call in the same order"),
    ("alike",("",""),(),(0,0),(900,1900),(1,2),
     {"same_calls":False,"most_ns":30,"most":0.02,"most_function":"read"},
        "The runs are alike: 1 call and 2 calls, no difference worth reporting. No call path's own "
        "time differs by more than 2 % of the run (30 ns, `read`), which is within the variation "
        "between runs.",
        "The runs are alike"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "functions", "path", "calls", "times", "below", "details", "said", "short"), CASES
)
def test_a_finding_in_words(kind, functions, path, calls, times, below, details, said, short):
    finding = Finding(kind, 0.5, functions, path, calls, times, below, details=details)
    assert sentence(finding) == said
    assert caption(finding) == short


def test_the_end_of_a_way_is_written():
    assert way(("a",)) == "`a`"
    assert way(("a", "b", "c")) == "`a > b > c`"
    assert way(("a", "b", "c", "d")) == "`… > b > c > d`"
    assert way(("a", "b", "c"), 2) == "`… > b > c`"


def test_a_share_of_nothing_is_nothing():
    assert share_of(_WEIGHT | {"weight": [0, 0], "total": [0, 0]}, 0) == "0 % of the samples (0)"
    assert share_of(_WEIGHT | {"weight": [1, 0], "total": [1, 0]}, 0) == "100 % of the samples (1)"
    assert share_of(_WEIGHT | {"weight": [0, 2], "total": [0, 3]}, 1) == "67 % of the samples (2)"


def test_findings_and_matches_as_tables():
    a = traced(
        ("main", 1000, [("load", 100, [leaf("read", 9000)] * 5), leaf("gone", 5000), leaf("same", 9000)])
    )
    b = traced(
        ("main", 1000, [("load", 100, [leaf("read", 9000)] * 2), leaf("new", 900), leaf("same", 9000)])
    )
    found = find(compare(a, b)).found
    table = tables.findings(a, b)
    assert table.name == "findings"
    assert table.as_rows() == [
        {
            "id": number,
            "kind": finding.kind,
            "sentence": sentence(finding),
            "score": finding.score,
            "function": finding.functions[0] or finding.functions[1],
            "calls_a": finding.calls[0],
            "calls_b": finding.calls[1],
            "time_a_ns": finding.time_ns[0],
            "time_b_ns": finding.time_ns[1],
            "call_a_id": finding.examples[0] if finding.examples[0] >= 0 else None,
            "call_b_id": finding.examples[1] if finding.examples[1] >= 0 else None,
        }
        for number, finding in enumerate(found)
    ]
    names = {row["function"]: row for row in table.as_rows()}
    assert names["gone"]["call_b_id"] is None
    assert names["new"]["call_a_id"] is None
    comparison = compare(a, b)
    rows = [(run, call) for run, trace in enumerate((a, b)) for call in range(len(trace.calls))]
    assert tables.matches(a, b).as_rows() == [
        {
            "id": number, "trace": "AB"[run], "call_id": call,
            "matched": bool(comparison.matched(run)[call]),
        }
        for number, (run, call) in enumerate(rows)
    ]  # fmt: skip
    assert [(table.name, table.traces) for table in tables.TABLES] == [("matches", 2), ("findings", 2)]
