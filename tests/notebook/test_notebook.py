"""Notebooks: the example runs, cells are recorded, progress is shown."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from tracevis3d.errors import UsageError
from tracevis3d.notebook.magic import load_ipython_extension, recorded
from tracevis3d.notebook.progress_bar import bar

pytest.importorskip("IPython")
from IPython.core.interactiveshell import InteractiveShell

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def shell():
    made = InteractiveShell()
    load_ipython_extension(made)
    return made


def test_the_example_runs() -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    for package in ("duckdb", "pandas", "pyarrow", "bpy"):
        pytest.importorskip(package)
    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # none are kept in the file
    ran = client.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}
    ).execute()
    kinds = [
        {kind for output in cell.outputs for kind in output.get("data", ())}
        for cell in ran.cells
        if cell.cell_type == "code"
    ]
    assert sum("image/png" in kind for kind in kinds) == 3
    assert sum("text/html" in kind for kind in kinds) >= 4
    assert not [
        output for cell in ran.cells for output in cell.get("outputs", ()) if output.output_type == "error"
    ]


def test_a_cell_is_recorded(shell) -> None:
    found, view, has_figure = recorded("mine --view threads --no-figure", "def f(): pass\nf(); f()", shell)
    assert (view, has_figure) == ("threads", False)
    assert shell.user_ns["mine"] is found
    assert [*found.functions.label].count("f") == 1
    assert found.calls.to_pandas()["function"].tolist().count("f") == 2
    assert shell.user_ns["f"]


def test_what_fails_in_a_cell_is_raised_and_yet_recorded(shell) -> None:
    with pytest.raises(ZeroDivisionError):
        recorded("", "def g(): 1 / 0\ng()", shell)
    assert "g" in [*shell.user_ns["trace"].functions.label]


@pytest.mark.parametrize("line", ["--nix", "a b", "1a", "'"])
def test_wrong_words(shell, line, capsys) -> None:
    with pytest.raises(UsageError, match=r"%%trace \[NAME\]"):
        recorded(line, "pass", shell)
    shell.run_cell_magic("trace", line, "pass")
    assert "is expected" in capsys.readouterr().out


def test_the_extension_is_found_by_its_name() -> None:
    import tracevis3d

    assert tracevis3d.load_ipython_extension is load_ipython_extension


def test_progress_is_a_bar(capsys) -> None:
    pytest.importorskip("tqdm")
    before = set(threading.enumerate())
    with bar("reading") as progress:
        progress(0.25, "first")
        progress(1.0, "last")
    shown = capsys.readouterr().err
    assert "reading" in shown
    assert "25%" in shown
    assert set(threading.enumerate()) <= before, "a thread of tqdm's would be in the next recording"


def test_the_notebook_keeps_no_place_of_a_machine() -> None:
    text = (EXAMPLES / "notebook.ipynb").read_text()
    assert "/home/" not in text
    assert json.loads(text)["nbformat"] == 4
