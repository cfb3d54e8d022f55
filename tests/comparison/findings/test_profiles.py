"""Two profiles of samples: what was changed is found, chance is not, and weights are never called calls."""

import json
import marshal
import math
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from statistics import median

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.drawing.frame import Frame
from tracevis3d.errors import InputError, UsageError
from tracevis3d.features.comparison.compare import VIEW
from tracevis3d.features.comparison.findings.evidence import Evidence
from tracevis3d.features.comparison.findings.find import find
from tracevis3d.features.comparison.findings.sampling import pace_of, significance
from tracevis3d.features.comparison.findings.weights import _first_of, not_recursive, weight_changes
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.comparison.matching.summary import sentences, summary
from tracevis3d.features.comparison.report.sentences import caption, sentence, without
from tracevis3d.features.comparison.view.difference.headlines import headline, short
from tracevis3d.features.comparison.view.difference.kinds import FASTER, ONLY, SAME, SLOWER, differences
from tracevis3d.features.comparison.view.parameters import Parameters
from tracevis3d.formats import registry
from tracevis3d.parameters import read
from tracevis3d.progress import silent
from tracevis3d.trace.model import Samples, Trace
from tracevis3d.trace.strings import Strings

#: Standard deviations that a difference takes.
LEAST_SIGNIFICANCE = 4
#: A program: each call path, and how often it is met in a thousand samples.
PROGRAM = {
    "main;read;open": 40, "main;read;parse": 160, "main;read;parse;split": 90, "main;plan": 60,
    "main;build;make;join": 120, "main;build;make;parse": 50, "main;build;check": 80, "main;sort": 110,
    "main;sort;compare": 140, "main;write;encode": 70, "main;write;store": 50, "main;tidy": 30,
}  # fmt: skip


def profile(folder, name, program):
    path = folder / f"{name}.collapsed"
    path.write_text("".join(f"{stack} {count}\n" for stack, count in program.items() if count))
    return registry.open_trace(path)


def sampled(program, samples, seed):
    """Take samples of a program at random."""
    share = np.array(list(program.values()), float)
    counts = np.random.default_rng(seed).multinomial(samples, share / share.sum())
    return dict(zip(program, counts.tolist()))


def changed(**factors):
    """Return the program with some functions, and all below them, as many times as heavy."""
    return {
        stack: count * np.prod([factors.get(name, 1) for name in stack.split(";")])
        for stack, count in PROGRAM.items()
    }


def found(a, b, **words):
    return find(compare(a, b, identity="exact", cache=False), **words)


@pytest.mark.parametrize(("name", "factor", "kind"), [("parse", 3, "heavier"), ("sort", 0.3, "lighter")])
def test_what_was_changed_is_found_and_nothing_else(tmp_path, name, factor, kind):
    for seed in range(5):
        other = changed(**{name: factor})
        # B is recorded as long as it takes, and so has more samples, or fewer.
        whole = round(2000 * sum(other.values()) / sum(PROGRAM.values()))
        a = profile(tmp_path, "a", sampled(PROGRAM, 2000, seed))
        b = profile(tmp_path, "b", sampled(other, whole, seed + 100))
        (only,) = found(a, b).found
        assert (only.kind, only.functions) == (kind, (name, name))
        assert only.details["weight"][1] == pytest.approx(factor * only.details["weight"][0], rel=0.25)


def test_what_is_left_out_is_counted(tmp_path):
    a = profile(tmp_path, "a", sampled(PROGRAM, 20_000, 1))
    b = profile(tmp_path, "b", sampled(changed(parse=3, sort=0.3), 20_000, 2))
    every = found(a, b)
    many = len(every.found)
    assert many >= 2
    for top in range(many + 2):
        some = found(a, b, top=top)
        assert [f.functions for f in some.found] == [f.functions for f in every.found[:top]]
        assert some.left_out == max(many - top, 0)


def test_chance_is_no_difference_however_long_the_profiles_are(tmp_path):
    for seed, samples in enumerate((300, 1000, 3000, 10_000)):
        a = profile(tmp_path, "a", sampled(PROGRAM, samples, seed))
        b = profile(tmp_path, "b", sampled(PROGRAM, samples, seed + 100))
        (only,) = found(a, b).found
        assert only.kind == "alike"
        assert sentence(only).startswith("The profiles are alike: ")


def test_a_profile_of_twice_the_length_has_more_of_everything(tmp_path):
    a = profile(tmp_path, "a", sampled(PROGRAM, 3000, 1))
    b = profile(tmp_path, "b", sampled(changed(plan=4), 2 * 3000 * 1.18, 2))
    more, pace = found(a, b).found
    assert (more.kind, more.functions[0], pace.kind) == ("heavier", "plan", "pace")
    assert pace.details["factor"] == pytest.approx(2, rel=0.1)


