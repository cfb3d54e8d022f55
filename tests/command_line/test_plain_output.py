"""Names come from recordings: printed and reported, they do nothing to a terminal or to Markdown."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d.cli import main
from tracevis3d.command_line.terminal import PlainText

EVIL = "f\x1b]0;x\x07\x9b31m\u202e\u2067\u2029`<script>alert(1)</script>\n# heading"


def write(path, name, *, times=1):
    events = [{"name": name, "ph": "X", "ts": 10 * i, "dur": 5, "pid": 1, "tid": 1} for i in range(times)]
    path.write_text(
        json.dumps([{"name": "main", "ph": "X", "ts": 0, "dur": 900, "pid": 1, "tid": 1}, *events])
    )
    return path


COMMANDS = ("info", "tree", "nodes", "patterns", "phases", "search", "match")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_terminal_obeys_no_name(tmp_path, capsys, command):
    path = write(tmp_path / "evil.json", EVIL, times=9)
    words = {"search": [str(path), "script"], "match": [str(path), str(path)]}.get(command, [str(path)])
    assert main([command, *words]) == 0
    printed = capsys.readouterr().out
    assert not [c for c in printed if not c.isprintable() and c not in "\n\t"]
    assert "\n# heading" not in printed


def test_json_holds_names_as_they_are_and_no_control_character(tmp_path, capsys):
    path = write(tmp_path / "evil.json", EVIL)
    assert main(["nodes", str(path), "--json"]) == 0
    printed = capsys.readouterr().out
    assert not [c for c in printed if not c.isprintable() and c != "\n"]
    assert EVIL in {
        row["recorded_name"] if "recorded_name" in row else row["name"] for row in json.loads(printed)["rows"]
    }


def test_errors_are_one_line_of_plain_text(tmp_path, capsys):
    assert main(["info", str(tmp_path / "a\x1b[31m\nb.json")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "\x1b" not in said


def test_data_for_other_programs_is_exact():
    stream = io.StringIO()
    plain = PlainText(stream)
    assert plain.write("a\x1bb\r\n") == 5
    plain.exact.write("a\x1bb\r\n")
    assert stream.getvalue() == "a\ufffdb\ufffd\na\x1bb\r\n"


def test_markdown_obeys_no_name(tmp_path):
    old, new = write(tmp_path / "old.json", EVIL, times=40), write(tmp_path / "new.json", EVIL, times=3)
    story = tv.explain(tv.load(old), tv.load(new))
    assert len(story)
    story.write(tmp_path / "report", figures=False, scene=False)
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "script" in text
    assert not [c for c in text if not c.isprintable() and c != "\n"]
    assert "\n# heading" not in text
    for line in text.splitlines():
        spans = line.split("`")
        assert len(spans) % 2, "each backtick has a partner"
        assert not any("<script>" in outside for outside in spans[::2])


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_a_name_that_is_no_utf_8(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.json")
    write(tmp_path / "good.json", "f").rename(path)
    env = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    for words in (["info", path, "--json"], ["info", path], ["convert", path, path.replace(".json", ".tv3")]):
        done = subprocess.run(
            [sys.executable, "-m", "tracevis3d", *words], cwd=ROOT, env=env, capture_output=True
        )
        assert (done.returncode, done.stderr) == (0, b"")
        if "--json" in words:
            assert json.loads(done.stdout)["file"] == path


@pytest.mark.parametrize("command", ["convert", "filter"])
def test_a_trace_is_not_written_over_itself(tmp_path, capsys, command):
    path = write(tmp_path / "run.json", "f")
    before = path.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(path)
    words = {"convert": [str(path), str(link)], "filter": [str(path), "--depth", "below=1", "-o", str(link)]}
    assert main([command, *words[command]]) == 2
    assert "is the trace that is read" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("cache", [[], ["--no-cache"]])
def test_pipes_and_devices_are_refused(tmp_path, capsys, cache):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", "/dev/zero"):
        assert main(["info", str(path), *cache]) == 1
        assert "is a pipe or a device" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize(
    "words",
    [
        ["film", "FILE.yaml", "-o", "film.mp4"],
        ["panels", "FILE.yaml", "-o", "page.png"],
        ["batch", "FILE.txt"],
        ["waits", "TRACE", "--rules", "FILE.toml"],
        ["render", "city", "TRACE", "--set", "rules=FILE.toml", "-o", "city.png"],
        ["library", "FILE.json"],
        ["again", "FILE.png"],
    ],
    ids=lambda words: words[0],
)
def test_what_people_write_is_not_read_from_pipes_or_devices(words, tmp_path, capsys):
    trace = str(write(tmp_path / "trace.json", "f"))
    for file in ("pipe", "zero"):
        said = [word.replace("TRACE", trace).replace("FILE", str(tmp_path / file)) for word in words]
        (path,) = (word.rpartition("=")[2] for word in said if str(tmp_path / file) in word)
        if file == "pipe":
            os.mkfifo(path)
        else:
            os.symlink("/dev/zero", path)
        assert main(said) == 1
        assert "is a pipe or a device" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (["batch", "a.txt"], "# nothing\n" * 110_000, "too large for a batch"),
        (["waits", "TRACE", "--rules", "a.toml"], "# nothing\n" * 110_000, "too large for rules"),
        (["panels", "a.yaml"], "title: " + "a" * (1 << 20), "too large for settings"),
        (["panels", "a.yaml"], "panels: [{view: icicle, traces: a.json, span: .inf}]", "not a whole number"),
        (["panels", "a.yaml"], "dpi: 1" + "0" * 400, "401 digits is too large"),
        (["panels", "a.yaml"], f"panels: [{{view: icicle, traces: a}}]\nsize: '{'9' * 400}x9'", "--size"),
        (["film", "a.yaml"], "seconds: 1" + "0" * 400, "401 digits is too large"),
        (
            ["render", "city", "TRACE", "--set", "rules=a.toml"],
            '[[rule]]\nfield = "calls"\nabove = 1' + "0" * 40 + '\nhue = "#c0392b"',
            "41 digits is too large",
        ),
        (
            ["render", "city", "TRACE", "--set", "rules=a.toml"],
            '[[rule]]\nfield = "bytes"\nabove = "1' + "0" * 400 + '"\nhue = "#c0392b"',
            'write a size such as "1 MB"',
        ),
    ],
)  # fmt: skip
def test_what_people_write_is_refused_in_a_sentence(words, text, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = str(write(tmp_path / "trace.json", "f"))
    (name,) = (word.rpartition("=")[2] for word in words if "a." in word)
    (tmp_path / name).write_text(text)
    output = [] if words[0] in ("batch", "waits") else ["-o", "out.png" if words[0] != "film" else "out.mp4"]
    assert main([trace if word == "TRACE" else word for word in words] + output) in (1, 2)
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
