"""A caption for below a figure: what is seen, how it is drawn, what is left out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..atomic import write_text
from ..errors import UsageError
from ..places import check_folder
from ..units import printable

SUFFIXES = (".tex", ".md", ".txt")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "µ": r"\textmu{}",
    **{letter: f"\\{letter}" for letter in "#$%&_{}"},
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")


def sentences(title: str, how: str, notes: Iterable[str]) -> str:
    """Return the caption: the title, how it is drawn, and the notes, as sentences.

    Parameters
    ----------
    title : str
        What is to be seen.
    how : str
        What the view shows, without a full stop.
    notes : iterable of str
        What is left out, and similar.

    Returns
    -------
    str
    """
    return " ".join(_sentence(text) for text in (title, how, *notes) if text.strip())


def _sentence(text: str) -> str:
    text = printable(" ".join(text.split()))
    text = text[0].upper() + text[1:] if text[:1].islower() and "." not in text.split()[0] else text
    return text if text.endswith((".", "!", "?")) else f"{text}."


def check(path: str | os.PathLike[str]) -> None:
    """Raise if a caption can't be written to ``path``.

    Parameters
    ----------
    path : path

    Raises
    ------
    UsageError
        If it has none of :data:`SUFFIXES`.
    InputError
        If the folder is missing or can't be written to.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise UsageError(f"--caption {path}: one of {', '.join(SUFFIXES)} is expected")
    check_folder(path)


def write(path: str | os.PathLike[str], text: str) -> None:
    """Write a caption, as LaTeX, Markdown or plain text by the suffix.

    Parameters
    ----------
    path : path
    text : str
        Of :func:`sentences`.

    Raises
    ------
    UsageError, InputError
        As :func:`check`.
    """
    check(path)
    suffix = Path(path).suffix.lower()
    if suffix == ".tex":
        text = "\\caption{" + "".join(_LATEX.get(letter, letter) for letter in text) + "}"
    elif suffix == ".md":
        text = _MARKDOWN.sub(r"\\\1", text)
    write_text(path, text + "\n")
