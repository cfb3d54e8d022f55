"""The cache of compiled kernels on disk; a failure of it never stops a kernel."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache

_SOURCES = Path(__file__).parent
#: Of so many versions of the sources what was compiled is kept: those that were used last.
_VERSIONS = 8

_ByPath: Any = CompileResultCacheImpl._locator_classes[0]  # that of NUMBA_CACHE_DIR


class _BySources(_ByPath):  # type: ignore[misc]
    """Tells where a compiled kernel is kept: in a folder of the sources that it was made from.

    Numba goes by the path of the source file. There each copy of the library would compile all kernels anew,
    and two versions that take turns at one path would overwrite each other's.

    Numba takes a kernel to be up to date if its own source file is the same. But it holds its helpers' code
    too, and code that was compiled by other options crashes; so here the whole folder's sources must be the
    same, whenever they were written.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        room = Path(file).parent
        if room.is_relative_to(_SOURCES):
            self._cache_path = str(_folder() / room.relative_to(_SOURCES))

    def get_source_stamp(self) -> str:
        return _hash_of_sources()


class _Kept(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_BySources, *CompileResultCacheImpl._locator_classes[1:])


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function.

    A kernel that is there is loaded without what only compiling needs: Numba would import all its
    implementations of Python and NumPy first, and SciPy, which takes longer than reading a small trace.
    A damaged file is as good as none, and a kernel that can't be written is compiled again next time.
    """

    _impl_class = _Kept

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
def _folder() -> Path:
    """Return the folder of these sources, used now; those of versions used long ago are removed."""
    root = Path(numba.config.CACHE_DIR)
    folder = root / f"kernels-{_hash_of_sources()[:16]}"
    # Where it can't be made or written to, Numba looks for another one.
    with contextlib.suppress(OSError):
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        if is_new:
            for old in sorted(root.glob("kernels-*"), key=_last_used, reverse=True)[_VERSIONS:]:
                shutil.rmtree(old, ignore_errors=True)
    return folder


def _last_used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # another process has removed it
        return 0.0


@cache
def _hash_of_sources() -> str:
    """Return a hash of all that decides how a kernel is compiled, and of the names in what is compiled."""
    digest = hashlib.sha256(f"{numba.__version__} {__package__}".encode())
    for path in sorted(_SOURCES.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
