"""What the compiled files of a zip need: the right processor, and libraries that are there at loading.

Windows and macOS can't be tried here, so their files are read: PE, Mach-O and ELF say for which machine they
are and which libraries they load. Each of these has to be in the same wheel, in the system or in Blender.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from packaging.utils import parse_wheel_filename

_COMPILED = re.compile(r".*\.(pyd|dll|dylib|so(\.\d+)*)")
_X64, _ARM64 = "x64", "arm64"
#: Numba tries these libraries' pools of threads and takes its own, the workqueue, where one is missing.
_OPTIONAL = re.compile(r"numba/np/ufunc/(omppool|tbbpool)\.")
#: What each system has, or Blender brings (Microsoft's run-time libraries, beside its Python's).
_THERE = {
    "linux": r"lib(c|m|dl|rt|pthread|util|gcc_s|stdc\+\+|z)\.so\.\d+|ld-linux-x86-64\.so\.2",
    "windows": r"(api-ms-win-[\w-]+|kernel32|user32|advapi32|shell32|ole32|oleaut32|ws2_32|wsock32|iphlpapi"
    r"|ntdll|msvcrt|bcrypt|psapi|version|dbghelp|rpcrt4|crypt32|vcruntime140(_1)?|msvcp140(_\d)?|ucrtbase|concrt140)\.dll",
    "macos": r"/usr/lib/.*|/System/Library/.*",
}


def problems(path: Path, platform: str, minor: int) -> Iterator[str]:
    """Yield what would keep a zip's compiled files from being loaded on its platform.

    Parameters
    ----------
    path : Path
        A zip of the extension.
    platform : str
        Such as ``windows-x64``.
    minor : int
        Of the Python, 3.minor.

    Yields
    ------
    str
        One sentence for each.
    """
    system, _, machine = platform.partition("-")
    there = re.compile(_THERE[system], re.IGNORECASE)
    python = rf"python3({minor})?\.dll|libpython3\.{minor}\.(so\.1\.0|dylib)"
    with zipfile.ZipFile(path) as archive:
        for wheel in sorted(name for name in archive.namelist() if name.endswith(".whl")):
            tags = parse_wheel_filename(PurePosixPath(wheel).name)[3]
            with zipfile.ZipFile(io.BytesIO(archive.read(wheel))) as inside:
                files = [name for name in inside.namelist() if _COMPILED.fullmatch(name)]
                if bool(files) == all(tag.platform == "any" for tag in tags):
                    yield f"{wheel}: has {len(files)} compiled files"
                beside = {PurePosixPath(name).name.lower() for name in files}
                for name in files:
                    machines, needed = read(inside.read(name))
                    if machine not in machines:
                        yield f"{wheel}: {name} is for {' and '.join(machines) or 'no known machine'}"
                    if other := _of_another_python(name, minor):
                        yield f"{wheel}: {name} is for Python 3.{other}"
                    for library in () if _OPTIONAL.match(name) else needed:
                        known = PurePosixPath(library).name.lower() in beside or there.fullmatch(library)
                        if not known and not re.fullmatch(python, library, re.IGNORECASE):
                            yield f"{wheel}: {name} needs {library}, which is not there"


def _of_another_python(name: str, minor: int) -> int:
    found = re.search(r"\.(?:cp|cpython-)3(\d+)-", name)
    return int(found[1]) if found and int(found[1]) != minor else 0


def read(content: bytes) -> tuple[list[str], list[str]]:
    """Return for which machines a compiled file is, and which libraries it loads.

    Parameters
    ----------
    content : bytes
        Of a file in PE, Mach-O or ELF.

    Returns
    -------
    machines : list of str
        Empty if it is none of these.
    libraries : list of str
        Names or paths, as they are in the file.
    """
    if content[:2] == b"MZ":
        return _pe(content)
    if content[:4] == b"\x7fELF":
        return _elf(content)
    if content[:4] == b"\xca\xfe\xba\xbe":
        (count,) = struct.unpack_from(">I", content, 4)
        parts = [struct.unpack_from(">5I", content, 8 + 20 * i)[2:4] for i in range(count)]
        found = [_mach_o(content[at : at + size]) for at, size in parts]
        return [m for machines, _ in found for m in machines], [one for _, more in found for one in more]
    return _mach_o(content) if content[:4] == b"\xcf\xfa\xed\xfe" else ([], [])


def _text(content: bytes, at: int) -> str:
    return content[at : content.index(0, at)].decode("utf-8", "replace")


def _pe(content: bytes) -> tuple[list[str], list[str]]:
    (head,) = struct.unpack_from("<I", content, 0x3C)
    machine, sections = struct.unpack_from("<HH", content, head + 4)
    (size,) = struct.unpack_from("<H", content, head + 20)
    optional = head + 24
    table = [struct.unpack_from("<4I", content, optional + size + 40 * i + 8) for i in range(sections)]

    def place(address: int) -> int:
        """Return where in the file an address is."""
        for length, low, raw, at in table:
            if low <= address < low + max(length, raw):
                return int(at + address - low)
        return 0

    libraries = []
    # Imports, and those that wait until they are used: 20 and 32 bytes each, the name's address 12 or 4 in.
    for directory, step, named in ((1, 20, 12), (13, 32, 4)):
        (address,) = struct.unpack_from("<I", content, optional + 112 + 8 * directory)
        at = place(address) if address else 0
        while at and (name := struct.unpack_from("<I", content, at + named)[0]):
            libraries.append(_text(content, place(name)))
            at += step
    return [{0x8664: _X64, 0xAA64: _ARM64}.get(machine, hex(machine))], libraries


def _mach_o(content: bytes) -> tuple[list[str], list[str]]:
    machine, _, _, count = struct.unpack_from("<4I", content, 4)
    at, libraries = 32, []
    for _ in range(count):
        command, size = struct.unpack_from("<II", content, at)
        # LC_LOAD_DYLIB and LC_REEXPORT_DYLIB; a library that may be missing is none that is needed.
        if command in (0xC, 0x8000001F):
            (name,) = struct.unpack_from("<I", content, at + 8)
            libraries.append(_text(content, at + name))
        at += size
    return [{0x1000007: _X64, 0x100000C: _ARM64}.get(machine, hex(machine))], libraries


def _elf(content: bytes) -> tuple[list[str], list[str]]:
    (machine,) = struct.unpack_from("<H", content, 18)
    (segments,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    loaded, dynamic = [], (0, 0)
    for i in range(count):
        kind, _, at, address, _, length = struct.unpack_from("<IIQQQQ", content, segments + i * size)
        if kind == 1:
            loaded.append((address, length, at))
        elif kind == 2:
            dynamic = at, length
    entries = [struct.unpack_from("<qQ", content, dynamic[0] + 16 * i) for i in range(dynamic[1] // 16)]
    texts = next((value for tag, value in entries if tag == 5), 0)
    start = next((at + texts - low for low, length, at in loaded if low <= texts < low + length), 0)
    return [{62: _X64, 183: _ARM64}.get(machine, hex(machine))], [
        _text(content, start + value) for tag, value in entries if tag == 1
    ]
