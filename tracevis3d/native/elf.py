"""Functions of programs and libraries: read from the ELF file itself (System V ABI, chapters 4 and 5).

Distributions strip names from what they ship. What is left are the functions that a library offers, and the
table by which exceptions find their way (``.eh_frame_hdr``, Linux Standard Base): it lists where each
function begins, so that call sites of one function stay together, though without its name.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..formats.demangle import demangle

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, _DYNSYM, _FUNC, _IFUNC = 2, 11, 2, 10
_LOAD, _EH_FRAME = 1, 0x6474E550
#: Encoding of the table: signed 32-bit numbers from the table's start.
_DATAREL_SDATA4 = 0x3B
_NOTE, _BUILD_ID = 4, 3
_X86_64 = 62
#: Where distributions put the names that they strip, by build id.
_DEBUG = Path("/usr/lib/debug/.build-id")


class Module:
    """One file; what can't be read has no functions.

    Parameters
    ----------
    path : str

    Attributes
    ----------
    lines : str
        The file that says which source lines the code comes from; empty if there is none.
    """

    def __init__(self, path: str) -> None:
        self.lines = ""
        self._path = path
        self._loads: list[tuple[int, int, int]] = []
        self._callers: NDArray[np.int64] | None = None
        starts: dict[int, str] = {}
        try:
            data = Path(path).read_bytes()
            self._read(data, starts, path)
            build = _build_id(data)
            debug = _DEBUG / build[:2] / f"{build[2:]}.debug"
            if build and debug.is_file():
                loads = self._loads
                self._read(debug.read_bytes(), starts, str(debug))
                self._loads = loads
        except (OSError, struct.error, ValueError, OverflowError, MemoryError):
            starts = {}
        self._starts = sorted(starts)
        self._names = [starts[start] for start in self._starts]

    def find(self, offset: int) -> tuple[str, int]:
        """Return the name of the function at an offset into the file, empty if unknown, and where it begins.

        The place is the address that the file itself gives it; -1 where no function is known.

        Parameters
        ----------
        offset : int
            Bytes from the file's start.

        Returns
        -------
        (str, int)
            The name and the address.
        """
        address = self.address(offset)
        at = bisect_right(self._starts, address) - 1
        return (self._names[at], self._starts[at]) if at >= 0 else ("", -1)

    def address(self, offset: int) -> int:
        """Return the address that the file gives to what lies at ``offset`` in it."""
        for low, high, address in self._loads:
            if low <= offset < high:
                return address + offset - low
        return offset

    def callers(self, start: int) -> int:
        """Return from how many places of this file the function at ``start`` is called (x86-64)."""
        if self._callers is None:
            self._callers = _count_calls(Path(self._path).read_bytes(), self._loads, self._starts)
        at = bisect_right(self._starts, start) - 1
        return int(self._callers[at]) if at >= 0 else 0

    def _read(self, data: bytes, starts: dict[int, str], path: str) -> None:
        head = _HEADER.unpack_from(data)
        if head[0][:6] != b"\x7fELF\x02\x01":  # 64 bits, little-endian
            return
        segments, sections, n_segments, n_sections = head[5], head[6], head[10], head[12]
        for k in range(n_segments):
            kind, _, offset, address, _, size, _, _ = _SEGMENT.unpack_from(data, segments + k * head[9])
            if kind == _LOAD:
                self._loads.append((offset, offset + size, address))
            elif kind == _EH_FRAME:
                starts.update(_function_starts(data, offset, address))
        table = [_SECTION.unpack_from(data, sections + k * head[11]) for k in range(n_sections)]
        names = table[head[13]] if head[13] < len(table) else None
        if names is not None:
            texts = data[names[4] : names[4] + names[5]]
            if b".debug_line\0" in texts:
                self.lines = path
        # The full table, where there is one, after the one of what is offered.
        for section in sorted((s for s in table if s[1] in (_SYMTAB, _DYNSYM)), key=lambda s: -s[1]):
            if section[6] < len(table):
                starts.update(_symbols(data, section, table[section[6]]))


def _symbols(data: bytes, section: tuple[int, ...], strings: tuple[int, ...]) -> dict[int, str]:
    found: dict[int, str] = {}
    table = data[section[4] : section[4] + section[5] // _SYMBOL.size * _SYMBOL.size]
    for name, info, _, shndx, value, _ in _SYMBOL.iter_unpack(table):
        if info & 15 in (_FUNC, _IFUNC) and shndx and value:
            at = strings[4] + name
            text = data[at : data.find(b"\0", at)].decode("utf-8", "replace")
            # Of several names of one function the one without underscores is its own.
            if value not in found or (found[value].startswith("_") and not text.startswith("_")):
                found[value] = text
    return {value: demangle(text) for value, text in found.items()}


def uftrace_symbols(path: str) -> bytes:
    """Return what uftrace writes of a file's functions when a run ends: address, type and name in each line.

    Functions of libraries are identified by their entries in the ``.plt``, which calls of them go through
    (System V
    ABI for AMD64, section 5.2): 16 bytes each, in the order of the relocations in ``.rela.plt``.

    Parameters
    ----------
    path : str
        An ELF file.

    Returns
    -------
    bytes
        Lines of text.
    """
    lines: list[str] = []
    try:
        data = Path(path).read_bytes()
        head = _HEADER.unpack_from(data)
        if head[0][:6] != b"\x7fELF\x02\x01":
            return b""
        table = [_SECTION.unpack_from(data, head[6] + k * head[11]) for k in range(head[12])]
        texts = data[table[head[13]][4] :]
        named = {texts[s[0] : texts.find(b"\0", s[0])]: s for s in table}
        found: dict[int, str] = {}
        for section in sorted((s for s in table if s[1] in (_SYMTAB, _DYNSYM)), key=lambda s: -s[1]):
            found.update(_symbols(data, section, table[section[6]]))
        lines = [f"{address:016x} T {name}" for address, name in found.items()]
        stubs, moves = named.get(b".plt.sec") or named.get(b".plt"), named.get(b".rela.plt")
        if stubs and moves and head[2] == _X86_64:
            symbols = table[moves[6]]
            strings = table[symbols[6]]
            first = 0 if b".plt.sec" in named else 1
            for k, (_, info, _) in enumerate(
                struct.iter_unpack("<QQq", data[moves[4] : moves[4] + moves[5]])
            ):
                name, *_ = _SYMBOL.unpack_from(data, symbols[4] + (info >> 32) * _SYMBOL.size)
                at = strings[4] + name
                text = data[at : data.find(b"\0", at)].decode("utf-8", "replace")
                lines.append(f"{stubs[3] + 16 * (k + first):016x} 10 P {text}")
    except (OSError, struct.error, ValueError, IndexError, OverflowError, MemoryError):
        pass  # what is there so far is better than nothing
    return "\n".join(lines).encode()


def _function_starts(data: bytes, offset: int, address: int) -> dict[int, str]:
    """Return where functions begin, without names, by the table for exceptions."""
    version, _, count_encoding, encoding = data[offset : offset + 4]
    if version != 1 or count_encoding != 0x03 or encoding != _DATAREL_SDATA4:
        return {}
    (count,) = struct.unpack_from("<I", data, offset + 8)
    table = data[offset + 12 : offset + 12 + 8 * count]
    return {address + start: "" for start, _ in struct.iter_unpack("<ii", table)}


def _build_id(data: bytes) -> str:
    head = _HEADER.unpack_from(data)
    for k in range(head[10]):
        kind, _, at, _, _, size, _, _ = _SEGMENT.unpack_from(data, head[5] + k * head[9])
        stop = at + size
        while kind == _NOTE and at + 12 <= stop:
            n_name, n_value, what = struct.unpack_from("<III", data, at)
            value = at + 12 + (n_name + 3) // 4 * 4
            if what == _BUILD_ID and data[at + 12 : at + 15] == b"GNU":
                return data[value : value + n_value].hex()
            at = value + (n_value + 3) // 4 * 4
    return ""


def _count_calls(data: bytes, loads: list[tuple[int, int, int]], starts: list[int]) -> NDArray[np.int64]:
    """Count direct calls of each function: opcode and distance, wherever they lead to its first byte."""
    counts = np.zeros(len(starts), np.int64)
    if not starts or _HEADER.unpack_from(data)[2] != _X86_64:
        return counts
    wanted = np.array(starts, np.int64)
    for low, high, address in loads:
        code = np.frombuffer(data, np.uint8, min(high, len(data)) - low, low)
        at = np.flatnonzero(code[:-4] == 0xE8)
        distance = sum(code[at + 1 + k].astype(np.int64) << 8 * k for k in range(4))
        distance = np.where(distance >= 1 << 31, distance - (1 << 32), distance)
        target = address + at + 5 + distance
        place = np.minimum(np.searchsorted(wanted, target), len(wanted) - 1)
        counts += np.bincount(place[wanted[place] == target], minlength=len(wanted))
    return counts
