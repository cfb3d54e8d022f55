"""Frames and commands on a cluster of this machine, whose workers are killed: the files are those of one."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

distributed = pytest.importorskip("distributed")
bpy = pytest.importorskip("bpy")

from tests.support.walked_traces import walked_trace  # noqa: E402
from tracevis3d import api  # noqa: E402
from tracevis3d.cli import main  # noqa: E402
from tracevis3d.scene.output import engines  # noqa: E402
from tracevis3d.stories import batch, cluster  # noqa: E402

pytestmark = [
    pytest.mark.blender,
    pytest.mark.skipif(
        not all(engine.ok for engine in engines.examine()),
        reason="needs OpenGL without a screen (libegl1, libgl1-mesa-dri)",
    ),
]


#: In a process of its own, as clusters are: beside its threads Blender's module crashed, which renders here.
CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(
        n_workers=1, threads_per_worker=1, memory_limit=0, dashboard_address=None, silence_logs=50
    ) as one:
        print(one.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    (program := tmp_path_factory.mktemp("cluster") / "cluster.py").write_text(CLUSTER)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, program], **pipes) as cluster:
        yield cluster.stdout.readline().strip()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEVIS3D_CACHE", str(tmp_path / "cache"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    api.save(walked_trace(1, threads=1), tmp_path / "a.tv3")
    return tmp_path


# Over a second: other processes import Blender.
def test_a_killed_worker_costs_its_frame_and_the_film_is_that_of_one_machine(folder, scheduler):
    shots = [{"shot": "fly_to", "function": "f1", "seconds": 1, "travel": 1, "caption": "Here"}]
    told = {"view": "icicle", "traces": "a.tv3", "size": "160x120", "fps": 6, "shots": shots}
    (folder / "a.json").write_text(json.dumps(told))
    words = ["film", str(folder / "a.json"), "--quiet"]
    # Two machines that share a folder, then one that joins what they have rendered.
    for which in ("1/2", "2/2"):
        parted = [*words, "-o", str(folder / "one.mp4"), "--folder", str(folder / "one"), "--part", which]
        assert main(parted) == 0
        assert not (folder / "one.mp4").exists()
    assert main([*words, "-o", str(folder / "one.mp4"), "--folder", str(folder / "one")]) == 0
    client = distributed.Client(scheduler, set_as_default=False)
    killed = []

    def kill():
        while not list((folder / "many").rglob("*.png")):
            time.sleep(0.005)
        killed.extend(client.run(os.getpid).values())
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    many = [
        *words,
        "-o",
        str(folder / "many.mp4"),
        "--folder",
        str(folder / "many"),
        "--scheduler",
        scheduler,
    ]
    assert main([*many, "--report", str(folder / "r.json")]) == 0
    killer.join()
    assert killed[0] not in client.run(os.getpid).values()
    client.close()
    assert json.loads((folder / "r.json").read_text())["rendered"] == 6
    assert (folder / "many.mp4").read_bytes() == (folder / "one.mp4").read_bytes()


def test_commands_of_a_batch_are_sent_with_their_files(folder, scheduler, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "b.txt").write_text(f"# a comment\nconvert a.tv3 '{folder / 'b.tsv'}'\ninfo none.tv3\n")
    words = ["batch", "b.txt", "--quiet", "--scheduler", scheduler, "--report", "r.json"]
    assert main(words) == 1
    said = capsys.readouterr().err
    assert "line 3: none.tv3: there is no such file" in said
    assert "b.txt: 1 of 2 commands failed" in said
    assert main(["convert", "a.tv3", "c.tsv", "--quiet"]) == 0
    assert (folder / "b.tsv").read_bytes() == (folder / "c.tsv").read_bytes()
    rows = json.loads((folder / "r.json").read_text())["lines"]
    assert [row["code"] for row in rows] == [0, 1]


def test_a_batch_is_checked_before_anything_is_run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code, text, sentence in (
        (2, "draw a b", "b.txt, line 1: 'draw' is not a command"),
        (2, "\nrender icicle a -o a.png --sise 3", "b.txt, line 2: render: unrecognized arguments: --sise"),
        (2, "info 'a", "b.txt, line 1: no closing quotation"),
        (2, "render icicle a -o a.png\nrender icicle b -o ./a.png", "lines 1 and 2 both write ./a.png"),
        (1, "render icicle a -o x/a.png", "line 1: x/a.png: there is no folder"),
        (1, "# nothing", "b.txt: no command is in it"),
    ):
        (tmp_path / "b.txt").write_text(text)
        assert main(["batch", "b.txt", "--quiet"]) == code
        assert sentence in capsys.readouterr().err


def test_what_a_scheduler_can_not_do_is_said(tmp_path, capsys):
    (tmp_path / "a.json").write_text('{"view": "icicle", "traces": "a.tsv", "shots": ["establish"]}')
    words = ["film", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.mp4")]
    for given, sentence in (
        (["--scheduler", "host"], "local or an address such as tcp://host:8786"),
        (["--scheduler", "tcp://host:1", "--jobs", "3"], "--jobs: the workers of a --scheduler"),
        (["--part", "3/2", "--folder", "x"], "--part 3/2: K/N is expected"),
        (["--part", "1/2"], "--part: needs --folder"),
    ):
        assert main([*words, *given]) == 2
        assert sentence in capsys.readouterr().err
    with pytest.raises(Exception, match=r"a worker has tracevis3d .*, not 0\.1"):
        cluster.check_version("0.1")
    with pytest.raises(Exception, match="line 1: 'film' is done on this machine alone"):
        batch.check([batch.Line(1, ("film", "a.yaml"))], "tcp://host:1")
