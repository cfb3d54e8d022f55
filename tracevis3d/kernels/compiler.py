"""How kernels are compiled: Numba's way from Python to LLVM, without the steps that scalar loops don't need.

It about halves the time that compiling takes, most of which Numba spends in Python:

- The passes for closures, with-blocks, array expressions, overloads inlined by Numba, exceptions and generic
  rewriting are left out. Kernels have none of that.
- What a function (most often an operator) makes of arguments of some types is asked hundreds of times for
  few different answers, each found by trying dozens of templates. Here each is found once.
- The garbage collector waits meanwhile.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import types
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, IRProcessing, ReconstructSSA, TranslateByteCode

_PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
)


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """The pipeline of :func:`.jit.kernel` and :func:`.jit.inline`."""

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("kernel")
        for step in _PASSES:
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]

    def compile_extra(self, function: Any) -> Any:
        with _answers_kept(), _no_collection():
            return super().compile_extra(function)


#: (Function, context, types of arguments) -> signature.
_answers: dict[Any, Any] = {}


@contextmanager
def _answers_kept() -> Iterator[None]:
    """Let Numba type each function once for arguments of the same types.

    Numba compiles under a lock of its own, so other threads don't meet the change.
    """
    owner: Any = types.BaseFunction
    ask = owner.get_call_type

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws:
            return ask(function, context, args, kws)
        question = (function, context, tuple(args))
        answer = _answers.get(question)
        if answer is None:
            answer = _answers[question] = ask(function, context, args, kws)
        return answer

    if ask.__module__ == __name__:  # a helper, compiled for a kernel that is being compiled
        yield
        return
    owner.get_call_type = get_call_type
    try:
        yield
    finally:
        owner.get_call_type = ask


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector from walking over all that a compiler makes, repeatedly."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
