"""Which format a file is in, and the sentence when it is in none."""

import gzip
import json
import lzma
import subprocess
import sys

import numpy as np
import pytest

from tracevis3d.errors import InputError, UsageError
from tracevis3d.formats import registry, unpack
from tracevis3d.formats.text import lines
from tracevis3d.machine import memory as memory_limit
from tracevis3d.plugins import Contribution

EVENTS = json.dumps([{"ph": "X", "name": "f", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]).encode()


def packed(data):
    """Return bytes packed by gzip, without the time: all processes of a run name a test the same."""
    return gzip.compress(data, mtime=0)


def sentence(path):
    with pytest.raises(InputError) as caught:
        registry.open_trace(path)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_content_goes_before_the_name(tmp_path):
    for name in ("t.json", "t.txt", "t", "t.tsv", "t.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(EVENTS) if name.endswith(".gz") else EVENTS)
        assert registry.recognise(path).name == "chrome"
    trace = registry.open_trace(tmp_path / "t.gz")
    assert (len(trace), trace.source.format, trace.source.size) == (
        1,
        "chrome",
        (tmp_path / "t.gz").stat().st_size,
    )


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "the file is empty"),
        (b"\x7fELF\x02", "a program"),
        (b"\x89PNG\r\n", "a PNG picture"),
        (b"<html></html>", "XML or HTML"),
        (b'{"a": 1}', "JSON, but not of a trace"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b"\x00\x01\x02\x03" * 9, "binary data"),
        (b"   \n", "white space"),
        (packed(b""), "the file is empty"),
        (packed(EVENTS)[:10], "nothing of it can be unpacked (the gzip data is truncated)"),
        (packed(bytes(99))[:-9], "binary data; the gzip data is truncated)"),
        (packed(packed(EVENTS)), "a gzip file within a packed one: unpack it first"),
        (lzma.compress(EVENTS), "an xz file: unpack it first"),
        (b"v8-version,11,3,244,8,-node.38,0\nv8-platform,linux,linux\n", "node --cpu-prof"),
        (b'{"snapshot":{"meta":{"node_fields":["type","name"', "node --heap-prof"),
        (b"desc: (none)\ncmd: /bin/true\ntime_unit: i\n#-----------\n", "heaptrack PROGRAM"),
        (b'{"dhatFileVersion":2\n,"mode":"heap","verb":"Allocated"\n', "heaptrack PROGRAM"),
        (b"gmon\x01\0\0\0\0\0\0\0", "perf record -g"),
        (b"JAVA PROFILE 1.0.2\0\0\0\0\x08", "StartFlightRecording"),
        (b"Nettrace\x14\0\0\0!FastSerialization.1", "dotnet-trace convert"),
        (b"brk(NULL)                               = 0x562f13c53000\n", "trace-cmd report"),
        (b"7398  02:44:23.141566 close(3)          = 0\n", "trace-cmd report"),
        (b"     0.000372 futex(0x7f, FUTEX_WAIT, 1) = ? ERESTARTSYS <0.000008>\n", "trace-cmd report"),
    ],
)
def test_what_is_no_trace_gets_one_sentence(tmp_path, content, part):
    path = tmp_path / "thing.bin"
    path.write_bytes(content)
    text = sentence(path)
    assert part in text
    assert str(path) in text


@pytest.mark.parametrize("first", [b"[", b"a", b"a-1 [000] ", b"", b"1", b"1 0.1", b"a(b)"])
def test_a_line_of_blanks_is_no_riddle(tmp_path, first):
    """Patterns with two runs of blanks in a row took minutes to find that they don't fit."""
    path = tmp_path / "thing.bin"
    path.write_bytes(first + b" " * registry.HEAD)
    assert "not a trace in a known format" in sentence(path)


def test_a_program_is_to_be_recorded(tmp_path):
    (tmp_path / "a.py").write_text("call a b 1\n")
    assert f"'tracevis3d record -o run.json.gz -- {tmp_path}/a.py'" in sentence(tmp_path / "a.py")


def test_missing_and_empty_paths(tmp_path):
    assert sentence(tmp_path / "absent.json").endswith("no such file: check its name and folder")
    assert sentence(tmp_path / "none" / "absent.json").endswith("no such file: check its name and folder")
    assert "folder is empty" in sentence(tmp_path)
    (tmp_path / "absence.json").write_text("x")
    assert sentence(tmp_path / "absent.json").endswith(f"did you mean '{tmp_path}/absence.json'?")
    (tmp_path / "absence.json").unlink()
    (tmp_path / "notes").write_text("x")
    assert "a folder of 1 entry" in sentence(tmp_path)


