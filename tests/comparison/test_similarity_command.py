"""``tracevis3d similarity``: what scripts depend on, and what people read."""

import json

import pytest

from tracevis3d.cli import main


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three small traces: two runs of one program, and another program; by short names, which tables show."""

    def event(name, ts, dur):
        return {"ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": dur, "name": name}

    given = {
        "one": [event("main", 0, 100), event("read", 10, 20), event("write", 40, 30)],
        "two": [event("main", 0, 100), event("read", 10, 20), event("print", 40, 30)],
        "other": [event("start", 0, 50)],
    }
    monkeypatch.chdir(tmp_path)
    paths = []
    for name, events in given.items():
        paths.append(f"{name}.json")
        with open(paths[-1], "w") as file:
            json.dump({"traceEvents": events}, file)
    return paths


def test_the_facts_as_json(runs, capsys):
    assert main(["similarity", *runs, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert set(facts) == {
        "traces", "best", "time", "functions", "cells", "order", "cut", "clusters", "merges", "identity",
    }  # fmt: skip
    assert [t["file"] for t in facts["traces"]] == runs
    # main: 50 µs of its own, 2 of 4 functions in common: 1/2; read: 20 µs, alike; write: no match.
    assert facts["best"][0][1] == pytest.approx((50 * 0.5 + 20 * 1.0 + 30 * 0.0) / 100)
    assert facts["time"][0][1] == 1.0
    assert facts["functions"][0] == [1.0, 0.5, 0.0]
    assert facts["best"][0][2] == facts["best"][2][0] == 0.0
    assert facts["order"] in ([0, 1, 2], [1, 0, 2])
    assert facts["clusters"] == [[0], [1], [2]]
    assert facts["merges"][0]["left"] == [0]
    assert facts["merges"][0]["right"] == [1]
    assert main(["similarity", *runs, "--json", "--cells", "functions"]) == 0
    assert json.loads(capsys.readouterr().out)["clusters"] == [[0, 1], [2]]


def test_the_table_names_each_trace_by_a_letter(runs, capsys):
    assert main(["similarity", *runs, "--cells", "functions"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["A", "B", "C"]
    assert lines[1].split() == ["A", "–", "0.500", "0.000"]
    assert any(line.startswith("A ") and line.endswith("one.json") for line in lines)
    assert [line.split()[1:] for line in lines if line.startswith("cluster")] == [["A", "B"], ["C"]]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "give two or more"),
        (["{1}", "--cells", "x"], "one of best, time, functions"),
        (["{1}", "--cut", "2"], "from 0 to 1"),
        (["{1}", "--tau", "x"], "tau=x"),
        (["nowhere.json"], "nowhere.json"),
    ],
)
def test_what_is_off_is_reported_in_a_sentence(runs, capsys, words, sentence):
    words = [runs[1] if word == "{1}" else word for word in words]
    assert main(["similarity", runs[0], *words]) in (1, 2)
    printed = capsys.readouterr().err
    assert sentence in printed
    assert len(printed.splitlines()) == 1