def test_a_function_itself_what_is_new_and_in_which_words(tmp_path):
    a = profile(tmp_path, "a", {**PROGRAM, "main;sort": 110})
    b = profile(tmp_path, "b", {**PROGRAM, "main;sort": 440, "main;plan;guess;weigh": 90})
    first, second = found(a, b).found
    assert (first.functions, first.details["itself"]) == (("sort", "sort"), True)
    assert first.details["weight"] == [110, 440]
    assert (
        sentence(first)
        == "`sort` itself has 11 % of the samples (110) in A and 31 % of the samples (440) in B below `main`."
    )
    assert headline(first) == "sort itself has 110 samples in A, 440 in B"
    assert short(first) == ("sort itself: 110 → 440 samples", "11 % of A, 31 % of B")
    # What is new is named by its entrance.
    assert (second.functions, second.details["itself"]) == (("", "guess"), False)
    gone = found(b, a).found[1]
    assert (gone.functions, gone.details["itself"], gone.kind) == (("guess", ""), False, "lighter")
    assert "has 6.3 % of the samples (90) in B and nothing in A" in sentence(second)
    assert " call" not in sentence(first).replace("with all that it calls", "")


@pytest.mark.parametrize("below", [0, 60])
def test_of_a_function_that_calls_itself_the_outermost_paths_have_all_below(tmp_path, below):
    walks = {"walk": 40, "walk;hop;walk": 20, "walk;step": below, "walk;hop;walk;step": below}
    walks = {f"main;{stack}": count for stack, count in walks.items()}
    a = profile(tmp_path, "a", {**PROGRAM, **walks})
    b = profile(tmp_path, "b", {**PROGRAM, **{stack: 5 * count for stack, count in walks.items()}})
    first = found(a, b).found[0]
    # With nothing below it is the function itself that takes it.
    assert (first.functions, first.details["itself"]) == (("walk", "walk"), not below)
    assert len(first.nodes) == (1 if below else 2)


def test_what_is_painted(tmp_path):
    a = profile(tmp_path, "a", PROGRAM)
    b = profile(tmp_path, "b", {**changed(parse=3, sort=0.2), "main;new": 200})
    painted = differences(found(a, b))
    by_label = [
        {trace.functions.label[f]: int(k) for f, k in zip(trace.calls.function.tolist(), kind.tolist())}
        for trace, kind in zip((a, b), painted.kind)
    ]
    for side in by_label:
        assert {n: side[n] for n in ("main", "plan", "split", "compare")} == {
            "main": SAME, "plan": SAME, "split": SLOWER, "compare": FASTER,
        }  # fmt: skip
    assert by_label[1]["new"] == ONLY
    assert painted.names[SLOWER] == "more in B"


def test_times_of_samples_don_t_matter_nor_what_is_weighed(tmp_path):
    pair = []
    for seed, program in enumerate((PROGRAM, {**PROGRAM, "main;plan": 400})):
        stacks = [stack for stack, count in program.items() for _ in range(count)]
        np.random.default_rng(seed).shuffle(stacks)
        names = sorted({name for stack in stacks for name in stack.split(";")})
        path = tmp_path / f"{seed}.speedscope.json"
        path.write_text(
            json.dumps(
                {
                    "$schema": "https://www.speedscope.app/file-format-schema.json",
                    "shared": {"frames": [{"name": name} for name in names]},
                    "profiles": [
                        {
                            "type": "sampled",
                            "name": "main",
                            "unit": "milliseconds",
                            "startValue": 0,
                            "endValue": len(stacks),
                            "samples": [[names.index(name) for name in stack.split(";")] for stack in stacks],
                            "weights": [1] * len(stacks),
                        }
                    ],
                }
            )
        )
        pair.append(registry.open_trace(path))
    a, b = pair
    assert a.samples.are_timed
    (only,) = found(a, b).found
    assert (only.kind, only.functions) == ("heavier", ("plan", "plan"))
    # Nor how often a function is met after another.
    assert only.calls == (1, 1)


def test_what_a_finding_does_not_count_is_said(tmp_path):
    here = ("start;main;work;hot", "start;main;work;root", "start;main;work;cold")
    a = profile(tmp_path, "a", dict(zip(here, (400, 30, 430))))
    b = profile(tmp_path, "b", dict(zip(here, (600, 90, 200))))
    first, second = sorted(found(a, b).found, key=lambda one: one.kind)
    facts = [(f.functions[0], f.details["itself"], f.details["weight"]) for f in (first, second)]
    # All that goes through several functions is told of the innermost one.
    assert facts == [("work", False, [430, 690]), ("cold", True, [430, 200])]
    assert (first.details["without"], second.details["without"]) == (["cold"], [])
    assert sentence(first) == (
        "`work` with all that it calls, not counting `cold`, has 50 % of the samples (430) in A and 78 % of "
        "the samples (690) in B below `start > main`."
    )
    assert headline(first) == "work, not counting cold, has 430 samples in A, 690 in B"
    assert short(first) == ("work: 430 → 690 samples", "50 % of A, 78 % of B, not counting cold")
    assert caption(first).startswith("work, not counting cold: 50 % of the samples (430) in A")


