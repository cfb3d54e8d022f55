"""What uftrace stores beside the records: which functions there are, where, and what arguments they have."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..demangle import demangle

#: An argument list: sizes in bytes; -1 for a string (two bytes of length before it).
Sizes = tuple[int, ...]
STRING = -1

_SYMBOL = re.compile(rb"([0-9a-fA-F]+) (?:([0-9a-fA-F]{2,}) )?(\S) ([^\t\r\n]+)")
_MAP = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ [0-9a-f]+ \S+ \d+\s+(\S.*?)(?: build-id:(\w*))?\s*")
_ALLOWED_TYPES = b"?TtwPKDdvu"
_ENDS = ("__sym_end", "__dynsym_end", "__func_end")
_POINTER = 8
#: Addresses have 48 bits.
_NO_ADDRESS = (1 << 48) - 1
_SPEC = re.compile(
    r"(?P<what>arg\d+|retval|fparg\d+)(?:/(?P<kind>[a-zA-Z]?)(?P<bits>\d*)(?::[^%]*)?)?(?:%.*)?"
)
_REGEX_SIGNS = re.compile(r"[?.*\[\](){}^$|\\+]")


@dataclass(frozen=True)
class Symbol:
    """A function of a module; ``low`` and ``high`` are addresses from the module's start.

    Attributes
    ----------
    low, high : int
        The addresses ``[low, high)`` from the module's start.
    name : str
        As the compiler wrote it, or demangled.
    is_plt : bool
        Whether it is an entry of the linkage table, not the function itself.
    """

    low: int
    high: int
    name: str
    is_plt: bool = False


class Module:
    """The symbols of one program or library, ascending, and where their sources are.

    Parameters
    ----------
    name : str
        That of the program or library.
    sym : bytes
        The bytes of its ``.sym``.
    dbg : bytes
        The bytes of its ``.dbg``.
    """

    def __init__(self, name: str, sym: bytes, dbg: bytes = b"") -> None:
        self.name = name
        self.symbols = _symbols(sym)
        self._lows = [symbol.low for symbol in self.symbols]
        self.sources: dict[int, tuple[str, int]] = {}
        self.arguments: dict[int, tuple[Sizes, Sizes]] = {}
        self._read_debug(dbg.decode("utf-8", "replace"))

    def find(self, offset: int) -> Symbol | None:
        """Return the function at ``offset`` from the module's start."""
        at = bisect_right(self._lows, offset) - 1
        if at < 0 or offset >= self.symbols[at].high:
            return None
        return self.symbols[at]

    def _read_debug(self, text: str) -> None:
        """Read a ``.dbg``: ``F: address name``, then its line and file (``L``), arguments (``A``, ``R``)."""
        address = -1
        for line in text.splitlines():
            what, _, rest = line.partition(" ")
            if what == "F:":
                address = _number(rest.partition(" ")[0], 16)
            elif address < 0:
                continue
            elif what == "L:":
                number, _, file = rest.partition(" ")
                self.sources[address] = file, max(_number(number, 10), 0)
            elif what in ("A:", "R:"):
                known = self.arguments.get(address, ((), ()))
                self.arguments[address] = _sizes(rest.removeprefix("@"), *known)


@dataclass
class Session:
    """The memory map of a process from some time on: ``(low, high, path)``, ascending.

    Attributes
    ----------
    maps : list of (int, int, str)
        Addresses ``[low, high)``, and what is mapped there.
    """

    maps: list[tuple[int, int, str]] = field(default_factory=list)

    def find(self, address: int) -> tuple[int, str] | None:
        """Return the start and path of what is mapped at ``address``."""
        at = bisect_right(self.maps, address, key=lambda entry: entry[0]) - 1
        if at < 0 or address >= self.maps[at][1]:
            return None
        return self.maps[at][0], self.maps[at][2]


def parse_map(text: str) -> Session:
    """Read a ``sid-*.map``: the parts of a file that lie one after the other become one range."""
    ranges: dict[str, tuple[int, int]] = {}
    for line in text.splitlines():
        if (match := _MAP.fullmatch(line)) and not match[3].startswith("["):
            low, high, path = int(match[1], 16), int(match[2], 16), match[3]
            known = ranges.get(path, (low, high))
            ranges[path] = min(low, known[0]), max(high, known[1])
    return Session(sorted((low, high, path) for path, (low, high) in ranges.items()))


def _symbols(text: bytes) -> list[Symbol]:
    """Read a ``.sym``; where it has no size, a function ends where the next symbol starts."""
    rows: list[tuple[int, int, str, bool]] = []
    ends: list[int] = []
    for line in text.splitlines():
        match = _SYMBOL.fullmatch(line.rstrip())
        if match is None or match[3] not in _ALLOWED_TYPES:
            continue
        low = int(match[1], 16)
        name = match[4].decode("utf-8", "replace")
        ends.append(low)
        if match[3] != b"?" and name not in _ENDS and low < 1 << 48:
            rows.append((low, int(match[2] or b"0", 16), demangle(name), match[3] == b"P"))
    rows.sort(key=lambda row: row[0])
    ends = sorted(set(ends))
    symbols: list[Symbol] = []
    for low, size, name, is_plt in rows:
        if symbols and symbols[-1].low == low:
            continue
        after = bisect_right(ends, low)
        high = low + size if size else ends[after] if after < len(ends) else low + 1
        symbols.append(Symbol(low, high, name, is_plt))
    return symbols


