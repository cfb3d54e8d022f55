"""What the blocks of a terrain stand for, for whoever points at them."""

from __future__ import annotations

import numpy as np

from ....drawing.primitives import Meaning
from .layout import Layout


def meaning(picture: Layout) -> dict[str, Meaning]:
    """Return what is told of a block: bytes, when it lived, when it was touched last, and its call."""
    items, kept = picture.items, picture.arrangement.kept
    if "meaning" not in kept:
        kept["meaning"] = _of_blocks(picture)
    several = Meaning(
        values=(
            ("blocks", (items.stop - items.first).astype(np.float64)),
            ("width (bytes)", (items.high - items.low)),
            ("most bytes alive", items.live.max(axis=1, initial=0).astype(np.float64)),
        )
    )
    return {"block": kept["meaning"], "blocks taken together": several}


def _of_blocks(picture: Layout) -> Meaning:
    blocks = picture.use.blocks
    unit = " (ns)" if picture.use.has_times else " (records)"
    now = picture.window[1]
    idle = (np.minimum(blocks.until, now) - np.minimum(blocks.last_touch, now)).astype(np.float64)
    memory = picture.trace.memory
    return Meaning(
        calls=((0, memory.call[blocks.row]),) if (memory.call[blocks.row] >= 0).any() else (),
        values=(
            ("size (bytes)", blocks.size.astype(np.float64)),
            (f"allocated at{unit}", blocks.born.astype(np.float64)),
            (f"since its last access{unit}", idle),
        ),
        texts=(
            ("call site", picture.use.sites.name, picture.use.sites.of_block),
            ("freed", ("never", "yes"), (blocks.free_row >= 0).astype(np.int64)),
        ),
    )
