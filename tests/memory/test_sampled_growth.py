"""Memory that is told of by a sample, between snapshots that are seconds apart."""

import json

import numpy as np
import pytest

from tests.support.recorder import watched_until
from tracevis3d.features.memory.live.alarms import MemoryAlarms
from tracevis3d.live import protocol as p
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.recorded import SpoolFeed
from tracevis3d.record.fast import BLOCKS
from tracevis3d.record.output import spool

MS = 1_000_000


class Through:
    """Stands for a publisher and its wire: a growing trace gets what is put."""

    joined = 0

    def __init__(self) -> None:
        self.growing, self.names = GrowingTrace(), {}
        self.growing.begin(p.Welcome("s", "p", 1, 0))

    def number(self, table, name):
        names = self.names.setdefault(table, [])
        if name not in names:
            names.append(name)
            self.growing.name(p.Names(table, len(names) - 1, (name,)))
        return names.index(name)

    def put(self, table, **columns):
        of = {name: np.array(columns[name], dtype) for name, dtype, *_ in p.TABLES[table]}
        self.growing.add(p.Batch(table, 0, 0, 0, of))


def sampled(at, sizes):
    """Return a section about call sites with numbers from 0 on."""
    site = [site for site, size in enumerate(sizes) if size]
    columns = np.array([at]), np.array(site, np.uint32), np.array([sizes[s] for s in site], np.int64)
    return b"".join(column.tobytes() for column in columns)


def living(at, *kinds):
    """Return a section of what lives: call site, size and number."""
    site, size, count = (np.array(column, np.int64) for column in zip(*kinds))
    return b"".join(c.tobytes() for c in (np.array([at]), site.astype(np.uint32), size, count))


@pytest.fixture
def feed(tmp_path):
    """A program with two functions and a line in each; its memory is known from second 0 on."""
    source = tmp_path / "source.py"
    source.write_text("def gather():\n    keep()\ndef compute():\n    work()\n")
    through = Through()
    feed = SpoolFeed(through, 0)
    begin = {"pid": 7, "microseconds": False, "start": 0, "epoch": 0, "ours": "/ours/", "none": 1, "argv": []}
    feed.take(spool.BEGIN, 0, json.dumps(begin).encode())
    feed.take(spool.THREAD, 1, b'{"tid": 7, "name": "main"}')
    sites = {0: [[str(source), 2]], 1: [[str(source), 4]], 2: [["/ours/buffers.py", 3]]}
    feed.take(spool.SITES, 0, json.dumps(sites).encode())
    feed.take(spool.LIVING, 0, living(1, (1, 100, 10_000)))
    return feed, through


def test_what_grows_by_the_sample_is_told_without_another_snapshot(feed) -> None:
    feed, through = feed
    alarms, found = MemoryAlarms(through.growing), []
    for step in range(20, 40):
        at = 100 * step * MS
        # Until second 3 it grows, then half of it is freed; ours is in no alarm.
        grows = 60_000 * (min(step, 30) - 20) // (2 if step > 33 else 1)
        feed.take(spool.SAMPLED, 0, sampled(at, [grows, 50_000, 90_000 * step]))
        found += [(step, alarm.kind, alarm.about, alarm.sentence) for alarm in alarms.look(at)]
    # Of a million bytes a twentieth is less than the quarter of a mebibyte that it takes.
    assert [(step, kind, about) for step, kind, about, _ in found] == [
        (step, "growing memory", "gather:2") for step in range(26, 34)
    ]
    assert found[0][3] == (
        "gather:2 grows and has not shrunk: about +352 KiB in 600 ms, 100 % of all growth: "
        "a leak, or something that is being gathered"
    )
    alarm = next(iter(alarms.look(0)), None)
    assert alarm is None
    assert [alarms._sampled.why_over[site] for site in alarms._sampled.why_over] == [
        "half of it or more was freed"
    ]


def test_what_is_in_the_sample_no_more_is_told_once(feed) -> None:
    feed, through = feed
    for at, sizes in ((1, [50_000, 40_000]), (2, [0, 41_000]), (3, [0, 42_000])):
        feed.take(spool.SAMPLED, 0, sampled(at * MS, sizes))
    batches, _ = through.growing.batches("counters", 0)
    told = [
        {b["series names"][s]: v for s, v in zip(b["series"].tolist(), b["value"].tolist())} for b in batches
    ]
    gather, compute = (p.sampled_name(frame) for frame in (0, 1))
    assert told == [
        {p.SAMPLED: 90_000, gather: 50_000, compute: 40_000},
        {p.SAMPLED: 41_000, gather: 0, compute: 41_000},
        {p.SAMPLED: 42_000, compute: 42_000},
    ]
    # Alarms are made of it; it is no counter of the program.
    feed.take(spool.COUNTERS, 0, b'{"time": 4000000, "values": {"blocks": 7}}')
    assert list(through.growing.trace().counters.name) == ["blocks"]


@pytest.mark.parametrize(
    ("name", "frame"),
    [(p.sampled_name(12), 12), (p.sampled_name(12) + " [77]", 12), (p.SAMPLED, -1), ("live bytes", -1),
     ("x " + p.sampled_name(1), -1), (p.SAMPLED + ", frame x", -1), (p.SAMPLED + ", frame " + "9" * 99, -1)],
)  # fmt: skip
def test_which_counters_are_about_a_frame(name, frame) -> None:
    assert p.sampled_frame(name) == frame


def test_call_sites_of_several_processes_are_one(feed) -> None:
    """The same frame in two processes: their bytes add up, and each tells of its own alone."""
    feed, through = feed
    child = SpoolFeed(through, 0, feed)
    begin = {
        "pid": 8,
        "microseconds": False,
        "start": 0,
        "epoch": 0,
        "ours": "/ours/",
        "none": 1,
        "forked": 1,
    }
    child.take(spool.BEGIN, 0, json.dumps({**begin, "argv": []}).encode())
    sites = {0: [[next(iter(feed._frames))[0].partition("(")[2].rpartition(":")[0], 2]]}
    child.take(spool.SITES, 0, json.dumps(sites).encode())
    alarms, found = MemoryAlarms(through.growing), []
    for step in range(20, 30):
        at = 100 * step * MS
        # Each by itself is below what is told.
        feed.take(spool.SAMPLED, 0, sampled(at, [30_000 * (step - 20)]))
        child.take(spool.SAMPLED, 0, sampled(at + 1, [30_000 * (step - 20)]))
        found += [(step, alarm.about) for alarm in alarms.look(at + 1)]
    assert {about for _, about in found} == {"gather:2"}


PROGRAM = """
import time
living = [f"a string of some length, the one with number {i}" for i in range(60_000)]
kept = []
def gather(): kept.append(bytearray(243))
def compute(): return [bytes(300) for _ in range(100)]
time.sleep(1)
while True:
    for _ in range(10): gather()
    compute()
    time.sleep(0.005)
"""


@pytest.mark.skipif(BLOCKS is None, reason="the part in C was not built")
def test_a_leak_of_small_blocks_beside_many_that_live_is_told(tmp_path) -> None:
    """The program would go on for ever: it is only ended when the alarm has come."""
    line, facts = watched_until(": gather:5 grows", PROGRAM, "--memory", tmp_path)
    assert "growing memory: gather:5 grows and has not shrunk: " in line
    (alarm,) = (a for a in facts["alarms"] if a["about"] == "gather:5" and a["kind"] == "growing memory")
    assert alarm["how"] == "inferred"
    assert alarm["over_at_ns"] is None
    assert not any(a["about"].startswith("compute") for a in facts["alarms"])
