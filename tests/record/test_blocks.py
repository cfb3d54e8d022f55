"""Blocks from looks at what lives, and the functions that lines of source lie in."""

import base64
import itertools
import json
from array import array
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tracevis3d.record import state
from tracevis3d.record.memory import sampled
from tracevis3d.record.memory.blocks import ALLOC, FREE, LivingBlocks
from tracevis3d.record.memory.sampled import Allocations
from tracevis3d.record.output import spool
from tracevis3d.record.output.encode import Encoder
from tracevis3d.record.sources import Sources

LOOKS = st.lists(
    st.dictionaries(st.tuples(st.integers(0, 3), st.integers(1, 40)), st.integers(1, 5)), max_size=8
)


def look(kinds):
    rows = list(kinds.items())
    site, size = array("I", [k[0] for k, _ in rows]), array("q", [k[1] for k, _ in rows])
    return site.tobytes() + size.tobytes() + array("q", [n for _, n in rows]).tobytes()


@given(LOOKS)
@settings(deadline=None, max_examples=200)
def test_what_lives_after_a_look_is_what_it_saw(looks):
    blocks, alive, used = LivingBlocks(), {}, set()
    for kinds in looks:
        for kind, address, size, site in zip(*blocks.take(look(kinds)), strict=True):
            if kind == ALLOC:
                assert address not in used
                used.add(address)
                alive[address] = site, size
            else:
                assert (kind, size, site) == (FREE, 0, -1)
                del alive[address]
        assert Counter(alive.values()) == Counter(kinds)
        addresses, sizes, sites = blocks.living()
        assert dict(zip(addresses, zip(sites, sizes))) == alive


def test_no_two_blocks_overlap():
    blocks = LivingBlocks()
    _, addresses, sizes, _ = blocks.take(look({(0, 10): 3, (1, 100): 2}))
    spans = sorted(zip(addresses, sizes))
    assert all(a + size <= b for (a, size), (b, _) in itertools.pairwise(spans))


def test_lines_lie_in_functions(tmp_path):
    path = tmp_path / "source.py"
    path.write_text(
        "import functools\n\n@functools.cache\ndef outer(x):\n    def inner():\n        return [x]\n"
        "    return inner\n\n"
        "class C:\n    y = 1\n    async def m(self): pass\n\nlast = 1\n"
    )
    sources = Sources()
    found = [sources.function(str(path), line) for line in range(1, 14)]
    outer, inner, module = ("outer", 3), ("outer.<locals>.inner", 5), ("<module>", 1)
    assert found == [
        module, module, outer, outer, inner, inner, outer, module, module, module, ("C.m", 11), module, module
    ]  # fmt: skip
    assert sources.function("<frozen importlib._bootstrap>", 241)[0] != "<module>"
    assert sources.function(str(tmp_path / "none.py"), 7) == module
    (tmp_path / "bad.py").write_text("def (:\n")
    assert sources.function(str(tmp_path / "bad.py"), 1) == module


def test_a_look_becomes_rows_with_call_sites(tmp_path):
    path = tmp_path / "source.py"
    path.write_text("def f():\n    return bytearray(9)\n\nf()\n")
    encoder = Encoder("")
    begin = {"pid": 7, "microseconds": False, "start": 100, "ours": "/ours/", "none": 0, "argv": []}
    sites = {0: [[str(path), 2], [str(path), 4], ["/ours/launch.py", 3], ["<string>", 1]]}
    lines = []
    for kind, data in (
        (spool.BEGIN, json.dumps(begin).encode()),
        (spool.SITES, json.dumps(sites).encode()),
        (spool.LIVING, array("q", [200]).tobytes() + look({(0, 50): 4})),
        (spool.LIVING, array("q", [300]).tobytes() + look({(0, 50): 4})),
        (spool.LIVING, array("q", [400]).tobytes() + look({(0, 50): 1})),
    ):
        lines += [json.loads(line) for line in encoder.lines(kind, 0, data)]
    frames, first, second = (line for line in lines if line["name"].startswith("memory"))
    assert frames["args"]["frames"] == [[f"<module> ({path}:1)", -1, 4], [f"f ({path}:1)", 0, 2]]
    assert first["args"]["sampled"] is True
    assert encoder.allocations == 4
    times = array("q")
    times.frombytes(base64.b64decode(first["args"]["time"]))
    assert times.tolist() == [125, 150, 175, 200]  # spread evenly since the last look
    assert base64.b64decode(second["args"]["kind"]) == bytes([FREE] * 3)


