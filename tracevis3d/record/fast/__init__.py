"""The recorder's work for each event in C (``_fast.c``), where it was built; Python does it elsewhere."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

#: The module in C, or None.
MODULE: Any = None
with contextlib.suppress(ImportError):
    MODULE = importlib.import_module("._fast", __name__)
