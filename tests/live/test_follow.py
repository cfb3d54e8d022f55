"""Files that other programs still write, as feeds."""

import gzip
import json
import random
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d.errors import InputError
from tracevis3d.live.follow_recording import Follower, Tail
from tracevis3d.live.publisher import Publisher
from tracevis3d.live.subscriber import Subscriber
from tracevis3d.live.watch import watch

pytest.importorskip("zmq")
LOCAL = "tcp://127.0.0.1:*"


def begin(name, ts, tid=1):
    return {"ph": "B", "pid": 7, "tid": tid, "ts": ts, "name": name}


def end(ts, tid=1):
    return {"ph": "E", "pid": 7, "tid": tid, "ts": ts}


def whole(name, ts, dur, tid=1, **more):
    return {"ph": "X", "pid": 7, "tid": tid, "ts": ts, "dur": dur, "name": name, **more}


def followed(path: Path, write, lag_ms=1000):
    """Follow a file while ``write`` writes it; return what a viewer has, and the follower."""
    path.write_bytes(b"")
    with Publisher(LOCAL) as publisher, Subscriber(publisher.endpoint) as subscriber:
        while not publisher.viewers:
            subscriber.drain(0.01, wait=0.01)
        follower = Follower(path, publisher, lag_ms * 1_000_000)
        # The file says where it ends: the times are for what goes wrong.
        writer = threading.Thread(target=write, args=(follower,))
        following = threading.Thread(target=lambda: (follower.run(60), publisher.close()))
        writer.start()
        following.start()
        watch(subscriber, seconds=120)
        writer.join()
        following.join()
        assert (subscriber.state, subscriber.lost, subscriber.bad) == ("ended", 0, 0)
        return subscriber.finish(), follower


def called(trace):
    calls = trace.calls
    return sorted(
        (trace.threads.tid[t], trace.functions.name[f], d, s + trace.origin_ns, e + trace.origin_ns)
        for t, f, d, s, e in zip(calls.thread.tolist(), calls.function.tolist(), calls.depth.tolist(),
                                 calls.start.tolist(), calls.end.tolist())
    )  # fmt: skip


def relative(rows):
    first = min(row[3] for row in rows)
    return [(*row[:3], row[3] - first, row[4] - first) for row in rows]


def test_begins_and_ends_in_pieces_of_any_size(tmp_path):
    records = [{"ph": "M", "pid": 7, "tid": 1, "name": "thread_name", "args": {"name": "main }],{"}}]
    rng, now = random.Random(4), 100.0
    for _ in range(300):
        now += rng.random() * 10
        records.append(begin(f"f{rng.randrange(5)}", round(now, 3), rng.randrange(3)))
        for _ in range(rng.randrange(3)):
            now += rng.randrange(2) * 0.001
            records.append(end(round(now, 3), rng.randrange(3)))
    text = json.dumps({"displayTimeUnit": "ns", "traceEvents": records}).encode()
    path = tmp_path / "growing.json"

    def write(follower):
        at = 0
        with path.open("ab", buffering=0) as file:
            while at < len(text):
                step = rng.randrange(1, 4000)
                file.write(text[at : at + step])
                at += step
                time.sleep(0.005)

    live, follower = followed(path, write)
    at_rest = tv.load(path, cache=False)

    def inner(trace):
        # Open calls end when the viewer leaves.
        rows = [row[:4] for row in called(trace)]
        first = min(row[3] for row in rows)
        return [(*row[:3], row[3] - first) for row in rows]

    assert inner(live) == inner(at_rest)
    assert follower.left_out == 0
    assert follower._tail.ended


