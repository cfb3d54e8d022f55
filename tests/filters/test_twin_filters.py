"""Each filter against a plain twin written from its sentence, and the facts that filters stand on."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.test_compact import plain_key
from tests.support.plain_match import small_trace
from tests.support.walked_traces import walked_trace
from tracevis3d.analysis.pattern_library import Library, promote, save
from tracevis3d.analysis.sequences import callees_of
from tracevis3d.errors import UsageError
from tracevis3d.filters import registry
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.names import NameParameters, close_names, container_paths
from tracevis3d.filters.roles import ROLES, of_functions
from tracevis3d.filters.stack import parse
from tracevis3d.formats.names import split
from tracevis3d.parameters import read
from tracevis3d.trace.model import CONTAINER_KINDS, Containers, Source
from tracevis3d.trace.recording import Recording
from tracevis3d.trace.strings import Strings

OWNERS = ("", "Point", "Line", "Outer$Inner", "ns::Shape", "Box<int>")
NAMES = (
    "<init>", "__init__", "Point", "~Point", "Inner", "Shape", "~Shape", "Box", "getX", "get", "get_x",
    "get9", "getter", "isEmpty", "island", "hasNext", "setY", "fgetX", "__getattr__", "__getitem__",
    "__get__", "__delattr__", "__str__", "finalize", "drop", "draw", "log", "run",
)  # fmt: skip


def call_flags(facts, name, **values):
    """Return for each call whether a filter marks it."""
    found = registry.find(name)
    marked = found.mark(facts, read(found.parameters, values))
    calls = facts.trace.calls
    if marked.of == "function":
        return marked.flags[calls.function].tolist()
    return (
        marked.flags.tolist() if marked.of == "call" else marked.flags[facts.graph.subtrees.of_call].tolist()
    )


@st.composite
def traces(draw):
    """Draw a trace in which functions live in classes within modules, whose names say what they do."""
    labels = draw(
        st.lists(
            st.tuples(st.sampled_from(OWNERS), st.sampled_from(NAMES)), min_size=1, max_size=8, unique=True
        )
    )
    depths, depth = [], 0
    for _ in range(draw(st.integers(0, 30))):
        depth = draw(st.integers(1, depth + 1))
        depths.append(depth)
    n = len(depths)
    used = draw(st.lists(st.integers(0, len(labels) - 1), min_size=n, max_size=n))
    durations = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    names = [f"{owner}{'::' if '::' in owner else '.'}{name}" if owner else name for owner, name in labels]
    trace = small_trace(depths, used, durations, names, np.zeros(depths.count(1)) if n else None)
    parent, kind = [], []
    for i in range(draw(st.integers(0, 6))):
        parent.append(draw(st.integers(-1, i - 1)))
        kind.append(draw(st.integers(0, len(CONTAINER_KINDS) - 1)))
    containers = Containers(
        Strings.of([f"C{i % 4}" for i in range(len(parent))]),
        np.array(parent, np.int32),
        np.array(kind, np.uint8),
    )
    of = st.lists(st.integers(-1, len(parent) - 1), min_size=len(names), max_size=len(names))
    files = st.lists(st.integers(-1, 1), min_size=len(names), max_size=len(names))
    functions = replace(
        trace.functions, container=np.array(draw(of), np.int32), file=np.array(draw(files), np.int32)
    )
    return replace(
        trace, functions=functions, containers=containers, files=Strings.of(["c1.py", "d.py"])
    ), labels


def bare(owner):
    """The class alone: without what it lies in, and without what it is made of."""
    return owner.split("::")[-1].split("$")[-1].split("<")[0]


# -- facts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "owner", "name"),
    [
        ("f", "", "f"), ("Point.__init__", "Point", "__init__"), ("a.b.Point.getX(int)", "Point", "getX"),
        ("ns::Box<int>::~Box", "Box", "~Box"), ("Outer$Inner.run", "Inner", "run"), ("f (x)", "", "f"),
        ("(anonymous)", "", "(anonymous)"), ("(a.b) c", "(a", "b) c"), (".ctor", "", ".ctor"),
        ("A::f.g", "A", "f.g"), ("", "", ""),
    ],
)  # fmt: skip
def test_a_label_is_a_class_and_a_name(label, owner, name):
    trace = small_trace([1], [0], [1], [label], [0])
    assert Facts(trace).methods == [(owner, name)]
    assert Facts(trace).short_names == [name]


def modules_of(trace):
    """Return for each function the innermost container that is no class; -1: none."""
    found = []
    for at in trace.functions.container.tolist():
        while at >= 0 and CONTAINER_KINDS[trace.containers.kind[at]] == "class":
            at = int(trace.containers.parent[at])
        found.append(at)
    return found


def pairs_of(trace):
    """Return the distinct pairs of a function and one that it calls."""
    calls = trace.calls
    return {
        (int(calls.function[up]), int(f))
        for up, f in zip(calls.parent.tolist(), calls.function.tolist(), strict=True)
        if up >= 0
    }


@given(traces())
@settings(max_examples=80, deadline=None)
def test_facts_are_those_of_the_plain_twin(drawn):
    trace, labels = drawn
    facts, n, pairs = Facts(trace), len(trace.functions), pairs_of(trace)
    module = modules_of(trace)
    assert facts.module_of.tolist() == module
    assert list(zip(*(column.tolist() for column in facts.caller_pairs), strict=True)) == sorted(pairs)
    fan_in = [sum(b == f for _, b in pairs) for f in range(n)]
    fan_out = [sum(a == f for a, _ in pairs) for f in range(n)]
    assert (facts.fan_in.tolist(), facts.fan_out.tolist()) == (fan_in, fan_out)
    assert facts.modules_in.tolist() == [len({module[a] for a, b in pairs if b == f}) for f in range(n)]
    score = [
        max(fan_in[f] / n * math.log(n / (fan_out[f] + 1)) / math.log(n), 0.0) if n > 1 else 0.0
        for f in range(n)
    ]
    assert facts.utilityhood.tolist() == pytest.approx(score)
    assert facts.methods == [(bare(owner), name) for owner, name in labels]


def test_of_two_functions_the_one_that_is_called_is_a_utility():
    facts = Facts(small_trace([1, 2], [0, 1], [1, 1], ["f", "g"], [0]))
    assert facts.utilityhood.tolist() == [0.0, 0.5]
    assert Facts(small_trace([1], [0], [1], ["f"], [0])).utilityhood.tolist() == [0.0]


@pytest.mark.parametrize(
    ("name", "parameter", "low", "high"),
    [
        ("polymorphic", "classes", 2, None), ("utilities", "least", 0, 1), ("utilities", "callers", 1, None),
        ("utilities", "modules", 1, None), ("utilities", "callees", 0, None), ("depth", "below", 1, None),
        ("patterns", "depth", 1, None), ("patterns", "times", 2, None), ("patterns", "size", 1, None),
        ("alike", "call", 0, None), ("alike", "depth", 1, None), ("sequence", "call", 0, None),
        ("sequence", "entries", 0, None),
    ],
)  # fmt: skip
def test_bounds_of_parameters(name, parameter, low, high):
    parameters = registry.find(name).parameters
    for value, fits in ((low, True), (low - 1, False), (high, True), (high and high + 1, False)):
        if value is None:
            continue
        if fits:
            assert getattr(read(parameters, {parameter: value}), parameter) == value
        else:
            with pytest.raises(UsageError):
                read(parameters, {parameter: value})


# -- functions -------------------------------------------------------------------------------------------


def is_accessor(name):
    for word in ("get", "set", "is", "has", "fget", "fset"):
        rest = name[len(word) :]
        if name.startswith(word) and (not rest or rest[0].isupper() or rest[0].isdigit() or rest[0] == "_"):
            return True
    return name in {f"__{a}{b}__" for a in ("get", "set", "del") for b in ("", "attr", "item", "attribute")}


CONSTRUCTORS = {
    "<init>", "<clinit>", "__init__", "__new__", "__post_init__", "__init_subclass__", "constructor", ".ctor",
    ".cctor", "ctor",
}  # fmt: skip
DESTRUCTORS = {"__del__", "dealloc", "destructor"}
#: A file and a function that give the language away, and what means making or ending objects in it alone.
LANGUAGES = {
    "ruby": ("a.rb", "A#b", {"initialize"}, set()),
    "java": ("A.java", "A.<init>", set(), {"finalize"}),
    ".net": ("A.cs", "A..ctor", set(), {"Finalize"}),
    "rust": ("a.rs", "<A as core::ops::Drop>::drop", set(), {"drop"}),
}


def makes(owner, name, java=False):
    return name in CONSTRUCTORS or (bool(owner) and name == owner)


def ends(owner, name, java=False):
    return name in DESTRUCTORS or name == "~" + owner or (java and name == "finalize")


def implements(methods, classes_of, k, classes, java=False):
    owner, name = methods[k]
    others = {c for c, (o, other) in zip(classes_of, methods, strict=True) if o and other == name}
    plain = not makes(owner, name) and not ends("", name, java) and not name.startswith("__")
    return bool(owner) and plain and len(others) >= classes


@given(traces(), st.integers(2, 3))
@settings(max_examples=100, deadline=None)
def test_roles_follow_from_names(drawn, classes):
    trace, labels = drawn
    facts = Facts(trace)
    methods = [(bare(owner), name) for owner, name in labels]
    callers = {a for a, _ in pairs_of(trace)}
    function = trace.calls.function.tolist()
    accessor = [is_accessor(name) for _, name in methods]
    leaf = [found and f not in callers for f, found in enumerate(accessor)]
    assert call_flags(facts, "accessors", leaves=False) == [accessor[f] for f in function]
    assert call_flags(facts, "accessors") == [leaf[f] for f in function]
    constructor = [makes(*method) for method in methods]
    java = any(name == "<init>" for _, name in labels)
    either = [makes(*method) or ends(*method, java) for method in methods]
    classes_of = list(zip(trace.functions.container.tolist(), (owner for owner, _ in labels), strict=True))
    assert call_flags(facts, "constructors", destructors=False) == [constructor[f] for f in function]
    assert call_flags(facts, "constructors") == [either[f] for f in function]
    several = [implements(methods, classes_of, k, classes, java) for k in range(len(methods))]
    assert call_flags(facts, "polymorphic", classes=classes) == [several[f] for f in function]
    if classes == 2:
        assert call_flags(facts, "polymorphic") == call_flags(facts, "polymorphic", classes=2)
        found = registry.find("utilities")
        utility = found.mark(facts, found.parameters()).flags
        for f, role in enumerate(of_functions(facts)):
            fits = (either[f], leaf[f], utility[f], several[f], True)
            assert role == tuple(ROLES)[fits.index(True)]


@pytest.mark.parametrize("name", sorted(CONSTRUCTORS | DESTRUCTORS | {"~Point", "Point", "drops", "<inits>"}))
def test_constructors_and_destructors_of_any_language(name):
    trace = small_trace([1], [0], [1], [f"Point::{name}"], [0])
    assert call_flags(Facts(trace), "constructors") == [makes("Point", name) or ends("Point", name)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_makes_or_ends_objects_in_one_language_is_ordinary_in_others(language):
    file, sign, constructors, destructors = LANGUAGES[language]
    words = sorted(set().union(*(one[2] | one[3] for one in LANGUAGES.values())))
    labels = [f"Point.{word}" for word in words]
    meant = [word in constructors | destructors for word in words]
    plain = small_trace([1] * len(words), range(len(words)), [1] * len(words), labels, [0] * len(words))
    assert call_flags(Facts(plain), "constructors") == [False] * len(words)
    assert call_flags(Facts(replace(plain, files=Strings.of([file]))), "constructors") == meant
    named = small_trace(
        [1] * len(words), range(len(words)), [1] * len(words), [*labels, sign], [0] * len(words)
    )
    assert call_flags(Facts(named), "constructors") == meant
    without = [word in constructors for word in words]
    assert call_flags(Facts(named), "constructors", destructors=False) == without


def test_classes_of_c_plus_plus_may_begin_with_small_letters():
    recording = Recording()
    labels = [
        "ns::queue::queue",
        "ns::queue::~queue",
        "ns::queue::push",
        "ns::run",
        "list::push",
        "list::list",
    ]
    for k, label in enumerate(labels):
        recording.call(10 * k, 10 * k + 5, 1, label)
    trace = recording.finish(Source(), split)
    assert [owner for owner, _ in Facts(trace).methods] == ["queue", "queue", "queue", "", "list", "list"]
    assert call_flags(Facts(trace), "constructors") == [True, True, False, False, False, True]
    assert call_flags(Facts(trace), "polymorphic") == [False, False, True, False, True, False]


def test_classes_of_one_name_in_different_modules_are_different():
    recording = Recording()
    labels = [
        "weka.rules.JRip$Antd.covers", "weka.rules.ConjunctiveRule$Antd.covers", "a.b.Node.visit",
        "a.c.Node.visit", "a.b.Node.leave", "a.b.Node.<init>",
    ]  # fmt: skip
    for k, label in enumerate(labels):
        recording.call(10 * k, 10 * k + 5, 1, label)
    facts = Facts(recording.finish(Source(), split))
    assert call_flags(facts, "polymorphic") == [True, True, True, True, False, False]
    assert [facts.owners.index(owner) for owner in facts.owners] == [0, 1, 2, 3, 2, 2]


def test_classes_of_one_name_within_others_are_different():
    trace = small_trace([1, 1], [0, 1], [1, 1], ["Tree.Node.draw", "List.Node.draw"], [0, 0])
    assert call_flags(Facts(trace), "polymorphic") == [True, True]


def test_a_function_named_as_its_module_is_in_no_class():
    recording = Recording()
    recording.call(0, 5, 1, "queue.queue")
    assert Facts(recording.finish(Source(), split)).methods == [("", "queue")]


def test_what_lies_within_a_container_that_matches_is_marked():
    recording = Recording()
    for k, label in enumerate(["one.two.three.run", "one.run", "two.run"]):
        recording.call(10 * k, 10 * k + 5, 1, label)
    facts = Facts(recording.finish(Source(), split))
    found = call_flags(facts, "module", pattern="one", kind="wildcard")
    assert found == [True, True, False]


def test_a_few_names_are_suggested_though_they_are_much_longer():
    names = [f"the_{k}th_catalogue_of_many_things" for k in range(5)]
    trace = small_trace([1], [0], [1], names, [0])
    assert close_names(Facts(trace), NameParameters(pattern="log")) == names[:3]


@pytest.mark.parametrize(
    ("pattern", "names"), [("log", ["catalogue.of"]), ("lo", []), ("x.log.*", ["catalogue.of"])]
)
def test_a_part_of_three_letters_that_is_spelled_right_counts(pattern, names):
    trace = small_trace([1], [0], [1], ["catalogue.of"], [0])
    assert close_names(Facts(trace), NameParameters(pattern=pattern)) == names


def test_the_whole_name_of_a_container_has_that_of_the_outer_one_once():
    names, parent = ["weka", "core", "weka.gui", "std::vec", "at"], np.array([-1, 0, 0, -1, 3], np.int32)
    containers = Containers(Strings.of(names), parent, np.zeros(5, np.uint8))
    trace = replace(small_trace([1], [0], [1], ["f"], [0]), containers=containers)
    assert container_paths(trace) == ["weka", "weka.core", "weka.gui", "std::vec", "std::vec::at"]


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("utilities", {"callees": 0, "callers": 1, "modules": 1}), ("alike", {"call": 0, "depth": 1}),
        ("patterns", {"depth": 1, "times": 2, "size": 1}), ("depth", {"below": 1}),
        ("polymorphic", {"classes": 2}),
        ("sequence", {"call": 0, "entries": 0}),
    ],
)  # fmt: skip
def test_values_below_the_least_are_refused(name, least):
    for word, value in least.items():
        assert parse(f"{name}({word}={value})")[0].parameters()
        with pytest.raises(UsageError, match=word):
            parse(f"{name}({word}={value - 1})")


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_is_from_none_to_all(share):
    with pytest.raises(UsageError, match="least"):
        parse(f"utilities(least={share})")


@pytest.mark.parametrize("name", ["<init>", "finalize", "__str__", "Shape", "draw"])
def test_an_operation_of_several_classes_is_none_of_those_that_make_or_end_objects(name):
    labels = [f"Shape.{name}", f"Line.{name}", "Line.<clinit>"]
    trace = small_trace([1, 1], [0, 1], [1, 1], labels, [0, 0])
    methods = [("Shape", name), ("Line", name)]
    expected = [implements(methods, methods, k, 2, True) for k in range(2)]
    assert call_flags(Facts(trace), "polymorphic") == expected
    assert any(expected) == (name in ("draw", "Shape"))


@given(
    traces(), st.floats(0, 1), st.integers(1, 3), st.integers(1, 3), st.integers(0, 3), st.booleans(),
    st.booleans(), st.data(),
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_utilities_are_those_of_the_plain_twin(drawn, least, callers, modules, callees, also, never, data):
    trace, _ = drawn
    facts, n, pairs, module = Facts(trace), len(trace.functions), pairs_of(trace), modules_of(trace)
    score = facts.utilityhood.tolist()
    wanted = [
        0 < score[f] >= least * max(score)
        and sum(b == f for _, b in pairs) >= callers
        and len({module[a] for a, b in pairs if b == f}) >= modules
        and sum(a == f for a, _ in pairs) <= callees
        for f in range(n)
    ]
    values = {"least": least, "callers": callers, "modules": modules, "callees": callees}
    for word, flag in (("also", also), ("never", never)):
        if flag:
            f = data.draw(st.integers(0, n - 1))
            values[word] = f" {trace.functions.label[f]} ,"
            wanted[f] = word == "also"
    assert call_flags(facts, "utilities", **values) == [wanted[f] for f in trace.calls.function.tolist()]


def test_utilities_stand_on_their_defaults():
    """What is asked by default: three callers, ten callees, three tenths of the highest score."""

    def marked(callers, callees, more=0):
        # Callers call the function, which calls others; more functions only make the trace larger.
        depths, used = [1], [0]
        names = ["main", "f", *(f"c{i}" for i in range(callers)), *(f"d{i}" for i in range(callees))]
        for i in range(callers):
            depths += [2, 3] + [4] * callees
            used += [2 + i, 1, *range(2 + callers, 2 + callers + callees)]
        for i in range(more):
            depths.append(2)
            used.append(len(names))
            names.append(f"m{i}")
        trace = small_trace(depths, used, [1] * len(depths), names, [0])
        return dict(zip(used, call_flags(Facts(trace), "utilities"), strict=True))[1]

    assert [marked(callers, 0) for callers in (2, 3)] == [False, True]
    assert [marked(6, callees, 60) for callees in (10, 11)] == [True, False]

    def marked_beside(most):
        """Whether a function with three callers is a utility beside one with so many."""
        depths, used = [1], [0]
        for i in range(most):
            depths += [2, 3, 3] if i < 3 else [2, 3]
            used += [3 + i, 1, 2] if i < 3 else [3 + i, 1]
        trace = small_trace(
            depths, used, [1] * len(depths), ["main", "f", "g", *(f"c{i}" for i in range(most))], [0]
        )
        return dict(zip(used, call_flags(Facts(trace), "utilities"), strict=True))[2]

    assert [marked_beside(most) for most in (9, 10, 11)] == [True, True, False]
    whole = Facts(small_trace([1, 2], [0, 1], [1, 1], ["f", "g"], [0]))
    assert call_flags(whole, "utilities", least=1, callers=1) == [False, True]
    with pytest.raises(UsageError, match=r"also=x,y: there is no function 'x' in this trace"):
        call_flags(Facts(small_trace([1], [0], [1], ["f"], [0])), "utilities", also="x,y")


@given(traces(), st.sampled_from(["C1", "c1", "c", "d.py", "C9"]), st.booleans())
@settings(max_examples=80, deadline=None)
def test_modules_are_all_containers_and_the_file(drawn, pattern, others):
    trace, _ = drawn
    names, parent, files = list(trace.containers.name), trace.containers.parent.tolist(), list(trace.files)
    inside = []
    for at, file in zip(trace.functions.container.tolist(), trace.functions.file.tolist(), strict=True):
        texts = [files[file]] if file >= 0 else []
        while at >= 0:
            texts.append(names[at])
            at = parent[at]
        inside.append(any(pattern.lower() in text.lower() for text in texts) != others)
    marked = call_flags(Facts(trace), "module", pattern=pattern, others=others)
    assert marked == [inside[f] for f in trace.calls.function.tolist()]


@given(traces(), st.sampled_from(["get", "Point.", "POINT", "x"]), st.booleans(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_names_match_as_is_said(drawn, pattern, case, others):
    trace, _ = drawn
    marked = call_flags(Facts(trace), "name", pattern=pattern, case=case, others=others)
    labels = [trace.functions.label[f] for f in trace.calls.function.tolist()]
    fits = [pattern in text if case else pattern.lower() in text.lower() for text in labels]
    assert marked == [found != others for found in fits]


def test_a_name_in_full_is_the_recorded_one():
    trace = small_trace([1, 1], [0, 1], [1, 1], ["f", "g"], [0, 0])
    recorded = Strings.of(["f (/src/one.py:3)", "g (/src/two.py:3)"])
    facts = Facts(replace(trace, functions=replace(trace.functions, name=recorded)))
    assert call_flags(facts, "name", pattern="one.py") == [False, False]
    assert call_flags(facts, "name", pattern="one.py", full=True) == [True, False]
    assert call_flags(facts, "name", pattern="F") == [True, False]
    assert call_flags(facts, "name", pattern="*.py:3*", kind="wildcard", full=True) == [True, True]
    assert call_flags(facts, "utilities", also="g (/src/two.py:3)") == [False, True]
    assert call_flags(facts, "module", pattern="o", kind="regex") == [False, False]


# -- single calls ----------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(1, 60), st.data())
@settings(max_examples=80, deadline=None)
def test_calls_are_marked_by_where_and_when_they_happened(seed, steps, data):
    trace = walked_trace(seed, steps=steps, threads=3, functions=4, longest=8)
    facts, calls = Facts(trace), trace.calls
    start, end = calls.start.tolist(), calls.end.tolist()
    length = [b - a for a, b in zip(start, end, strict=True)]

    below, above = data.draw(st.sampled_from([*length, 3])), data.draw(st.sampled_from([*length, 3]))
    result = {"below": f"{below}ns", "above": f"{above}ns"}
    assert call_flags(facts, "duration", **result) == [x < below or x > above for x in length]
    assert call_flags(facts, "duration", below=result["below"]) == [x < below for x in length]
    assert call_flags(facts, "duration", below=" ", above=result["above"]) == [x > above for x in length]
    assert call_flags(facts, "duration") == [x < 1000 for x in length]

    first, last = data.draw(st.sampled_from([*end, 3])), data.draw(st.sampled_from([*start, 3]))
    result = {"start": f"{first}ns", "end": f"{last}ns"}
    outside = [b < first or a > last for a, b in zip(start, end, strict=True)]
    assert call_flags(facts, "time", **result) == outside
    assert call_flags(facts, "time", start=result["start"]) == [b < first for b in end]
    assert call_flags(facts, "time", end=result["end"]) == [a > last for a in start]
    assert not any(call_flags(facts, "time"))

    deepest = data.draw(st.sampled_from([*calls.depth.tolist(), 3]))
    assert call_flags(facts, "depth", below=deepest) == [d > deepest for d in calls.depth.tolist()]
    assert call_flags(facts, "depth") == [d > 5 for d in calls.depth.tolist()]

    words = data.draw(st.lists(st.sampled_from(["100", "worker-*", "*1*", "worker-2 (102)"]), min_size=1))
    others = data.draw(st.booleans())
    texts = [(trace.threads.name[t], str(trace.threads.tid[t]), trace.threads.title(t)) for t in range(3)]
    chosen = [
        any(fnmatchcase(text, word) for text in of for word in words) for of in texts[: len(trace.threads)]
    ]
    marked = call_flags(facts, "thread", threads=" , ".join(words) + ",", others=others)
    assert marked == [chosen[t] != others for t in calls.thread.tolist()]
    assert call_flags(facts, "thread", threads=",".join(words)) == [chosen[t] for t in calls.thread.tolist()]


@given(st.integers(0, 2**32), st.integers(1, 60), st.data())
@settings(max_examples=80, deadline=None)
def test_a_selection_of_calls_or_all_that_has_nothing_to_do_with_it(seed, steps, data):
    trace = walked_trace(seed, steps=steps, threads=2)
    facts, n, parent = Facts(trace), len(trace), trace.calls.parent.tolist()
    chosen = data.draw(st.lists(st.integers(0, n - 1), max_size=4)) if n else []

    def above(i):
        return [i, *above(parent[i])] if i >= 0 else []

    text = ", ".join(map(str, chosen))
    assert call_flags(facts, "calls", calls=text) == [i in chosen for i in range(n)]
    related = [any(i in above(c) or c in above(i) for c in chosen) for i in range(n)]
    assert call_flags(facts, "calls", calls=text + ",", others=True) == [not near for near in related]
    for word in (str(n), "-1", "x"):
        with pytest.raises(UsageError, match=f"there is no call {word}: they go from 0 to {n - 1}"):
            call_flags(facts, "calls", calls=word)
    with pytest.raises(UsageError, match="no thread is called 'nobody'; there are"):
        call_flags(facts, "thread", threads="*, nobody")
    with pytest.raises(UsageError, match="names and ids of threads are expected"):
        call_flags(facts, "thread", threads=" , ")
    if n > 10:
        assert sum(call_flags(facts, "calls", calls="1_0")) == 1


# -- subtrees --------------------------------------------------------------------------------------------

CRITERIA = ("exact", "collapsed", "unordered", "set-of-children", "depth", "functions")


@given(
    st.integers(0, 2**32), st.integers(1, 60), st.sampled_from(CRITERIA), st.integers(1, 3),
    st.integers(2, 4), st.integers(1, 4), st.data(),
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_patterns_are_those_of_the_plain_twin(seed, steps, criterion, depth, times, size, data):
    trace = walked_trace(seed, steps=steps, threads=2, functions=4)
    facts, calls, n = Facts(trace), trace.calls, len(trace)
    key = [plain_key(calls, i, criterion, depth) for i in range(n)]
    count = Counter(key)
    repeated = [count[k] >= times and calls.extent[i] >= size for i, k in enumerate(key)]
    values = {"criterion": criterion, "depth": depth, "times": times, "size": size}
    assert call_flags(facts, "patterns", keep="none", **values) == repeated
    assert call_flags(facts, "patterns", **values) == [
        r and k in key[:i] for i, (r, k) in enumerate(zip(repeated, key, strict=True))
    ]
    if n:
        call = data.draw(st.integers(0, n - 1))
        result = {"criterion": criterion, "depth": depth, "call": call}
        assert call_flags(facts, "alike", **result) == [k == key[call] for k in key]
    with pytest.raises(UsageError, match=rf"call={n}: there is no such call: they go from 0 to {n - 1}"):
        call_flags(facts, "alike", call=n)


def test_patterns_stand_on_their_defaults():
    # main calls f(g) twice: the second one is marked, and a leaf alone is no pattern.
    trace = small_trace([1, 2, 3, 2, 3], [0, 1, 2, 1, 2], [1] * 5, ["main", "f", "g"], [0])
    assert call_flags(Facts(trace), "patterns") == [False, False, False, True, False]
    # By default the first call is meant, and three levels are compared.
    assert call_flags(Facts(trace), "alike") == [True, False, False, False, False]
    deep = small_trace([1, 2, 3, 4, 1, 2, 3], [0, 1, 2, 3, 0, 1, 2], [1] * 7, list("fghi"), [0, 0])
    for name, words in (("alike", {}), ("patterns", {"size": 1, "keep": "none"})):
        flags = call_flags(Facts(deep), name, criterion="depth", **words)
        assert (flags[0], flags[4]) == (True, True)
        assert (call_flags(Facts(deep), name, criterion="depth", depth=4, **words)[4]) is False
    other = small_trace([1, 2, 3, 1, 2, 3], [0, 1, 2, 0, 1, 3], [1] * 6, list("fghi"), [0, 0])
    for name, words in (("alike", {}), ("patterns", {"keep": "none"})):
        assert call_flags(Facts(other), name, criterion="depth", **words)[3] is False
        assert call_flags(Facts(other), name, criterion="depth", depth=2, **words)[3] is True


@given(st.integers(0, 2**32), st.integers(1, 120), st.data())
@settings(max_examples=80, deadline=None)
def test_a_sequence_is_all_that_its_rule_unfolds_to(seed, steps, data):
    trace = walked_trace(seed, steps=steps, threads=1, functions=2)
    facts, n = Facts(trace), len(trace)
    with pytest.raises(UsageError) as result:
        call_flags(facts, "sequence", call=n)
    assert str(result.value) == f"call={n}: there is no such call: they go from 0 to {n - 1}"
    grammar, place = facts.sequences.grammar, facts.sequences._edge_of
    begins = {
        rule: {place(int(start), trace.calls) for start in facts.sequences.starts(rule)}
        for rule in range(grammar.lists, len(grammar.length))
    }
    for call in range(n):
        # Also where the grammar has used another rule; the longest sequence comes first.
        rules = [rule for rule, places in begins.items() if place(call, trace.calls) in places]
        rules.sort(key=lambda rule: -grammar.length[rule])
        assert {rule for rule, first in facts.sequences.rules_of(call, trace.calls) if first} <= set(rules)
        lengths = [int(facts.sequences.grammar.length[rule]) for rule in rules]
        entries = data.draw(st.sampled_from([0, *lengths, 2, 99]))
        if rules and entries in (0, *lengths):
            rule = rules[0] if not entries else rules[lengths.index(entries)]
            marked = {
                int(start + place)
                for start in facts.sequences.starts(rule)
                for place in callees_of(facts.graph, rule)
            }
            assert call in marked
            assert call_flags(facts, "sequence", call=call, entries=entries) == [
                i in marked for i in range(n)
            ]
            continue
        with pytest.raises(UsageError) as result:
            call_flags(facts, "sequence", call=call, entries=entries)
        said = f"sequence(call={call}): no repeated sequence "
        said += f"of {entries} entries " if rules else ""
        said += "begins with this call"
        said += f": there are some of {', '.join(map(str, lengths))}" if rules else ""
        assert str(result.value) == said


def test_by_default_it_is_the_longest_sequence_that_begins_with_the_first_call():
    trace = small_trace([1] * 8, [0, 1, 2, 0, 1, 3, 0, 1], [1] * 8, list("fghi"), np.zeros(8))
    facts = Facts(trace)
    assert call_flags(facts, "sequence") == [f < 2 for f in trace.calls.function.tolist()]
    # Of two that begin with one call the longest: f g h is one, and so is the f g in it.
    trace = small_trace([1] * 9, [0, 1, 2] * 2 + [0, 1, 3], [1] * 9, list("fghi"), np.zeros(9))
    assert call_flags(Facts(trace), "sequence") == [True] * 6 + [False] * 3
    assert call_flags(Facts(trace), "sequence", entries=2) == [f < 2 for f in trace.calls.function.tolist()]


@given(st.integers(0, 2**32), st.integers(4, 60), st.booleans(), st.booleans(), st.data())
@settings(max_examples=60, deadline=None)
def test_a_library_marks_its_patterns_and_utilities(tmp_path_factory, seed, steps, patterns, utilities, data):
    trace = walked_trace(seed, steps=steps, threads=2, functions=4, modules=0)
    facts, calls, n = Facts(trace), trace.calls, len(trace)
    chosen = {f"p{i}": data.draw(st.integers(0, n - 1)) for i in range(2)}
    known = Library(
        tuple(promote(trace, facts.graph, call, name, "exact") for name, call in chosen.items()), ("f1", "f9")
    )
    path = tmp_path_factory.mktemp("library") / "known.json"
    save(known, path)
    only = data.draw(st.sampled_from(["", "p1", "f1", "nothing"]))
    key = [plain_key(calls, i, "exact", 3) for i in range(n)]
    label = [trace.functions.label[f] for f in calls.function.tolist()]
    meant = [call for name, call in chosen.items() if patterns and only in ("", name)]
    names = [name for name in ("f1", "f9") if utilities and only in ("", name)]
    values = {"file": str(path), "patterns": patterns, "utilities": utilities, "only": only}
    if only and not meant and not names:
        with pytest.raises(UsageError, match=f"only={only}: the library .* has no entry of this name"):
            call_flags(facts, "library", **values)
        return
    expected = [any(key[i] == key[call] for call in meant) or label[i] in names for i in range(n)]
    assert call_flags(facts, "library", **values) == expected
    if not only and patterns and utilities:
        assert call_flags(facts, "library", file=str(path)) == expected
    with pytest.raises(UsageError, match="name a library"):
        call_flags(facts, "library", file=" ")
