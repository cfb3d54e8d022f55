"""The recorder's work in C, where it was built: for each event (``_fast.c``), for blocks (``_blocks.c``).

Where it was not, Python does it, but for the sample of blocks between two snapshots.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

#: The modules in C, or None.
MODULE: Any = None
BLOCKS: Any = None
with contextlib.suppress(ImportError):
    MODULE = importlib.import_module("._fast", __name__)
with contextlib.suppress(ImportError):
    BLOCKS = importlib.import_module("._blocks", __name__)
