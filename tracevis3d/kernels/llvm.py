"""llvmlite's and Numba's words for LLVM's instructions, imported when the first of them is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _LazyModule:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


ir = _LazyModule("llvmlite.ir")
cgutils = _LazyModule("numba.core.cgutils")
