"""Tests in parallel processes: what one of them compiles, the others wait for and load."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TextIO


def compile_once() -> None:
    """Let a kernel that is not kept on disk be compiled by one process, under a lock of its own.

    Kernels wait for their helpers only, so locks can't wait for each other in a circle. A process that ends
    gives its locks back.
    """
    try:
        import fcntl
    except ImportError:  # Windows: each process compiles for itself
        return
    from tracevis3d.kernels.disk_cache import KernelCache

    held: dict[KernelCache, TextIO] = {}
    load, save = KernelCache.load_overload, KernelCache.save_overload

    def load_or_lock(cache: KernelCache, *words: Any) -> Any:
        if (found := load(cache, *words)) is not None:
            return found
        release(cache)
        lock = Path(cache.cache_path, f"{cache._impl.filename_base}.lock").open("w")  # noqa: SIM115
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (found := load(cache, *words)) is None:
            held[cache] = lock
        else:
            lock.close()
        return found

    def save_and_release(cache: KernelCache, *words: Any) -> None:
        save(cache, *words)
        release(cache)

    def release(cache: KernelCache) -> None:
        if (lock := held.pop(cache, None)) is not None:
            lock.close()

    KernelCache.load_overload, KernelCache.save_overload = load_or_lock, save_and_release  # type: ignore[method-assign]
