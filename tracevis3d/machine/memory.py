"""How much memory reading a trace may take."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

#: The share of the free memory that reading may take where nobody says how much.
SHARE = 0.6
#: Where Linux says how much memory a container may have, and has.
_CGROUP = "/sys/fs/cgroup/memory."
#: Numbers of /proc/self/statm: memory in use, the part of it that is files', and what is reserved.
_RESIDENT, _SHARED, _DATA = 1, 2, 5


class _Limit:
    """What was chosen, in bytes; None: nothing. And what was in use when reading began."""

    chosen: int | None = None
    before = 0


def choose(most: int | None) -> None:
    """Let reading take ``most`` bytes; None: :data:`SHARE` of what is free then."""
    _Limit.chosen = most


def limit() -> int:
    """Return how many bytes reading may take from now on."""
    return int(free() * SHARE) if _Limit.chosen is None else _Limit.chosen


def begin() -> int:
    """Note that reading begins, and return the bytes in use now."""
    _Limit.before = in_use()
    return _Limit.before


def left() -> int:
    """Return how many bytes reading may take beyond those it has taken since :func:`begin`."""
    return limit() if _Limit.chosen is None else _Limit.chosen - (in_use() - _Limit.before)


@contextlib.contextmanager
def enforced() -> Iterator[None]:
    """Let allocations beyond the limit fail in the block: with MemoryError, also within compiled code.

    They are those of the whole process: this is for a program that does nothing else at that time.

    Yields
    ------
    None
    """
    taken = _pages(_DATA)
    if sys.platform == "win32" or not taken:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = taken + limit()
    most = min([most, *(given for given in (soft, hard) if given != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def free() -> int:
    """Return the bytes of memory that could be had without swapping; 4 GiB where it can't be known."""
    return min(_of_the_machine(), _of_the_container())


def _of_the_container() -> int:
    try:
        most, used = (int(_read(f"{_CGROUP}{name}")) for name in ("max", "current"))
        # Files that are kept in memory make room where it is wanted.
        kept = dict(line.split() for line in _read(f"{_CGROUP}stat").splitlines())[b"inactive_file"]
        return max(most - used + int(kept), 0)
    except (OSError, ValueError, KeyError):
        return sys.maxsize  # there is none, or its limit is "max"


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _of_the_machine() -> int:
    try:
        for line in _read("/proc/meminfo").splitlines():
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 4 << 30


def in_use() -> int:
    """Return the bytes of memory that this process has to itself; 0 where it can't be known."""
    return _pages(_RESIDENT) - _pages(_SHARED)


def _pages(which: int) -> int:
    """Return what a number of /proc/self/statm is in bytes; 0 where there is none."""
    try:
        return int(_read("/proc/self/statm").split()[which]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0
