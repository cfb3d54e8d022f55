"""Which engine records blocks of memory, and what it does not see."""

from __future__ import annotations

import importlib.util

#: Engines that record blocks of memory.
MEMORY_ENGINES = ("tracemalloc", "memray")
#: Engines of calls that memray leaves the hook to.
_BESIDE_MEMRAY = ("auto", "monitoring", "trace")
#: Frames of a call site of tracemalloc's: the time that a block takes grows faster than their number.
FRAMES = 3


def is_there() -> bool:
    """Whether memray is installed."""
    return importlib.util.find_spec("memray") is not None


def choose_memory(engine: str, c_functions: bool, live: bool, frames: int = 0) -> str:
    """Return the engine for a recording that names none: memray, if it is installed and can be used for this.

    Parameters
    ----------
    engine : str
        What records the calls: one of :data:`..engines.choice.NAMES`.
    c_functions : bool
        Whether functions written in C are recorded.
    live : bool
        Whether the recording is published.
    frames : int
        Frames of a call site; 0: as many as the engine records. Only tracemalloc takes it.

    Returns
    -------
    str
        One of :data:`MEMORY_ENGINES`.
    """
    able = engine in _BESIDE_MEMRAY and not (c_functions or live or frames)
    return "memray" if able and is_there() else "tracemalloc"


def about(by: str, live: bool, frames: int = 0) -> str:
    """Return one sentence: which engine records, what it does not see, and how to choose the other.

    Parameters
    ----------
    by : str
        One of :data:`MEMORY_ENGINES`.
    live : bool
        Whether the recording is published.
    frames : int
        Frames of a call site; 0: :data:`FRAMES`.

    Returns
    -------
    str
    """
    if by == "memray":
        return (
            "memray records each block of this process, but objects of up to 512 bytes only as the arenas "
            "that they fill; --memory-engine tracemalloc records those, and slows the program down more"
        )
    remedy = "--memory-engine memray records them" if is_there() else "'pip install memray' for these"
    n = frames or FRAMES
    return (
        f"tracemalloc records what lives at snapshots, with {n} frame{'s' * (n > 1)} a block, but not blocks "
        "freed between two, nor those of compiled code" + ("" if live else f"; {remedy}")
    )
