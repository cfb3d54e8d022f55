"""Packed files that don't match their checksum: all of them is read, and it is said what is wrong."""

import gzip
from dataclasses import fields

import numpy as np
import pytest

from tests.support.walked_traces import walked_trace
from tracevis3d.formats import files, registry, unpack

ROWS = b"".join(b"main;f%d;g %d\n" % (i % 7, i) for i in range(1, 9_000))


def spoilt(data: bytes, at: int = -6) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


@pytest.mark.parametrize("at", [-8, -1], ids=["sum", "length"])
@pytest.mark.parametrize("library", ["isal", "zlib"])
def test_all_bytes_are_kept(at, library, monkeypatch):
    if library == "zlib":
        monkeypatch.setitem(__import__("sys").modules, "isal", None)
    found = unpack.unpack_bytes(spoilt(gzip.compress(ROWS), at))
    assert bytes(found.data) == ROWS
    assert found.damage == "the gzip data does not match its checksum"


def test_all_bytes_of_zstd_are_kept():
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(ROWS)
    found = unpack.unpack_bytes(spoilt(packed, -1))
    assert found.damage.endswith("does not match its checksum")
    assert ROWS.startswith(bytes(found.data))


def test_what_is_cut_off_is_truncated_still():
    found = unpack.unpack_bytes(gzip.compress(ROWS)[:-9])
    assert found.damage == "the gzip data is truncated"
    assert unpack.problem_of(found.damage) == "truncated"


@pytest.mark.parametrize("name", ["a.json.gz", "a.ctf.gz", "a.collapsed.gz"])
def test_traces_are_whole_and_say_so(tmp_path, name):
    path = tmp_path / name
    if name == "a.collapsed.gz":
        path.write_bytes(gzip.compress(ROWS))
    else:
        files.save(walked_trace(3), path)
    whole = registry.open_trace(path)
    assert not {"truncated", "wrong checksum"} & set(whole.problems)
    path.write_bytes(spoilt(path.read_bytes()))
    found = registry.open_trace(path)
    assert set(found.problems) - set(whole.problems) == {"wrong checksum"}
    for field in fields(whole.calls):
        assert np.array_equal(getattr(found.calls, field.name), getattr(whole.calls, field.name))


def test_what_follows_the_packed_data_is_told_as_such(tmp_path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'[{"name":"f","ph":"X","ts":1,"dur":9,"pid":1,"tid":1}]') + b"more")
    found = registry.open_trace(path)
    assert len(found.calls) == 1
    assert set(found.problems) == {"other data"}
