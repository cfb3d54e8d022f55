"""Recordings of memory: heaptrack's text, memray's records as text, memray's own file."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.errors import InputError, MissingDependency
from tracevis3d.features.memory.summary import MemoryUse, memory_facts
from tracevis3d.formats import heaptrack, registry
from tracevis3d.formats.memray import format, records
from tracevis3d.trace.model import ALLOC, FREE

HEAPTRACK = """v 10400 3
X ./prog
I 1000 64
s 4 prog
s 4 main
s 6 main.c
s 4 grow
i 55aa 1 2 3 c
t 1 0
i 55bb 1 4 3 1f 2 3 d
t 2 1
a 10 2
+ 0
+ 0
c a
- 0
c 14
R 3
+ 0
"""


def test_heaptrack_line_by_line(tmp_path) -> None:
    path = tmp_path / "prog.heaptrack"
    path.write_text(HEAPTRACK)
    trace = registry.open_trace(path)
    assert trace.source.format == "heaptrack"
    memory, stacks = trace.memory, trace.stacks
    assert memory.kind.tolist() == [ALLOC, ALLOC, FREE, ALLOC]
    assert memory.size.tolist() == [16, 16, 0, 16]
    # Two before 10 ms, one between 10 and 20 ms, one after the last stamp.
    assert (memory.time + trace.origin_ns).tolist() == [2_500_000, 7_500_000, 15_000_000, 20_000_000]
    assert memory.address[2] == memory.address[1] != memory.address[0]
    frames, at = [], int(memory.stack[0])
    while at >= 0:
        frames.append((trace.functions.name[stacks.function[at]], int(stacks.line[at])))
        at = int(stacks.parent[at])
    # The inlined function, the one that it is inlined in, and the caller.
    assert frames == [("grow", 31), ("main", 13), ("main", 12)]
    assert memory.stack[2] == -1
    assert trace.counters.value.tolist() == [3 * 4096.0]
    assert set(trace.problems) == {"coarse times", "no addresses"}


def test_heaptrack_says_what_is_wrong(tmp_path) -> None:
    path = tmp_path / "bad"
    path.write_text(HEAPTRACK + "+ ff\n+ zz\nt 99 1\nq what\n- 0\n- 0\n- 0\n")
    trace = registry.open_trace(path)
    assert trace.problems["unknown"].count == 1
    assert trace.problems["malformed"].count == 3
    facts = memory_facts(MemoryUse(trace))
    assert facts["odd"]["unknown_frees"]["count"] == 1
    for text, words in (
        (HEAPTRACK.replace("X ./prog", "x ./prog"), "--interpret"),
        (HEAPTRACK.replace("v 10400 3", "v 10000"), "before 1.1"),
        ("v 10400 3\nX ./prog\n", "no allocation"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            registry.open_trace(path)


def plain_allocations(text):
    """Size and stack of each allocation, line by line."""
    addresses, stacks, infos, found, wrong = [], [], [], [], 0

    def numbers(line):
        try:
            return [int(word, 16) for word in line[2:].split()] if line[1:2] == " " else []
        except ValueError:
            return []

    for line in text.splitlines():
        said = numbers(line)
        if line[0] == "i":
            # An address, its module and at most one function, with file and line.
            addresses.append([(said[2], said[4])])
        elif line[0] == "t":
            good = len(said) == 2 and 0 < said[0] <= len(addresses) and said[1] <= len(stacks)
            wrong += not good
            above = stacks[said[1] - 1] if good and said[1] else []
            stacks.append(above + (addresses[said[0] - 1] if good else []))
        elif line[0] == "a":
            good = len(said) == 2 and said[1] <= len(stacks)
            wrong += not good
            infos.append((said[0] if good else 0, stacks[said[1] - 1] if good and said[1] else []))
        elif line[0] == "+" and len(said) == 1:
            found.append(said[0])
    # What is allocated may be said before what kind of allocation that is.
    return [infos[number] for number in found if number < len(infos)], wrong


SMALL = st.integers(0, 6)
LINES = st.one_of(
    st.builds("i 55aa 1 {:x} 1 {:x}".format, st.integers(2, 3), SMALL),
    st.builds("{} {:x} {:x}".format, st.sampled_from(["t", "t", "a"]), SMALL, SMALL),
    st.builds("+ {:x}".format, SMALL),
    st.sampled_from(["t 1", "t 1 g", "a  10  1", "a 1 2 3", "t", "a10 1"]),
)


@given(st.lists(LINES, max_size=30))
@settings(deadline=None, max_examples=60)
def test_stacks_are_those_of_a_plain_reading(tmp_path_factory, lines) -> None:
    head = "v 10400 3\nX ./prog\ns 4 prog\ns 4 main\ns 4 grow\n"
    text = "\n".join([*lines, "a 1 0", *(f"+ {number:x}" for number in range(7))])
    expected, wrong = plain_allocations(text)
    path = tmp_path_factory.mktemp("heap") / "prog.heaptrack"
    path.write_text(head + text)
    trace = registry.open_trace(path)
    found = []
    innermost = trace.memory.stack.tolist() or [-1] * len(trace.memory)
    for size, stack in zip(trace.memory.size.tolist(), innermost, strict=True):
        frames = []
        while stack >= 0:
            name = trace.functions.name[trace.stacks.function[stack]]
            frames.append(({"main": 2, "grow": 3}[name], int(trace.stacks.line[stack])))
            stack = int(trace.stacks.parent[stack])
        found.append((size, frames[::-1]))
    assert found == expected
    assert (trace.problems["malformed"].count if "malformed" in trace.problems else 0) == wrong


RECORDS = """# program x
0\t1\t0x10\t100\tMALLOC\t7
1\t2\t0x20\t50\tMMAP\t8
2\t1\t0x10\t0\tFREE\t0
3\t2\t0x20\t50\tMUNMAP\t0
4\t1\t0x10\t9\tREALLOC\t9
"""
STACKS = "7\tgrow (/a/b.py:3);<module> (/a/b.py:9)\n8\t<module> (/a/b.py:9)\nnonsense\n"


def test_memray_records(tmp_path) -> None:
    path = tmp_path / "run.records.tsv"
    path.write_text(RECORDS + "5\t1\tnothing\t9\tREALLOC\t9\n")
    (tmp_path / "run.stacks.tsv").write_text(STACKS)
    trace = registry.open_trace(path)
    assert trace.source.format == "memray_records"
    memory = trace.memory
    assert memory.kind.tolist() == [ALLOC, ALLOC, FREE, FREE, ALLOC]
    assert memory.time.tolist() == [0, 1, 2, 3, 4]
    assert memory.size.tolist() == [100, 50, 0, 0, 9]
    assert memory.address.tolist() == [16, 32, 16, 32, 16]
    assert [trace.threads.tid[t] for t in memory.thread] == [1, 2, 1, 2, 1]
    assert (memory.stack >= 0).tolist() == [True, True, False, False, False]
    assert len(trace.stacks) == 2  # the outer frame is shared
    assert trace.stacks.line[memory.stack[:2]].tolist() == [3, 9]
    assert MemoryUse(trace).sites.name == ("grow (b.py:3)", "<module> (b.py:9)", "(call site unknown)")
    assert trace.problems["unknown"].count == 1
    assert trace.problems["malformed"].count == 2
    # Either of the two files opens both.
    assert len(registry.open_trace(tmp_path / "run.stacks.tsv").memory) == 5
    (tmp_path / "run.stacks.tsv").unlink()
    assert registry.open_trace(path).problems["unknown"].count == 3


@given(st.text(alphabet="+-cvtisaRIX 0123456789abcdef\tx\nMALOCFREZ", max_size=300), st.booleans())
@settings(deadline=None, max_examples=60)
def test_any_text_is_read_or_refused_in_a_sentence(tmp_path_factory, text: str, native: bool) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "x.records.tsv"
    path.write_text((HEAPTRACK if native else RECORDS) + text)
    try:
        trace = (heaptrack if native else records).read(path, lambda done, what: None)
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017
        return
    memory_facts(MemoryUse(trace))


@pytest.mark.parametrize(
    ("name", "blocks", "peak", "kept"),
    [
        # The peaks are what memray itself says of these runs.
        ("memray_markdown.records.tsv.gz", 20_132, 5_152_513, 1_122),
        ("memray_pillow_threads.records.tsv.gz", 6_974, 88_846_990, 651),
        # heaptrack's own summary: 713 allocations, 1 of them leaked (4.1 kB).
        ("heaptrack_lua.gz", 713, None, 1),
    ],
)
def test_real_recordings(recorded, name, blocks, peak, kept) -> None:
    facts = memory_facts(MemoryUse(registry.open_trace(recorded / name)))
    assert facts["blocks"] == blocks
    assert facts["kept_blocks"] == kept
    if peak is not None:
        assert facts["peak_bytes"] == peak


PROGRAM = """
kept = []
def grow():
    for i in range(50):
        kept.append(bytearray(10_000 + i))
