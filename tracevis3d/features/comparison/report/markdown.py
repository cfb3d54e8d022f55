"""A report in Markdown: the findings, with figures and the commands that draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from ....drawing.output import Output
from ....units import duration, percentage, printable
from ..findings.evidence import Finding
from ..findings.find import KINDS
from .explained import Explained
from .sentences import sentence

#: Explanations of the certainty of findings.
_SURE = {
    "likely": "likely; it is based on few calls, or on similarity",
    "unsure": "unsure; it was seen once, so the machine may be the cause",
}


def report(story: Explained, output: Output, *, figures: bool, scene: bool, size: str | None = None) -> str:
    """Return the report's text.

    Parameters
    ----------
    story : Explained
    output : Output
        How figures are drawn.
    figures : bool
        Whether there is a figure of each finding.
    scene : bool
        Whether there is a scene with viewpoints.
    size : str, optional
        Of figures, as text; None: the usual one.

    Returns
    -------
    str
    """
    a, b = story.traces
    names = [_quotable(trace.source.path) or f"trace {name}" for trace, name in zip((a, b), "AB")]
    found: list[Finding] = [_quotable(finding) for finding in story.findings.found]
    parts = [
        "# What differs between two runs",
        table(
            [
                (name, f"`{path}`", f"{len(t.calls):,}", f"{len(t.functions):,}", duration(t.span_ns))
                for name, path, t in zip("AB", names, (a, b))
            ],
            ("", "file", "calls", "functions", "time"),
        ),
    ]
    rows = [(str(i), KINDS[f.kind], _score(f), sentence(f)) for i, f in enumerate(found, 1)]
    parts.append(table(rows, ("", "kind", "share", "finding")))
    if story.findings.left_out:
        more = story.findings.left_out
        parts.append(f"{more:,} smaller finding{'s are' if more > 1 else ' is'} left out.")
    if scene:
        parts.append(
            "`story.blend` holds the whole comparison with a camera for each finding: go from marker to "
            "marker in the timeline."
        )
    for i, finding in enumerate(found):
        parts.append(_section(story, i, finding, output, figures, size))
    parts.append(_method(story))
    return "\n\n".join(parts) + "\n"


def table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> str:
    """Return a table in Markdown.

    Parameters
    ----------
    rows : sequence of sequence of str
        Each as long as the header.
    header : sequence of str
        The texts above the columns.

    Returns
    -------
    str
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _quotable(value: Any) -> Any:
    """Return a text, or a container of texts, in which names can't end the backticks around them.

    Names come from recordings: Markdown obeys nothing between backticks but another one and the line's end.
    """
    if isinstance(value, str):
        return printable(value.replace("`", "'"))
    if isinstance(value, (list, tuple)):
        return type(value)(_quotable(item) for item in value)
    if isinstance(value, dict):
        return {key: _quotable(item) for key, item in value.items()}
    if isinstance(value, Finding):
        texts = {field.name: _quotable(getattr(value, field.name)) for field in fields(value)}
        return replace(value, **texts)
    return value


def _score(finding: Finding) -> str:
    return percentage(finding.score) if finding.score else "–"


def _section(
    story: Explained, index: int, finding: Finding, output: Output, figures: bool, size: str | None
) -> str:
    parts = [f"## {index + 1}. {_heading(finding)}", sentence(finding)]
    if finding.path:
        parts.append("Call path: " + " › ".join(f"`{name}`" for name in finding.path))
    if finding.certainty != "certain":
        parts.append(f"How sure this is: {_SURE[finding.certainty]}.")
    rows = _figures(finding)
    if rows:
        parts.append(table(rows, ("", "A", "B")))
    if finding.kind == "moved":
        parts.append(_parts(finding))
    if figures:
        name = story.names[index]
        parts.append(f"![{_heading(finding)}]({name})")
        parts.append(f"```\n{_quotable(story.command(index, output, size))}\n```")
    return "\n\n".join(parts)


def _heading(finding: Finding) -> str:
    names = [name for name in dict.fromkeys(finding.functions) if name]
    return KINDS[finding.kind] + (": " + ", ".join(f"`{name}`" for name in names) if names else "")


def _figures(finding: Finding) -> list[tuple[str, str, str]]:
    rows = []
    if finding.kind == "offset":
        rows.append(("wait", *(duration(ns) for ns in finding.time_ns)))
    else:
        if any(finding.calls):
            rows.append(("calls", *(f"{n:,}" for n in finding.calls)))
        if any(finding.below):
            rows.append(("calls, with all below", *(f"{n:,}" for n in finding.below)))
        rows.append(("time", *(duration(ns) for ns in finding.time_ns)))
    spans = [f"{duration(s[0])} to {duration(s[1])}" if s else "–" for s in finding.ranges]
    rows.append(("between", *spans))
    rows.append(("longest call", *(f"#{call:,}" if call >= 0 else "–" for call in finding.examples)))
    if finding.group:
        rows.append(("root of the match group", *(f"#{call:,}" for call in finding.group)))
    return [(row[0], row[1], row[2]) for row in rows]


def _parts(finding: Finding) -> str:
    rows = [
        (
            name,
            f"`{part['function']}`",
            f"{part['calls']:,}",
            duration(part["time_ns"]),
            f"{part['below']:,}",
            "`" + " > ".join(part["path"][-3:-1]) + "`",
        )
        for name, side in zip("AB", finding.details["parts"])
        for part in side
    ]
    return table(rows, ("trace", "function", "calls", "time", "calls, with all below", "below"))


def _method(story: Explained) -> str:
    comparison, evidence = story.comparison, story.findings.evidence
    return (
        "## How this was found\n\n"
        f"Functions are the same by {comparison.identity.reason}. Calls match above a similarity "
        f"of {float(comparison.settings.tau):g} ({comparison.settings.measure}). The share of a finding is "
        "its share of the longer run's time, or of the larger run's calls, whichever is larger. Call "
        f"paths that both runs have take {evidence.pace:.2f} times as long in B; half of them are within "
        f"{percentage(math.expm1(evidence.noise))} of that. A longer or shorter time is reported where it is "
        "beyond both this and the largest change that falls on a single path in the other direction."
    )
