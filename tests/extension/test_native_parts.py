"""What the compiled files of the zips need, read from them, as Windows and macOS can't be tried here."""

import io
import struct
import sys
import zipfile
from pathlib import Path

import pytest

from tools.release import extension, native, slim


def pe(machine=0x8664, imports=("KERNEL32.dll",), delayed=()):
    """Return a library of Windows: one section at address 0x1000, with the tables and names in it."""
    tables = 20 * (len(imports) + 1), 32 * (len(delayed) + 1)
    names, at = b"", 0x1000 + sum(tables)
    rows = [b"", b""]
    for which, (some, size, place) in enumerate(((imports, 20, 12), (delayed, 32, 4))):
        for name in some:
            row = bytearray(size)
            struct.pack_into("<I", row, place, at + len(names))
            rows[which] += row
            names += name.encode() + b"\0"
        rows[which] += bytes(size)
    section = rows[0] + rows[1] + names
    optional = bytearray(112 + 8 * 16)
    struct.pack_into("<H", optional, 0, 0x20B)
    struct.pack_into("<I", optional, 112 + 8, 0x1000 if imports else 0)
    struct.pack_into("<I", optional, 112 + 8 * 13, 0x1000 + tables[0] if delayed else 0)
    head = bytearray(0x80)
    head[:2] = b"MZ"
    struct.pack_into("<I", head, 0x3C, 0x80)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, len(optional), 0)
    offset = 0x400
    row = struct.pack("<8s6I2HI", b".rdata", len(section), 0x1000, len(section), offset, 0, 0, 0, 0, 0)
    return (bytes(head) + coff + bytes(optional) + row).ljust(offset, b"\0") + section


def mach_o(machine=0x100000C, libraries=("/usr/lib/libSystem.B.dylib",), weak=()):
    commands = b""
    for kind, some in ((0xC, libraries), (0x80000018, weak)):
        for name in some:
            text = name.encode() + b"\0"
            text += bytes(-len(text) % 8)
            commands += struct.pack("<6I", kind, 24 + len(text), 24, 0, 0, 0) + text
    count = len(libraries) + len(weak)
    return struct.pack("<8I", 0xFEEDFACF, machine, 0, 6, count, len(commands), 0, 0) + commands


def fat(*parts):
    at, head, body = 4096, struct.pack(">2I", 0xCAFEBABE, len(parts)), b""
    for part in parts:
        head += struct.pack(">5I", 0, 0, at + len(body), len(part), 12)
        body += part
    return head.ljust(at, b"\0") + body


def zipped(path, wheel, files):
    inside = io.BytesIO()
    with zipfile.ZipFile(inside, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"wheels/{wheel}", inside.getvalue())
    return path


def test_machines_and_libraries_are_read():
    assert native.read(pe(imports=("a.dll", "b.dll"), delayed=("c.dll",))) == (
        ["x64"],
        ["a.dll", "b.dll", "c.dll"],
    )
    assert native.read(pe(machine=0xAA64, imports=())) == (["arm64"], [])
    assert native.read(mach_o(libraries=("@rpath/x.dylib",), weak=("/none",))) == (
        ["arm64"],
        ["@rpath/x.dylib"],
    )
    both = fat(mach_o(0x1000007), mach_o())
    assert native.read(both) == (["x64", "arm64"], ["/usr/lib/libSystem.B.dylib"] * 2)
    assert native.read(b"text") == ([], [])


@pytest.mark.skipif(sys.platform != "linux", reason="reads the running Python's own files")
def test_a_library_of_this_machine_is_read():
    import _ctypes

    content = Path(_ctypes.__file__).read_bytes()
    for one in (content, slim.without_symbols(content)):
        machines, needed = native.read(one)
        assert machines == [extension.Target.here().platform.split("-")[1]]
        assert "libc.so.6" in needed
        assert any(name.startswith("libffi") for name in needed)


WIN, MAC = "a-1.0-cp311-cp311-win_amd64.whl", "a-1.0-cp311-cp311-macosx_12_0_arm64.whl"


@pytest.mark.parametrize(
    ("platform", "wheel", "files", "said"),
    [
        ("windows-x64", WIN, {"a.cp311-win_amd64.pyd": pe(imports=("python311.dll", "Ucrtbase.dll"))}, []),
        ("windows-x64", WIN, {"a.libs/x.dll": pe(), "a/b.pyd": pe(imports=("X.dll",))}, []),
        ("windows-x64", WIN, {"a/b.pyd": pe(imports=("x.dll",))}, ["b.pyd needs x.dll, which is not there"]),
        ("windows-x64", WIN, {"a/b.pyd": pe(imports=("python313.dll",))}, ["needs python313.dll"]),
        ("windows-x64", WIN, {"a/b.cp313-win_amd64.pyd": pe()}, ["is for Python 3.13"]),
        ("windows-x64", WIN, {"a/b.pyd": pe(machine=0xAA64)}, ["a/b.pyd is for arm64"]),
        ("windows-x64", WIN, {"a/b.py": b""}, ["has 0 compiled files"]),
        ("windows-x64", WIN, {"numba/np/ufunc/omppool.pyd": pe(imports=("vcomp140.dll",))}, []),
        ("windows-x64", "a-1.0-py3-none-any.whl", {"a/b.py": b""}, []),
        ("macos-arm64", MAC, {"a/b.so": mach_o(libraries=("@rpath/c.so.1.2",)), "c.so.1.2": mach_o()}, []),
        ("windows-x64", "a-1.0-py3-none-any.whl", {"a/b.pyd": pe()}, ["has 1 compiled files"]),
        ("macos-arm64", MAC, {"a/b.so": fat(mach_o(0x1000007), mach_o())}, []),
        ("macos-arm64", MAC, {"a/b.so": mach_o(0x1000007)}, ["a/b.so is for x64"]),
        ("macos-arm64", MAC, {"a/b.so": mach_o(libraries=("@rpath/z.dylib",))}, ["needs @rpath/z.dylib"]),
        ("macos-arm64", MAC, {"a/b.so": mach_o(libraries=("@rpath/c.dylib",)), "a/c.dylib": mach_o()}, []),
        ("macos-arm64", MAC, {"a/b.so": b"#!/bin/sh"}, ["is for no known machine"]),
    ],
)  # fmt: skip
def test_what_would_not_load_is_reported(tmp_path, platform, wheel, files, said):
    found = list(native.problems(zipped(tmp_path / "a.zip", wheel, files), platform, 11))
    assert len(found) == len(said)
    assert all(words in sentence for words, sentence in zip(said, found, strict=True))
