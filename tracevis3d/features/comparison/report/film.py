"""The findings about two traces as a film."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....stories.findings_film import MOST, FilmedFinding, place_of, story_of_findings
from ....stories.story import Picture, Selection, Story
from ....trace.model import Trace
from ....units import counted, duration
from ..view.difference.headlines import headline
from .aim import of_comparison, windows
from .explained import Explained
from .sentences import sentence

#: What the picture of all leaves out, as those of the findings do: nobody reads it in a few seconds.
_BARE = {"annotate": "0", "repeats": "0", "overview": "no"}
#: Where in the call tree something is: too long for a caption, and to be seen in the picture.
_PATHS = re.compile(r"(, most of its time)? below `[^`]* > [^`]*`")


def story_of(explained: Explained, files: Sequence[str]) -> Story:
    """Return the story of the three most important findings.

    Parameters
    ----------
    explained : Explained
    files : (str, str)
        Where A and B were read from.

    Returns
    -------
    Story
    """
    a, b = explained.traces
    names = [trace.source.title for trace in (a, b)]
    comparison = tuple(of_comparison(explained.comparison).items())
    settings = (*comparison, *_BARE.items())
    whole = Picture("compare", tuple(files), settings, title=f"{names[0]} (A) and {names[1]} (B)")
    found = [
        FilmedFinding(
            f"{i + 1}. {headline(finding)}",
            _PATHS.sub("", sentence(finding)).replace(" does there in ", " does in ").replace("`", ""),
            Picture("compare", tuple(files), tuple(explained.settings(i).items())),
            _place(explained, i),
            i + 1,
        )
        for i, finding in enumerate(explained.findings.found[:MOST])
    ]
    opening = f"Two runs face to face. A: {_facts(a)}. B: {_facts(b)}. Tubes join what both do."
    count = len(explained) + explained.findings.left_out
    closing = (
        f"These are the first {len(found)} of {counted(count, 'finding')}."
        if count > len(found)
        else "That is all in which they differ."
    )
    return story_of_findings(opening, whole, found, closing)


def _facts(trace: Trace) -> str:
    return f"{counted(len(trace.calls), 'call')}, {duration(trace.span_ns)}"


def _place(explained: Explained, index: int) -> Selection | None:
    """Return where a finding is: in the trace that has more of it."""
    spans = windows(explained.findings.evidence, explained[index])
    sides = [s for s, span in enumerate(spans) if span is not None and explained[index].examples[s] >= 0]
    sides = sides or [s for s, span in enumerate(spans) if span is not None]
    if not sides:
        return None
    side = max(sides, key=lambda s: explained[index].time_ns[s])
    span = spans[side]
    return place_of(*span, explained.traces[side].span_ns, "AB"[side]) if span else None
