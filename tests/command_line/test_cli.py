"""The words, the exit codes and the sentences that scripts depend on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tracevis3d as tv
from tracevis3d.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
INFO_KEYS = [
    "file", "format", "hash", "origin_ns", "span_ns", "calls", "threads", "functions", "max_depth",
    "distinct_subtrees", "distinct_sets", "waits", "releases", "io", "allocations", "counters",
    "spans", "flows", "instants", "samples", "problems",
]  # fmt: skip


@pytest.fixture
def tiny(tmp_path) -> Path:
    """Two calls, one in the other, and an end too many."""
    path = tmp_path / "tiny.json"
    events = [
        {"ph": "X", "pid": 1, "tid": 2, "ts": 10, "dur": 8, "name": "outer (a.py:1)"},
        {"ph": "X", "pid": 1, "tid": 2, "ts": 12, "dur": 2.5, "name": "inner (a.py:7)"},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 30, "name": "never begun"},
    ]
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def test_help_and_version(capsys):
    assert main(["--help"]) == 0
    assert "render" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("TraceVis3D ")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from tracevis3d.cli import main; main(['--help']); "
        "heavy = {'numpy', 'numba', 'bpy', 'msgspec', 'importlib.metadata'} & set(sys.modules); "
        "assert not heavy, heavy; "
        "own = [m for m in sys.modules if '.commands.' in m or m.startswith('tracevis3d.features.') "
        "and m.count('.') > 2 and not m.endswith('.commands')]; assert not own, own"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def test_reading_a_trace_and_choosing_a_view_load_nothing_that_they_do_not_need():
    """Numba is needed for kernels alone; feeds, other formats and plug-ins not at all."""
    code = (
        "import sys, tracevis3d as tv; trace = tv.load(sys.argv[1]); "
        "unneeded = {m for m in sys.modules if m in ('numba', 'importlib.metadata', 'argparse', 'zmq') "
        "or m.startswith(('tracevis3d.live', 'tracevis3d.record', 'tracevis3d.formats.'))}"
        "- {'tracevis3d.formats.files', 'tracevis3d.formats.registry', 'tracevis3d.formats.unpack'}; "
        "assert not unneeded, unneeded; tv.icicle(trace); "
        "unneeded = {m for m in sys.modules if m in ('numba', 'importlib.metadata', 'argparse', 'zmq') "
        "or m.startswith(('tracevis3d.live', 'tracevis3d.record', 'tracevis3d.formats.chrome'))}; "
        "assert not unneeded, unneeded"
    )
    path = ROOT / "examples" / "vt_markdown_repeat1.json.gz"
    tv.load(path)  # so that it is in the cache
    subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, check=True)


def test_a_format_that_is_sure_keeps_those_behind_it_from_being_loaded():
    code = (
        "import sys; from pathlib import Path; from tracevis3d.formats.registry import recognise; "
        "assert recognise(sys.argv[1]).name == 'chrome'; "
        "loaded = {m for m in sys.modules if m.startswith(('tracevis3d.formats.', 'tracevis3d.analysis'))}; "
        "assert loaded == {'tracevis3d.formats.' + m for m in "
        "('chrome', 'chrome.format', 'registry', 'unpack')}, loaded"
    )
    path = ROOT / "examples" / "vt_markdown_repeat1.json.gz"
    subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, check=True)


def test_info_prints_the_keys_that_scripts_depend_on(tiny, capsys):
    assert main(["info", str(tiny), "--json"]) == 0
    printed = capsys.readouterr()
    facts = json.loads(printed.out)
    assert list(facts) == INFO_KEYS
    assert facts["file"] == str(tiny)
    assert facts["format"] == "chrome"
    assert len(facts["hash"]) == 64
    assert facts["origin_ns"] == 10_000
    assert (facts["calls"], facts["threads"], facts["functions"], facts["max_depth"]) == (2, 1, 2, 2)
    assert (facts["distinct_subtrees"], facts["distinct_sets"]) == (2, 2)
    assert facts["problems"]["unmatched end"]["count"] == 1
    assert "unmatched end" in printed.err  # read with a mend: done, and said


def test_info_for_people(tiny, capsys):
    assert main(["info", str(tiny)]) == 0
    assert "distinct subtrees" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "COMMAND"),
        (["sing"], 2, "no command 'sing'"),
        (["rendre"], 2, "did you mean 'render'?"),
        (["info"], 2, "TRACE"),
        (["info", "nowhere.json"], 1, "nowhere.json"),
        (["render", "nothing", "x.json", "-o", "x.png"], 2, "icicle"),
        (["render", "icicle", "x.json", "-o", "x.docx"], 2, ".docx"),
        (["render", "icicle", "x.json", "-o", "x.png", "--set", "colour=red"], 2, "colour"),
        (["render", "icicle", "x.json", "-o", "x.png", "--set", "color"], 2, "NAME=VALUE"),
        (["render", "icicle", "x.json", "-o", "x.png", "--style", "loud"], 2, "paper"),
        (["render", "icicle", "x.json", "-o", "x.png", "--size", "huge"], 2, "1920x1080"),
        (["render", "icicle", "x.json", "-o", "x.blend", "--draft"], 2, "--draft"),
        (["render", "icicle", "x.json", "y.json", "-o", "x.png"], 2, "takes 1"),
        (["render", "icicle", "x.json", "-o", "no/such/folder/x.png"], 1, "no/such/folder"),
        (["render", "icicle", "nowhere.json", "-o", "x.png"], 1, "nowhere.json"),
        (["convert", "x.json", "x.nothing"], 2, "x.nothing"),
        (["views", "nothing"], 2, "icicle"),
    ],
)
def test_what_is_off_is_reported_in_one_sentence(words, code, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == code
    complaint = capsys.readouterr().err
    assert said in complaint
    assert complaint.count("\n") == 1
    assert "Traceback" not in complaint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "python", "said"),
    [
        (["render", "icicle", "x.json", "-o", "x.png"], "3.11", "'pip install tracevis3d[bpy]'"),
        (["render", "icicle", "x.json", "-o", "x.png"], "3.12", "for Python 3.11 and 3.13, this is 3.12"),
        (["explain", "x.json", "y.json", "-o", "found"], "3.13", "--no-figures"),
        (["bookmarks", "x.blend"], "3.13", "reading a .blend needs Blender"),
    ],
)
def test_without_blender_what_needs_it_says_what_to_install(
    words, python, said, capsys, tmp_path, monkeypatch
):
    from tracevis3d.drawing import output

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output, "_has_blender", lambda: False)
    monkeypatch.setattr(output, "PYTHON", python)
    assert main(words) == 1
    complaint = capsys.readouterr().err
    assert said in complaint
    assert "blender --background --command tracevis3d" in complaint
    assert complaint.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_interrupted(tiny, monkeypatch, capsys):
    from tracevis3d.formats import files

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "load", interrupt)
    assert main(["info", str(tiny)]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(tiny):
    command = [sys.executable, "-m", "tracevis3d", "views", "--json"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


def test_convert_and_read_again(tiny, tmp_path, capsys):
    for extra in ([], ["--packed"]):
        stored = tmp_path / "tiny.tv3"
        assert main(["convert", str(tiny), str(stored), *extra]) == 0
        capsys.readouterr()
        assert main(["info", str(stored), "--json"]) == 0
        again = json.loads(capsys.readouterr().out)
        assert (again["calls"], again["functions"], again["max_depth"]) == (2, 2, 2)
        assert again["origin_ns"] == 10_000


def test_views_and_formats_and_cache_list_something(capsys):
    assert main(["views", "--json"]) == 0
    views = json.loads(capsys.readouterr().out)
    assert views[0]["name"] == "icicle"
    assert views[0]["parameters"]
    assert main(["views", "icicle"]) == 0
    assert "color" in capsys.readouterr().out
    assert main(["formats", "--json"]) == 0
    assert {"chrome", "tv3"} <= {form["name"] for form in json.loads(capsys.readouterr().out)}
    assert main(["cache"]) == 0
    assert main(["cache", "clear"]) == 0
    assert "freed" in capsys.readouterr().out
