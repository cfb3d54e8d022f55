"""What a small file unpacks to takes no more memory than it may; a switch allows more."""

import gzip
import os
import subprocess
import sys

import pytest

from benchmarks.formats import perfetto_trace
from tests.conftest import ROOT
from tracevis3d.cli import main
from tracevis3d.errors import InputError, UsageError
from tracevis3d.formats import registry
from tracevis3d.machine import bounds
from tracevis3d.machine import memory as memory_limit
from tracevis3d.progress import silent
from tracevis3d.units import read_byte_size

#: Of each kind of reader: a file, what it begins with, what is repeated, and what it ends with.
BOMBS = {
    "rows": ("a.collapsed.gz", b"", b"a;b 1\n", b""),
    "one deep row": ("a.collapsed.gz", b"a;b 1\n", b"a;", b"b 1\n"),
    "protobuf": (
        "a.pprof.gz",
        b"\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x03cpu\x32\x02ns",
        b"\x12\x06\x0a\x01\x01\x12\x01\x01",
        b"",
    ),
    "JSON": (
        "a.cpuprofile.gz",
        b'{"nodes":[{"id":1,"callFrame":{"functionName":"f","scriptId":"0","url":"","lineNumber":0,'
        b'"columnNumber":0},"children":[]}],"startTime":0,"endTime":10,"timeDeltas":[1],"samples":[1',
        b",1",
        b"]}",
    ),
    "objects of JSON": (
        "a.json.gz",
        b'{"data":[{"traceID":"1","spans":[{"traceID":"1","spanID":"2","operationName":"x","startTime":1,'
        b'"duration":1,"processID":"p1"}',
        b",{}",
        b'],"processes":{"p1":{"serviceName":"x"}}}]}',
    ),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems don't bound it")
@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_takes_no_more_than_it_may(kind, tmp_path):
    name, begin, repeated, end = BOMBS[kind]
    bomb = tmp_path / name
    with gzip.open(bomb, "wb", 1) as file:
        file.write(begin + repeated * (40_000_000 // len(repeated)) + end)
    code = (
        "import re, sys; from tracevis3d.cli import main; code = main(sys.argv[1:]); "
        # Not getrusage's: that is the starting process's, if it was larger.
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]); sys.exit(code)"
    )
    words = ["info", "--quiet", "--no-cache", "--max-memory", "120MB", str(bomb)]
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr == (
        f"tracevis3d: {bomb}: takes more than 114 MiB of memory when it is read: unpack it to check what it "
        "contains, record a shorter run, or allow more with --max-memory\n"
    )
    # What Python, NumPy and the kernels take is not counted.
    assert int(done.stdout) * 1024 < 120_000_000 + 200_000_000


def test_a_reader_is_stopped_between_its_steps(monkeypatch, tmp_path):
    """Where no limit of the system's helps, as in Blender."""
    monkeypatch.setattr(memory_limit, "limit", lambda: 10_000_000)
    path = tmp_path / "a.json"
    progress = bounds.bounded(path, silent)
    progress(0.5, "reading")
    monkeypatch.setattr(memory_limit, "in_use", lambda: 1 << 40)
    with pytest.raises(InputError, match=r"a\.json: takes more than 9\.54 MiB of memory"):
        progress(0.6, "reading")


def test_only_what_is_packed_is_to_be_unpacked(tmp_path):
    path = tmp_path / "a"
    for data, is_packed in (
        (b"\x1f\x8b\x08", True),
        (b"\x28\xb5\x2f\xfd", True),
        (b"a;b 1", False),
        (b"", False),
    ):
        path.write_bytes(data)
        assert ("unpack it" in str(bounds.too_large(path, 1))) == is_packed
    assert "unpack it" not in str(bounds.too_large(tmp_path, 1))
    assert "unpack it" not in str(bounds.too_large(tmp_path / "none", 1))


def test_what_reading_needs_next_is_asked_for_before(monkeypatch, tmp_path):
    """What it has taken since it began counts, what the process had before does not."""
    monkeypatch.setattr(memory_limit, "in_use", lambda: 5000)
    memory_limit.choose(1000)
    try:
        bounds.bounded(tmp_path / "a", silent)
        monkeypatch.setattr(memory_limit, "in_use", lambda: 5600)
        assert memory_limit.left() == 400
        bounds.check_more(tmp_path / "a", 400)
        with pytest.raises(InputError, match="takes more than 1,000 B"):
            bounds.check_more(tmp_path / "a", 401)
    finally:
        memory_limit.choose(None)
    monkeypatch.setattr(memory_limit, "free", lambda: 100)
    assert memory_limit.left() == 60


def test_calls_of_a_perfetto_trace_are_not_built_where_they_have_no_room(monkeypatch, tmp_path):
    from tracevis3d.formats.perfetto.rows import Rows

    path = tmp_path / "a.pftrace"
    perfetto_trace.write(path, 2000)
    need, before = [], Rows.bytes_to_build
    monkeypatch.setattr(Rows, "bytes_to_build", lambda rows: need.append(before(rows)) or need[-1])
    assert len(registry.open_trace(path).calls)
    assert need[0] >= 26 * 2000
    monkeypatch.setattr(memory_limit, "left", lambda: need[0] - 1)
    with pytest.raises(InputError, match="record a shorter run"):
        registry.open_trace(path)


def test_what_can_be_known_before_is_asked_before(monkeypatch, tmp_path):
    monkeypatch.setattr(memory_limit, "limit", lambda: 100_000)
    path = tmp_path / "a.json"
    path.write_text(
        '{"data":[{"traceID":"1","spans":[{"traceID":"1","spanID":"2","operationName":"x","startTime":1,'
        '"duration":1,"processID":"p1"}' + ",{}" * 10_000 + '],"processes":{"p1":{"serviceName":"x"}}}]}'
    )
    with pytest.raises(InputError, match=r"takes more than 97\.7 KiB of memory"):
        registry.open_trace(path)


def test_the_limit(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(memory_limit, "free", lambda: 10_000_000_000)
    assert memory_limit.limit() == 6_000_000_000
    (tmp_path / "a.collapsed").write_text("a;b 1\n")
    words = ["info", str(tmp_path / "a.collapsed"), "--quiet", "--no-cache", "--max-memory"]
    assert main([*words, "1GB"]) == 0
    assert memory_limit.limit() == 1_000_000_000
    assert main([*words, "much"]) == 2
    assert "--max-memory=much: a size above 0 is expected" in capsys.readouterr().err
    assert main(words[:-1]) == 0
    assert memory_limit.limit() == 6_000_000_000


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("2k", 2000), ("1.5 GB", 1_500_000_000), ("4MiB", 4 << 20), ("3t", 3 * 10**12), ("7b", 7)],
)
def test_sizes(text, size):
    assert read_byte_size("x", text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "1 PB", "9999999999T", "0x10"])
def test_what_is_no_size(text):
    with pytest.raises(UsageError, match="a size above 0 is expected"):
        read_byte_size("x", text)


def test_memory_is_known():
    assert memory_limit.in_use() > 1_000_000 or not sys.platform.startswith("linux")
    assert memory_limit.free() > 1_000_000
    with memory_limit.enforced():
        assert bytearray(1000)
