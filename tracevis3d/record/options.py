"""The settings of a recording, and its destination."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """The settings of a recording.

    Attributes
    ----------
    path : str
        The file to write; a name that ends in ``.gz`` is packed. Empty: none.
    threads : bool
        Waits and releases of threads, locks, queues, futures and asyncio's tasks.
    io : bool
        Files and sockets.
    memory : str
        What records blocks of memory, one of :data:`.memory.choice.MEMORY_ENGINES`, with their call sites,
        and the resident memory, sampled; empty: nothing.
    native : bool
        Functions of compiled code in the call sites of blocks; by memray alone.
    engine : str
        One of :data:`.engines.NAMES`.
    c_functions : bool
        Calls of functions written in C as well.
    live : str
        The endpoint at which it is published; empty: none.
    key, peers : str
        Key files of the feed.
    suggestions : bool
        Whether viewers of the feed may suggest something.
    wait : bool
        Whether the program begins when the feed has a viewer, which then gets all of it.
    frames : int
        Frames of a call site that tracemalloc keeps; 0: :data:`.memory.choice.FRAMES`.
    """

    path: str
    threads: bool = False
    io: bool = False
    memory: str = ""
    native: bool = False
    engine: str = "auto"
    c_functions: bool = False
    live: str = ""
    key: str = ""
    peers: str = ""
    suggestions: bool = False
    wait: bool = False
    frames: int = 0