def test_what_a_finding_does_not_count_is_painted_as_the_other_one_says(tmp_path):
    here = ("main;work;hot", "main;work;root", "main;work;cold")
    a = profile(tmp_path, "a", dict(zip(here, (400, 30, 430))))
    b = profile(tmp_path, "b", dict(zip(here, (600, 90, 200))))
    painted = differences(found(a, b))
    for trace, kind in zip((a, b), painted.kind):
        labels = [trace.functions.label[f] for f in trace.calls.function.tolist()]
        assert dict(zip(labels, kind.tolist())) == {
            "main": SAME, "work": SLOWER, "hot": SLOWER, "root": SLOWER, "cold": FASTER,
        }  # fmt: skip


def test_several_that_a_finding_does_not_count_are_two_at_most(tmp_path):
    def finding(*names, itself=False):
        a = profile(tmp_path, "a", {"main;new": 500})
        (only, *_) = found(a, profile(tmp_path, "b", {"main;other": 500})).found
        details = {**only.details, "without": list(names), "itself": itself}
        return replace(only, functions=("one", "one"), details=details)

    assert without(finding()) == without(finding(itself=True)) == ""
    assert without(finding("f", "one"), "`") == ", not counting `f` and itself"
    assert without(finding("f", "g", itself=True)) == ", not counting below f and g"
    assert without(finding("f")) == ", not counting f"
    assert without(finding("f", "g"), "`") == ", not counting `f` and `g`"
    assert without(finding("f", "g", "h")) == ", not counting f and 2 others"


def instructions(folder, name, of):
    """Return a profile of callgrind's, of functions that main calls, and their instructions."""
    lines = ["events: Ir", "fl=a.c", "fn=main", "1 10"]
    for function, count in of.items():
        lines += [f"cfn={function}", "calls=1 1", f"1 {count}"]
    for function, count in of.items():
        lines += [f"fn={function}", f"1 {count}"]
    path = folder / f"{name}.callgrind"
    path.write_text("\n".join(lines) + "\n")
    return registry.open_trace(path)


@pytest.mark.parametrize(("factor", "is_found"), [(1.1, False), (1.2, True)])
def test_instructions_are_counted_and_no_samples(tmp_path, factor, is_found):
    of = {"mix": 600_000_207, "sort": 300_000_000, "print": 100_000}
    a = instructions(tmp_path, "a", of)
    b = instructions(tmp_path, "b", {**of, "mix": 600_000_213, "sort": round(300_000_000 * factor)})
    (only,) = found(a, b).found
    if is_found:
        assert (only.kind, only.functions, only.details["weight"]) == (
            "heavier", ("sort", "sort"), [300_000_000, 360_000_000]
        )  # fmt: skip
    else:
        assert sentence(only).endswith("and no function differs by 15 %, and by 1 % of the whole.")


def called(folder, name, times):
    """Return a profile by cProfile of functions that main calls three times: their seconds."""
    main = ("run.py", 1, "main")
    table = {main: (1, 1, 0.01, 0.01 + sum(times.values()), {})}
    table |= {("run.py", 2, n): (3, 3, own, own, {main: (3, 3, own, own)}) for n, own in times.items()}
    path = folder / f"{name}.prof"
    path.write_bytes(marshal.dumps(table))
    return registry.open_trace(path)


def test_times_of_all_calls_are_no_few_samples(tmp_path):
    before = {"mix": 0.67, "sort": 0.36, "text": 0.28}
    a = called(tmp_path, "a", before)
    assert sentence(found(a, called(tmp_path, "b", {**before, "mix": 0.74})).found[0]) == (
        "The profiles are alike: 1.32 s and 1.39 s, and no function differs by more than chance explains."
    )
    more, new = found(a, called(tmp_path, "b", {**before, "sort": 1.38, "extra": 0.53})).found
    assert (more.functions, more.details["weight"]) == (("sort", "sort"), [360_000_000, 1_380_000_000])
    assert headline(more) == "sort itself has 360 ms in A, 1.38 s in B"
    assert headline(new) == "extra has 530 ms in B, none in A"
    assert short(new)[0] == "extra: 0 ns → 530 ms"


