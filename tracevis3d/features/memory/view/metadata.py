"""Metadata of the blocks of a terrain, for tooltips."""

from __future__ import annotations

import numpy as np

from ....drawing.links import Link
from ....drawing.primitives import Meaning
from ....trace.cached_results import cached_with_trace
from ....trace.model import Trace
from .arrangement import memory_use
from .layout import Layout


def meaning(picture: Layout) -> dict[str, Meaning]:
    """Return the values of a block: bytes, when it lived, its last access, and its call."""
    items, blocks = picture.items, _of_blocks(picture.trace, picture.window[1])
    several = Meaning(
        values=(
            ("blocks", (items.stop - items.first).astype(np.float64)),
            ("most live bytes", items.live.max(axis=1, initial=0).astype(np.float64)),
        )
    )
    return {"block": blocks, "block cluster": several}


@cached_with_trace(most=1)
def _of_blocks(trace: Trace, now: int) -> Meaning:
    use = memory_use(trace)
    blocks, memory = use.blocks, trace.memory
    unit = " (ns)" if use.has_times else " (records)"
    idle = blocks.last_touch
    for part in blocks.parts():
        until = np.minimum(blocks.died[part], min(blocks.end, now))
        np.subtract(until, np.minimum(idle[part], now), out=idle[part])
    called = bool(len(memory.call)) and memory.call.max() >= 0
    call = memory.call[blocks.row] if called else memory.call[:0]
    # Of many millions of blocks each column counts: what is there already is not copied.
    return Meaning(
        calls=((0, call),) if (call >= 0).any() else (),
        values=(
            ("size (bytes)", blocks.size),
            (f"allocated at{unit}", blocks.born),
            (f"since its last access{unit}", idle),
        ),
        texts=(
            ("call site", use.sites.name, use.sites.of_block),
            ("freed", ("never", "yes"), (blocks.free_row >= 0).view(np.int8)),
        ),
        links=(
            Link("block", np.arange(len(blocks), dtype=np.int32)),
            Link("site", use.sites.of_block, role="related"),
        ),
    )
