"""Programs whose memory is known, written with their truth before the rules had ever met one of them."""

from __future__ import annotations

import functools
import importlib
import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

#: Seconds between two steps of a program.
_STEP_S = 0.012


@dataclass(frozen=True)
class KnownMemory:
    """A program with its truth.

    Attributes
    ----------
    name : str
    work : callable
    expected : frozenset of (str, str)
        Kind of finding and function that allocates.
    also : frozenset of (str, str)
        True too, and not what it is about.
    by_size : frozenset of (str, str)
        What can be said in place of it by who knows sizes and call sites only, by snapshots.
    seen_by : str
        The engine that can see it; empty: both.
    """

    name: str
    work: Callable[[], object]
    expected: frozenset[tuple[str, str]] = frozenset()
    also: frozenset[tuple[str, str]] = frozenset()
    by_size: frozenset[tuple[str, str]] = frozenset()
    seen_by: str = ""


def listeners() -> object:
    """Each step registers listeners that nobody takes away: small objects of many sizes."""
    kept: list[tuple[str, bytearray]] = []

    def register(step: int) -> None:
        for i in range(6):
            kept.append((f"listener {step} {i}", bytearray(300 + 70 * i)))

    for step in range(70):
        register(step)
        time.sleep(_STEP_S)
    return kept


def teeth_of_several_heights() -> object:
    """Three buffers fill up and are emptied, one of 1 MiB, one of 256 KiB, one of 64; beside it a plateau."""
    plateau: list[bytearray] = []
    large, middle, small = list[bytearray](), list[bytearray](), list[bytearray]()

    def load() -> None:
        plateau.extend(bytearray(1 << 16) for _ in range(48))

    def fill_large(step: int) -> None:
        large.append(bytearray(1 << 17))
        if step % 8 == 7:
            large.clear()

    def fill_middle(step: int) -> None:
        middle.append(bytearray(1 << 15))
        if step % 10 == 9:
            middle.clear()

    def fill_small(step: int) -> None:
        small.append(bytearray(1 << 13))
        if step % 12 == 11:
            small.clear()

    load()
    for step in range(96):
        fill_large(step)
        fill_middle(step)
        fill_small(step)
        time.sleep(_STEP_S)
    return plateau


def forgotten_buffer() -> object:
    """A large buffer is made at the start and never used again; small work goes on."""

    def read_all() -> bytearray:
        return bytearray(6 << 20)

    buffer = read_all()
    for _ in range(60):
        sum(bytearray(2000))
        time.sleep(_STEP_S)
    return buffer


def churn_beside_plateau() -> object:
    """Rows are parsed and forgotten at once, beside a table that is used to the end and freed."""
    table: list[bytearray] = []

    def build(step: int) -> None:
        table.append(bytearray(1 << 15))

    def parse(step: int) -> None:
        for i in range(20):
            bytearray(4000 + 100 * i)

    for step in range(64):
        if step < 24:
            build(step)
        parse(step)
        for block in table:
            block[0] += 1
            block[0] = 0
        time.sleep(_STEP_S)
    table.clear()
    return None


#: Parts of the standard library that few programs have loaded.
_MODULES = (
    *("xml.dom.minidom", "xml.sax", "email.mime.text", "http.server", "smtplib", "ftplib", "telnetlib"),
    *("wave", "turtledemo", "lib2to3.pgen2.driver", "lib2to3.refactor", "mailbox", "imaplib", "nntplib"),
    *("xmlrpc.server", "pydoc", "doctest", "unittest.mock", "tabnanny", "trace", "timeit", "cmd", "code"),
    *("sched", "stringprep", "plistlib", "netrc", "chunk", "colorsys", "aifc", "sunau", "cgi", "cgitb"),
)


def imports_all_along() -> object:
    """Modules are loaded one after the other: what they keep is the program itself."""
    for name in _MODULES:
        # As in a program that has not loaded them yet.
        for known in [one for one in sys.modules if one == name or one.startswith(name + ".")]:
            del sys.modules[known]
        try:
            importlib.import_module(name)
        except ImportError:  # not in each version of Python
            continue
        time.sleep(_STEP_S)
    return None


def bounded_cache() -> object:
    """A cache of 48 results, asked for ever new ones."""

    @functools.lru_cache(maxsize=48)
    def look_up(key: int) -> bytearray:
        return bytearray(9000)

    for step in range(70):
        for i in range(5):
            look_up(5 * step + i)
        time.sleep(_STEP_S)
    return look_up


def fragmented() -> object:
    """Many blocks side by side, of which every other one is freed."""
    kept: list[bytearray | None] = []

    def allocate() -> None:
        kept.extend(bytearray(3000) for _ in range(1500))

    allocate()
    for step in range(40):
        if step == 10:
            for i in range(0, len(kept), 2):
                kept[i] = None
        time.sleep(_STEP_S)
    return kept


def freed_in_another_thread() -> object:
    """One thread makes buffers, another one uses and frees them a moment later."""
    items: queue.Queue[bytearray | None] = queue.Queue(8)

    def make() -> None:
        for _ in range(150):
            items.put(bytearray(12000))
            time.sleep(_STEP_S / 3)
        items.put(None)

    def use() -> None:
        while (block := items.get()) is not None:
            time.sleep(_STEP_S / 3)
            del block

    threads = [threading.Thread(target=make, name="maker"), threading.Thread(target=use, name="user")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return None


def _known() -> list[KnownMemory]:
    of = frozenset[tuple[str, str]]
    teeth = of(("saw-tooth", f"fill_{size}") for size in ("large", "middle", "small"))
    return [
        KnownMemory("listeners that nobody takes away", listeners, of([("leak", "register")])),
        KnownMemory("saw-teeth of three heights", teeth_of_several_heights, teeth | {("forgotten", "load")},
                    of([("saw-tooth", "")])),
        KnownMemory("a forgotten buffer", forgotten_buffer, of([("forgotten", "read_all")])),
        KnownMemory("churn beside a plateau", churn_beside_plateau, of([("churn", "parse")]),
                    seen_by="memray"),
        KnownMemory("modules loaded all along", imports_all_along,
                    also=of([("growth", "arena for small objects")])),
        KnownMemory("a cache of 48", bounded_cache, by_size=of([("forgotten", "look_up")])),
        KnownMemory("every other block freed", fragmented, of([("forgotten", "allocate")]),
                    of([("fragmentation", "")])),
        KnownMemory("freed in another thread", freed_in_another_thread, also=of([("churn", "make")])),
    ]  # fmt: skip


#: All programs.
PROGRAMS = _known()