def rated(folder, name, weights, interval_us):
    """Return a profile by Austin: milliseconds of each stack, one sample in so many microseconds."""
    lines = [
        f"P1;T1;run.py:{stack}:1 {interval_us}"
        for stack, ms in weights.items()
        for _ in range(ms * 1000 // interval_us)
    ]
    path = folder / f"{name}.austin"
    path.write_text("\n".join(["# austin: 3.5.0", f"# interval: {interval_us}", "# mode: cpu", *lines, ""]))
    return registry.open_trace(path)


def test_a_profile_with_more_samples_a_second_weighs_no_more(tmp_path):
    before = {"read": 600, "plan": 200, "write": 280}
    a, b = rated(tmp_path, "a", before, 1000), rated(tmp_path, "b", before, 4000)
    assert [len(trace.samples) for trace in (a, b)] == [1080, 270]
    for pair in ((a, b), (b, a)):
        assert [one.kind for one in found(*pair).found] == ["alike"]
    (only,) = found(a, rated(tmp_path, "c", {**before, "plan": 400}, 4000)).found
    assert (only.functions, only.details["weight"]) == (("plan", "plan"), [200_000_000, 400_000_000])
    assert only.details["samples"] == [200, 100]


@pytest.mark.parametrize(("before", "pace"), [(3, 1), (80, 2)])
def test_the_pace_is_of_samples_whatever_they_weigh(tmp_path, before, pace):
    """Few samples are too few, however much they weigh."""
    pair = [
        rated(tmp_path, name, {f"f{i}": 4 * count for i in range(9)}, interval)
        for name, count, interval in (("a", before, 4000), ("b", 2 * before, 1000))
    ]
    for a, b, factor in ((*pair, pace), (*pair[::-1], 1 / pace)):
        evidence = Evidence(compare(a, b, identity="exact", cache=False))
        assert evidence.pace == pytest.approx(factor)


def test_profiles_that_weigh_different_things_are_not_compared(tmp_path):
    path = tmp_path / "run.tsv"
    path.write_text("1\t+\tmain\t0\n1\t-\tmain\t9\n")
    samples, counted = profile(tmp_path, "a", PROGRAM), instructions(tmp_path, "b", {"mix": 7})
    (nothing := tmp_path / "c.collapsed").write_text("main;mix 0\n")
    empty = registry.open_trace(nothing)
    for pair, words in (
        ((samples, empty), "B weighs nothing: there is nothing to compare"),
        ((empty, samples), "A weighs nothing: there is nothing to compare"),
        ((samples, counted), "A weighs samples, B weighs instructions: only profiles that weigh the same"),
        ((registry.open_trace(path), samples), "A has calls, B weighs samples: only profiles that weigh"),
    ):
        with pytest.raises(UsageError, match=words):
            found(*pair)


def test_nothing_is_chance_where_all_was_counted(tmp_path):
    a, b = (instructions(tmp_path, name, {"mix": 900}) for name in "ab")
    (only,) = found(a, b).found
    assert headline(only) == "A and B are alike"
    assert sentence(only).startswith("The profiles are alike: 910 instructions and 910 instructions, and no")
    (more,) = found(a, instructions(tmp_path, "c", {"mix": 2000})).found
    assert headline(more) == "mix itself has 900 instructions in A, 2,000 in B"


def test_a_comparison_of_call_paths_speaks_of_no_times_and_no_order(tmp_path):
    of = {name: 500_000_000 + 1000 * k for k, name in enumerate(f"f{k}" for k in range(9))}
    a = instructions(tmp_path, "a", of)
    b = instructions(tmp_path, "b", {**dict(reversed([*of.items()])), "new": 900_000_000})
    drawing = VIEW.draw([a, b], read(Parameters, {}), Frame(960, 540), silent)
    assert drawing.title == "new has 900,000,000 instructions in B, none in A"
    said = [text for labels in drawing.labels for text in labels.text]
    assert [text for text in said if text.startswith("no match")] == [
        "no match: new 900,000,000 instructions"
    ]
    notes = " ".join(drawing.notes)
    assert "of what was counted is in call paths that match" in notes
    assert "tubes are as wide as their call paths weigh" in notes
    assert "raised" not in notes
    rows = dict(sentences(summary(compare(a, b, cache=False)), (a, b)))
    assert rows["only in B"] == "new: 1 call path, 900,000,000"
    assert "instructions that matches" in rows


def perf_script(folder, name, of):
    """Return a profile by perf: stacks from the root down, and how often each was met."""
    blocks, at = [], 0
    for stack, count in of.items():
        frames = [f"\t    7d352e49 {frame} ({'[unknown]' if frame == '[unknown]' else '/bin/run'})"
                  for frame in reversed(stack.split(";"))]  # fmt: skip
        for _ in range(count):
            at += 2
            blocks.append("\n".join([f"run 7 {at / 1000:.6f}:    2000000 cpu-clock: ", *frames]))
    path = folder / f"{name}.perf.txt"
    path.write_text("\n\n".join(blocks) + "\n")
    return registry.open_trace(path)


def test_a_caller_that_nobody_knows_has_no_work(tmp_path):
    """A return address that is garbage is told of no function: those that it calls have the work."""
    before = {"[unknown];sort;compare": 90, "[unknown];mix": 80, "main;work": 60, "[unknown]": 20}
    a = perf_script(tmp_path, "a", before)
    b = perf_script(tmp_path, "b", {**before, "[unknown];sort;compare": 300, "[unknown];mix": 140})
    told = found(a, b).found
    assert {(one.functions[0], tuple(one.details["weight"])) for one in told} == {
        ("compare", (180_000_000, 600_000_000)), ("mix", (160_000_000, 280_000_000)),
    }  # fmt: skip
    assert sentence(told[0]).endswith(" in B below `[unknown] > sort`.")
    # Even where the change of all that it calls is surer than that of each.
    every = {"main;work": 60, **before, "[unknown];sort;compare": 200, "[unknown];mix": 180}
    told = found(a, perf_script(tmp_path, "every", every)).found
    assert {one.functions[0] for one in told} == {"compare", "mix"}
    # What is sampled in code without a name is told of.
    (only,) = found(a, perf_script(tmp_path, "c", {**before, "[unknown]": 200})).found
    assert (only.functions[0], only.details["itself"]) == ("[unknown]", True)


def test_of_few_samples_it_is_said_how_few(tmp_path):
    before = {"main;work;mix": 20, "main;work;sort": 12}
    a, b = perf_script(tmp_path, "a", before), perf_script(tmp_path, "b", {**before, "main;work;sort": 39})
    (only,) = found(a, b).found
    assert sentence(only) == (
        "The profiles are alike: 64 ms cpu-clock and 118 ms cpu-clock, and no function differs by more than "
        "chance explains in 32 and 59 samples."
    )


@pytest.mark.parametrize(("counts", "words"), [((200, 150, 90), "the heaviest"), ((300, 90, 50), "mostly")])
def test_most_of_several_call_paths_is_more_than_half(tmp_path, counts, words):
    ways = [f"main;{way};parse" for way in ("read", "build", "check")]
    a = profile(tmp_path, "a", {**dict.fromkeys(ways, 20), "main;rest": 900})
    b = profile(tmp_path, "b", {**dict(zip(ways, counts)), "main;rest": 900})
    assert sentence(found(a, b).found[0]).endswith(f" in B, on 3 call paths, {words} below `main > read`.")


# -- the twin ------------------------------------------------------------------------------------------

_stack = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(";".join)
_program = st.dictionaries(_stack, st.integers(1, 400), min_size=1, max_size=8)


def joined(program):
    """Take a function that calls itself directly once, as call paths do."""
    total = Counter()
    for stack, count in program.items():
        names = stack.split(";")
        total[tuple(n for i, n in enumerate(names) if i == 0 or names[i - 1] != n)] += count
    return total


def plain_changes(a, b, pace, most, rates):
    """Return the functions, by themselves or with all below, that differ by more than chance; how surely."""
    found, expected = {}, pace * rates[1] / rates[0]
    for name in "abcd":
        for itself in (True, False):
            old, new = (
                sum(count for path, count in side.items() if (path[-1] == name if itself else name in path))
                for side in (a, b)
            )
            samples = old * rates[0], new * rates[1]
            more = (samples[1] + 0.375) ** 0.5 - (expected * (samples[0] + 0.375)) ** 0.5
            z = 2 * more / (1 + expected) ** 0.5
            is_near = max(new, pace * old) < 1.15 * min(new, pace * old)
            if abs(z) >= LEAST_SIGNIFICANCE and abs(new - pace * old) >= 0.01 * most and not is_near:
                found[name, itself] = z
    return found


@given(_program, _program, st.sampled_from([(1, 1), (0.5, 0.5), (0.5, 2)]))
@settings(max_examples=40, deadline=None)
def test_functions_are_found_as_by_the_plain_twin(tmp_path_factory, a, b, rates):
    folder = tmp_path_factory.mktemp("pair")
    pair = (profile(folder, "a", a), profile(folder, "b", b))
    evidence = Evidence(compare(*pair, identity="exact", cache=False))
    assert evidence.weights is not None
    left = [joined(a), joined(b)]
    most = whole = max(sum(side.values()) for side in left)
    gone = {}
    for number, finding in enumerate(weight_changes(evidence, replace(evidence.weights, rate=rates))):
        name, itself = finding.functions[0] or finding.functions[1], finding.details["itself"]
        expected = plain_changes(*left, evidence.pace, most, rates)
        assert finding.details["deviations"] == pytest.approx(max(abs(z) for z in expected.values()))
        assert finding.details["deviations"] == pytest.approx(abs(expected[name, itself]))
        assert finding.kind == ("heavier" if expected[name, itself] > 0 else "lighter")
        old, new = (
            sum(count for path, count in side.items() if (path[-1] == name if itself else name in path))
            for side in left
        )
        assert finding.score == pytest.approx(min(abs(new - evidence.pace * old) / whole, 1.0))
        assert (finding.details["weight"], finding.details["round"]) == ([old, new], number)
        assert finding.details["samples"] == [old * rates[0], new * rates[1]]
        places = Counter()
        for s, side in enumerate(left):
            for path, count in side.items():
                if name in path and (path[-1] == name or not itself):
                    places[s, path if itself else path[: path.index(name) + 1]] += count
        assert finding.details["mostly"] == (2 * max(places.values()) > max(old, new))
        mine = {path for side in left for path in side if (path[-1] == name if itself else name in path)}
        assert set(finding.details["without"]) == {gone[path] for path in mine if path in gone}
        for path in mine:
            if any(side.get(path) for side in left):
                gone[path] = name
            for side in left:
                side[path] = 0
    assert not plain_changes(*left, evidence.pace, most, rates)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=10, max_size=10),
    st.lists(st.integers(0, 4), min_size=1), st.sets(st.integers(0, 9), min_size=1),
)  # fmt: skip
def test_which_of_equally_certain_functions_is_reported(weights, function, rows):
    """By itself, the innermost; or with all below it, if it is new or gone, the outermost."""
    rows = sorted(row for row in rows if row % 5 in function)
    if not rows:
        return

    def order(row):
        new = not all(weights[row])
        place = function.index(row % 5)
        return (row < 5) == new, place if new else -place

    a, b = np.array(weights, np.float64).T
    found = _first_of(np.array(rows, np.int64), a, b, np.array(function, np.int64), 5)
    assert order(found) == min(map(order, rows))


