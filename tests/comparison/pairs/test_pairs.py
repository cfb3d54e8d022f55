"""Two profiles of a program, before and after a change, by ten tools: what is said of them is true.

The change is the same in all languages: ``sort_some`` sorts more, and ``extra`` is new. What ``explain`` says
is held against sums of the files' own text (:mod:`.plain`).
"""

import re
from collections import Counter

import pytest

from tests.comparison.pairs import plain
from tests.conftest import ROOT
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.comparison.compare import VIEW
from tracevis3d.features.comparison.findings.find import find
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.comparison.report.sentences import sentence
from tracevis3d.features.comparison.view.difference.headlines import headline, short
from tracevis3d.features.comparison.view.parameters import Parameters
from tracevis3d.formats import registry
from tracevis3d.parameters import read
from tracevis3d.progress import silent
from tracevis3d.queries.database import run
from tracevis3d.queries.ready import written_out
from tracevis3d.trace import profile
from tracevis3d.units import percentage

DATA = ROOT / "tests" / "data" / "pairs"
#: What the plain reader reads, if it is not the file itself.
SAID = {"rb_{}.stackprof.dump.gz": "rb_{}.stackprof.json.gz"}
STACKS = {
    "go_{}.pprof": (plain.pprof, {"main.sortSome", "main.extra"}),
    "node_{}.cpuprofile.gz": (plain.cpuprofile, {"sortSome", "extra"}),
    # Frame pointers lead past the library's functions: it has no callers.
    "perf_{}.perf.txt.gz": (plain.perf, {"msort_with_tmp.part.0", "extra"}),
    "rb_{}.stackprof.dump.gz": (plain.stackprof, {"Object#work", "Object#extra"}),
    "java_{}.jfr.json.gz": (plain.jfr, {"TimSort.mergeAt", "Words.extra"}),
    "py_{}.austin.gz": (plain.austin, {"sort_some", "extra"}),
    "py_{}.collapsed.gz": (plain.collapsed, {"sort_some", "extra"}),
    "py_{}.speedscope.json.gz": (plain.speedscope, {"sort_some", "extra"}),
    "py_{}.pyisession.gz": (plain.pyinstrument_session, {"sort_some", "extra"}),
    "py_{}.pyinstrument.json": (plain.pyinstrument_tree, {"sort_some", "extra"}),
}  # fmt: skip
GRAPHS = {
    "c_{}.callgrind.gz": (plain.callgrind, {"sort_some", "extra"}),
    "py_{}.prof": (plain.cprofile, {"sort_some", "extra"}),
}


def pair(name):
    return tuple(registry.open_trace(DATA / name.format(side)) for side in "ab")


def texts(name):
    return [plain.text_of(DATA / SAID.get(name, name).format(side)) for side in "ab"]


def explained(name):
    return find(compare(*pair(name), cache=False), top=40).found


def has(stack, key, itself):
    return bool(stack) and (stack[-1] == key if itself else key in stack)


def place_free(stack):
    """Take a function that calls itself directly once, as call paths do."""
    return tuple(frame for i, frame in enumerate(stack) if not i or stack[i - 1] != frame)


@pytest.mark.parametrize("name", STACKS)
def test_each_finding_is_the_sum_of_its_stacks(name):
    plainly, expected = STACKS[name]
    left = [plainly(text) for text in texts(name)]
    whole = [sum(stacks.values()) for stacks in left]
    findings = explained(name)
    assert {one.functions[0] or one.functions[1] for one in findings} >= expected, findings
    gone = {}
    for one in sorted(findings, key=lambda one: one.details.get("round", 99)):
        if one.kind == "pace":
            continue
        label, itself, said = (
            one.functions[0] or one.functions[1],
            one.details["itself"],
            one.details["weight"],
        )
        keys = {frame for stacks in left for stack in stacks for frame in stack if frame[0] == label}
        # Lines move from A to B: a function has a place in each.
        sides = [
            [sum(w for stack, w in stacks.items() if any(has(stack, key, itself) for key in keys))]
            + [sum(w for stack, w in stacks.items() if has(stack, key, itself)) for key in sorted(keys)]
            for stacks in left
        ]
        assert all(abs(mine - sums[0]) <= 2 for mine, sums in zip(said, sides)) or all(
            any(abs(mine - w) <= 2 for w in sums) for mine, sums in zip(said, sides)
        ), (label, said, sides)
        assert all(abs(mine - theirs) <= 2 for mine, theirs in zip(one.details["total"], whole))
        check_words(one, whole)
        removed = [[s for s in stacks if any(has(s, key, itself) for key in keys)] for stacks in left]
        without = {gone[s] for side in removed for s in side if s in gone}
        assert set(one.details["without"]) == without
        for stacks, side in zip(left, removed):
            for stack in side:
                if stacks[stack]:
                    gone[stack] = label
                stacks[stack] = 0


