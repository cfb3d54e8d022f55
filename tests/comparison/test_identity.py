"""When two functions of two traces are the same."""

import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from tests.support.plain_match import small_trace
from tracevis3d.errors import InputError, MissingDependency, UsageError
from tracevis3d.features.comparison.matching import identity as module
from tracevis3d.features.comparison.matching.identity import (
    Renamed,
    _without_line,
    identify,
    read_renamed,
    similar_names,
    without_place,
)
from tracevis3d.formats import registry
from tracevis3d.trace.model import Strings
from tracevis3d.views.everywhere.rewrite import check_rules, substitute


def flat(names):
    """Return one call of each function."""
    return small_trace([1] * len(names), range(len(names)), [1] * len(names), names)


def in_files(names, files):
    """Return one call of each function, each in a known file."""
    trace = flat(names)
    of = np.arange(len(names), dtype=np.int32)
    return replace(trace, files=Strings.of(files), functions=replace(trace.functions, file=of))


OLD = ["run (/old/app.py:1)", "parse (/old/app.py:9)", "len", "emit_text (/old/out.py:3)"]
NEW = ["run (/new/app.py:2)", "parse (/new/app.py:15)", "len", "emit_texts (/new/out.py:3)", "new (/n.py:1)"]


@pytest.mark.parametrize(
    ("name", "file", "plain"),
    [
        ("f (/a/b.py:12)", "", "f"),
        ("A.f (C:\\Program Files (x86)\\b.py:12)", "", "A.f"),
        ("f (a.py)", "a.py", "f"),
        ("f (a.py:3)", "a.py", "f"),
        (" (a.py:3)", "a.py", " (a.py:3)"),
        ("f (x:1)", "", "f"),
        (" (x:1)", "", " (x:1)"),
        # Only the known file is one, however odd its name.
        ("f (a(b:1)", "a(b", "f"),
        ("f (a(b)", "a(b", "f"),
        (" (a(b:1)", "a(b", " (a(b:1)"),
        ("f (a(b:x)", "a(b", "f (a(b:x)"),
        ("f (a(b1)", "a(b", "f (a(b1)"),
        ("f (/a (b/c.py:3)", "/a (b/c.py", "f"),
        ("f (a.py)", "", "f (a.py)"),
        ("operator()(int) const", "", "operator()(int) const"),
        ("f(int) (x.c:3)", "", "f(int)"),
        ("run (attempt 3)", "", "run (attempt 3)"),
        ("std::pair (a::b:7)", "", "std::pair"),
        ("(a.py:3)", "", "(a.py:3)"),
        ("f (<frozen importlib._bootstrap>:100)", "", "f"),
        ("f", "a.py", "f"),
    ],
)
def test_path_and_line_are_left_out(name, file, plain):
    assert without_place(name, file) == plain


def test_exact_and_name():
    a, b = flat(OLD), flat(NEW)
    exact, name = identify(a, b, "exact"), identify(a, b, "name")
    assert exact.shared_functions == 1
    assert exact.shared_calls == (1 / 4, 1 / 5)
    assert exact.reason == "exact: as requested; shared by 25 % and 20 % of the calls"
    assert name.reason == "name: as requested; shared by 75 % and 60 % of the calls"
    thirds = identify(a, flat(["run", "len", "x", "y", "z", "v"]), "name")
    assert thirds.reason == "name: as requested; shared by 50 % and 33.3 % of the calls"
    assert name.shared_functions == 3
    assert name.a.tolist() == [0, 1, 2, 3]
    assert name.b.tolist() == [0, 1, 2, 4, 5]
    assert name.names == ["run", "parse", "len", "emit_text", "emit_texts", "new"]
    assert len(exact) == len(set(OLD) | set(NEW))


def test_functions_of_one_trace_with_the_same_name_become_one():
    a = flat(["f (a.py:1)", "f (b.py:1)"])
    assert identify(a, a, "name").a.tolist() == [0, 0]
    assert identify(a, a, "exact").a.tolist() == [0, 1]


def test_auto_chooses_and_says_why():
    a, b = flat(OLD), flat(NEW)
    chosen = identify(a, b)
    assert chosen.kind == "name"
    assert "full names are shared by 25 % and 20 % of the calls" in chosen.reason
    assert "without path and line by 75 % and 60 %" in chosen.reason
    assert identify(a, a).kind == "exact"
    empty = small_trace([], [], [], ["f"])
    assert identify(empty, empty).kind == "exact"


def stacks(tmp_path, name, *frames):
    path = tmp_path / f"{name}.collapsed"
    path.write_text("".join(f"{frame} 10\n" for frame in frames))
    return registry.open_trace(path)


OTHERS = [f"f{k}" for k in range(40)]