@pytest.mark.parametrize(("new", "is_found"), [(99, False), (100, True), (101, True)])
def test_a_hundredth_of_all_samples_is_worth_a_finding(tmp_path, new, is_found):
    a = profile(tmp_path, "a", {"a;b": 5000, "a;d": 5000})
    b = profile(tmp_path, "b", {"a;b": 5000, "a;d": 5000 - new, "a;c": new})
    evidence = Evidence(compare(a, b, identity="exact", cache=False))
    found = [(f.functions, f.score) for f in weight_changes(evidence, evidence.weights)]
    assert found == ([(("", "c"), new / 10_000)] if is_found else [])
    # So it is where there were some before.
    a = profile(tmp_path, "a", {"a;b": 5000, "a;d": 4990, "a;c": 10})
    b = profile(tmp_path, "b", {"a;b": 5000, "a;d": 4990 - new, "a;c": 10 + new})
    evidence = Evidence(compare(a, b, identity="exact", cache=False))
    found = [(f.functions, f.score) for f in weight_changes(evidence, evidence.weights)]
    assert found == ([(("c", "c"), new / 10_000)] if is_found else [])


def test_a_finding_is_about_all_of_a_profile_at_most(tmp_path):
    """What is gone would be more than all of the other one, at its pace."""
    usual = {f"main;f{i}": 30 for i in range(9)}
    a = profile(tmp_path, "a", {**usual, "main;gone": 2000})
    b = profile(tmp_path, "b", {stack: 3 * count for stack, count in usual.items()})
    first = found(a, b).found[0]
    assert (first.functions, first.score) == (("gone", ""), 1)
    assert first.details["pace"] == pytest.approx(3)


