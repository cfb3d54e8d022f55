"""TraceVis3D's own files: a trace's columns as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..trace.model import TABLES
from ..trace.storage import store
from ..trace.storage.container import MAGIC
from .registry import NO, SURE, Format

if TYPE_CHECKING:
    from pathlib import Path

    from ..progress import Progress
    from ..trace.model import Trace


def sniff(head: bytes, name: str) -> float:
    """See :attr:`~.registry.Format.sniff`.

    Parameters
    ----------
    head : bytes
        The first bytes.
    name : str
        The file's, in lower case.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    return SURE if head.startswith(MAGIC) else NO


def read(path: Path, progress: Progress) -> Trace:
    """See :attr:`~.registry.Format.read`.

    Parameters
    ----------
    path : Path
        The file.
    progress : Progress

    Returns
    -------
    Trace
    """
    progress(0.0, "reading columns")
    return store.load(path)


def write(trace: Trace, path: Path, progress: Progress, *, packed: bool = False) -> None:
    """Write every column; ``packed`` makes the file a few times smaller and slower to load.

    Parameters
    ----------
    trace : Trace
    path : Path
        The file.
    progress : Progress
    packed : bool
        Whether the columns are packed.
    """
    progress(0.0, "writing columns")
    store.save(trace, path, packed)


FORMAT = Format(
    "tv3",
    "TraceVis3D columns",
    (".tv3",),
    sniff,
    read,
    write,
    holds=TABLES,
    programs="`tracevis3d convert`: columns that are opened without reading",
    recipe=("tracevis3d convert run.json.gz run.tv3",),
)
