"""How much memory reading a trace may take."""

from __future__ import annotations

import os
import sys

#: The share of the free memory that reading may take where nobody says how much.
SHARE = 0.6
#: Where Linux says how much memory a container may have, and has.
_CGROUP = "/sys/fs/cgroup/memory."


class _Limit:
    """What was chosen, in bytes; None: nothing."""

    chosen: int | None = None


def choose(most: int | None) -> None:
    """Let reading take ``most`` bytes; None: :data:`SHARE` of what is free then."""
    _Limit.chosen = most


def limit() -> int:
    """Return how many bytes reading may take from now on."""
    return int(free() * SHARE) if _Limit.chosen is None else _Limit.chosen


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
    try:
        _, resident, shared, *_ = _read("/proc/self/statm").split()
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0
