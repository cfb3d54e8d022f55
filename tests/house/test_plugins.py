"""Plug-ins: the three of ``examples/plugins`` as packages and from a folder, and broken ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tracevis3d as tv
from tests.support.blender_module import Blender
from tools.example_plugins import EXAMPLES, MODULES, as_modules, as_packages
from tracevis3d import plugins
from tracevis3d.analysis.measures import self_time_of
from tracevis3d.cli import main
from tracevis3d.commands import left_out, plugin_commands
from tracevis3d.errors import UsageError
from tracevis3d.formats import registry as formats
from tracevis3d.units import duration
from tracevis3d.views import registry as views

ROOT = Path(__file__).resolve().parents[2]
TRACE = ROOT / "examples" / "vt_markdown_repeat1.json.gz"
ROWS = [
    {"thread": "main", "name": "run", "start_us": 0, "end_us": 9},
    {"thread": "main", "name": "fib", "start_us": 1, "end_us": 8},
    {"thread": "main", "name": "fib", "start_us": 2, "end_us": 5},
    {"thread": "main", "name": "fib", "start_us": 3, "end_us": 4},
    {"thread": "sampled", "stack": ["run", "fib"], "weight_us": 2},
    {"thread": "sampled", "stack": ["run", "fib", "fib"], "weight_us": 3},
]


@pytest.fixture
def folder(tmp_path):
    yield tmp_path
    plugins.use_folders([])
    for name in [name for name in sys.modules if "plugin_" in name or name.startswith("tracevis3d_")]:
        del sys.modules[name]
    sys.path[:] = [place for place in sys.path if place != str(tmp_path)]


def test_the_examples_declare_what_they_are():
    tomllib = pytest.importorskip("tomllib")
    for folder, (kind, name, module, attribute) in MODULES.items():
        project = tomllib.loads((EXAMPLES / folder / "pyproject.toml").read_text())
        assert project["project"]["entry-points"] == {f"tracevis3d.{kind}": {name: f"{module}:{attribute}"}}
        assert project["tool"]["setuptools"]["py-modules"] == [module]


@pytest.mark.parametrize("lay", [as_packages, as_modules])
def test_the_examples_work_from_a_folder(folder, lay, tmp_path_factory):
    plugins.use_folders([lay(folder)])
    assert plugins.broken() == []
    assert "jsonl" in formats.names()
    # The prefix of a single module's name is no part of what it adds.
    bars = "function_bars"
    assert bars in views.names()
    file = tmp_path_factory.mktemp("traces") / "run.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS) + "rubbish\n")
    trace = tv.load(file, cache=False)
    assert trace.source.format == "jsonl"
    assert trace.problems.as_dict() == {"malformed": {"count": 1, "first": "line 7"}}
    assert trace.calls.depth.tolist() == [1, 2, 3, 4, 1, 2, 3]
    assert (trace.calls.end - trace.calls.start).tolist() == [9000, 7000, 3000, 1000, 5000, 5000, 3000]
    # The sampled thread's second fib calls itself, and two of the main thread's.
    left = tv.filtered(trace, "recursion(least=2, what=subtree)")
    assert len(left.calls) == len(trace.calls) - 3
    figure = tv.view(bars, trace, functions=1, slices=3)
    (shown,) = [e for e in figure.drawing().elements if e.kind == "bar"]
    # Of 9 µs: calls of fib start in the first 3 µs, and one of 1 µs after them.
    np.testing.assert_array_equal(figure.drawing().meaning["bar"].values[0][1], [11_000, 1000])
    np.testing.assert_allclose(shown.size[:, 2], [5.0, 5 / 11], rtol=1e-5)


def test_an_action_of_the_example_changes_its_parameters(folder):
    from tracevis3d.views.actions import State

    plugins.use_folders([as_modules(folder)])
    view = views.find("function_bars")
    (more,) = [action for action in view.actions if action.name == "more_functions"]
    change = more.run(State(view, (), {"functions": 12}))
    assert change.parameters == {"functions": 24}


@pytest.mark.parametrize("lay", [as_packages, as_modules])
def test_a_command_of_the_example_is_on_the_command_line(folder, lay, capsys):
    assert main(["busiest", str(TRACE)]) == 2
    assert "'busiest'" in capsys.readouterr().err
    plugins.use_folders([lay(folder)])
    assert main(["busiest", str(TRACE), "--most", "3", "--no-cache", "--quiet"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3
    trace = tv.load(TRACE, cache=False)
    own = np.bincount(trace.calls.function, self_time_of(trace), len(trace.functions))
    first = trace.functions.label[int(own.argmax())]
    assert printed[0].split() == [first, *duration(own.max()).split()]
    assert main(["busiest", str(TRACE), "--most", "0"]) == 2
    assert main(["views", "function_bars"]) == 0
    assert "busiest  list the functions" in capsys.readouterr().out


COMMANDS = """
from tracevis3d.command_line.command import Command
def nothing(parser): pass
def fails(words): raise ValueError("no\\nluck")
COMMANDS = ({})
"""


def lay_view_with_commands(folder: Path, name: str, commands: str) -> None:
    text = VIEW.format(name=name, parameter="number", more="")
    (folder / f"{name}.py").write_text(
        COMMANDS.format(commands) + text.rstrip()[:-1] + ", commands=COMMANDS)\n"
    )


def test_a_command_that_fails_says_so_in_a_sentence(folder, capsys):
    lay_view_with_commands(folder, "good", 'Command("breaks", "fail", nothing, fails),')
    lay_view_with_commands(folder, "odd", 'Command("crashes", "fail", fails, nothing),')
    plugins.use_folders([folder])
    for word, view in (("breaks", "good"), ("crashes", "odd")):
        assert main([word]) == 2
        said = capsys.readouterr().err
        assert said == f"tracevis3d: the command '{word}' of the view '{view}' failed: no luck\n"


def test_a_command_named_like_another_is_left_out_and_said(folder, capsys):
    same = 'Command("info", "fail", fails, fails), Command("mine", "be first", nothing, nothing),'
    lay_view_with_commands(folder, "first", same)
    lay_view_with_commands(folder, "second", 'Command("mine", "be second", fails, fails),')
    plugins.use_folders([folder])
    assert main(["info", str(TRACE)]) == 0
    assert main(["mine"]) == 0
    said = [f"the command {name!r} of the view {view!r} is left out: the name is already in use"
            for name, view in (("info", "first"), ("mine", "second"))]  # fmt: skip
    assert left_out() == said
    capsys.readouterr()
    assert main(["doctor"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert all(f"missing plug-in {sentence}. rename it" in printed for sentence in said)


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ('"words",', "is not a Command but a str"),
        ('Command("Two words", "x", nothing, nothing),', "is not a word"),
    ],
)
def test_a_view_whose_commands_cannot_be_offered_is_refused(folder, commands, expected):
    lay_view_with_commands(folder, "good", commands)
    plugins.use_folders([folder])
    assert [sentence for sentence in plugins.broken() if expected in sentence]
    assert plugin_commands() == {}


def test_a_format_of_an_absent_folder_is_absent(tmp_path):
    plugins.use_folders([tmp_path / "nowhere"])
    assert "jsonl" not in formats.names()


BROKEN = {
    "raises": ("raise RuntimeError('no\\nluck')", "can't be loaded: no luck"),
    "exits": ("import sys\nsys.exit(3)\nVIEW = 1", "can't be loaded: 3"),
    "syntax": ("VIEW = (", "can't be loaded"),
    "missing": ("import nobody_has_this\nVIEW = 1", "No module named 'nobody_has_this'"),
    "number": ("VIEW = 7", "is not a View but a int"),
    "style": (None, "the name 'style' is reserved for a setting that every view has"),
    "wide": ("high=2**40", "has a bound beyond 2,147,483,647"),
    "fixed": ("rna_type", "named like a fixed setting"),
    "other": ("other", "its name is 'another'"),
}
VIEW = """
from dataclasses import make_dataclass, field
from tracevis3d.parameters import parameter
from tracevis3d.views.view import View
Parameters = make_dataclass("Parameters", [({parameter!r}, int, parameter(1, "A number"{more}))], frozen=True)
VIEW = View({name!r}, "Title", "A sentence", (1, 1), Parameters, lambda *words: None)
"""


def lay_broken(place: Path) -> None:
    """Write a module for each way in which a plug-in can be broken, and a good one."""
    for name, (text, _) in BROKEN.items():
        if name in ("style", "wide", "fixed", "other"):
            text = VIEW.format(
                name="another" if name == "other" else name,
                parameter="rna_type" if name == "fixed" else "number",
                more=", high=2**40" if name == "wide" else "",
            )
        (place / f"{name}.py").write_text(text if "VIEW" in text else f"VIEW = 1\n{text}")
    (place / "good.py").write_text(VIEW.format(name="good", parameter="number", more=""))


def test_each_broken_plugin_is_reported_in_a_sentence_and_costs_no_other_anything(folder):
    lay_broken(folder)
    plugins.use_folders([folder])
    sentences = plugins.broken()
    assert len(sentences) == len(BROKEN)
    for name, (_, expected) in BROKEN.items():
        (sentence,) = [s for s in sentences if s.startswith(f"the view {name!r} of ")]
        assert expected in sentence
        assert "\n" not in sentence
        with pytest.raises(UsageError, match=f"the view '{name}'"):
            views.find(name)
    assert views.find("good").title == "Title"
    assert {"icicle", "good"} <= {view.name for view in views.loadable()}
    assert not {"style", "wide"} & {view.name for view in views.loadable()}


def test_ours_go_before_those_of_the_same_name(folder):
    (folder / "icicle.py").write_text(VIEW.format(name="icicle", parameter="number", more=""))
    plugins.use_folders([folder])
    assert views.find("icicle").title == "Icicle"
    assert any("the view 'icicle'" in sentence and "left out" in sentence for sentence in plugins.broken())


def test_the_command_line_takes_folders_from_the_environment(tmp_path):
    as_packages(tmp_path)
    environment = {**os.environ, plugins.FOLDER_VARIABLE: str(tmp_path)}
    command = [sys.executable, "-m", "tracevis3d", "views", "function_bars"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "slices=80" in done.stdout


@pytest.mark.blender
@pytest.mark.slow
@pytest.mark.parametrize("lay", [as_packages, as_modules])
def test_the_examples_work_in_blenders_module(tmp_path, lay):
    pytest.importorskip("bpy", reason="no bpy")
    (tmp_path / "plugins").mkdir()
    lay_broken(lay(tmp_path / "plugins"))
    blender = Blender.with_checkout()
    blender.script("install/plugins.py", tmp_path / "plugins", TRACE, tmp_path / "out.png", len(BROKEN))
