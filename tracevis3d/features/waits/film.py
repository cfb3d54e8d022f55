"""The findings about waits as a film."""

from __future__ import annotations

from ...stories.findings_film import MOST, FilmedFinding, story_of_findings
from ...stories.story import Picture, Selection, Story
from ...trace.model import Trace
from ...units import counted, duration
from .findings.finding import Finding
from .view.found_waits import findings_of, waits_of

#: Findings of one kind that a film tells.
_MOST_OF_KIND = 2
#: What takes more of the time is everywhere.
_EVERYWHERE = 0.6


def story_of(trace: Trace, file: str, rules: str = "") -> Story:
    """Return the story of the three most important findings.

    Parameters
    ----------
    trace : Trace
    file : str
        Where it was read from.
    rules : str
        Rule files, with commas between them.

    Returns
    -------
    Story
    """
    waits = waits_of(trace, rules)
    all_found = findings_of(waits, rules)
    settings = (("rules", rules),) if rules else ()
    name = trace.source.title
    whole = Picture("threads", (file,), settings, title=f"{name}: {counted(len(trace.threads), 'thread')}")
    chosen: list[int] = []
    for i, one in enumerate(all_found):
        if len(chosen) < MOST and sum(all_found[k].kind == one.kind for k in chosen) < _MOST_OF_KIND:
            chosen.append(i)
    found = [
        FilmedFinding(
            f"{n}. {all_found[i].title}",
            f"{all_found[i].sentence[:1].upper()}{all_found[i].sentence[1:]}.",
            Picture("threads", (file,), (*settings, ("finding", f"{i + 1}"))),
            _place(trace, all_found[i]),
        )
        for n, i in enumerate(chosen, 1)
    ]
    waiting = counted(len(waits.own), "wait")
    opening = f"{name}: {duration(trace.span_ns)} of {counted(len(trace.threads), 'thread')}, with {waiting}."
    more = len(all_found) - len(found)
    closing = f"{counted(more, 'more finding')} in the report." if more else "That is all that was found."
    return story_of_findings(
        opening, whole, found, closing if found else "No thread waits for another for long."
    )


def _place(trace: Trace, finding: Finding) -> Selection | None:
    span = finding.start, finding.end
    if not 0 < span[1] - span[0] < _EVERYWHERE * trace.span_ns:
        return None
    return Selection(time=span)