@pytest.mark.parametrize(("more", "mostly"), [(0, False), (1, True)])
def test_more_than_half_of_a_weight_is_most_of_it(tmp_path, more, mostly):
    a = profile(tmp_path, "a", PROGRAM)
    b = profile(tmp_path, "b", {**PROGRAM, "main;sort;new": 200 + more, "main;plan;new": 200 - more})
    first = found(a, b).found[0]
    assert (first.functions, first.details["mostly"]) == (("", "new"), mostly)


@pytest.mark.parametrize("samples", [(1, 1), (1, 3), (3, 1)])
def test_one_sample_stands_for_itself(tmp_path, samples):
    pair = [profile(tmp_path, name, {"main;work": n}) for name, n in zip("ab", samples, strict=True)]
    weights = Evidence(compare(*pair, identity="exact", cache=False)).weights
    assert (weights.total, weights.rate) == (samples, (1, 1))


@pytest.mark.parametrize(
    ("kinds", "rows", "times", "count"),
    [
        (["samples"], [(0, 4), (0, 3)], [], 7),
        (["cpu (ns)"], [(0, 90_000_000)] * 3, [], 3),
        (["heap (bytes)"], [(0, 5)], [], 5),
        # One in ten milliseconds at least, where nothing else is known.
        (["time (ns)"], [(0, 20_000_000)], [], 2),
        (["time (ns)"], [(0, 19_999_999)], [], 1),
        (["time (ns)"], [(0, 90_000_000)], [4], 1),
        (["time (ns)", "samples"], [(0, 90_000_000), (1, 7)], [], 7),
        # Measured, not sampled.
        (["time (ns)", "calls"], [(0, 1_000), (1, 3)], [], 10_000),
    ],
)
def test_how_many_samples_were_taken(tmp_path, kinds, rows, times, count):
    kind, weight = np.array(rows).T
    samples = Samples(
        thread=np.zeros(len(rows), np.int32),
        kind=kind.astype(np.int32),
        weight=weight,
        time=np.array(times, np.int64),
        kinds=Strings.of(kinds),
    )
    trace = replace(profile(tmp_path, "a", {"main;work": 1}), samples=samples)
    found = Evidence(compare(trace, trace, identity="exact", cache=False)).weights
    assert found.rate == (count / weight[kind == 0].sum(),) * 2


