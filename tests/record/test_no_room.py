"""A recording that finds no room: one sentence; what was there and what was recorded until then are kept."""

import json
import os
import sys
import time

import pytest

import tracevis3d as tv
from tests.support.no_room import small_disk, small_files
from tests.support.recorder import recording, run
from tracevis3d.errors import InputError
from tracevis3d.record.fast import MODULE
from tracevis3d.record.output.json_file import JsonFile

pytestmark = pytest.mark.skipif(os.name != "posix", reason="file systems of 40 kB are POSIX's")

#: It goes on when its file is full.
PROGRAM = """
import time
def leaf(i): return i
for i in range(60):
    for j in range(200): leaf(j)
    time.sleep(0.002)
print('to the end')
"""
EVENT = b'{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":1,"name":"step"}'


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_what_was_there_and_what_was_recorded_are_kept(tmp_path, program, name):
    with small_disk(tmp_path / "disk") as disk:
        (output := disk / name).write_bytes(b"good")
        # Random bytes: what is packed needs room too.
        (disk / "other").write_bytes(os.urandom(30_000))
        done = recording(sys.executable, "profile", program, output)
        assert (done.returncode, done.stdout) == (0, "to the end\n")
        kept = disk / name.replace("out", "out.partial")
        assert done.stderr.count("\n") == 1
        for text in (
            f"{output}: the recording ends early: can't be written: No space left on device: more than ",
            " bytes are needed, 0 bytes are free: choose another folder or make room; ",
            f"{name} is as it was; what was recorded until then is in {kept.name}",
        ):
            assert text in done.stderr
        assert output.read_bytes() == b"good"
        assert sorted(path.name for path in disk.iterdir()) == sorted([name, kept.name, "other"])
        trace = tv.load(str(kept), cache=False)
        assert "truncated" in trace.problems
        assert len(trace) > 0


def test_where_nothing_was_there_it_keeps_its_name(tmp_path, program):
    with small_disk(tmp_path / "disk") as disk:
        done = recording(sys.executable, "profile", program, output := disk / "out.json")
        assert "what was recorded until then is in out.json\n" in done.stderr
        assert "as it was" not in done.stderr
        assert [path.name for path in disk.iterdir()] == ["out.json"]
        assert len(tv.load(str(output), cache=False)) > 0


def test_no_room_for_what_the_program_hands_on(tmp_path, program, monkeypatch):
    """The folder for temporary files is full: the program goes on, and the sentence names that folder."""
    with small_disk(tmp_path / "disk") as disk:
        output = tmp_path / "out.json"
        words = ("-m", "tracevis3d", "record", "-q", "--engine", "profile", "-o", str(output), "--")
        monkeypatch.setenv("TMPDIR", str(disk))
        done = run(sys.executable, program, *words)
        assert (done.returncode, done.stdout) == (0, "to the end\n")
        assert done.stderr.count("\n") == 1
        assert f"the recording ends early: {disk}" in done.stderr
        assert "No space left on device: make room there, or let TMPDIR name another folder" in done.stderr
        for _ in range(600):
            if not list(disk.iterdir()):
                break
            time.sleep(0.05)
        trace = tv.load(str(output), cache=False)
        assert "broke off" in trace.problems
        assert len(trace) > 0


@pytest.mark.skipif(MODULE is None, reason="the part in C is not built")
def test_no_room_for_the_part_in_c(tmp_path, program, monkeypatch):
    with small_disk(tmp_path / "disk") as disk:
        (output := tmp_path / "out.json").write_bytes(b"good")
        monkeypatch.setenv("TMPDIR", str(disk))
        done = recording(sys.executable, "fast", program, output)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert f"{output}: can't be recorded: {disk}" in done.stderr
    assert done.stderr.endswith(": No space left on device\n")
    assert output.read_bytes() == b"good"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "out.json", "program.py"]


def test_a_recording_within_a_program_raises(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        (output := disk / "out.json").write_bytes(b"good")
        within = tv.record(str(output), engine="profile")
        within.__enter__()
        for number in range(2_000):
            json.loads(str(number))
        with pytest.raises(InputError, match=r"out\.json is as it was; what was recorded until then is in"):
            within.__exit__(None, None, None)
        assert output.read_bytes() == b"good"


@pytest.fixture
def output(tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(b"good")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_whole_file_takes_the_old_ones_place_and_rights(output, tmp_path):
    output.chmod(0o640)
    file = JsonFile(str(output))
    assert names(tmp_path) == ["run.before.json", "run.json"]
    file.add([EVENT % 1])
    # It can be read already.
    assert EVENT % 1 in output.read_bytes()
    file.close()
    assert file.failed == ""
    assert names(tmp_path) == ["run.json"]
    assert json.loads(output.read_bytes())["traceEvents"] == [json.loads(EVENT % 1)]
    assert output.stat().st_mode & 0o777 == 0o640
    assert file.size == output.stat().st_size


def test_a_file_of_nothing_leaves_the_old_one(output, tmp_path):
    JsonFile(str(output)).close()
    assert output.read_bytes() == b"good"
    assert names(tmp_path) == ["run.json"]


def test_names_that_are_taken_stay(output, tmp_path):
    for name in ("run.before.json", "run.partial.json"):
        (tmp_path / name).write_text(name)
    file = JsonFile(str(output))
    assert (tmp_path / "run.before2.json").read_bytes() == b"good"
    with small_files(100):
        file.add([EVENT % i for i in range(9)])
        # Nothing more happens.
        file.add([EVENT % 10])
        file.flush()
        file.close()
    assert file.failed == (
        "can't be written: File too large: more than 100 bytes are needed, a file may have 100 bytes here "
        "(ulimit -f): raise that limit; run.json is as it was; what was recorded until then is in "
        "run.partial2.json"
    )
    assert output.read_bytes() == b"good"
    assert len((tmp_path / "run.partial2.json").read_bytes()) == 100
    for name in ("run.before.json", "run.partial.json"):
        assert (tmp_path / name).read_text() == name


def test_a_link_leads_where_it_led(output, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(output)
    file = JsonFile(str(link))
    file.add([EVENT % 1])
    file.close()
    assert link.is_symlink()
    assert EVENT % 1 in output.read_bytes()
    assert names(tmp_path) == ["link.json", "run.json"]
