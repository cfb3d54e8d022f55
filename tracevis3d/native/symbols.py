"""From the addresses of a running program to functions, files and lines."""

from __future__ import annotations

import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Callable, Sequence

from .elf import Module

#: Text for unknown functions.
UNKNOWN = "(unknown)"
#: Number of callers from which on a nameless function that allocates counts as an allocator, not as a call
#: site.
_MANY = 24


class Symbols:
    """Names what lies at the addresses of a process, while it lives.

    Parameters
    ----------
    maps : callable
        Returns what is mapped in the process, in the words of ``/proc/PID/maps``.
    """

    def __init__(self, maps: Callable[[], str]) -> None:
        self._read_maps = maps
        self._maps: list[tuple[int, int, int, str]] = []
        self._modules: dict[str, Module] = {}
        self._lines: dict[str, _Lines] = {}
        self._known: dict[tuple[int, bool], tuple[str, int, bool]] = {}

    def forget(self) -> None:
        """Start anew: another program lies at the addresses."""
        self._maps.clear()
        self._known.clear()

    def look(self) -> None:
        """Learn what is mapped now; earlier mappings stay known."""
        maps = []
        for line in self._read_maps().splitlines():
            words = line.split(None, 5)
            if len(words) == 6 and "x" in words[1] and words[5].startswith("/"):
                low, _, high = words[0].partition("-")
                maps.append((int(low, 16), int(high, 16), int(words[2], 16), words[5]))
        if maps:
            there = [(low, high) for low, high, _, _ in maps]
            gone = [
                old for old in self._maps if not any(old[0] < high and low < old[1] for low, high in there)
            ]
            self._maps = sorted(gone + maps)

    def stack(self, addresses: Sequence[int]) -> list[tuple[str, int]]:
        """Return the function of each address, as the house writes names, and the line (0: unknown).

        Parameters
        ----------
        addresses : sequence of int
            Where calls return to, the innermost first.

        Returns
        -------
        list of (str, int)
            One for each address, in their order.
        """
        frames, allocates = [], True
        for address in addresses:
            # The call is before its return address.
            key = address - 1, allocates
            if key not in self._known:
                self._known[key] = self._find(*key)
            name, line, allocates = self._known[key]
            frames.append((name, line))
        return frames

    def _find(self, address: int, allocates: bool) -> tuple[str, int, bool]:
        """Return name and line, and whether the function only passes on what ``allocates``."""
        place = self._place(address)
        if place is None:
            self.look()
            place = self._place(address)
        if place is None:
            return UNKNOWN, 0, False
        path, offset = place
        path = path.removesuffix(" (deleted)")
        if path not in self._modules:
            module = self._modules[path] = Module(path)
            if module.lines:
                self._lines[path] = _Lines(module.lines)
        module = self._modules[path]
        name, start = module.find(offset)
        if path in self._lines:
            function, file, line = self._lines[path].find(module.address(offset))
            # The C library's own names of what it offers begin with underscores.
            if name and function.removeprefix("__GI_").lstrip("_") == name.lstrip("_"):
                function = name
            if function:
                return f"{function} ({file})" if file else function, line, False
        if name:
            return f"{name} ({path})", 0, False
        allocates = allocates and start >= 0 and module.callers(start) >= _MANY
        what = "allocator" if allocates else "function"
        return (
            f"{what} at {start:#x} ({path})" if start >= 0 else f"code at {offset:#x} ({path})",
            0,
            allocates,
        )

    def _place(self, address: int) -> tuple[str, int] | None:
        at = bisect_right(self._maps, address, key=lambda entry: entry[0]) - 1
        if at < 0 or address >= self._maps[at][1]:
            return None
        low, _, offset, path = self._maps[at]
        return path, address - low + offset

    def close(self) -> None:
        """End the programs that look up lines."""
        for lines in self._lines.values():
            lines.close()


class _Lines:
    """Asks ``addr2line`` about one file; answers nothing where that program is absent."""

    def __init__(self, path: str) -> None:
        program = shutil.which("addr2line")
        self._process = program and subprocess.Popen(
            [program, "-f", "-C", "-e", path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            errors="replace", start_new_session=True,
        )  # fmt: skip

    def find(self, address: int) -> tuple[str, str, int]:
        """Return function, file and line; empty and 0 where unknown."""
        if not self._process or self._process.stdin is None or self._process.stdout is None:
            return "", "", 0
        try:
            self._process.stdin.write(f"{address:#x}\n")
            self._process.stdin.flush()
            function = self._process.stdout.readline().strip()
            file, _, line = self._process.stdout.readline().strip().rpartition(":")
        except OSError:
            self._process = None
            return "", "", 0
        number = line.partition(" ")[0]
        known = file not in ("", "??")
        return (
            "" if function == "??" else function.partition("(")[0],
            file if known else "",
            int(number) if known and number.isdecimal() else 0,
        )

    def close(self) -> None:
        """End the program."""
        if self._process:
            self._process.kill()
            self._process.communicate()