def check_words(one, whole):
    """Check every number of a finding's texts against its sums."""
    kind, weight = one.details["kind"], one.details["weight"]
    words = [profile.weighed(kind, w) for w in weight]
    shares = [percentage(w / max(all_, 1), 2) for w, all_ in zip(weight, whole)]
    text = sentence(one)
    said = re.findall(r"([\d.,]+ %) of the [\w-]+ \(([^)]*)\)", text)
    assert said == [pair for pair, w in zip(zip(shares, words), weight) if w], text
    assert ("nothing in A" in text, "nothing in B" in text) == (not weight[0], not weight[1])
    assert (one.kind == "heavier") == (weight[1] > weight[0])
    assert all(word in headline(one) for word, w in zip(words, weight) if w)
    assert [part in short(one)[1] for part in (f"{shares[0]} of A", f"{shares[1]} of B")] == [True, True]
    assert not re.search(r"\d calls?\b(?! path)", text)
    if "samples" in kind:
        assert not re.search(r"\d (?:n|µ|m)?s\b", text)


@pytest.mark.parametrize("name", GRAPHS)
def test_each_finding_is_the_sum_of_its_callers(name):
    plainly, expected = GRAPHS[name]
    (own_a, whole_a), (own_b, whole_b) = map(plainly, texts(name))
    findings = explained(name)
    assert {one.functions[0] or one.functions[1] for one in findings} >= expected
    for one in findings:
        label, itself = one.functions[0] or one.functions[1], one.details["itself"]
        if not one.details["without"]:
            sums = (own_a[label], own_b[label]) if itself else (whole_a[label], whole_b[label])
            assert one.details["weight"] == pytest.approx(sums, abs=max(2, 1e-5 * max(sums))), label
        check_words(one, [sum(own_a.values()), sum(own_b.values())])


BY_FUNCTION = """
    SELECT f.name AS name, sum(s.weight) AS weight FROM samples s JOIN stacks ON s.stack_id = stacks.id
    JOIN functions f ON stacks.function_id = f.id WHERE s.kind = '{}' GROUP BY f.name
"""
#: speedscope's samples are calls alone.
OF_CALLS = """
    SELECT f.name AS name, sum(c.self_ns) AS weight FROM calls c
    JOIN functions f ON c.function_id = f.id GROUP BY f.name
"""


@pytest.mark.parametrize("name", STACKS)
def test_functions_weigh_in_a_query_what_their_stacks_do(name):
    plainly, _ = STACKS[name]
    for trace, text in zip(pair(name), texts(name)):
        own = Counter()
        for function, weight in plain.sums(plainly(text))[0].items():
            own[function.replace(".<locals>", "")] += weight
        sql = OF_CALLS if "speedscope" in name else BY_FUNCTION.format(trace.samples.kinds[0])
        found = {row["name"]: int(row["weight"]) for row in run(sql, [trace]).rows}
        assert {n: w for n, w in found.items() if w} == {n: w for n, w in own.items() if w and n}


@pytest.mark.parametrize(
    ("name", "calls", "done", "alone"),
    [
        ("java_{}.jfr.json.gz", "sampled calls", "sampled", "Words.extra 74 samples"),
        ("c_{}.callgrind.gz", "call paths", "counted", "extra 251,999,917 instructions"),
        ("py_{}.prof", "call paths", "measured", "extra 530 ms"),
        ("go_{}.pprof", "call paths", "sampled", "main.extra 670 ms cpu"),
    ],
)
def test_a_picture_says_what_was_sampled(name, calls, done, alone):
    drawing = VIEW.draw(list(pair(name)), read(Parameters, {}), Frame(1920, 1080), silent)
    notes = " ".join(drawing.notes)
    assert f"of what was {done} is in {calls} that match" in notes
    assert f"others between these {calls} are left out" in notes
    assert ("spread of their offsets" in notes) == (calls == "sampled calls")
    assert ("raised tubes: their sampled calls moved" in notes) == (calls == "sampled calls")
    said = [text for labels in drawing.labels for text in labels.text]
    assert f"no match: {alone}" in said, [text for text in said if text.startswith("no match")]


@pytest.mark.parametrize("name", [name for name in STACKS if "speedscope" not in name])
def test_the_ready_queries_of_samples_are_the_sums_of_their_stacks(name):
    plainly, _ = STACKS[name]
    traces = pair(name)
    sides = []
    for text in texts(name):
        own = Counter()
        for function, weight in plain.sums(plainly(text))[0].items():
            own[function.replace("<locals>.", "")] += weight
        sides.append(own)
    kind = traces[0].samples.kinds[0]
    # Where several functions have a name, their places stand behind it.
    rows = run(written_out("changed-samples", 2), traces).rows
    said = [row for row in rows if row["kind"] == kind and row["function"] in sides[0] | sides[1]]
    assert len(said) >= 4
    for row in said:
        assert [row["weight_a"], row["weight_b"]] == [own[row["function"]] for own in sides], row
    most = [int(abs(row["weight_b"] - row["weight_a"])) for row in rows if row["kind"] == kind]
    assert most == sorted(most, reverse=True)
    for own, trace in zip(sides, traces):
        rows = run(written_out("sampled-functions", 1), [trace]).rows
        first = [row for row in rows if row["kind"] == kind]
        assert [row["weight"] for row in first] == sorted((row["weight"] for row in first), reverse=True)
        assert all(row["weight"] == own[row["function"]] for row in first if row["function"] in own)


def test_what_was_sampled_and_how_long_it_lasted_are_two_times():
    a, b = pair("py_{}.austin.gz")
    assert (profile.amount(a), profile.amount(b)) == ("913 ms sampled", "1.85 s sampled")
    assert profile.amount(pair("py_{}.prof")[0]) == "1.34 s"