def test_how_sure_a_difference_is():
    """Of two counts of the same rate, one in about 16,000 pairs is 4 standard deviations apart."""
    counts = np.random.default_rng(1).poisson(50, (2, 200_000)).astype(float)
    z = significance(counts[0], counts[1], 1.0)
    assert abs(float(z.mean())) < 0.01
    assert float(z.std()) == pytest.approx(1, abs=0.02)
    assert np.count_nonzero(np.abs(z) > LEAST_SIGNIFICANCE) < 40


def test_at_most_half_of_the_samples_may_be_as_before():
    for small, pace in ((20, 1.5), (21, 1)):
        # Of 20 samples nobody can tell whether they are more than before; of 400 one can.
        before = np.array([160.0] + small * [8.0])
        assert pace_of(before, 1.5 * before) == pytest.approx(pace)


def test_the_pace_is_what_most_functions_have():
    a = np.full(20, 100.0)
    b = 2 * a
    b[3] = 900
    assert pace_of(a, b) == pytest.approx(2)
    assert pace_of(a, a) == 1
    assert pace_of(a[:5], b[:5]) == 1  # too few to tell
    for before, now, pace in ((1, 20, 20), (20, 1, 1 / 20), (0, 20, 1), (20, 0, 1)):
        assert pace_of(np.full(8, before), np.full(8, now)) == pytest.approx(pace)
    for few, pace in ((5, 10), (4, 1)):  # ten samples of a function are enough
        assert pace_of(np.array([20] * 7 + [few]), np.array([200] * 7 + [5])) == pytest.approx(pace)
    # Twelve small functions grew with the one that calls them, eight large ones did not: that is no pace.
    large = np.append(a, np.full(8, 500.0))
    assert pace_of(large, np.append(b, large[20:])) == 1


@given(st.lists(st.tuples(st.integers(-1, 30), st.integers(0, 4)), min_size=1, max_size=30))
def test_a_path_is_recursive_if_a_caller_is_its_function(nodes):
    parent = [min(above, i - 1) for i, (above, _) in enumerate(nodes)]
    function = [f for _, f in nodes]
    plain = []
    for i in range(len(nodes)):
        callers, above = [], parent[i]
        while above >= 0:
            callers.append(function[above])
            above = parent[above]
        plain.append(function[i] not in callers)
    found = not_recursive(np.array(parent, np.int32), np.array(function, np.int64))
    assert found.tolist() == plain


def test_a_path_of_very_many_functions_is_judged_at_once():
    n = 200_000
    assert not_recursive(np.arange(-1, n - 1, dtype=np.int32), np.arange(n)).all()


def plain_pace(pairs):
    """Return how many samples of B one of A lets expect, function after function."""
    known = [(a, b) for a, b in pairs if a + b >= 10 and a and b]
    if len(known) < 8:
        return 1.0
    whole = sum(a + b for a, b in known)
    rows = sorted((math.log(b / a), min((a + b) / whole, 0.02)) for a, b in known)
    sums = list(accumulate(weight for _, weight in rows))
    middle = next(ratio for (ratio, _), so_far in zip(rows, sums, strict=True) if so_far >= sums[-1] / 2)
    usual = median(abs(ratio - middle) for ratio, _ in rows) / 0.6745
    if abs(middle) < max(math.log(1.15), 3 * 1.2533 * usual / math.sqrt(len(rows))):
        return 1.0

    def share(factor):
        near = 0
        for a, b in known:
            more = math.sqrt(b + 0.375) - math.sqrt(factor * (a + 0.375))
            near += (a + b) * (abs(2 * more / math.sqrt(1 + factor)) <= 3)
        return near / whole

    return math.exp(middle) if share(math.exp(middle)) >= 0.75 and share(1.0) <= 0.5 else 1.0


