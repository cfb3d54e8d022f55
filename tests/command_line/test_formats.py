"""``tracevis3d formats``, and recordings that come in on standard input."""

import io
import json
import sys

import pytest

from tests.conftest import ROOT
from tracevis3d import cli
from tracevis3d.formats import registry

PROFILE = ROOT / "tests" / "data" / "profiles" / "node20.cpuprofile.gz"


def run(capsys, *words):
    code = cli.main(list(words))
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("name", list(registry._OWN))
def test_a_format_is_told_of_in_ten_lines(capsys, name):
    code, out, _ = run(capsys, "formats", name)
    form = registry.find(name)
    assert code == 0
    assert form.title in out
    assert len(out.splitlines()) <= 10
    for command in form.recipe:
        assert command in out
    if form.left_out:
        assert "not read" in out


def test_as_json(capsys):
    code, out, _ = run(capsys, "formats", "pprof", "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["name"] == "pprof"
    assert any("go test" in command for command in facts["recipe"])


def test_an_unknown_format_is_refused_in_one_sentence(capsys):
    code, _, err = run(capsys, "formats", "nothing")
    assert code == 2
    assert err.count("\n") == 1


class Input:
    """Standard input with given bytes."""

    def __init__(self, data, is_terminal=False):
        self.buffer = io.BytesIO(data)
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


def test_standard_input_is_read(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Input(PROFILE.read_bytes()))
    code, out, _ = run(capsys, "info", "-", "--json", "--quiet")
    facts = json.loads(out)
    assert code == 0
    assert facts["format"] == "v8"
    assert facts["samples"] == {"samples": 323}
    assert facts["file"] == "standard input"


@pytest.mark.parametrize(("data", "is_terminal", "wanted"), [(b"", False, 1), (b"x", True, 2)])
def test_nothing_on_standard_input_is_one_sentence(capsys, monkeypatch, data, is_terminal, wanted):
    monkeypatch.setattr(sys, "stdin", Input(data, is_terminal))
    code, _, err = run(capsys, "info", "-", "--quiet")
    assert code == wanted
    assert "Traceback" not in err
    # Not a temporary file's name.
    assert "standard input" in err