@pytest.mark.parametrize(("own", "folder"), [(32, "/old"), (32, "/new"), (2, "/old"), (1, "/old")])
def test_lines_that_ran_are_no_other_functions(tmp_path, own, folder):
    """py-spy writes the line that ran: a file's own code is in another than its first."""
    a = stacks(
        tmp_path, "a", f"<module> (/old/run.py:{own});mix (/old/run.py:4)", "mix (/old/run.py:5)", *OTHERS
    )
    b = stacks(tmp_path, "b", f"<module> ({folder}/run.py:{own});mix ({folder}/run.py:9)", *OTHERS)
    same = identify(a, b)
    assert same.kind == "exact"
    assert [name for name in same.names if "mix" in name] == (
        [f"mix ({folder}/run.py)"] if own > 1 else [f"mix (/old/run.py:{line})" for line in (4, 5, 9)]
    )
    assert len(identify(a, b, "exact")) > len(same) or own == 1
    pair = Renamed("mix (/old/run.py:5)", f"mix ({folder}/run.py:9)")
    assert identify(a, b, renamed=[pair]).renamed == [pair]


@pytest.mark.parametrize(
    ("a", "b", "shared"),
    [
        ("/old/bin/run:1", "/new/bin/run:1", 41),
        ("/old/bin/run:1", "/new/lib/run:1", 40),
        ("run:1", "/run:1", 40),
        ("bin/run:1", "/new/bin/run:1", 41),
        ("/old/bin/run:1", "bin/run:1", 41),
    ],
)
def test_the_code_of_a_script_is_the_same_in_another_folder_of_that_name(a, b, shared):
    same = identify(flat([f"<module> ({a})", *OTHERS]), flat([f"<module> ({b})", *OTHERS]))
    assert same.shared_functions == shared


def test_rules_rewrite_the_recorded_names():
    a, b = flat(OLD), flat(NEW)
    rules = [("/(old|new)/", "/"), (r":\d+\)$", ")")]
    assert identify(a, b, "exact", rewrite=rules).shared_functions == 3
    whole = identify(a, b, "name", rewrite=[*rules, ("emit_texts", "emit_text")])
    assert whole.shared_functions == 4


def test_similar_names_are_paired_shown_and_edited():
    pytest.importorskip("rapidfuzz")
    a, b = flat(OLD), flat(NEW)
    pairs = similar_names(a, b)
    assert [(p.a, p.b) for p in pairs] == [("emit_text", "emit_texts")]
    assert pairs[0].score == 94.7
    assert identify(a, b, "name", fuzzy=80).shared_functions == 4
    assert identify(a, b, "name", fuzzy=99).shared_functions == 3
    edited = identify(a, b, "name", renamed=[Renamed("emit_text", "new")])
    assert edited.shared_functions == 4
    assert edited.renamed == [Renamed("emit_text", "new", 100.0)]
    assert "1 treated as renamed" in edited.reason
    # A pair that was given is not paired again.
    both = identify(a, b, "name", renamed=[Renamed("emit_text", "new")], fuzzy=50)
    assert [p.b for p in both.renamed] == ["new"]


def test_each_name_is_paired_once_and_the_most_similar_first():
    pytest.importorskip("rapidfuzz")
    a, b = flat(["load_all", "load_al"]), flat(["load_all_", "other"])
    pairs = similar_names(a, b, least=80)
    assert [(p.a, p.b) for p in pairs] == [("load_all", "load_all_")]
    pairs = similar_names(flat(["load_all"]), flat(["load_al", "load_all_"]))
    assert [(p.a, p.b) for p in pairs] == [("load_all", "load_all_")]


def test_names_are_alike_from_a_score_of_80_on():
    pytest.importorskip("rapidfuzz")
    assert len(similar_names(flat(["abcde"]), flat(["abcdx"]))) == 1
    # Their score is 79.2.
    assert similar_names(flat(["a" * 19 + "b" * 5]), flat(["a" * 19 + "c" * 5])) == []


def test_of_too_many_names_those_with_the_most_calls_are_compared(monkeypatch):
    pytest.importorskip("rapidfuzz")
    monkeypatch.setattr(module, "MOST_RENAMED", 1)
    a, b = (
        small_trace([1] * 4, [0, 1, 1, 2], [1] * 4, [f"{name}{end}" for name in ("load", "save", "show")])
        for end in ("_all", "_alls")
    )
    assert [(p.a, p.b) for p in similar_names(a, b)] == [("save_all", "save_alls")]


