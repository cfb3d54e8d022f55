"""Source files on this machine: where a recorded file is, and the comment about a function in it."""

from __future__ import annotations

import re
import stat
from functools import lru_cache
from pathlib import Path

#: Larger files are not searched for comments; a definition takes this many lines at most.
_LARGEST, _BELOW = 4 << 20, 30
#: Maximum number of characters of a comment.
_LONGEST = 100
#: Lines that stand between a comment and its function, such as decorators and annotations.
_BETWEEN = re.compile(r"\s*(?:@|#\[|\[\[|template\b)")
_COMMENT = re.compile(r"\s*(?:#(?!include|define|if|end|else|pragma|!)|//|/\*|\*|--|;)")
_MARKS = re.compile(r"^[\s#/*!;-]+|[\s*/-]+$")
_QUOTES = re.compile(r"\s*[rRuU]?(\"\"\"|'''|\"|')(.*)")
_TAG = re.compile(r"<[^>]*>|[@\\]brief\s+")


def find_file(recorded: str, folder: str, beside: str) -> Path | None:
    """Return where a recorded source file is on this machine.

    It is looked for where the trace says, then under ``folder`` and beside the trace, by as much of the end
    of its path as is found there.

    Parameters
    ----------
    recorded : str
        As the trace has it, in the style of the system that recorded it.
    folder, beside : str
        May be empty.

    Returns
    -------
    Path or None
        None if it is not here.
    """
    if not recorded:
        return None
    try:
        if Path(recorded).is_file():
            return Path(recorded)
        parts = recorded.replace("\\", "/").split("/")
        for root in filter(None, (folder, beside)):
            for first in range(len(parts)):
                tail = [part for part in parts[first:] if part not in ("", ".", "..")]
                if tail and (found := Path(root, *tail)).is_file():
                    return found
    except (OSError, ValueError):
        return None  # not a valid file name on this system
    return None


def comment_in(recorded: str, line: int, folder: str, beside: str) -> str:
    """Return the first line of the comment or docstring of a function.

    Unlike :func:`find_file` it asks no other machine: the path is from a trace, and nobody chose to open it.

    Parameters
    ----------
    recorded : str
        The file as the trace has it.
    line : int
        Where the function begins, from 1.
    folder, beside : str
        As for :func:`find_file`.

    Returns
    -------
    str
        Empty if there is none, or the file is not here.
    """
    if line < 1 or recorded.startswith(("\\\\", "//")):
        return ""
    file = find_file(recorded, folder, beside)
    if file is None:
        return ""
    try:
        known = file.stat()
    except OSError:
        return ""
    if not stat.S_ISREG(known.st_mode) or known.st_size > _LARGEST:
        return ""
    return _first_line(_lines(str(file), known.st_mtime_ns, known.st_size), line)


@lru_cache(maxsize=8)
def _lines(file: str, changed: int, size: int) -> tuple[str, ...]:
    """Return the lines of a file in its present state."""
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            return tuple(text.read(_LARGEST).splitlines())
    except OSError:
        return ()


def _first_line(lines: tuple[str, ...], line: int) -> str:
    if line > len(lines):
        return ""
    at = line - 1
    while at and _BETWEEN.match(lines[at - 1]):
        at -= 1
    block: list[str] = []
    while at and _COMMENT.match(lines[at - 1]):
        at -= 1
        block.insert(0, lines[at])
    said = next(filter(None, map(_plain, block)), "")
    return said or _docstring(lines, line - 1)


def _docstring(lines: tuple[str, ...], at: int) -> str:
    """Return the first line of a Python function's docstring; its definition may take several lines."""
    for i in range(at, min(at + _BELOW, len(lines))):
        if _BETWEEN.match(lines[i]) or not lines[i].split("#")[0].rstrip().endswith(":"):
            continue
        below = [text for text in lines[i + 1 : i + 4] if text.strip()]
        match = _QUOTES.match(below[0]) if below else None
        if match is None:
            return ""
        quotes, text = match[1], match[2].partition(match[1])[0]
        if not text.strip() and len(quotes) == 3 and len(below) > 1:
            text = below[1].partition(quotes)[0]
        return _plain(text)
    return ""


def _plain(text: str) -> str:
    """Return a line of a comment without its marks."""
    said = " ".join(_MARKS.sub("", _TAG.sub("", text)).split())
    if not re.search(r"\w", said):
        return ""
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
