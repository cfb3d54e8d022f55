"""Commands that find no room for what they write: one sentence, a code that is not 0, the old file kept."""

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.support.no_room import small_disk, small_files
from tracevis3d.cli import main


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "run.json"
    rows = (
        {"name": f"function {i % 397}", "ph": "X", "ts": i * 10, "dur": 9 - i % 7, "pid": 1, "tid": 1}
        for i in range(3_000)
    )
    path.write_text(json.dumps(list(rows)))
    return path


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["convert", "TRACE", "OUT"], "a.tv3"),
        (["convert", "TRACE", "OUT", "--packed"], "a.tv3"),
        (["convert", "TRACE", "OUT"], "a.json"),
        (["convert", "TRACE", "OUT"], "a.json.gz"),
        (["convert", "TRACE", "OUT"], "a.ctf"),
        (["filter", "TRACE", "--name", "pattern=function 1", "-o", "OUT"], "a.json"),
        (["explain", "TRACE", "TRACE", "-o", "OUT"], "findings.json"),
    ],
)
def test_no_room_keeps_what_was_there(words, name, trace, tmp_path, capsys):
    folder = tmp_path / "out"
    folder.mkdir()
    out = folder / name
    out.write_bytes(b"good")
    given = {"TRACE": str(trace), "OUT": str(folder if words[0] == "explain" else out)}
    with small_files(100):
        code = main([given.get(word, word) for word in words])
    complaint = capsys.readouterr().err
    assert code == 1, complaint
    assert complaint.count("\n") == 1
    assert f"{out}: can't be written: File too large" in complaint
    assert "bytes" in complaint
    assert out.read_bytes() == b"good"
    assert [path.name for path in folder.iterdir()] == [name]


def test_no_room_for_a_folder_of_tables(trace, tmp_path, capsys):
    pytest.importorskip("pyarrow")
    with small_disk(tmp_path / "disk") as disk:
        assert main(["convert", str(trace), str(disk / "a.parquet")]) == 1
        complaint = capsys.readouterr().err
        assert complaint.count("\n") == 1
        assert f"{disk}/a.parquet: can't be written: No space left on device: " in complaint
        assert " bytes are free: choose another folder or make room" in complaint
        assert not list(disk.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["nodes", "TRACE", "--json"], ["formats"]])
def test_no_room_for_what_is_printed(words, trace):
    words = [str(trace) if word == "TRACE" else word for word in words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tracevis3d", *words],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "standard output: can't be written: No space left on device: make room" in done.stderr
