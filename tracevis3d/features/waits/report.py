"""A report of what is found about waits: a picture of each of the first findings, with its sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...atomic import write_text
from ...drawing.output import Output
from ...errors import InputError
from ...progress import Progress, part, silent
from ...trace.model import Trace
from .view.found_waits import findings_of, waits_of
from .view.parameters import Parameters
from .view.view import VIEW

#: Findings that get a picture, and how many of a kind: the first ones matter.
_MOST, _MOST_OF_KIND = 5, 2


def write_report(
    trace: Trace,
    facts: dict[str, Any],
    folder: str,
    output: Output,
    rules: str = "",
    progress: Progress = silent,
) -> list[Path]:
    """Write ``report.md``, ``waits.json`` and a picture of each of the first five findings.

    Parameters
    ----------
    trace : Trace
    facts : dict
        As :func:`.summary.summary` returns them.
    folder : str
        Is made if there is none.
    output : Output
        Size and look of the pictures.
    rules : str
        Rule files, with commas between them.
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
    from ...scene.output.produce import produce

    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the folder can't be made: {error.strerror}") from error
    found = findings_of(waits_of(trace, rules), rules)
    chosen: list[int] = []
    for i, finding in enumerate(found):
        alike = sum(found[k].kind == finding.kind for k in chosen)
        if len(chosen) < _MOST and alike < _MOST_OF_KIND:
            chosen.append(i)
    parts = [f"# Waits in {trace.source.name}"]
    written = [place / "report.md", place / "waits.json"]
    for number, i in enumerate(chosen):
        name = f"{number + 1:02}-{found[i].kind.replace('/', '').replace(' ', '-')}.png"
        mine = part(progress, number / len(chosen), (number + 1) / len(chosen))
        parameters = Parameters(finding=i + 1, rules=rules)
        drawing = VIEW.draw([trace], parameters, output.frame, part(mine, 0.0, 0.3))
        produce(drawing, place / name, output, progress=part(mine, 0.3, 1.0))
        written.append(place / name)
        parts += [f"## {number + 1}. {found[i].title}", f"![{found[i].title}]({name})"]
        parts.append(f"{found[i].sentence} ({found[i].how}).")
    if not chosen:
        parts.append("Nothing remarkable was found.")
    elif len(chosen) < len(found):
        parts.append(f"{len(found) - len(chosen):,} more findings are in waits.json.")
    write_text(written[0], "\n\n".join(parts) + "\n")
    write_text(written[1], json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    return written
