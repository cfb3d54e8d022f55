"""The findings about waits as a film."""

from __future__ import annotations

from ...stories.findings_film import ALL_TIME, MOST, FilmedFinding, place_of, point_of, story_of_findings
from ...stories.story import Picture, Story
from ...trace.model import Trace
from ...units import counted, duration
from .findings.finding import KINDS, Finding
from .view.found_waits import findings_of, waits_of
from .view.story import longest_hold

#: Findings of one kind that a film tells.
_MOST_OF_KIND = 2


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
    found: list[FilmedFinding] = []
    for n, i in enumerate(chosen, 1):
        one = all_found[i]
        place = place_of(one.start, one.end, trace.span_ns)
        time: tuple[tuple[str, str], ...] = () if place else ALL_TIME
        again = any(set(one.objects).intersection(all_found[k].objects) for k in chosen[: n - 1])
        if again and (hold := longest_hold(waits, one)) >= 0:
            # All of its time has been seen already: now where it costs most, from near.
            place = place_of(int(waits.held.start[hold]), int(waits.held.end[hold]), trace.span_ns)
            low, high = (place and place.time) or (0, trace.span_ns)
            time = ("start", f"{low}ns"), ("end", f"{high}ns")
        own = (*settings, ("finding", f"{i + 1}"), *time)
        picture = Picture("threads", (file,), own, title=f"{n}. {one.heading}")
        found.append(FilmedFinding(f"{n}. {one.title}", _words(one), picture, place))
    waiting = counted(len(waits.own), "wait")
    who = counted(len(trace.threads), "thread")
    opening = (
        f"{name}: {who}, {duration(trace.span_ns)}, {waiting}. A funnel leads from a wait to who ended it."
    )
    more = len(all_found) - len(found)
    closing = f"{counted(more, 'more finding')} in the report." if more else "That is all that was found."
    return story_of_findings(
        opening, whole, found, closing if found else "No thread waits for another for long."
    )


def _words(finding: Finding) -> str:
    """Return the caption beside a finding's picture: what the picture's title doesn't say already."""
    point = point_of(f"{finding.sentence}.")
    if point.rstrip(".") == finding.title:
        return f"{finding.kind.capitalize()}: {KINDS[finding.kind]}."
    # The first word of others may be a thread's name.
    return point.replace("up to", "Up to", 1) if point.startswith("up to") else point
