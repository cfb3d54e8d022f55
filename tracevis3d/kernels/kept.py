"""Where compiled kernels are kept: Numba's cache on disk, which is a help and never in the way."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from numba.core.caching import FunctionCache, NullCache


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function.

    A kernel that is there is loaded without what only compiling needs: Numba would import all its
    implementations of Python and NumPy first, and SciPy, which takes longer than reading a small trace.
    A damaged file is as good as none, and a kernel that can't be written is compiled again next time.
    """

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # What was compiled with Numba's counting of references needs all that this cache leaves out.
        return (*super()._index_key(sig, codegen), "without NRT")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._load_overload(sig, target_context)
        except Exception:  # whatever pickle makes of damaged bytes
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def kept(function: Callable[..., Any]) -> KernelCache | NullCache:
    """Return the cache of a function; one that keeps nothing if no folder can be written to."""
    try:
        return KernelCache(function)
    except (RuntimeError, OSError):
        return NullCache()
