"""The findings about memory as a film."""

from __future__ import annotations

from ...stories.findings_film import ALL_TIME, MOST, FilmedFinding, place_of, story_of_findings
from ...stories.story import Picture, Story
from ...trace.model import Trace
from ...units import byte_size, counted
from .summary import heading, name_of
from .view.arrangement import memory_use
from .view.story import chosen

#: What each kind of finding means: the picture's title has the figures.
MEANING = {
    "leak": "Its blocks are not freed, and there are more and more of them.",
    "growth": "It holds more and more: a leak, or only temporary.",
    "forgotten": "These blocks stay for most of the run: are they still needed?",
    "saw-tooth": "It fills up and is emptied, again and again.",
    "fragmentation": "There is free memory, but in holes between the blocks.",
    "churn": "Many blocks that live only briefly: one that is used again would do.",
    "cohort": "These blocks were allocated at about the same time, and freed at about the same.",
    "imports": "Imported modules stay to the end, which is no leak.",
}
#: What those are that have no common end.
_STAY = "These blocks were allocated at about the same time, and none of them is freed."


def story_of(trace: Trace, file: str) -> Story:
    """Return the story of the three most important findings.

    Parameters
    ----------
    trace : Trace
        With allocations.
    file : str
        Where it was read from.

    Returns
    -------
    Story
    """
    use = memory_use(trace)
    name = trace.source.title
    whole = Picture("memory", (file,), title=f"The memory of {name}")
    found = []
    # Those that the picture of all shows, and with its numbers.
    for n, one in enumerate(chosen(use.findings, MOST), 1):
        place = place_of(one.start_ns, one.end_ns, trace.span_ns)
        settings = (("finding", f"{use.findings.index(one) + 1}"), *(() if place else ALL_TIME))
        picture = Picture("memory", (file,), settings, title=f"{n}. {heading(one, use)}")
        headline = f"{n}. {one.kind.capitalize()}: {name_of(one, use)}"
        stays = one.kind == "cohort" and not one.details["freed"]
        found.append(FilmedFinding(headline, _STAY if stays else MEANING[one.kind], picture, place, n))
    blocks = counted(len(use.blocks), "block")
    allocated = byte_size(int(use.blocks.size.sum()))
    opening = f"{name} allocates {blocks}, {allocated} in all. Each bar is a block, from birth to end."
    more = len(use.findings) - len(found)
    closing = f"{counted(more, 'more finding')} in the report." if more else "That is all that was found."
    return story_of_findings(opening, whole, found, closing if found else "Nothing remarkable was found.")
