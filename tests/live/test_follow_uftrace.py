"""A folder that uftrace fills, followed: with a growing copy, and with uftrace itself at work."""

import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tests.formats.test_uftrace import folder, record
from tracevis3d.live.follow_uftrace import UftraceFollower
from tracevis3d.live.publisher import Publisher
from tracevis3d.live.subscriber import Subscriber
from tracevis3d.live.watch import watch
from tracevis3d.native.elf import uftrace_symbols

pytest.importorskip("zmq")
CC = shutil.which("cc") or shutil.which("gcc")
SOURCE = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int x) { return x * 3 + 1; }
__attribute__((noinline)) int step(int x)
{
    int s = 0;
    for (int i = 0; i < 5; i++) s += leaf(x + i);
    return s;
}
static void *work(void *n)
{
    int s = 0;
    for (int r = 0; r < 40; r++) { for (int i = 0; i < 400; i++) s += step(i); usleep(20000); }
    return (void *)(long)s;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL); work(NULL); pthread_join(t, NULL);
    return 0;
}
"""


def called(trace):
    """Return thread, function, depth, start and length of all calls; times from the first on."""
    calls = trace.calls
    first = int(calls.start.min())
    return sorted(
        (trace.threads.tid[t], trace.functions.name[f], d, s - first, e - s)
        for t, f, d, s, e in zip(
            calls.thread.tolist(), calls.function.tolist(), calls.depth.tolist(), calls.start.tolist(),
            calls.end.tolist(),
        )
    )  # fmt: skip


def calls_of(rng, time_ns, count):
    """Return records of a tree of calls, whose times grow."""
    data, stack = b"", []
    for _ in range(count):
        time_ns += rng.randrange(1, 5000)
        if stack and (rng.random() < 0.5 or len(stack) > 6):
            data += record(time_ns, 1, stack.pop(), len(stack))
        else:
            stack.append(rng.choice((0x401000, 0x401100, 0x401200)))
            data += record(time_ns, 0, stack[-1], len(stack) - 1)
    while stack:
        time_ns += 10
        data += record(time_ns, 1, stack.pop(), len(stack))
    return data


def test_a_growing_copy_is_reported_as_it_is_read_at_rest(tmp_path):
    rng = random.Random(11)
    whole = folder(tmp_path / "whole", {7: calls_of(rng, 1000, 4000), 8: calls_of(rng, 1500, 4000)})
    copy = tmp_path / "copy"
    copy.mkdir()

    def write():
        # As uftrace does: first what tells processes, at last what makes it whole.
        names = sorted(path.name for path in whole.iterdir())
        for name in (n for n in names if n.endswith((".txt", ".map", ".sym"))):
            shutil.copy(whole / name, copy / name)
        rest = {n: (whole / n).read_bytes() for n in names if n.endswith(".dat")}
        while any(rest.values()):
            for name, data in rest.items():
                step = rng.randrange(1, 3000)
                with (copy / name).open("ab") as file:
                    file.write(data[:step])
                rest[name] = data[step:]
            time.sleep(0.002)
        shutil.copy(whole / "info", copy / "info")

    with Publisher("tcp://127.0.0.1:*") as publisher, Subscriber(publisher.endpoint) as subscriber:
        while not publisher.viewers:
            subscriber.drain(0.01, wait=0.01)
        follower = UftraceFollower(copy, publisher, uftrace_symbols)
        writer = threading.Thread(target=write)
        following = threading.Thread(target=lambda: (follower.run(10), publisher.close()))
        writer.start()
        following.start()
        watch(subscriber, seconds=60)
        writer.join()
        following.join()
        assert (subscriber.state, subscriber.lost, subscriber.bad) == ("ended", 0, 0)
        live = subscriber.finish()
    at_rest = tv.load(whole, cache=False)
    assert len(at_rest.calls) > 3000
    assert called(live) == called(at_rest)
    assert follower.left_out == 0


@pytest.mark.skipif(not CC, reason="no C compiler")
def test_names_are_read_from_the_program_while_it_runs(tmp_path):
    (tmp_path / "p.c").write_text(SOURCE)
    program = tmp_path / "p"
    subprocess.run([CC, "-O1", "-o", program, tmp_path / "p.c", "-lpthread"], check=True)
    lines = [line.split(" ", 2) for line in uftrace_symbols(str(program)).decode().splitlines()]
    names = {rest.rpartition(" ")[2]: int(address, 16) for address, _, rest in lines}
    assert {"main", "leaf", "step", "work"} <= set(names)
    for line in subprocess.run(["nm", program], capture_output=True, text=True).stdout.splitlines():
        address, _, rest = line.partition(" ")
        kind, _, name = rest.partition(" ")
        if kind in "Tt" and name in ("main", "leaf", "step", "work"):
            assert names[name] == int(address, 16)
    # Functions of libraries by what the program calls them through.
    assert {"usleep", "pthread_join"} <= {name.partition("@")[0] for name in names}
    (tmp_path / "no").write_bytes(b"\x7fELF\2\1" + b"\xff" * 300)
    assert uftrace_symbols(str(tmp_path / "no")) == b""
    assert uftrace_symbols(str(tmp_path / "none")) == b""


@pytest.mark.skipif(not (CC and shutil.which("uftrace")), reason="needs uftrace")
def test_uftrace_at_work(tmp_path):
    (tmp_path / "p.c").write_text(SOURCE)
    subprocess.run([CC, "-pg", "-O1", "-o", tmp_path / "p", tmp_path / "p.c", "-lpthread"], check=True)
    data = tmp_path / "p.data"
    running = subprocess.Popen(["uftrace", "record", "-d", str(data), str(tmp_path / "p")])
    while not (data / "task.txt").exists():
        time.sleep(0.01)
    assert not (data / "info").exists()
    follow = subprocess.Popen(
        [sys.executable, "-m", "tracevis3d", "replay", str(data), "--follow", "--live",
         f"ipc://{tmp_path}/feed", "--quiet"], cwd=ROOT,
    )  # fmt: skip
    with Subscriber(f"ipc://{tmp_path}/feed") as subscriber:
        watch(subscriber, seconds=60)
        assert (subscriber.state, subscriber.lost) == ("ended", 0)
        live = subscriber.finish()
    assert (running.wait(), follow.wait()) == (0, 0)
    at_rest = tv.load(data, cache=False)
    assert called(live) == called(at_rest)
    assert {"main", "work", "step", "leaf", "usleep"} <= set(live.functions.label)


def speedscope(path):
    path.write_text('{"$schema": "https://www.speedscope.app/file-format-schema.json"}')


def collapsed(path):
    path.write_text("main;work;leaf 12\nmain;work 3\n" * 50)


def ctf(path):
    path.mkdir()
    (path / "metadata").write_text("/* CTF 1.8 */")


def pictures(path):
    path.mkdir()
    (path / "a.png").write_text("x")


def uftraces(path):
    path.mkdir()
    (path / "task.txt").write_text("")


@pytest.mark.parametrize(
    ("make", "words", "why"),
    [
        (speedscope, [], "a speedscope trace can't be followed"),
        (collapsed, [], "events and uftrace's folders can"),
        (ctf, [], "a ctf trace can't be followed"),
        (pictures, [], "not a trace in a known format"),
        (uftraces, ["--lag", "1s"], "--lag is for files"),
    ],
)
def test_what_can_not_be_followed_is_one_sentence(tmp_path, capsys, make, words, why):
    from tracevis3d.cli import main

    path = tmp_path / "trace"
    make(path)
    command = ["replay", str(path), "--live", "tcp://127.0.0.1:*", "--follow", "--wait", "0", "--idle", "0"]
    assert main([*command, *words]) != 0
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


def test_a_folder_that_nobody_fills_ends(tmp_path, capsys):
    from tracevis3d.cli import main

    Path(tmp_path / "empty").mkdir()
    words = ["--live", "tcp://127.0.0.1:*", "--follow", "--wait", "0", "--idle", "0.2"]
    assert main(["replay", str(tmp_path / "empty"), *words]) == 0
    assert "0 rows published" in capsys.readouterr().out