def test_without_rapidfuzz_names_are_not_paired(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(MissingDependency, match="rapidfuzz can't be imported"):
        similar_names(flat(OLD), flat(NEW))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kind": "alias"}, "there is no identity 'alias'"),
        ({"rewrite": [("(", "")]}, r"the regular expression '\(' is invalid: missing \)"),
        ({"rewrite": [("a", r"\1")]}, "the replacement .* is invalid: invalid group reference"),
        ({"rewrite": [("a" * 1001, "")]}, "more than 1,000 characters"),
        ({"rewrite": ["ab"]}, "not a pair"),
        ({"rewrite": [("a", "b", "c")]}, "not a pair"),
        ({"renamed": [Renamed("gone", "run")]}, "the first trace has no function 'gone'"),
        ({"renamed": [Renamed("run", "gone")]}, "the second trace has no function 'gone'"),
        ({"renamed": [Renamed("run", "run"), Renamed("run", "new")]}, "renamed twice"),
        ({"fuzzy": 0}, "not between 0 and 100"),
    ],
)
def test_bad_words_are_reported(options, sentence):
    if "fuzzy" in options:
        pytest.importorskip("rapidfuzz")
    with pytest.raises(UsageError, match=sentence):
        identify(flat(OLD), flat(NEW), **{"kind": "name", **options})


def test_a_pattern_that_never_ends_is_stopped():
    started = time.monotonic()
    with pytest.raises(UsageError, match=r"take more than 0\.5 s"):
        substitute(["a" * 40 + "!"], [("(a+)+$", "b")], seconds=0.5)
    assert time.monotonic() - started < 30


def test_names_cannot_grow_without_end():
    with pytest.raises(UsageError, match="the names become too long"):
        substitute(["ab"], [("(.)", r"\1" * 300)] * 4)


def test_rules_are_applied_in_turn():
    assert substitute(["abc", "", "ü\n"], [("b", "x"), ("x(.)", r"\1")]) == ["ac", "", "ü\n"]
    assert substitute([], [("b", "x")]) == []
    assert substitute(["abc"], []) == ["abc"]
    assert check_rules([["a", "b"]]) == [("a", "b")]


def test_two_versions_of_docutils(recorded):
    import tracevis3d as tv

    a, b = (tv.load(recorded / f"vt_rst2html_docutils0.{v}.json.gz") for v in (20, 22))
    exact, name = identify(a, b, "exact"), identify(a, b, "name")
    assert exact.shared_functions == 132
    assert len(exact) == 1175
    assert name.shared_functions > 600
    assert identify(a, b).kind == "name"
    assert np.bincount(name.b).sum() == len(b.functions)


def test_auto_takes_full_names_that_share_nine_tenths_of_what_plain_names_share():
    old = [f"f{i} (/a.py:{i})" for i in range(10)]
    for moved, kind in ((0, "exact"), (1, "exact"), (2, "name")):
        new = [f"f{i} (/b.py:{i})" if i < moved else name for i, name in enumerate(old)]
        found = identify(flat(old), flat(new))
        assert found.kind == kind
        assert found.shared_calls == ((10 - moved) / 10,) * 2 if kind == "exact" else (1.0, 1.0)
    assert identify(flat(["f"]), flat(["f"]), "exact").shared_calls == (1.0, 1.0)


def test_what_was_asked_is_kept():
    rules, given = [("a", "b")], [Renamed("emit_text", "new")]
    found = identify(flat(OLD), flat(NEW), "name", renamed=given)
    assert (found.asked, found.rewrite, found.given, found.fuzzy) == ("name", (), tuple(given), None)
    found = identify(flat(OLD), flat(NEW), rewrite=rules)
    assert (found.asked, found.rewrite, found.given) == ("auto", (("a", "b"),), ())
    assert found.reason.startswith("name: ")
    assert "treated as renamed" not in found.reason


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([("len", "new"), ("run", "run"), ("run", "len")],
         "the function 'run' of the first trace is renamed twice"),
        ([("len", "new"), ("run", "run"), ("parse", "run")],
         "the function 'run' of the second trace is renamed twice"),
    ],
)  # fmt: skip
def test_it_is_said_what_is_renamed_twice(pairs, sentence):
    with pytest.raises(UsageError, match=sentence):
        identify(flat(OLD), flat(NEW), "name", renamed=[Renamed(*pair) for pair in pairs])


@pytest.mark.parametrize(("least", "fits"), [(0, False), (0.5, True), (100, True), (100.5, False)])
def test_scores_lie_between_0_and_100(least, fits):
    pytest.importorskip("rapidfuzz")
    if fits:
        assert identify(flat(OLD), flat(NEW), "name", fuzzy=least).fuzzy == least
    else:
        with pytest.raises(UsageError, match="not between 0 and 100"):
            identify(flat(OLD), flat(NEW), "name", fuzzy=least)


