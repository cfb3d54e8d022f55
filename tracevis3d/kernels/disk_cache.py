"""The cache of compiled kernels on disk; a failure of it never stops a kernel."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function.

    A kernel that is there is loaded without what only compiling needs: Numba would import all its
    implementations of Python and NumPy first, and SciPy, which takes longer than reading a small trace.
    A damaged file is as good as none, and a kernel that can't be written is compiled again next time.

    Numba takes a kernel to be up to date if its own source file has the same size and time. But it holds its
    helpers' code too, and code that was compiled by other options crashes; so here the whole folder's sources
    must be the same, whenever they were written.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=_sources(),
        )

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # Code with Numba's reference counting needs what this cache leaves out.
        return (*super()._index_key(sig, codegen), "without NRT")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._load_overload(sig, target_context)
        except Exception:  # any error of pickle on damaged bytes
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


@cache
def _sources() -> str:
    """Return a hash of all that decides how a kernel is compiled."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