@pytest.mark.parametrize("packed", [False, True])
def test_whole_calls_nest_though_outer_ones_come_last(tmp_path, packed):
    path = tmp_path / ("growing.json.gz" if packed else "growing.json")
    pack = zlib.compressobj(1, zlib.DEFLATED, 31)

    def put(file, text, last=False):
        if packed:
            text = pack.compress(text.encode()) + pack.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
            file.write(text)
        else:
            file.write(text.encode())

    def write(follower):
        with path.open("ab", buffering=0) as file:
            put(file, '{"traceEvents":[\n')
            for i in range(60):
                at = 1000 * i
                wait = {"kind": "wait", "objects": ["Lock-1"], "contended": True}
                for record in (
                    whole("leaf", at + 100, 100), whole("leaf", at + 300, 100),
                    whole("Lock.acquire", at + 500, 50, cat="sync", args=wait),
                    whole("outer", at + 100, 900),
                ):  # fmt: skip
                    put(file, json.dumps(record) + ",\n")
                time.sleep(0.005)
            while not follower.rows:  # or all would be read at once, with main
                time.sleep(0.005)
            put(file, json.dumps(whole("main", 0, 60_000)) + "\n]}", last=True)

    live, follower = followed(path, write, lag_ms=20)
    found = relative(called(live))
    assert [row[1:3] for row in found].count(("leaf", 2)) == 120
    assert [row[1:3] for row in found].count(("outer", 1)) == 60
    assert follower.left_out == 1  # main, which lasted longer than the lag
    assert live.sync.objects[live.sync.object[0]] == "Lock-1"
    assert len(live.sync) == 60
    wanted = [row for row in called(tv.load(path, cache=False)) if row[1] != "main"]
    assert [row[3:] for row in found] == [row[3:] for row in relative(wanted)]


def test_a_recording_is_followed_while_it_is_made(tmp_path):
    script, path = tmp_path / "work.py", tmp_path / "run.json.gz"
    script.write_text("""
import time
kept = []
def leaf(): kept.append(bytearray(60_000)); time.sleep(0.002)
def step():
    for _ in range(5): leaf()
for _ in range(100): step()
""")
    words = ["record", "-q", "--memory-engine", "tracemalloc", "-o", str(path), str(script)]
    record = [sys.executable, "-m", "tracevis3d", *words]
    process = subprocess.Popen(record, cwd=ROOT)
    while not (path.exists() and path.stat().st_size):
        time.sleep(0.02)
    follow = subprocess.Popen(
        [sys.executable, "-m", "tracevis3d", "replay", str(path), "--follow", "--live",
         f"ipc://{tmp_path}/feed", "--quiet"], cwd=ROOT,
    )  # fmt: skip
    with Subscriber(f"ipc://{tmp_path}/feed") as subscriber:
        watch(subscriber, seconds=60)
        assert (subscriber.state, subscriber.lost) == ("ended", 0)
        live = subscriber.finish()
    assert (process.wait(), follow.wait()) == (0, 0)
    file = tv.load(path, cache=False)
    names = [live.functions.label[f] for f in live.calls.function.tolist()]
    assert (names.count("leaf"), names.count("step")) == (500, 100)
    assert np.array_equal(live.memory.size, file.memory.size)
    sites = {
        live.functions.label[live.stacks.function[s]] for s in live.memory.stack[live.memory.size > 50_000]
    }
    assert sites == {"leaf"}


def test_records_without_a_list_and_what_is_none(tmp_path):
    path = tmp_path / "lines.json"
    path.write_text(json.dumps(begin("a", 1)) + "\n" + json.dumps(end(2)) + '\n{"ph":"B"')
    tail = Tail(path)
    assert tail.take().count(b'"ph"') == 2
    assert tail.take() == b""
    for text, why in (
        ("x" * 100_000, "no list"),
        ('[{"ph":"B"} nonsense', "not a record"),
        ("[1, 2, 3", "not a record"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=why):
            Tail(path).take()
    path.write_bytes(gzip.compress(b"")[:10] + b"\xff" * 60)
    with pytest.raises(InputError, match="damaged"):
        Tail(path).take()


def test_options_that_make_no_sense(capsys, tmp_path):
    from tracevis3d.cli import main

    path = tmp_path / "a.json"
    path.write_text("[")
    for words, why in (
        (["--lag", "2s"], "go with --follow"),
        (["--follow", "--speed", "3"], "--speed can't be used"),
        (["--follow", "--lag", "soon"], "--lag=soon"),
    ):
        assert main(["replay", str(path), "--live", LOCAL, *words]) != 0
        assert why in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "none"), "--live", LOCAL, "--follow"]) != 0
    assert "can't be read" in capsys.readouterr().err
