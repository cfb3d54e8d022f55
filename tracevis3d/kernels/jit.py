"""The one place that imports Numba.

Kernels are compiled on first use and cached on disk. To compile in a fraction of a second each they
take preallocated buffers, use scalar loops only (no sort, unique, dict, slice assignment or array
expression inside) and are always called with the same dtypes.
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

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile ``function`` with Numba: cached on disk, without the GIL, no bounds checks, IEEE-strict."""
    return numba.njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def inline(function: F) -> F:
    """Compile a helper that kernels alone call; LLVM inlines it. Without the wrappers for Python and C."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)  # type: ignore[no-any-return]
