"""The cell magic ``%%trace``. Traces and figures show themselves in any notebook, without it."""

from __future__ import annotations

import shlex
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from .. import api
from ..errors import TraceVisError, UsageError
from ..record import record
from ..trace.model import Trace

_WORDS = "%%trace [NAME] [--view VIEW] [--memory] [--c-functions] [--no-figure]"


def load_ipython_extension(shell: Any) -> None:
    """Add ``%%trace`` to IPython: what ``%load_ext tracevis3d`` calls.

    Parameters
    ----------
    shell : IPython.InteractiveShell
    """

    def trace(line: str, cell: str) -> None:
        """Record a cell: see :func:`recorded`."""
        try:
            found, view, has_figure = recorded(line, cell, shell)
        except TraceVisError as error:
            print(error)
            return
        from IPython.display import display

        display(found)
        if has_figure and len(found.calls):
            display(api.view(view, found))

    shell.register_magic_function(trace, "cell", "trace")


def recorded(line: str, cell: str, shell: Any) -> tuple[Trace, str, bool]:
    """Run a cell and record it.

    Parameters
    ----------
    line : str
        What stands behind ``%%trace``: a name that the trace gets (``trace`` by default), and options.
    cell : str
        The code.
    shell : IPython.InteractiveShell

    Returns
    -------
    (Trace, str, bool)
        The trace, the view to show it in, and whether to show it.

    Raises
    ------
    UsageError
        If an option is unknown.
    """
    parser = ArgumentParser(prog="%%trace", add_help=False, exit_on_error=False)
    parser.add_argument("name", nargs="?", default="trace")
    parser.add_argument("--view", default="icicle")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--c-functions", action="store_true")
    parser.add_argument("--no-figure", action="store_true")
    try:
        words, others = parser.parse_known_args(shlex.split(line))
    except Exception as error:
        raise UsageError(f"%%trace: {error}; {_WORDS} is expected") from None
    if others or not words.name.isidentifier():
        raise UsageError(f"%%trace {line.strip()}: {_WORDS} is expected")
    with tempfile.TemporaryDirectory(prefix="tracevis3d-") as folder:
        path = str(Path(folder) / f"{words.name}.json.gz")
        with record(path, memory=words.memory, c_functions=words.c_functions):
            result = shell.run_cell(cell)
        found = api.load(path, cache=False)
    shell.user_ns[words.name] = found
    result.raise_error()
    return found, words.view, not words.no_figure