@st.composite
def counted_functions(draw):
    """Return samples of functions in A and B: most at one pace, some as before, some by chance."""
    pace, most = (
        draw(st.sampled_from([0.5, 1.12, 1.14, 1.17, 1.3, 2, 3])),
        draw(st.sampled_from([12, 100, 2000])),
    )
    found = []
    for _ in range(draw(st.integers(6, 40))):
        a = draw(st.integers(0, most))
        factor = draw(st.sampled_from([pace] * draw(st.integers(1, 8)) + [1, 1.5 * pace]))
        found.append((a, max(round(a * factor) + draw(st.integers(-2, 2)), 0)))
    return found


@given(counted_functions())
@example([(100, 200)] * 7)
@example([(100, 200)] * 8)
@example([(3, 7)] * 8 + [(3, 6)] * 20)
@example([(5, 5)] * 6 + [(9, 0)] * 2)
@example([(100, 112)] * 9)
@example([(1000, 1140)] * 9)
@example([(1000, 1160)] * 9)
@example([(1000, 2000)] * 9 + [(9000, 9000)])
@example([(100, 300)] * 8 + [(8000, 9000)])
@example([(100, 300)] * 30 + [(90, 100)] * 9)
@example([(10, 20)] * 30)
@example([(100, 200)] * 7 + [(0, 50)])
@example([(100, 200)] * 7 + [(50, 0)])
@example([(100, 210)] * 30 + [(5000, 10_000)])
@example([(20 + i, 2 * (20 + i) + i // 4) for i in range(60)])
@example([(100, 200)] * 4 + [(100, 210)] * 5)
@example([(3000, 4500)] * 3 + [(10, 20), (20, 10), (30, 9)] * 3)
@example([(1000, 1900 + 20 * i) for i in range(20)])
@example([(1000, 2000)] * 9 + [(4500, 4500)])
@example([(1000, 2000 + 90 * i) for i in range(20)])
@example([(1000, 1000 + 90 * i) for i in range(1, 20)])
@example([(1000, 800 + 90 * i) for i in range(1, 20)])
# What most have in common is just beyond three standard errors of the median, and just within.
@example([(420, 525), *[(420, 430), (420, 641)] * 12])
@example([(420, 524), *[(420, 429), (420, 640)] * 12])
@example([(8, 12), (33, 82), (10, 16), (36, 76), (34, 44), (9, 13), (9, 23), (39, 76)])
@example([(35, 110), (15, 64), (18, 23), (12, 24), (21, 31), (24, 109), (20, 60), (14, 26), (23, 40)])
@example([(1000, 1150)] * 9)
@settings(deadline=None)
def test_the_pace_is_that_of_the_plain_twin(pairs) -> None:
    a, b = np.array(pairs, np.float64).T
    assert pace_of(a, b) == pytest.approx(plain_pace(pairs))


def test_recordings_of_memory_alone_have_no_calls_to_compare(tmp_path):
    path = tmp_path / "a.heaptrack"
    path.write_text(
        "v 10500 3\nX run\ns 3 run\ns 4 main\nI 400000 1000\ni 1 1\nt 1 0\na 10 1\n+ 0\nc 5\n- 0\n"
    )
    trace = registry.open_trace(path)
    assert (len(trace.calls), len(trace.memory)) == (0, 2)
    with pytest.raises(InputError, match="no calls are recorded in it"):
        found(trace, trace)
    (alike,) = found(Trace(), Trace()).found
    assert (alike.kind, alike.details["most"], alike.details["most_ns"]) == ("alike", 0, 0)


def test_objects_of_a_heap_are_kept_on_paths_and_called_on_none():
    heap = registry.open_trace(ROOT / "tests" / "data" / "perfetto" / "heap.pftrace.gz")
    drawing = VIEW.draw([heap, heap], read(Parameters, {}), Frame(960, 540), silent)
    notes = " ".join(drawing.notes)
    assert "of what was counted is in paths that match" in notes
    assert "classes are the same if their full names are" in notes
    assert "call" not in notes
    (alike,) = found(heap, heap).found
    details = {
        **alike.details,
        "itself": True,
        "weight": [1024, 3072],
        "pace": 1,
        "paths": 12,
        "mostly": True,
    }
    more = replace(alike, kind="heavier", functions=("Note", "Note"), details=details)
    assert sentence(more).endswith(" of the heap (3 KiB) in B, on 12 paths.")