def _number(text: str, base: int) -> int:
    try:
        return int(text, base)
    except ValueError:
        return -1


class ArgumentSpecs:
    """Which arguments were recorded with which functions, from the ``info`` file.

    Parameters
    ----------
    info : str
        The text of the file.
    """

    def __init__(self, info: str) -> None:
        own: dict[str, tuple[Sizes, Sizes]] = {}
        auto: dict[str, tuple[Sizes, Sizes]] = {}
        for line in info.splitlines():
            key, _, value = line.partition(":")
            if key in ("argspec", "retspec", "argauto", "retauto") and not value.startswith("lines="):
                _add_specs(auto if key.endswith("auto") else own, value)
        self._own = own
        self._auto = auto
        self._patterns = [
            (pattern, own[name]) for name in own if _REGEX_SIGNS.search(name) and (pattern := _pattern(name))
        ]

    def __bool__(self) -> bool:
        return bool(self._own or self._auto)

    def of(self, symbol: Symbol, module: Module) -> tuple[Sizes, Sizes] | None:
        """Return the sizes of arguments and of the returned value: as requested, by debug data, by name.

        Parameters
        ----------
        symbol : Symbol
            The function.
        module : Module
            The module that it is in.

        Returns
        -------
        (Sizes, Sizes) or None
            None: no arguments were recorded.
        """
        asked = self._own.get(symbol.name)
        if asked is None:
            asked = next((sizes for pattern, sizes in self._patterns if pattern.search(symbol.name)), None)
        by_module_and_name = module.arguments.get(symbol.low), self._auto.get(symbol.name)
        known = [sizes for sizes in (asked, *by_module_and_name) if sizes is not None]
        if not known:
            return None
        # Arguments may be requested while the returned value is recorded by itself, and the other way round.
        return next((a for a, _ in known if a), ()), next((r for _, r in known if r), ())


def _add_specs(table: dict[str, tuple[Sizes, Sizes]], text: str) -> None:
    for item in text.split(";"):
        name, at, actions = item.strip().partition("@")
        if not at or not name:
            continue
        name = demangle(name)
        table[name] = _sizes(actions, *table.get(name, ((), ())))


def _sizes(actions: str, arguments: Sizes, returned: Sizes) -> tuple[Sizes, Sizes]:
    """Add the arguments and the returned value that ``actions`` name, such as ``arg1/s,arg2,retval/i32``."""
    for action in actions.split(","):
        match = _SPEC.fullmatch(action.strip())
        if match is None:
            continue
        if match["what"] == "retval":
            returned = (_size(match),)
        else:
            arguments = (*arguments, _size(match))
    return arguments, returned


def _size(match: re.Match[str]) -> int:
    """Return the bytes of an argument from its specification, such as ``arg1/i32``."""
    kind, bits = match["kind"] or "", match["bits"] or ""
    if kind in ("s", "S"):
        return STRING
    if kind == "t":
        return int(bits[:6] or 0)
    if bits in ("8", "16", "32", "64", "80"):
        return int(bits) // 8
    return 1 if kind == "c" else _POINTER


def _pattern(text: str) -> re.Pattern[str] | None:
    """Compile a pattern of uftrace's if matching it takes no time to speak of."""
    if len(text) > 256 or re.search(r"\)[*+?{]", text) or len(re.findall(r"[*+{]", text)) > 3:
        return None
    try:
        return re.compile(text)
    except (re.error, OverflowError):
        return None


def key_ranges(
    sessions: Iterable[tuple[int, list[tuple[int, Module]]]], specs: ArgumentSpecs
) -> list[tuple[int, int, Sizes, Sizes]]:
    """Return ``(low, high, arguments, returned)`` of all functions with arguments, ascending.

    ``sessions`` gives for each number of a session the start and symbols of its modules; the session's
    number is in the upper 16 bits of ``low`` and ``high``.

    Parameters
    ----------
    sessions : iterable of (int, list of (int, Module))
        See above.
    specs : ArgumentSpecs
        Which arguments were recorded.

    Returns
    -------
    list of (int, int, Sizes, Sizes)
    """
    found = []
    for number, modules in sessions:
        for start, module in modules:
            for symbol in module.symbols:
                if sizes := specs.of(symbol, module):
                    low = min(start + symbol.low, _NO_ADDRESS)
                    high = min(start + symbol.high, _NO_ADDRESS)
                    base = number << 48
                    found.append((base + low, base + high, *sizes))
    return sorted(found)
