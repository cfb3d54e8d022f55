"""A command of the command line, as the program and views declare it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse


@dataclass(frozen=True)
class Command:
    """A command: the first word after ``tracevis3d``.

    Attributes
    ----------
    name : str
        The word.
    sentence : str
        What it does, in half a sentence that begins with a verb in lower case, for the help.
    add : callable
        ``add(parser)`` declares its arguments on an :class:`argparse.ArgumentParser`.
    run : callable
        ``run(words)`` does it, with what the parser read; it raises
        :class:`~tracevis3d.errors.TraceVisError` if that can't be.
    """

    name: str
    sentence: str
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]


def in_modules(package: str, sentences: Mapping[str, str]) -> tuple[Command, ...]:
    """Return commands that are modules of a package, imported when they are used.

    A module has ``add`` and ``run``, and may have ``EXAMPLES``, which are shown below its help.

    Parameters
    ----------
    package : str
        Its full name.
    sentences : mapping of str to str
        Module -> sentence; the last part of a module's name is the command's.

    Returns
    -------
    tuple of Command
    """
    return tuple(_in_module(package, module, sentence) for module, sentence in sentences.items())


def _in_module(package: str, module: str, sentence: str) -> Command:
    def loaded() -> Any:
        return import_module(f"{package}.{module}")

    return Command(
        module.rpartition(".")[2],
        sentence,
        lambda parser: _declare(loaded(), parser),
        lambda words: loaded().run(words),
    )


def _declare(module: Any, parser: argparse.ArgumentParser) -> None:
    module.add(parser)
    if examples := getattr(module, "EXAMPLES", ()):
        heading = "example" if len(examples) == 1 else "examples"
        parser.epilog = "\n".join([f"{heading}:", *(f"  {example}" for example in examples)])
        parser.epilog = parser.epilog.replace("%", "%%")
