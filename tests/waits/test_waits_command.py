"""The command waits: what it prints, and what it says of wrong words."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.waits.sync_traces import trace_of
from tracevis3d import save
from tracevis3d.cli import main
from tracevis3d.drawing import output
from tracevis3d.drawing.frame import Frame

TEXT = """
a 0 2000000 run
a 100000 900000 Lock.acquire wait L 1
b 0 2000000 run
b 10000 11000 Lock.acquire wait L 0
b 800000 800000 Lock.release release L
a 950000 950000 Lock.release release L
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "trace.tv3"
    save(trace_of(TEXT), path)
    return path


def run(capsys, *words):
    code = main(["waits", *map(str, words), "--quiet"])
    return code, *capsys.readouterr()


def test_json_has_the_keys_that_scripts_depend_on(path, capsys):
    code, out, _ = run(capsys, path, "--json")
    assert code == 0
    facts = json.loads(out)
    assert set(facts) == {*("origin_ns", "waits", "blame", "objects", "threads", "critical_path", "findings")}
    (wait,) = facts["waits"]
    assert {
        "thread": "a", "object": "L", "kind": "Lock.acquire", "start_ns": 100_000, "end_ns": 900_000,
        "woken_by": "b", "held_by": "b", "held_by_source": "follows", "function": "run",
    }.items() <= wait.items()  # fmt: skip
    (held,) = facts["objects"]
    assert held["waited_in"] == [{"function": "run", "waits": 1, "waited_ns": 800_000}]
    assert {one["function"]: one["holds"] for one in held["held_in"]} == {"run": 2}
    assert not held["part_of_another"]
    assert [t["waited_ns"] for t in facts["threads"]] == [800_000, 0]
    assert facts["threads"][0]["waits_for"] == [{"thread": "b", "waits": 1, "waited_ns": 800_000}]
    assert facts["critical_path"][-1]["end_ns"] == 2_000_000
    assert len(json.loads(run(capsys, path, "--json", "--every")[1])["waits"]) == 2


def test_the_tables_tell_who_waits_for_whom(path, capsys):
    code, out, _ = run(capsys, path)
    assert code == 0
    line = next(line for line in out.splitlines() if "Lock.acquire" in line)
    assert "800 µs" in line
    assert line.split()[-1] == "b"
    assert "a" in line.split()


def test_without_waits_it_says_what_can_be_told(tmp_path, capsys):
    path = tmp_path / "plain.tv3"
    save(trace_of("a 0 1000 run\na 100 200 f\nb 0 500 run"), path)
    code, out, _ = run(capsys, path)
    assert code == 0
    assert out.startswith("No thread waits")
    line = next(line for line in out.splitlines() if line.split()[:1] == ["a"])
    assert line.split()[-5:] == ["800", "ns", "200", "ns", "run"]
    assert [line.split() for line in out.splitlines()[-2:]] == [["1", "50", "%"], ["2", "50", "%"]]


def test_one_object_is_reported_with_who_and_where(path, capsys):
    code, out, _ = run(capsys, path, "--object", "L")
    assert code == 0
    lines = out.splitlines()
    assert any(line.startswith("L: 1 waits of 800 µs") for line in lines)
    held_up = lines.index(next(line for line in lines if "held, when asked for, by" in line))
    assert lines[held_up + 1].split() == ["b", "1", "800", "µs"]
    assert len(json.loads(run(capsys, path, "--object", "L", "--json")[1])["waits"]) == 1
    code, _, err = run(capsys, path, "--object", "M")
    assert code == 2
    assert "there is no such object" in err


def test_the_path_leads_to_a_chosen_end(path, capsys):
    steps = json.loads(run(capsys, path, "--json", "--end", "b", "--at", "0.5")[1])["critical_path"]
    assert [(s["thread"], s["end_ns"]) for s in steps] == [("b", 500_000)]
    code, _, error = run(capsys, path, "--end", "nobody")
    assert code == 2
    assert "no thread is called" in error
    code, _, error = run(capsys, path, "--at", "soon")
    assert code == 2
    assert "a time is expected" in error


def test_a_trace_without_waits_and_a_missing_rule_file(tmp_path, capsys):
    path = tmp_path / "quiet.tv3"
    save(trace_of("a 0 10 run"), path)
    code, out, _ = run(capsys, path)
    assert code == 0
    assert "No thread waits" in out
    code, _, error = run(capsys, path, "--rules", tmp_path / "absent.toml")
    assert code == 1
    assert "absent.toml" in error


def test_a_report_has_a_picture_of_each_finding_with_its_sentence(path, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(output, "Output", partial(output.Output, frame=Frame(480, 270)))
    trace = tmp_path / "a<script>`x`.tv3"
    rows = []
    for i, (thread, one, other) in enumerate((("a", "X", "Y"), ("b", "Y", "X"))):
        rows += [f"{thread} {100 * i} {100 * i + 90} run"]
        for k, lock in enumerate((one, other)):
            rows.append(f"{thread} {100 * i + k} {100 * i + k + 1} Lock.acquire wait {lock} {k}")
        for k, lock in enumerate((other, one)):
            rows.append(f"{thread} {100 * i + 9 + k} {100 * i + 9 + k} Lock.release release {lock}")
    save(trace_of("\n".join(rows)), trace)
    folder = tmp_path / "report"
    code, out, _ = run(capsys, trace, "-o", folder)
    assert code == 0
    assert out.rstrip().endswith("report.md")
    text = (folder / "report.md").read_text("utf-8")
    assert "a deadlock is possible" in text
    # Markdown obeys no name.
    assert text.startswith(r"# Waits in a\<script\>\`x\`.tv3")
    (picture,) = sorted(folder.glob("*.png"))[:1]
    assert picture.name == "01-lock-order.png"
    assert f"]({picture.name})" in text
    assert json.loads((folder / "waits.json").read_text("utf-8"))["findings"][0]["kind"] == "lock order"
    taken = tmp_path / "taken"
    taken.write_text("")
    assert run(capsys, trace, "-o", taken)[0] == 1