def test_the_names_of_formats():
    assert registry.names()[0] == "chrome"
    assert registry.find("chrome").title == "Chrome Trace Event JSON"
    with pytest.raises(UsageError, match="choose one of chrome"):
        registry.find("nothing")
    assert registry.for_writing("x.json.gz").name == "chrome"
    assert registry.for_writing("X.JSON").name == "chrome"
    with pytest.raises(UsageError, match=r"\.json"):
        registry.for_writing("x.unknown")


def test_formats_of_other_packages_are_found(tmp_path, monkeypatch):
    class Entry:
        value = "other.package:FORMAT"

        def __init__(self, loaded):
            self.loaded = loaded

        def load(self):
            if isinstance(self.loaded, Exception):
                raise self.loaded
            return self.loaded

    theirs = registry.Format(
        "theirs",
        "their format",
        (".theirs",),
        lambda head, name: registry.SURE if head[:5] == b"THEIR" else 0.0,
        None,
    )
    entries = {"theirs": Entry(theirs), "broken": Entry(ImportError("gone")), "wrong": Entry(5)}
    added = {name: Contribution(name, entry.value, "other", entry.load) for name, entry in entries.items()}
    registry._formats.forget()
    monkeypatch.setattr(registry._formats, "_others", added)
    try:
        assert registry.names()[-3:] == ["broken", "theirs", "wrong"]
        assert registry.find("theirs") is theirs
        for name in ("broken", "wrong"):
            with pytest.raises(UsageError, match=r"other\.package"):
                registry.find(name)
        # One that fails to load does not keep the others from working.
        path = tmp_path / "t.json"
        path.write_bytes(EVENTS)
        assert registry.recognise(path).name == "chrome"
    finally:
        registry._formats.forget()


def test_sniffing_imports_nothing_heavy(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(EVENTS)
    code = (
        "import sys; from tracevis3d.formats import registry; "
        f"assert registry.recognise({str(path)!r}).name == 'chrome'; "
        "print([m for m in ('numba', 'msgspec', 'bpy', 'google.protobuf', 'scipy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("pack", [gzip.compress, pytest.param(None, id="zstd")])
def test_packed_files_unpack_as_far_as_they_go(tmp_path, pack):
    if pack is None:
        pack = pytest.importorskip("zstandard").compress
    text = b"hello world " * 100_000
    path = tmp_path / "x"
    for packed, wanted, damage in (
        (pack(text), text, ""),
        (pack(text) + pack(b"more"), text + b"more", ""),
        (pack(text) + b"\0" * 50, text, ""),
        (pack(text) + b"junk", text, "other data"),
        (pack(b""), b"", ""),
    ):
        path.write_bytes(packed)
        for unpacked in (unpack.unpack_file(path), unpack.unpack_bytes(packed)):
            assert bytes(unpacked.data) == wanted
            assert damage in unpacked.damage
            assert bool(damage) == bool(unpacked.damage)
        assert unpack.head(path, 100) == wanted[:100]
    path.write_bytes(pack(text)[:-30])
    unpacked = unpack.unpack_file(path)
    assert text.startswith(bytes(unpacked.data))
    assert len(unpacked.data) > len(text) // 2
    assert "is truncated" in unpacked.damage


def test_a_bomb_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(50_000_000)))
    monkeypatch.setattr(memory_limit, "limit", lambda: 10_000_000)
    with pytest.raises(InputError, match=r"takes more than 9\.54 MiB of memory when it is read"):
        unpack.unpack_file(path)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (np.array([0, 3, 0, 10_000, 0, 1, 1, 4096], np.uint64).tobytes(), "google-pprof --callgrind"),
        (np.array([0, 3, 1, 10_000, 0, 1, 1, 4096], np.uint32).tobytes(), "google-pprof --callgrind"),
        (b"heap profile:     85: 178257920 [    85: 178257920] @ heap_v2/1\n", "google-pprof --callgrind"),
        (b"\xc1\x1f\xfc\xc1" + bytes(60), "name the folder that holds its metadata"),
    ],
)
def test_what_is_read_in_another_form_says_in_which(tmp_path, data, what):
    path = tmp_path / "a.prof"
    path.write_bytes(data)
    with pytest.raises(InputError, match=what):
        registry.recognise(path)


@pytest.mark.parametrize(
    "noise", [b"", bytes(900), "caf\u00e9 \u6f22\u5b57".encode() * 90, b"\x1b[1m" * 90, b"\x01\x0e"]
)
def test_text_is_told_from_what_is_none_with_zeros_and_other_scripts_too(noise):
    said = b"main;work 12\n" * 40
    assert lines(said + noise + said, is_cut=False)[:40] == [b"main;work 12"] * 40
    assert lines(bytes([7, 65, 66, 67] * 300) + said + noise, is_cut=False) == []