grow()
"""


def test_memrays_own_file_through_its_reader(tmp_path) -> None:
    pytest.importorskip("memray")
    (tmp_path / "grow.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "memray", "run", "-q", "-f", "--no-compress", "-o", "out.bin", "grow.py"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    trace = registry.open_trace(tmp_path / "out.bin")
    assert trace.source.format == "memray"
    use = MemoryUse(trace)
    ours = [i for i, name in enumerate(use.sites.name) if name == "grow (grow.py:5)"]
    assert len(ours) == 1
    sizes = np.sort(use.blocks.size[use.sites.of_block == ours[0]])
    assert set(range(10_001, 10_051)) <= set(sizes.tolist())
    (tmp_path / "cut.bin").write_bytes((tmp_path / "out.bin").read_bytes()[:200])
    with pytest.raises(InputError, match=r"cut\.bin"):
        registry.open_trace(tmp_path / "cut.bin")
    # A name that is not UTF-8: what comes before is kept.
    whole = (tmp_path / "out.bin").read_bytes()
    assert whole.count(b"grow\0") == 1
    (tmp_path / "name.bin").write_bytes(whole.replace(b"grow\0", b"gr\xffw\0"))
    cut = registry.open_trace(tmp_path / "name.bin")
    assert 0 < len(cut.memory) < len(trace.memory)
    assert "'utf-8' codec can't decode" in cut.problems["truncated"].first


def test_without_memray_a_sentence_says_what_to_install(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "memray", None)
    (tmp_path / "out.bin").write_bytes(b"memray\0" + bytes(64))
    with pytest.raises(MissingDependency, match="pip install memray"):
        format.read(tmp_path / "out.bin", lambda done, what: None)
