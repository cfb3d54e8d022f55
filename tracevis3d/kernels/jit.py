"""How kernels are declared.

Kernels are compiled on first use (see :mod:`.compiler`) and cached on disk; Numba is imported then, too, so
that modules with kernels load quickly. To compile in a fraction of a second each they take preallocated
buffers, use scalar loops only (nothing that allocates, raises or is an array expression) and are always
called with the same dtypes. What a kernel passes to its helpers is of the same types wherever it calls them,
too: a plain ``1`` and ``np.int64(1)`` are not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from threading import RLock
from types import CodeType
from typing import Any, Concatenate, ParamSpec, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
Writes = Callable[Concatenate[Any, P], Any]

# Numba's own import and all that kernels are made of: threads may make their first calls at once.
_making = RLock()


def kernel(function: F) -> F:
    """Compile ``function`` with Numba when it is first called; the result is cached on disk."""
    return _LazyKernel(function, "compiled")  # type: ignore[return-value]


def inline(function: F) -> F:
    """Compile a helper that kernels alone call; LLVM inlines it. It can't be called from Python."""
    return _LazyKernel(function, "helper")  # type: ignore[return-value]


def intrinsic(result: str, *arguments: str) -> Callable[[Writes[P]], Callable[P, Any]]:
    """Declare a helper of kernels that writes LLVM's instructions itself.

    Parameters
    ----------
    result : str
        The type it returns: a name of :mod:`numba.types`.
    *arguments : str
        Those of its arguments. ``"array"`` is any contiguous array, which arrives as a pointer to its first
        item.

    Returns
    -------
    callable
        Decorates a function of llvmlite's ``IRBuilder`` and the arguments' values (see :mod:`.llvm`).
    """

    def declare(function: Writes[P]) -> Callable[P, Any]:
        return _LazyKernel(function, "intrinsic", result, arguments)  # type: ignore[return-value]

    return declare


class _LazyKernel:
    """A function until it is first called, then Numba's dispatcher of it.

    ``__call__`` is a slot, which Python looks up in C: calling through it costs some 20 ns.
    """

    __slots__ = ("__call__", "__dict__")

    def __init__(self, function: Callable[..., Any], how: str, *declared: Any) -> None:
        functools.update_wrapper(self, function)
        self._function, self._how, self._declared = function, how, declared
        self._made: Any = None
        self.__call__ = self._first_call

    def __getattr__(self, name: str) -> Any:
        """Return what the dispatcher has: ``signatures``, ``stats``, ``py_func``."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._dispatcher(), name)

    def _first_call(self, *arguments: Any) -> Any:
        return self._dispatcher()(*arguments)

    def _dispatcher(self) -> Any:
        with _making:
            if self._made is None:
                from . import dispatchers

                self._made = getattr(dispatchers, self._how)(self._function, *self._declared)
                _make_helpers(self._function)
                self.__call__ = self._made
        return self._made


def _make_helpers(function: Callable[..., Any]) -> None:
    """Put dispatchers in place of the kernels that ``function`` names: Numba reads them from its globals."""
    known: dict[str, Any] = function.__globals__
    for name in _names(function.__code__):
        if isinstance(value := known.get(name), _LazyKernel):
            known[name] = value._dispatcher()
    for cell in function.__closure__ or ():
        if isinstance(cell.cell_contents, _LazyKernel):
            cell.cell_contents = cell.cell_contents._dispatcher()


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
