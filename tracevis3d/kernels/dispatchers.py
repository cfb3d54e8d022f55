"""Numba's dispatchers of kernels: :mod:`.jit` imports this, and Numba with it, at a kernel's first call."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

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

from numba import extending, types
from numba.core import event

VERSION: str = numba.__version__

# Versions of Numba with which the shorter compilation was tested; others use Numba's own.
_KNOWN = ("0.68.",)

# IEEE-strict, without the GIL and without bounds checks.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_short = VERSION.startswith(_KNOWN)
if _short:
    from .compiler import KernelCompiler
    from .disk_cache import kept

    # Kernels allocate nothing, so no reference counting is needed.
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


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Return the dispatcher of a kernel.

    Parameters
    ----------
    function : callable
        The kernel in Python.
    **options
        More options of Numba's ``njit``.

    Returns
    -------
    Dispatcher
    """
    dispatcher = numba.njit(**_OPTIONS, **options)(function)
    if _short:
        dispatcher._cache = kept(function)
    return dispatcher


def helper(function: Callable[..., Any]) -> Any:
    """Return the dispatcher of a helper, which Python can't call."""
    return compiled(function, no_cpython_wrapper=True, forceinline=True)


def intrinsic(function: Callable[..., Any], result: str, arguments: tuple[str, ...]) -> Any:
    """Return Numba's intrinsic of a helper that writes LLVM's instructions (:func:`.jit.intrinsic`).

    Parameters
    ----------
    function : callable
        Takes llvmlite's ``IRBuilder`` and the values of the arguments; returns the value of the result.
    result : str
        The type it returns: a name of :mod:`numba.types`.
    arguments : tuple of str
        Those of its arguments; ``"array"`` is any array, of which it gets the pointer to the first item.

    Returns
    -------
    callable
        What kernels call.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        plain = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, values, strict=True)
        ]
        made = function(builder, *plain)
        return context.get_dummy_value() if signature.return_type == types.void else made

    def typed(context: Any, *given: Any) -> Any:
        wanted = (kind if name == "array" else getattr(types, name) for name, kind in zip(arguments, given))
        return getattr(types, result)(*wanted), generate

    # Numba takes the names of the arguments from here: all but the first, its context.
    typed.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    typed.__name__ = function.__name__
    return extending.intrinsic(typed)
