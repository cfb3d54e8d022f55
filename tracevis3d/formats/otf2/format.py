"""OTF2 archives (Score-P and others), through the Python module ``otf2``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError, MissingDependency, Unreadable
from ...progress import Progress
from .. import names, registry

if TYPE_CHECKING:
    from ...trace.model import Trace

#: First bytes of an archive's anchor file.
_MAGIC = b"\x03\x42OTF2"
_ENDING = ".otf2"


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are an archive's anchor, or a folder's entries an archive.

    Parameters
    ----------
    head : bytes
        The first bytes, or the names in a folder, one a line.
    name : str
        The file's, in lower case; a folder's with ``/`` at its end.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    if name.endswith("/"):
        anchors = [entry for entry in head.split(b"\n") if entry.endswith(_ENDING.encode())]
        return registry.SURE if anchors else registry.NO
    return registry.SURE if head.startswith(_MAGIC) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read an archive by its anchor (``traces.otf2``) or the folder that this lies in.

    Parameters
    ----------
    path : Path
        The anchor, or its folder.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    MissingDependency
        If the module ``otf2`` is not installed.
    InputError, Unreadable
        If the library can't read the archive, or there is no event in it.
    """
    if find_spec("otf2") is None:
        raise MissingDependency(
            f"{path}: OTF2 is read with its own library: install it with 'pip install otf2', "
            "or on Debian and Ubuntu 'apt-get install python3-otf2'"
        )
    from ...trace.model import Source
    from ...trace.recording import Recording
    from .archive import read_archive
    from .events import fill

    anchor = _anchor(path)
    if not anchor.with_suffix(".def").exists():
        raise InputError(f"{path}: {anchor.stem}.def, which belongs to it, is missing: copy the whole folder")
    archive = read_archive(anchor, progress)
    if not len(archive.rows):
        reason = f": {archive.broken}" if archive.broken else ""
        raise Unreadable(f"{path}: there is no event in this archive that can be read{reason}")
    recording = Recording()
    if archive.broken:
        recording.problems.add("truncated", f"event {len(archive.rows):,}: {archive.broken}")
    progress(0.8, "building calls")
    place = fill(recording, archive)
    return recording.finish(Source(), names.split, place)


def _anchor(path: Path) -> Path:
    if not path.is_dir():
        return path
    anchors = sorted(path.glob(f"*{_ENDING}"))
    if len(anchors) != 1:
        raise InputError(f"{path}: holds {len(anchors)} archives: name the file *{_ENDING} of one")
    return anchors[0]


FORMAT = registry.Format(
    name="otf2",
    title="OTF2 archive",
    suffixes=(_ENDING,),
    sniff=sniff,
    read=read,
    is_folder=True,
    programs="Score-P and others (needs the package `otf2`)",
    recipe=("scorep gcc -o program program.c; SCOREP_ENABLE_TRACING=true ./program",),
    left_out="metrics and messages of MPI",
)
