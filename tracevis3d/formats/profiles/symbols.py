"""samply's symbols: ``run.json.syms.json`` beside ``run.json.gz``, names of addresses in libraries.

Source: https://github.com/mstange/samply, ``samply record --unstable-presymbolicate``.
"""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import Unreadable
from ...progress import silent
from ...trace.storage.known_files import SYMBOLS
from .documents import fields_of, items_of, read_json, text_of, whole_of

if TYPE_CHECKING:
    from ...trace.problems import Problems


class Symbols:
    """Names of functions by library and address.

    Parameters
    ----------
    path : Path
        The profile; there may be no file of symbols beside it.
    problems : Problems
    """

    def __init__(self, path: Path, problems: Problems) -> None:
        #: Identity of a library -> its functions' first addresses, and ``(end, name, file)`` of each.
        self._of: dict[str, tuple[list[int], list[tuple[int, str, str]]]] = {}
        there = path.with_suffix(SYMBOLS)
        if not there.is_file():
            return
        try:
            said = fields_of(read_json(there, problems, "file of symbols", silent))
        except Unreadable as error:
            problems.add("malformed", f"the symbols beside it: {error}")
            return
        texts = items_of(said.get("string_table"))
        for library in map(fields_of, items_of(said.get("data"))):
            rows = sorted(_row(fields_of(one), texts) for one in items_of(library.get("symbol_table")))
            self._of[_identity(library.get("debug_id"))] = [row[0] for row in rows], [row[1:] for row in rows]

    def find(self, breakpad_id: Any, address: int) -> tuple[str, str]:
        """Return name and file of the function at an address; empty texts if nothing says.

        Parameters
        ----------
        breakpad_id : object
            The library's, as the profile has it.
        address : int
            Relative to the library's first one.

        Returns
        -------
        (str, str)
        """
        starts, rows = self._of.get(_identity(breakpad_id), ([], []))
        at = bisect_right(starts, address) - 1
        return rows[at][1:] if at >= 0 and address < rows[at][0] else ("", "")


def _identity(said: Any) -> str:
    """Return a library's identity in one form: without dashes, without the age behind its 32 digits."""
    return text_of(said).replace("-", "").lower()[:32]


def _row(said: dict[str, Any], texts: list[Any]) -> tuple[int, int, str, str]:
    """Return where a function begins and ends, its name and its file."""
    start = whole_of(said.get("rva"), -1)
    # Of functions that were inlined into it the first are named first.
    frames = items_of(said.get("frames"))
    file = fields_of(frames[-1]).get("file") if frames else None
    name, path = (
        text_of(texts[at]) if isinstance(at, int) and 0 <= at < len(texts) else ""
        for at in (said.get("symbol"), file)
    )
    return start, start + max(whole_of(said.get("size")), 1), name, path
