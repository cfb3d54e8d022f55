"""The differences between two compared traces, as a list beside the view."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...drawing.frame import Frame
from ...parameters import declared, read
from ...progress import Progress, part
from ...trace.model import Trace
from ...units import percentage
from ...views.lists import FindingList, ListedFinding, Tour
from .findings.find import KINDS
from .matching.match import compare
from .report import aim, viewpoints
from .report.story import Story, story_of
from .view.match_settings import comparing
from .view.parameters import Parameters

#: Maximum number of listed differences.
MOST = 20
_FRAMED = re.compile(r"([AB]):(\d+)")
#: Parameters that drawing a single difference may set, in addition to those of its finding.
_SET = {"start_a", "end_a", "start_b", "end_b", "mark", "focus", "caption", "first_depth"}
#: A single difference does not change which calls match.
_MATCHING = {"tau", "measure", "identity", "rewrite", "renamed", "fuzzy"}


def _story(traces: Sequence[Trace], values: Mapping[str, Any], top: int, progress: Progress) -> Story:
    """Return the findings about two traces, compared as a view with these parameters does."""
    matched = compare(*traces, **comparing(dict(values)), progress=part(progress, 0.0, 0.5))
    return story_of(matched, top, part(progress, 0.5, 1.0))


def find(traces: Sequence[Trace], values: Mapping[str, Any], progress: Progress) -> list[ListedFinding]:
    """Return what differs between two traces, the largest difference first.

    Parameters
    ----------
    traces : sequence of Trace
        Two.
    values : mapping of str to object
        The parameters of the view that draws them.
    progress : Progress

    Returns
    -------
    list of ListedFinding
    """
    story = _story(traces, values, MOST, progress)
    found = []
    for i, sentence in enumerate(story.sentences):
        finding, wanted = story[i], story.settings(i)
        framed: tuple[list[int], list[int]] = ([], [])
        for name, call in _FRAMED.findall(wanted.get("mark", "")):
            framed["AB".index(name)].append(int(call))
        for calls, example in zip(framed, finding.examples, strict=True):
            if example >= 0 and example not in calls:
                calls.append(example)
        kind = KINDS[finding.kind]
        found.append(
            ListedFinding(
                percentage(finding.score),
                kind,
                next((name for name in finding.functions if name), kind),
                sentence,
                framed,
                aim.windows(story.findings.evidence, finding),
                wanted,
            )
        )
    return found


def drawn(
    wanted: Mapping[str, Any] | None, each: Sequence[Mapping[str, Any]], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters that draw one difference alone, or the whole traces again.

    Parameters
    ----------
    wanted : dict or None
        What the difference wants; None: the whole.
    each : sequence of dict
        What all listed differences want: what another one has set is taken back.
    values : dict
        The parameters as they are.

    Returns
    -------
    dict
    """
    touched = ({name for one in each for name in one} | _SET) - _MATCHING
    if wanted is None:
        usual = {p.name: p.default for p in declared(Parameters)}
    else:
        usual = vars(read(Parameters, wanted))
    return {**values, **{name: usual[name] for name in touched}}


def tour(
    traces: Sequence[Trace], values: Mapping[str, Any], frame: Frame, top: int, walk: str, progress: Progress
) -> Tour:
    """Return the comparison with a viewpoint for each difference, or along the way from a match.

    Parameters
    ----------
    traces : sequence of Trace
        Two.
    values : mapping of str to object
        The parameters of the view that draws them.
    frame : Frame
        Of the picture.
    top : int
        How many differences.
    walk : str
        The match that a tour begins with; empty: the differences.
    progress : Progress

    Returns
    -------
    Tour
    """
    story = _story(traces, values, top, part(progress, 0.0, 0.5))
    shown = {**values, **viewpoints.default_settings(story, bool(walk))}
    return Tour(*viewpoints.with_viewpoints(story, frame, walk, shown, part(progress, 0.5, 1.0)))


DIFFERENCES = FindingList(2, find, drawn, tour)
