"""Rules of waits as files give them: fields, defaults, patterns, their order, and what is refused."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.errors import InputError
from tracevis3d.features.waits.rules import KINDS, STATES, FlowRule, Rule, Rules, default_rules, read_rules
from tracevis3d.trace.model import IO, RELEASE, WAIT


def own(path, *rules, flows=()):
    path.write_text(json.dumps({"rule": list(rules), "flow": list(flows)}))
    found = read_rules([path])
    known = default_rules()
    many = len(found.rules) - len(known.rules), len(found.flows) - len(known.flows)
    # The user's own go first, all others follow as they are.
    assert (found.rules[many[0] :], found.flows[many[1] :]) == (known.rules, known.flows)
    return found.rules[: many[0]], found.flows[: many[1]]


def test_a_rule_is_of_any_call_unless_it_says_more():
    rule = Rule(("f",), "wait")
    assert not any((rule.own, rule.one, rule.all, rule.holds, rule.callers, rule.object, rule.thread))


def test_a_rule_has_what_it_says_and_defaults_for_the_rest(tmp_path):
    path = tmp_path / "rules.json"
    said = {
        "names": ["a*", "b"], "kind": "wait", "object": "{caller}", "holds": True, "wants": "place",
        "gives": "item", "all": True, "thread": "{tid}", "within": ["loop"], "blocks": "2ms", "one": True,
        "state": "idle",
    }  # fmt: skip
    (full, bare), (arrow, named) = own(
        path,
        said,
        {"names": ["x"], "kind": "other"},
        flows=[{"names": ["y"]}, {"names": ["z"], "object": "o"}],
    )
    given_ = {**said, "names": ("a*", "b"), "within": ("loop",), "blocks": 2_000_000}
    assert full == Rule(own=True, **given_)
    assert (full.own, bare.own, default_rules().rules[0].own) == (True, True, False)
    defaults = ("", False, "object", "", False, "", (), 5_000, False, "")
    assert defaults == (
        bare.object, bare.holds, bare.wants, bare.gives, bare.all, bare.thread, bare.within, bare.blocks,
        bare.one, bare.state,
    )  # fmt: skip
    assert (arrow.object, named.object) == ("tasks of {target}", "o")
    assert full.callers.fullmatch("loop")
    assert bare.callers is None
    assert own(path, {"names": ["x"], "kind": "io", "blocks": "-3us"})[0][0].blocks == 0


@given(
    st.sampled_from(["", *STATES]), st.booleans(), st.sampled_from([*KINDS]), st.sampled_from(["", "place"])
)
def test_what_is_waited_for_and_given(state, holds, kind, gives):
    rule = Rule(("x",), kind, holds=holds, state=state, gives=gives)
    assert STATES[rule.waits_for] == (state if state else "contention" if holds else "signal")
    assert rule.gift == (gives if gives else "object" if kind == "release" else "")
    assert KINDS == {"wait": WAIT, "release": RELEASE, "io": IO, "other": -1}


@given(st.lists(st.text("ab*[].", min_size=1, max_size=4), max_size=3), st.text("ab[].", max_size=4))
def test_patterns_are_those_of_files_but_for_brackets(names, text):
    # In names brackets are brackets.
    wanted = any(fnmatchcase(text, name.replace("[", "[[]")) for name in names)
    for rule in (Rule(tuple(names)), FlowRule(tuple(names))):
        assert bool(rule.pattern.match(text)) == wanted


def test_files_are_tried_in_their_order_and_rules_of_programs_before_the_default_ones(tmp_path):
    paths = [tmp_path / name for name in ("b.toml", "a.toml")]
    for path in paths:
        path.write_text(f'[[rule]]\nnames = ["{path.stem}"]\nkind = "wait"\n')
    assert [rule.names[0] for rule in read_rules(paths).rules[:2]] == ["b", "a"]
    names = [rule.names for rule in default_rules().rules]
    first = next(i for i, one in enumerate(names) if "Lock.acquire" in one)
    assert any("zstd" in name or "pool" in name.lower() for one in names[:first] for name in one)
    assert default_rules() is default_rules()


def test_rules_have_the_same_key_only_if_they_are_the_same():
    one, other = Rule(("x",), "wait"), Rule(("x",), "io")
    assert Rules((one,), ()).key() == Rules((Rule(("x",), "wait"),), ()).key()
    keys = {
        Rules(rules, flows).key()
        for rules in ((), (one,), (other,), (one, other), (other, one))
        for flows in ((), (FlowRule(("x",)),))
    }
    assert len(keys) == 10


RULE = {"names": ["x"], "kind": "wait"}


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ([], "may only contain"), ({"rule": [RULE], "more": 1}, "may only contain"),
        ({"rule": {}}, r"rule is not a list of tables: write \[\[rule\]\]"),
        ({"flow": 3}, r"flow is not a list of tables: write \[\[flow\]\]"),
        ({"rule": [RULE, "x"]}, "rule 2 is not a table"), ({"flow": ["x"]}, "flow 1 is not a table"),
        ({"rule": [RULE | {"own": True}]}, "rule 1: there is no field 'own', only names, kind, object"),
        ({"rule": [RULE | {"names": ["x", 3]}]}, "rule 1: names is not a list of texts"),
        ({"rule": [RULE | {"within": "x"}]}, "rule 1: within is not a list of texts"),
        ({"rule": [RULE | {"names": []}]}, "rule 1: names are missing"),
        ({"flow": [{"object": "x"}]}, "flow 1: names are missing"),
        ({"rule": [RULE | {"holds": "yes"}]}, "holds = 'yes' is of the wrong type"),
        ({"rule": [RULE | {"one": 1}]}, "one = 1 is of the wrong type"),
        ({"rule": [RULE | {"all": None}]}, "all = None is of the wrong type"),
        ({"rule": [RULE | {"gives": True}]}, "gives = True is of the wrong type"),
        ({"rule": [{"names": ["x"]}]}, "rule 1: kind is not one of wait, release, io, other"),
        ({"rule": [RULE | {"state": "busy"}]}, "rule 1: state is not one of contention, idle, signal, sleep"),
        ({"rule": [RULE | {"blocks": "soon"}]}, "rule 1: .*a time is expected"),
    ],
)  # fmt: skip
def test_what_is_no_rule_is_refused_with_its_place(tmp_path, file, words):
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(file))
    with pytest.raises(InputError, match=words) as refused:
        read_rules([path])
    assert str(refused.value).startswith(str(path))


def test_what_cannot_be_read_is_said(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="the rules can't be read: it is not UTF-8 text"):
        read_rules([path])
    with pytest.raises(InputError, match="the rules can't be read: Is a directory"):
        read_rules([tmp_path])
    deep = tmp_path / "deep.json"
    for text in ("[" * 100_000, "{"):
        deep.write_text(text)
        with pytest.raises(InputError, match="the rules can't be understood"):
            read_rules([deep])
    # Without any tables there is nothing of one's own.
    path.write_text("")
    assert read_rules([path]) == default_rules()
