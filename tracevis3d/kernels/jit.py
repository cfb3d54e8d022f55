"""How kernels are declared.

Kernels are compiled on first use (see :mod:`.compiler`) and cached on disk. To compile in a fraction of a
second each they take preallocated buffers, use scalar loops only (nothing that allocates, raises or is an
array expression) and are always called with the same dtypes. What a kernel passes to its helpers is of the
same types wherever it calls them, too: a plain ``1`` and ``np.int64(1)`` are not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import MissingDependency
from ..places import cache_root

# Numba reads this once, at import.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_root() / "numba"))

try:
    import numba
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingDependency(
        f"Numba can't be imported ({error}): install it with 'pip install numba', or install the "
        "extension's zip for this platform and Python version, which brings it along."
    ) from error

from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])

# The versions of Numba whose insides our shorter way to LLVM was tested with; others take Numba's own way.
_KNOWN = ("0.68.",)

# IEEE-strict, without the GIL and without bounds checks.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_short = numba.__version__.startswith(_KNOWN)
if _short:
    from .compiler import KernelCompiler
    from .disk_cache import kept

    # Nothing is allocated, so nothing is counted either.
    _OPTIONS |= {"_nrt": False, "pipeline_class": KernelCompiler}
else:
    _OPTIONS["cache"] = True


class _Watch(event.Listener):  # type: ignore[misc]
    """Counts the compilations that are under way."""

    under_way = 0

    def on_start(self, event: Any) -> None:
        self.under_way += 1

    def on_end(self, event: Any) -> None:
        self.under_way -= 1


_watch = _Watch()
event.register("numba:compile", _watch)


def compiling() -> bool:
    """Return whether a kernel is being compiled just now, in any thread: what is found on disk is not."""
    return _watch.under_way > 0


def kernel(function: F) -> F:
    """Compile ``function`` with Numba when it is first called; the result is cached on disk."""
    return _compiled(function)


def inline(function: F) -> F:
    """Compile a helper that kernels alone call; LLVM inlines it. It can't be called from Python."""
    return _compiled(function, no_cpython_wrapper=True)


def _compiled(function: F, **options: Any) -> F:
    dispatcher = numba.njit(**_OPTIONS, **options)(function)
    if _short:
        dispatcher._cache = kept(function)
    return dispatcher  # type: ignore[no-any-return]
