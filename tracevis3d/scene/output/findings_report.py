"""A report of findings: a picture of each of the first, with its sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...atomic import write_text
from ...drawing.output import Output
from ...errors import InputError
from ...progress import Progress, part, silent
from ...units import printable
from ...web.report import ReportedFinding, with_pictures
from .produce import produce

#: What Markdown obeys within a line; an underscore within a word is none of it.
_ACTIVE = re.compile(r"[\\`*<>\[\]|&~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^(?:[#+-]|\d+(?=\.))")


def write_report(
    folder: str,
    heading: str,
    found: Sequence[ReportedFinding],
    facts: dict[str, Any],
    facts_name: str,
    output: Output,
    progress: Progress = silent,
) -> list[Path]:
    """Write ``report.md``, the facts, and a picture of each of the first five findings.

    Parameters
    ----------
    folder : str
        Is made if there is none.
    heading : str
        The report's first line.
    found : sequence of ReportedFinding
        All findings, the most important first.
    facts : dict
        What is written as JSON.
    facts_name : str
        The name of that file.
    output : Output
        Size and look of the pictures.
    progress : Progress

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    InputError
        If the folder can't be written to.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the folder can't be made ({error.strerror}): choose another") from error
    chosen = with_pictures(found)
    parts = [f"# {escaped(heading)}"]
    written = [place / "report.md", place / facts_name]
    for i, one in enumerate(chosen):
        name = f"{i + 1:02}-{one.kind.replace('/', '').replace(' ', '-')}.png"
        mine = part(progress, i / len(chosen), (i + 1) / len(chosen))
        produce(one.draw(part(mine, 0.0, 0.3)), place / name, output, progress=part(mine, 0.3, 1.0))
        written.append(place / name)
        title = escaped(one.title)
        parts += [f"## {i + 1}. {title}", f"![{title}]({name})", escaped(one.sentence)]
    if not chosen:
        parts.append("Nothing remarkable was found.")
    elif len(chosen) < len(found):
        parts.append(f"{len(found) - len(chosen):,} more findings are in {facts_name}.")
    write_text(written[0], "\n\n".join(parts) + "\n")
    write_text(written[1], json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    return written


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, in one line: names come from recordings.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        What can't be shown is U+FFFD.
    """
    shown = printable(" ".join(text.split()))
    return _ACTIVE.sub(r"\\\g<0>", shown)
