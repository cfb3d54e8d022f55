"""The findings about memory as a film."""

from __future__ import annotations

from ...stories.findings_film import MOST, FilmedFinding, story_of_findings
from ...stories.story import Picture, Selection, Story
from ...trace.model import Trace
from ...units import byte_size, counted
from .findings import MemoryFinding
from .summary import sentence
from .view.arrangement import memory_use

#: Findings of one kind that a film tells.
_MOST_OF_KIND = 2
#: What takes more of the time is everywhere.
_EVERYWHERE = 0.6


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
        words = sentence(use.findings[i], use)
        words = words[:1].upper() + words[1:]
        place = _place(trace, use.findings[i])
        picture = Picture("memory", (file,), (("finding", f"{i + 1}"),))
        found.append(FilmedFinding(f"{n}. {use.findings[i].kind.capitalize()}", f"{words}.", picture, place))
    blocks = counted(len(use.blocks), "block")
    allocated = byte_size(int(use.blocks.size.sum()))
    opening = f"{name} allocates {blocks}, {allocated} in all. Each bar is a block, from birth to end."
    more = len(use.findings) - len(found)
    closing = f"{counted(more, 'more finding')} in the report." if more else "That is all that was found."
    return story_of_findings(opening, whole, found, closing if found else "Nothing remarkable was found.")


def _place(trace: Trace, finding: MemoryFinding) -> Selection | None:
    span = finding.start_ns, finding.end_ns
    if not 0 < span[1] - span[0] < _EVERYWHERE * trace.span_ns:
        return None
    return Selection(time=span)