def test_pairs_of_names_are_read_from_a_file(tmp_path):
    path = tmp_path / "renamed.json"
    for text, sentence in (
        (None, "can't be read: No such file"),
        ("[", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a": "f", "b": "g"}', "a list of pairs of names is expected"),
        ('[{"a": "f", "b": "g"}, {"a": "f"}]', "pair 2 is not an object with the texts 'a' and 'b'"),
        ('[{"a": 1, "b": "g"}]', "pair 1 is not an object"),
        ('[["f", "g"]]', "pair 1 is not an object"),
    ):
        if text is not None:
            path.write_text(text)
        with pytest.raises(InputError, match=sentence):
            read_renamed(path)
    path.write_text('[{"a": "f", "b": "g", "score": 81}]')
    assert read_renamed(path) == [Renamed("f", "g", 100.0)]


def test_a_rule_may_have_a_thousand_characters():
    assert check_rules([["a" * 1000, "b" * 1000]]) == [("a" * 1000, "b" * 1000)]
    with pytest.raises(UsageError, match="more than 1,000 characters"):
        check_rules([["a", "b" * 1001]])


def test_without_another_python_nothing_is_substituted(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.executable", str(tmp_path / "absent"))
    with pytest.raises(UsageError, match="No such file"):
        substitute(["abc"], [("b", "x")])


def test_functions_of_a_file_that_lies_elsewhere_or_has_new_lines_are_the_same():
    same = [f"s{i} (/lib/s.py:{i})" for i in range(80)]
    old = [*same, "<module> (/v1/run.py:1)", "go (/v1/run.py:3)", "go.<listcomp> (/v1/run.py:4)",
           "go.<listcomp> (/v1/run.py:8)", "<module> (/v1/conf.py:1)", "old (/v1/run.py:20)"]  # fmt: skip
    new = [*same, "<module> (/v2/run.py:1)", "go (/v2/run.py:5)", "go.<listcomp> (/v2/run.py:6)",
           "go.<listcomp> (/v2/run.py:9)", "<module> (/v2/conf.py:1)", "new (/v2/run.py:20)"]  # fmt: skip
    found = identify(flat(old), flat(new))
    assert found.kind == "exact"
    assert "4 by name and file alone" in found.reason
    shared = np.flatnonzero(found.a == found.b)
    assert shared.tolist() == list(range(84))  # all but conf.py: it may be another
    assert identify(flat(old), flat(new), "exact").shared_functions == 80
    again = identify(flat(old), flat([*new, "go.<listcomp> (/v2/run.py:12)"]))
    assert again.shared_functions == 82  # which of three is new is not known


def test_functions_that_lie_elsewhere_are_found_by_name_and_file_alone():
    for old, new in (("f (run.py:1)", "f (/x/run.py:2)"), ("f (/x/run.py:1)", "f (run.py:2)")):
        assert identify(flat([old, *OTHERS]), flat([new, *OTHERS])).shared_functions == 41
    # One that both have stays what it is.
    same = identify(
        flat(["f (/a.py:1)", "f (/a.py:5)", *OTHERS]), flat(["f (/a.py:1)", "f (/0/a.py:9)", *OTHERS])
    )
    assert same.a.tolist() == same.b.tolist()
    # No line is known.
    a, b = (in_files([f"f (C:\\{v}\\x.py)", *OTHERS], [f"C:\\{v}\\x.py", *[""] * 40]) for v in ("v1", "v2"))
    assert identify(a, b).shared_functions == 41


def test_known_files_are_left_out_of_names():
    trace = in_files(["f (a(b:1)", "g (a(c:1)"], ["a(b", "a(c"])
    assert identify(trace, trace, "name").names == ["f", "g"]


@pytest.mark.parametrize(
    ("name", "plain", "expected"),
    [
        ("f (/a.py:5)", "f", "f (/a.py)"),
        ("f (/a.py:55)", "f", "f (/a.py)"),
        ("f (/a.py)", "f", "f (/a.py)"),
        ("f (C:5x)", "f", "f (C:5x)"),
        ("f(a:5)", "f(a:5)", "f(a:5)"),
    ],
)
def test_lines_are_left_out_of_names(name, plain, expected):
    assert _without_line(name, plain) == expected


def test_without_rules_or_texts_no_process_is_started(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert substitute(["a"], []) == ["a"]
    assert substitute([], [("a", "b")]) == []


@pytest.mark.parametrize(
    ("said", "reason"), [("first\\nlast", "last"), ("", "it gives no reason"), ("one", "one")]
)
def test_the_last_line_that_a_process_writes_is_the_reason(monkeypatch, said, reason):
    program = f"import sys; sys.stderr.write('{said}'); sys.exit(1)"
    monkeypatch.setattr("tracevis3d.views.everywhere.rewrite._PROGRAM", program)
    with pytest.raises(UsageError, match=f"can't be applied: {reason}$"):
        substitute(["a"], [("a", "b")])
