"""``tracevis3d match``: the keys and the sentences that scripts depend on."""

import json

import pytest

from tracevis3d.cli import main

#: These are depended on from outside.
KEYS = ["distinct_sets", "set_pairs", "call_pairs", "groups", "groups_literal", "matched_time", "identity"]
MORE = {
    "identity_reason", "tau", "measure", "groups_reason", "groups_literal_reason", "shared_functions",
    "shared_calls", "renamed", "histogram", "largest_groups", "within", "unmatched", "repetitions",
}  # fmt: skip


@pytest.fixture
def pair(tmp_path):
    """Two small runs of one program: the second at another place, with one function more."""

    def event(name, ts, dur):
        return {"ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": dur, "name": name}

    runs = [
        [event("main (/a/x.py:1)", 0, 100), event("read (/a/x.py:5)", 10, 20),
         event("parse_all (/a/x.py:9)", 40, 30)],
        [event("main (/b/x.py:1)", 0, 200), event("read (/b/x.py:5)", 10, 20),
         event("parse_both (/b/x.py:9)", 40, 30), event("extra (/b/x.py:20)", 300, 50)],
    ]  # fmt: skip
    paths = [str(tmp_path / f"{name}.json") for name in "ab"]
    for path, events in zip(paths, runs):
        with open(path, "w") as file:
            json.dump({"traceEvents": events}, file)
    return paths


def facts_of(capsys, *words):
    assert main(["match", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_keys_that_scripts_depend_on(pair, capsys):
    facts = facts_of(capsys, *pair, "--tau", "0.3")
    assert list(facts)[: len(KEYS)] == KEYS
    assert set(facts) == {*KEYS, *MORE}
    assert facts["identity"] == "name"
    # {main, read, parse_all} and {read} against {main, read, parse_both} and {read}: s = 1/2, 1/3, 1/3, 1.
    assert facts["distinct_sets"] == [3, 4]
    assert (facts["set_pairs"], facts["call_pairs"]) == (4, 4)
    assert (facts["groups"], facts["groups_literal"]) == (1, 1)
    assert facts["matched_time"] == [1.0, 0.8]
    assert facts["largest_groups"][0]["functions"] == ["main", "main"]
    assert facts["largest_groups"][0]["similarity"] == 0.5
    assert facts["largest_groups"][0]["time_ns"] == [100_000, 200_000]
    assert [f["function"] for f in facts["unmatched"][0]] == ["parse_all"]
    assert [f["function"] for f in facts["unmatched"][1]] == ["extra", "parse_both"]
    assert sum(bar["pairs"] for bar in facts["histogram"]) == 4
    assert facts["within"]["opened"] == [["main", "main"]]
    assert facts["within"]["largest_groups"][0]["functions"] == ["read", "read"]


def test_exact_names(pair, capsys):
    facts = facts_of(capsys, *pair, "--identity", "exact")
    assert (facts["identity"], facts["set_pairs"], facts["groups"]) == ("exact", 0, 0)
    assert facts["matched_time"] == [0.0, 0.0]
    assert facts["within"] is None


def test_rewritten_and_renamed(pair, capsys, tmp_path):
    rewritten = facts_of(capsys, *pair, "--rewrite", "parse_(all|both)", "parse")
    assert rewritten["largest_groups"][0]["similarity"] == 1.0
    pytest.importorskip("rapidfuzz")
    fuzzy = facts_of(capsys, *pair, "--fuzzy", "60")
    assert fuzzy["largest_groups"][0]["similarity"] == 1.0
    # What was found can be edited and handed back.
    renamed = tmp_path / "renamed.json"
    renamed.write_text(json.dumps(fuzzy["renamed"]))
    given = facts_of(capsys, *pair, "--renamed", str(renamed))
    assert given["set_pairs"] == fuzzy["set_pairs"]
    assert given["renamed"] == [{"a": "parse_all", "b": "parse_both", "score": 100.0}]


@pytest.mark.parametrize("measure", ["duration", "multiset", "order"])
def test_other_measures(pair, capsys, measure):
    facts = facts_of(capsys, *pair, "--measure", measure)
    assert facts["measure"] == measure
    assert facts["call_pairs"] > 0


def test_the_table_for_people(pair, capsys):
    assert main(["match", *pair]) == 0
    printed = capsys.readouterr().out
    for words in ("call pairs", "largest group", "main: similarity 0.500, 100 µs and 200 µs", "only in B"):
        assert words in printed
    # Pairs by similarity: 1/3 twice, 1/2 and 1; what is not above tau is light.
    assert "s to 0.4           ████████████████████████ 2" in printed
    assert "s to 1.0           ████████████ 1" in printed
    assert main(["match", *pair, "--tau", "0.4"]) == 0
    assert "░ 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--tau", "2"], 2, "tau=2"),
        (["--identity", "alias"], 2, "no identity 'alias'"),
        (["--measure", "cosine"], 2, "no measure 'cosine'"),
        (["--rewrite", "(", "x"], 2, "the regular expression '('"),
        (["--renamed", "nowhere.json"], 1, "nowhere.json: can't be read"),
    ],
)
def test_words_that_are_off(pair, capsys, words, code, sentence):
    assert main(["match", *pair, *words]) == code
    printed = capsys.readouterr().err
    assert sentence in printed
    assert len(printed.strip().splitlines()) == 1


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"a": 1, "b": "x"}]'])
def test_renamed_files_that_are_off(pair, capsys, tmp_path, text):
    path = tmp_path / "renamed.json"
    path.write_text(text)
    assert main(["match", *pair, "--renamed", str(path)]) == 1
    assert "renamed.json: " in capsys.readouterr().err


def test_a_trace_without_calls(pair, capsys, tmp_path):
    empty = tmp_path / "empty.json"
    empty.write_text('{"traceEvents": [{"ph": "i", "pid": 1, "tid": 1, "ts": 1, "name": "x", "s": "t"}]}')
    facts = facts_of(capsys, pair[0], str(empty))
    assert (facts["call_pairs"], facts["groups"], facts["groups_literal"]) == (0, 0, 0)
    assert facts["matched_time"] == [0.0, 0.0]
    assert facts["distinct_sets"] == [3, 0]
