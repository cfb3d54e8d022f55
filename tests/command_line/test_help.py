"""Help, completion and progress: what leads a newcomer on."""

import io
import json
import os
import shlex
import subprocess
import sys

import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d import cli
from tracevis3d.command_line.terminal import Bar
from tracevis3d.commands import all_commands

COMMANDS = tuple(all_commands())


def examples(command, capsys):
    """Return the examples below a command's help."""
    assert cli.main([command, "--help"]) == 0
    _, heading, below = capsys.readouterr().out.rpartition("\nexample")
    assert heading, f"the help of {command!r} has no example"
    return [line.strip() for line in below.splitlines()[1:] if line.strip()]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_examples_that_it_takes(command, capsys):
    found = examples(command, capsys)
    assert found
    for line in found:
        program, *words = shlex.split(line)
        assert (program, words[0]) == ("tracevis3d", command)
        # What is off raises a UsageError.
        assert callable(cli._parser("tracevis3d", words).parse_args(words).run)


def recording(path, name):
    """Return a small run, in which a function is called that has its name."""
    spans = [("main", 0, 1000), ("read", 10, 200), (f"only_in_{name}", 300, 400), ("write", 800, 100)]
    events = [{"ph": "X", "pid": 1, "tid": 1, "ts": t, "dur": d, "name": n} for n, t, d in spans]
    path.write_text(json.dumps({"traceEvents": events}), "utf-8")
    return tv.load(path, cache=False)


def test_setting_up_compiles_what_the_demo_draws_first(monkeypatch, tmp_path):
    from examples import __main__ as demo
    from tests.conftest import ROOT

    setup = (ROOT / "tools" / "setup.sh").read_text("utf-8")
    assert f"-m {demo.__package__} --warm" in setup
    runs = iter([recording(tmp_path / f"{name}.json", name) for name in "EF"])
    monkeypatch.setattr(demo.tv, "load", lambda path: next(runs))
    drawn = []
    figure = demo.tv.Figure
    whole = figure.drawing
    monkeypatch.setattr(figure, "drawing", lambda self, *more: drawn.append(self.name) or whole(self, *more))
    demo.warm()
    # What main() draws first, as the test below says.
    assert drawn == ["compare"]


def test_the_demo_ends_by_saying_what_to_do_next(monkeypatch, tmp_path, capsys):
    from examples import __main__ as demo

    drawn = []
    monkeypatch.setattr(demo, "OUT", tmp_path / "out")
    monkeypatch.setattr(
        demo, "_draw", lambda name, figure, options: drawn.append((name, figure.name, options))
    )
    monkeypatch.setattr(demo.warm_up, "begin", lambda: None)
    # Small runs, which are read in a moment.
    calls = {name: recording(tmp_path / f"{name}.json", name) for name in "EF"}
    monkeypatch.setattr(
        demo.tv, "load", lambda path: calls.get(path.name.partition("text_")[2][:1], calls["E"])
    )
    assert demo.main() == 0
    # A draft of what differs is the first that one sees, the picture itself the next.
    assert [(view, "draft" in options) for _, view, options in drawn[:2]] == [
        ("compare", True),
        ("compare", False),
    ]
    said = capsys.readouterr().out
    assert "1. " in said
    assert "only_in_F" in said
    commands = [line.split() for line in said.splitlines() if line.startswith("  ") and "tracevis3d " in line]
    assert [words[1] for words in commands] == ["record", "render", "explain"]
    for _, *words in commands:
        assert callable(cli._parser("tracevis3d", words).parse_args(words).run)


def completed(line, tmp_path):
    """Return what the shell is offered after a line."""
    pytest.importorskip("argcomplete")
    answer = tmp_path / "answer"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    subprocess.run([sys.executable, "-m", "tracevis3d"], cwd=ROOT, env=environment, check=True, timeout=60)
    return {word.strip() for word in answer.read_text().splitlines()}


def test_the_shell_completes_commands_options_and_names(tmp_path):
    assert completed("tracevis3d re", tmp_path) == {"render", "record", "replay"}
    assert {"--style", "--size"} <= completed("tracevis3d render icicle x.json --s", tmp_path)
    assert completed("tracevis3d render ici", tmp_path) == {"icicle"}
    assert completed("tracevis3d formats pprof", tmp_path) == {"pprof"}


class Terminal(io.StringIO):
    """Standard error on a terminal."""

    def isatty(self):
        return True


def test_the_bar_says_how_long_a_stage_will_still_take(monkeypatch):
    screen, clock = Terminal(), iter([0.0, 1.0, 4.0, 5.0, 20.0, 400.0, 401.0])
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(Bar, "now", staticmethod(lambda: next(clock)))
    bar = Bar()  # at 0 s
    said = []
    for done in (0.1, 0.4, 0.05, 0.35, 0.36, 1.0):
        screen.truncate(0)
        bar(done, "reading")
        said.append(screen.getvalue().partition("reading")[2].strip())
    # After 4 s 40 % are done; then another stage begins: 30 % of it take 15 s, and 31 % much longer.
    assert said == ["", "6 s left", "", "33 s left", "14 min left", ""]
