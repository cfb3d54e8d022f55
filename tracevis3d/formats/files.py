"""Trace files: reading one of any format, and writing one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..machine.bounds import check_regular
from ..places import check_folder
from ..progress import Progress, silent
from ..trace.model import TABLES, Trace
from ..trace.storage.cache import load_cached
from . import registry

if TYPE_CHECKING:
    from .registry import Format

#: Tables that every written format contains.
_ALWAYS = ("calls", "functions", "containers", "threads")
#: What rows of tables are called.
_ROWS = {"sync": "waits and releases", "memory": "allocations and frees"}


def load(path: str | os.PathLike[str], *, cache: bool = True, progress: Progress = silent) -> Trace:
    """Read a recorded trace; its format is found by its content.

    Parameters
    ----------
    path : path
        A file, or a folder for formats that are folders.
    cache : bool
        Keep the loaded trace under the user's cache folder, and use it if it exists.
    progress : Progress

    Returns
    -------
    Trace
        What had to be repaired or left out is in ``trace.problems``.

    Raises
    ------
    InputError
        If nothing can be read from it; the sentence names the place and the reason.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> trace = tv.load("run.tsv")
    >>> len(trace.calls), trace.functions.name[0]
    (4, 'main')
    """
    check_regular(Path(path))
    if not cache:
        return registry.open_trace(path, progress)
    return load_cached(path, lambda: registry.open_trace(path, progress))


def check_writable(path: str | os.PathLike[str], packed: bool = False) -> Format:
    """Return the format that ``path`` would be written in.

    Parameters
    ----------
    path : path
        The file to be.
    packed : bool
        Whether the small form is wanted.

    Returns
    -------
    Format

    Raises
    ------
    UsageError
        If no format that can be written has its suffix, or if only .tv3 has what is requested.
    InputError
        If its folder is missing or can't be written to.

    Examples
    --------
    >>> check_writable("run.tv3").name
    'tv3'
    """
    form = registry.for_writing(path)
    if packed and form.name != "tv3":
        raise UsageError(f"{path}: --packed is only for .tv3")
    check_folder(Path(path) / "table" if form.is_folder and Path(path).is_dir() else path)
    return form


def save(
    trace: Trace, path: str | os.PathLike[str], *, packed: bool = False, progress: Progress = silent
) -> list[str]:
    """Write a trace in the format that the suffix of a path names.

    Parameters
    ----------
    trace : Trace
    path : path
    packed : bool
        For .tv3: small rather than instantly loaded.
    progress : Progress

    Returns
    -------
    list of str
        A sentence for each part of the trace that the format can't represent.

    Raises
    ------
    UsageError
        If no format that can be written has this suffix.
    InputError
        If the file can't be written.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> tv.save(tv.load("run.tsv"), "run.tv3")
    []
    """
    form = check_writable(path, packed)
    assert form.write is not None
    form.write(trace, Path(path), progress, **({"packed": True} if packed else {}))
    lost = [name for name in TABLES if name not in (*_ALWAYS, *form.holds) and len(getattr(trace, name))]
    parts = [f"{len(getattr(trace, name)):,} {_ROWS.get(name, name)}" for name in lost]
    if form.loses and len(trace.calls):
        parts.insert(0, form.loses)
    return [f"{part} are left out: {form.title} can't hold them" for part in parts]
