"""The title, the notes and the facts of a comparison."""

from __future__ import annotations

from ....analysis.measures import self_time_of
from ....trace import profile
from ....units import percentage
from ....views.calls.clusters import note_of_rows
from ..findings.sampling import COMPLETE
from ..matching import match
from ..matching.similarity import QUICK
from ..matching.summary import histogram_rows
from .layout import Layout
from .matches import Chosen
from .names import title as name_of
from .parameters import Parameters

#: Characters of the longest bar that fit into a panel next to its number.
_PANEL_BAR = 7
#: Pairs of sets that are counted by their similarity, too, at most: less than a second's work.
_MOST_COUNTED = 1_000_000_000


def title(comparison: match.Comparison, picture: Layout) -> str:
    """Return which traces are compared, and how much of their time is in calls that match.

    Parameters
    ----------
    comparison : Comparison
    picture : Layout

    Returns
    -------
    str
    """
    names = [name_of(w) for w in picture.walls]
    shares = []
    for s, trace in enumerate(comparison.traces):
        own = self_time_of(trace)
        found = float(own[comparison.matched(s)].sum() / max(float(own.sum()), 1.0))
        shares.append(percentage(found, 3))
    text = shares[0] if shares[0] == shares[1] else f"{shares[0]} | {shares[1]}"
    of = "the time is in calls"
    if all(len(trace.samples) for trace in comparison.traces):
        first = profile.totals(comparison.traces[0])
        done = "counted" if next(iter(first)) in COMPLETE else "measured" if "calls" in first else "sampled"
        of = f"what was {done} is in {profile.calls_word(comparison.traces[0])}"
    return f"{names[0]}  against  {names[1]}:  {text} of {of} that match"


def facts(comparison: match.Comparison) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return how many pairs of sets have which similarity, which helps to choose τ."""
    known = comparison.similarity
    if comparison.settings.measure not in QUICK or len(known.calls_a) * len(known.calls_b) > _MOST_COUNTED:
        return ()
    rows = histogram_rows(comparison.histogram.tolist(), float(comparison.settings.tau), _PANEL_BAR)
    found = (
        ("Pairs of sets", f"{comparison.set_pairs:,}"), ("Pairs of calls", f"{comparison.call_pairs:,}")
    )  # fmt: skip
    return (("Similarities", (*rows, *found)),)


def notes(
    comparison: match.Comparison, picture: Layout, chosen: Chosen, shown: Chosen, aligned: str,
    p: Parameters, more: list[str],
) -> tuple[str, ...]:  # fmt: skip
    """Return notes about omitted and merged elements, and about shapes; ``more`` comes from the overview.

    Parameters
    ----------
    comparison : Comparison
    picture : Layout
    chosen : Chosen
        The matches that were chosen.
    shown : Chosen
        Those of them that are drawn.
    aligned : str
        What B is aligned by; empty: nothing.
    p : Parameters
    more : list of str
        What the overview says.

    Returns
    -------
    tuple of str
    """
    tubes_ = min(p.tubes, len(shown))
    matched = [] if p.caption else [title(comparison, picture)]
    calls = profile.calls_word(comparison.traces[0])
    notes = [
        *matched,
        f"{tubes_:,} matches are tubes, {len(shown) - tubes_:,} lines; "
        f"{chosen.left_out + len(chosen) - len(shown):,} others between these {calls} are left out",
    ]
    if not len(chosen):
        notes = [f"no two {calls} that are drawn are more similar than {p.tau:g}"]
    if not picture.same_scale:
        notes.append("each trace has a time scale of its own")
    merged = sum(int(w.cut.clusters.calls.sum()) for w in picture.walls)
    if merged:
        total = sum(w.cut.total for w in picture.walls)
        many = profile.counted_calls(comparison.traces[0], total)
        notes.append(f"{merged:,} of {many}, narrower than {p.resolution:g} px, are merged")
    notes += filter(None, [note_of_rows(comparison.traces[0], [w.cut for w in picture.walls])])
    notes += [aligned] if aligned else []
    notes += [*more, *_of_shapes(picture, p)]
    kind = {"exact": "their full names", "name": "their names without path and line"}[
        comparison.identity.kind
    ]
    functions = (
        "functions" if profile.below_word(profile.length_kind(comparison.traces[0])) == "calls" else "classes"
    )
    notes.append(f"{functions} are the same if {kind} are")
    notes += [w.note for w in picture.walls if w.note]
    return tuple(notes)


def _of_shapes(picture: Layout, p: Parameters) -> list[str]:
    """Return what shapes mean, not colours."""
    trace = picture.walls[0].trace
    lasts = "weigh" if profile.untimed_kind(trace) else "last"
    notes = [f"tubes are as wide as their {profile.calls_word(trace)} {lasts}"]
    if p.plates == "coverage":
        notes.append("thicker boxes: more of their time has a match")
    if picture.walls[0].fold.inner:
        notes.append("names of A stand above its wall")
    return notes