def test_looks_take_a_twentieth_of_the_time_at_most(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(sampled.time, "perf_counter", lambda: now[0])
    found = Allocations()
    looked = []

    def traces():
        now[0] += 0.3
        looked.append(now[0])
        return [(0, 8, (("a.py", 1),), 1)]

    found._traces = traces
    try:
        while now[0] < 200:
            found.look()
            now[0] += 0.05
        assert 14 <= len(looked) <= 16
        assert min(b - a for a, b in itertools.pairwise(looked)) >= 21 * 0.3
        assert found.look() is None
        assert found.look(last=True) is not None
    finally:
        found.stop()


def test_no_look_halts_the_program_for_long(monkeypatch):
    blocks, now = [1_000], [0.0]
    monkeypatch.setattr(sampled.sys, "getallocatedblocks", lambda: 5_000 + blocks[0])
    monkeypatch.setattr(sampled.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(sampled.time, "thread_time", lambda: now[0])
    monkeypatch.setattr(state, "problems", [])
    found = Allocations()
    found._others, looked = 5_000, []

    class Listed(list):
        def __len__(self):
            return blocks[0] if super().__len__() else 0

    def traces():
        now[0] += 4e-7 * blocks[0]
        looked.append(blocks[0])
        return Listed([(0, 8, (("a.py", 1),), 1)])

    found._traces = traces
    try:
        # Before one is measured, 0.3 µs a block are foreseen; then 0.4.
        for blocks[0] in (1_000, 2_000_000, 2_400_000, 2_600_000, 3_000_000, 2_000_000, 9_000_000):
            now[0] += 100
            found.look()
        assert looked == [1_000, 2_000_000, 2_400_000, 2_000_000]
        # Once for each time that it falls behind.
        assert [kind for kind, _, _ in state.problems] == ["lost", "lost"]
        assert "from 2,600,000 live blocks on" in state.problems[0][1]
        # The program has ended: now it may take longer, but not for ever.
        assert found.look(last=True) is not None
        assert looked[-1] == 9_000_000
        blocks[0] = 80_000_000
        assert found.look(last=True) is None
        assert looked[-1] == 9_000_000
        assert "of 80,000,000 live blocks" in state.problems[-1][1]
        assert "ended some 32 s later" in state.problems[-1][1]
        blocks[0] = 74_900_000
        assert found.look(last=True) is not None
    finally:
        found.stop()


def test_a_recording_tells_that_the_last_look_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(sampled, "MOST_AT_END", 0.0)
    path = tmp_path / "out.json"
    with tv.record(str(path), memory="tracemalloc"):
        held = [bytes(100) for _ in range(20_000)]
    assert len(held) == 20_000
    problem = tv.load(path, cache=False).problems["lost"]
    assert problem.count == 1
    assert problem.first.startswith("the last snapshot of memory, of ")


def test_a_look_counts_every_block_however_many_turns_it_takes():
    found = Allocations()
    try:
        stacks = [(("a.py", 1),), (("a.py", 2), ("b.py", 3))]
        blocks = [(0, 8 * (i % 3), stacks[i % 2], len(stacks[i % 2])) for i in range(10_001)]
        found._traces = lambda: list(blocks)
        sites, columns = found.look(last=True)
    finally:
        found.stop()
    n = len(columns) // 20
    site, size, count = array("I", columns[: 4 * n]), array("q", columns[4 * n : 12 * n]), array("q")
    count.frombytes(columns[12 * n :])
    kinds = {(sites[s], b): c for s, b, c in zip(site, size, count, strict=True)}
    assert kinds == Counter((stack, b) for _, b, stack, _ in blocks)
