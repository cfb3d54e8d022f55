"""The commands of the page Systems are taken as they stand, and draw what they say."""

from __future__ import annotations

import re
import shlex

import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d import api, cli
from tracevis3d.commands.render import setting
from tracevis3d.drawing.frame import Frame

PAGE = (ROOT / "docs" / "systems.md").read_text("utf-8")
COMMANDS = re.findall(r"`(tracevis3d [^`]+)`", PAGE)
#: A recording of the reader's own.
OWN = "run.json.gz"


def parsed(command):
    """Return what a command line means; what is off raises a UsageError."""
    _, *words = shlex.split(command)
    return cli._parser("tracevis3d", words).parse_args(words)


def drawn():
    """Return the commands that draw files of the examples."""
    return [c for c in COMMANDS if " render " in c and OWN not in c]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_taken_and_its_files_are_there(command):
    assert callable(parsed(command).run)
    for word in shlex.split(command):
        if word.endswith((".json.gz", ".tsv.gz")) and word != OWN:
            assert (ROOT / "examples" / word).is_file()


@pytest.mark.parametrize("command", drawn())
def test_a_view_is_drawn_as_the_command_says(command, monkeypatch):
    monkeypatch.chdir(ROOT / "examples")
    words = parsed(command)
    traces = [tv.load(ROOT / "examples" / name) for name in words.traces]
    settings = dict(setting(text) for text in words.settings)
    figure = tv.Figure(words.view, tuple(traces), settings, filters=words.filters)
    assert figure.drawing(Frame(320, 180)).elements


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.split()[1] == "watch"])
def test_a_feed_is_watched_into_a_trace_or_a_folder_of_pictures(command):
    words = parsed(command)
    if not words.every:
        api.check_writable(words.output)


@pytest.mark.parametrize("command", [c for c in COMMANDS if " query " in c])
def test_a_query_is_answered(command, monkeypatch, capsys):
    monkeypatch.chdir(ROOT / "examples")
    assert cli.main([*shlex.split(command)[1:], "--limit", "2", "--quiet"]) == 0
    assert "function" in capsys.readouterr().out


PRINTED = ("info", "nodes", "patterns", "search", "tree")


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.split()[1] in PRINTED and OWN not in c])
def test_a_command_prints_what_it_finds(command, monkeypatch, capsys):
    monkeypatch.chdir(ROOT / "examples")
    assert cli.main([*shlex.split(command)[1:], "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 2


def test_each_command_is_run_or_is_of_ones_own_recording_or_program():
    run = {*drawn(), *(c for c in COMMANDS if c.split()[1] in ("query", *PRINTED))}
    assert all(OWN in c or c.split()[1] in ("watch", "views") for c in COMMANDS if c not in run)


def test_each_row_has_a_command_a_picture_or_says_why_not():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| system |")]
    assert len(rows) > 40
    for row in rows:
        assert "`tracevis3d " in row or "](pictures/" in row or "Out of scope" in row, row
