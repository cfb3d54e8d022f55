"""The findings about memory as a film."""

from __future__ import annotations

from ...stories.findings_film import MOST, FilmedFinding, place_of, story_of_findings
from ...stories.story import Picture, Story
from ...trace.model import Trace
from ...units import byte_size, counted
from .summary import heading, name_of
from .view.arrangement import memory_use

#: Findings of one kind that a film tells.
_MOST_OF_KIND = 2
#: What each kind of finding means: the picture's title has the figures.
MEANING = {
    "leak": "Its blocks are never freed, and there are more and more of them.",
    "growth": "It holds more and more: a leak, or only temporary.",
    "forgotten": "These blocks stay for most of the run: are they still needed?",
    "saw-tooth": "It fills up and is emptied, again and again.",
    "fragmentation": "There is free memory, but in holes between the blocks.",
    "churn": "Many blocks that live only briefly: one that is used again would do.",
    "cohort": "These blocks were born together, and freed together.",
    "imports": "Imported modules stay to the end, which is no leak.",
}


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
    chosen: list[int] = []
    for i, one in enumerate(use.findings):
        if len(chosen) < MOST and sum(use.findings[k].kind == one.kind for k in chosen) < _MOST_OF_KIND:
            chosen.append(i)
    found = []
    for n, i in enumerate(chosen, 1):
        one = use.findings[i]
        place = place_of(one.start_ns, one.end_ns, trace.span_ns)
        picture = Picture("memory", (file,), (("finding", f"{i + 1}"),), title=f"{n}. {heading(one, use)}")
        headline = f"{n}. {one.kind.capitalize()}: {name_of(one, use)}"
        found.append(FilmedFinding(headline, MEANING[one.kind], picture, place))
    blocks = counted(len(use.blocks), "block")
    allocated = byte_size(int(use.blocks.size.sum()))
    opening = f"{name} allocates {blocks}, {allocated} in all. Each bar is a block, from birth to end."
    more = len(use.findings) - len(found)
    closing = f"{counted(more, 'more finding')} in the report." if more else "That is all that was found."
    return story_of_findings(opening, whole, found, closing if found else "Nothing remarkable was found.")
