"""The facts of a comparison, as ``tracevis3d match --json`` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ....analysis.repetitions import find_alike, find_repeated, find_runs
from ....trace import profile
from ....trace.model import Trace
from ....trace.names import label_of_call
from ....units import percentage
from .groups import MOST_PAIRS, Groups
from .match import BARS, Comparison

#: Maximum number of listed groups, and of functions without a match.
MOST = 10
#: A group is opened, and those within it are listed too, if its calls take at least this share of both
#: traces.
MAJORITY = 0.5
#: Characters of the longest bar of a histogram.
_LONGEST_BAR = 24
#: Groups that are opened, each in the one before.
_DEEPEST = 32


def summary(comparison: Comparison, most: int = MOST) -> dict[str, Any]:
    """Return the facts of a comparison.

    Parameters
    ----------
    comparison : Comparison
    most : int
        How many of the largest groups.

    Returns
    -------
    dict
        ``distinct_sets`` : [a, b]
            Distinct sets of functions Γ of either trace.
        ``set_pairs``, ``call_pairs`` : int
            Pairs of units (for the measures jaccard and duration: of distinct sets) and of calls with a
            similarity above τ.
        ``groups``, ``groups_literal`` : int or None
            Groups by the rule nearest and by the printed one; None where that can't be computed, for the
            reason
            in ``groups_reason``, ``groups_literal_reason``.
        ``matched_time`` : [a, b]
            Share of either trace's root calls' time within calls that have a match.
        ``identity``, ``identity_reason``, ``tau``, ``measure``
        ``shared_functions`` : int, ``shared_calls`` : [a, b]
        ``renamed`` : list of {"a", "b", "score"}
        ``histogram`` : None beyond 20 billion pairs, or list of {"above", "to", "pairs"}
            Pairs of units by similarity.
        ``largest_groups`` : list
            See :func:`group_facts`.
        ``within`` : dict or None
            If one group takes at least half of both traces: ``opened``, the pairs of functions that were
            opened one after the other, and ``groups`` and ``largest_groups`` of those below.
        ``unmatched`` : [a, b]
            Of either trace: calls that have no match, nor any below them, by function: ``function``,
            ``calls``, ``time_ns``, ``longest``.
        ``repetitions`` : [a, b]
            Of either trace: ``runs`` and ``alike``, how often children repeat exactly and alike;
            ``repeated_time``, the share of its root calls' time within subtrees that happen more than once.
    """
    groups = comparison.groups
    literal, literal_reason = comparison.groups_literal
    identity = comparison.identity
    opened, within = _open(comparison)
    return {
        "distinct_sets": [len(side.sets) for side in comparison.sides],
        "set_pairs": comparison.set_pairs,
        "call_pairs": comparison.call_pairs,
        "groups": groups.count,
        "groups_literal": literal,
        "matched_time": list(comparison.matched_time),
        "identity": identity.kind,
        "identity_reason": identity.reason,
        "tau": float(comparison.settings.tau),
        "measure": comparison.settings.measure,
        "groups_reason": groups.reason,
        "groups_literal_reason": literal_reason,
        "shared_functions": identity.shared_functions,
        "shared_calls": list(identity.shared_calls),
        "renamed": [vars(pair) for pair in identity.renamed],
        "histogram": _histogram(comparison),
        "largest_groups": group_facts(comparison, groups, most),
        "within": within
        and {
            "opened": opened,
            "groups": within.count,
            "largest_groups": group_facts(comparison, within, most),
        },
        "unmatched": [_unmatched_facts(comparison, trace, most) for trace in (0, 1)],
        "repetitions": [_repetition_facts(comparison, trace) for trace in (0, 1)],
    }


def sentences(facts: Mapping[str, Any], traces: Sequence[Trace]) -> list[tuple[str, str]]:
    """Return the facts of :func:`summary` as rows of two texts, for people.

    Parameters
    ----------
    facts : dict
    traces : (Trace, Trace)
        Those that were compared: profiles know weights of call paths, not times of calls.

    Returns
    -------
    list of (str, str)
    """
    word = profile.length_word(traces[0])
    both = "{:,} and {:,}".format
    rows = [
        ("identity", facts["identity_reason"]),
        ("measure", f"{facts['measure']}, tau {facts['tau']:g}"),
        ("distinct sets", both(*facts["distinct_sets"])),
        ("set pairs", f"{facts['set_pairs']:,}"),
        *_similarities(facts),
        ("call pairs", f"{facts['call_pairs']:,}"),
        ("groups", _count(facts["groups"], facts["groups_reason"])),
        ("groups as printed", _count(facts["groups_literal"], facts["groups_literal_reason"])),
        (f"{word} that matches", _percentages(facts["matched_time"])),
        ("repeated runs", both(*(r["runs"] for r in facts["repetitions"]))),
        (f"repeated {word}", _percentages(r["repeated_time"] for r in facts["repetitions"])),
    ]
    rows += [("renamed", f"{r['a']} = {r['b']} ({r['score']:g})") for r in facts["renamed"]]
    rows += [("largest group", _group_sentence(group, traces)) for group in facts["largest_groups"]]
    if within := facts["within"]:
        chain = " > ".join(a if a == b else f"{a} = {b}" for a, b in within["opened"])
        rows.append(("within", f"{chain}: {_count(within['groups'], 'too many')} groups"))
        rows += [("largest within", _group_sentence(group, traces)) for group in within["largest_groups"]]
    for name, trace, found in zip("AB", traces, facts["unmatched"]):
        for f in found:
            many, lasts = profile.counted_calls(trace, f["calls"]), profile.length_text(trace, f["time_ns"])
            rows.append((f"only in {name}", f"{f['function']}: {many}, {lasts}"))
    return rows


def _percentages(shares: Iterable[float]) -> str:
    return " and ".join(percentage(share, 4) for share in shares)


def _similarities(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    if not facts["histogram"]:
        return []
    return histogram_rows([bar["pairs"] for bar in facts["histogram"]], facts["tau"])


def _count(count: int | None, reason: str) -> str:
    return reason if count is None else f"{count:,}"


def _group_sentence(group: Mapping[str, Any], traces: Sequence[Trace]) -> str:
    a, b = group["functions"]
    times = f"{group['groups']:,} of " if group["groups"] > 1 else ""
    lasts = " and ".join(
        profile.length_text(trace, call["duration_ns"]) for trace, call in zip(traces, group["longest"])
    )
    return f"{times}{a if a == b else f'{a} = {b}'}: similarity {group['similarity']:.3f}, {lasts}"


def group_facts(comparison: Comparison, groups: Groups, most: int) -> list[dict[str, Any]]:
    """Return the largest groups: those first whose roots last longest, the shorter of the two taken.

    Groups whose roots have the same callers, down to their sets of functions, are one entry.

    Parameters
    ----------
    comparison : Comparison
    groups : Groups
        Those of the comparison, or of a part of it.
    most : int
        How many of the largest.

    Returns
    -------
    list of dict
        ``functions`` : [a, b], ``similarity`` : float,
        ``groups`` : how many they are, ``calls`` : [a, b] their roots,
        ``time_ns`` : [a, b] of these roots together, ``longest`` : [a, b] the longest of them, each with
        ``call``, ``thread``, ``start_ns``, ``duration_ns``.
    """
    facts = []
    for pair in groups.largest(most).tolist():
        x, y = int(groups.root_a[pair]), int(groups.root_b[pair])
        u, v = int(groups.a.longest[x]), int(groups.b.longest[y])
        facts.append(
            {
                "functions": [label_of_call(trace, call) for trace, call in zip(comparison.traces, (u, v))],
                "similarity": float(comparison.row(u).share()[int(groups.b.unit[y])]),
                "groups": int(groups.a.heads[x]) * int(groups.b.heads[y]),
                "calls": [int(groups.a.heads[x]), int(groups.b.heads[y])],
                "time_ns": [int(groups.a.time[x]), int(groups.b.time[y])],
                "longest": [_call_facts(trace, call) for trace, call in zip(comparison.traces, (u, v))],
            }
        )
    return facts


def histogram_rows(bars: Sequence[int], tau: float, longest: int = _LONGEST_BAR) -> list[tuple[str, str]]:
    """Return a histogram of similarities as rows of a label and a bar of characters with its number.

    Parameters
    ----------
    bars : sequence of int
        Pairs by similarity: :attr:`.match.Comparison.histogram`.
    tau : float
        Bars that hold nothing above it are light.
    longest : int
        Characters of the longest bar.

    Returns
    -------
    list of (str, str)
    """
    # Two of a comparison's bars make one row.
    pairs = [sum(bars[k : k + 2]) for k in range(0, len(bars), 2)]
    most = max(pairs, default=0)
    rows = []
    for k, count in enumerate(pairs):
        high = (k + 1) / len(pairs)
        length = -(-longest * count // most) if most else 0  # one pair is seen, too
        rows.append((f"s to {high:.1f}", ("█" if high > tau else "░") * length + f" {count:,}"))
    return rows


def _histogram(comparison: Comparison) -> list[dict[str, Any]] | None:
    measured = comparison.similarity
    if len(measured.calls_a) * len(measured.calls_b) > MOST_PAIRS:
        return None
    bars = comparison.histogram.tolist()
    return [{"above": k / BARS, "to": (k + 1) / BARS, "pairs": pairs} for k, pairs in enumerate(bars)]


def _open(comparison: Comparison) -> tuple[list[list[str]], Groups | None]:
    """Open the largest group while it takes most of both traces; return the opened groups and their parts."""
    whole = [
        int((t.calls.end - t.calls.start)[t.calls.depth == 1].sum()) * MAJORITY for t in comparison.traces
    ]
    groups = comparison.groups
    within: Groups | None = None
    opened: list[list[str]] = []
    while len(groups.root_a) and len(opened) < _DEEPEST:
        pair = int(groups.largest(1)[0])
        calls = groups.a.longest[groups.root_a[pair]], groups.b.longest[groups.root_b[pair]]
        lasted = [int(t.calls.end[c] - t.calls.start[c]) for t, c in zip(comparison.traces, calls)]
        if lasted[0] < whole[0] or lasted[1] < whole[1]:
            break
        groups = comparison.groups_within(int(calls[0]), int(calls[1]))
        if not len(groups.root_a):
            break
        within = groups
        opened.append([label_of_call(trace, int(call)) for trace, call in zip(comparison.traces, calls)])
    return opened, within


def _unmatched_facts(comparison: Comparison, trace: int, most: int) -> list[dict[str, Any]]:
    found = comparison.unmatched(trace)
    of = comparison.traces[trace]
    return [
        {
            "function": of.functions.label[function],
            "calls": calls,
            "time_ns": time,
            "longest": _call_facts(of, longest),
        }
        for function, calls, time, longest in zip(*(column[:most].tolist() for column in found))
    ]


def _repetition_facts(comparison: Comparison, trace: int) -> dict[str, Any]:
    side = comparison.sides[trace]
    lasted = side.calls.end - side.calls.start
    root = int(lasted[side.calls.depth == 1].sum())
    repeated = int(np.sum(find_repeated(side.calls, side.subtrees).time))
    return {
        "runs": find_runs(side.subtrees).calls(side.subtrees),
        "alike": find_alike(side.subtrees, side.sets).calls(side.subtrees),
        "repeated_time": repeated / root if root else 0.0,
    }


def _call_facts(trace: Trace, call: int) -> dict[str, Any]:
    start, end = int(trace.calls.start[call]), int(trace.calls.end[call])
    thread = trace.threads.title(int(trace.calls.thread[call]))
    return {"call": call, "thread": thread, "start_ns": start, "duration_ns": end - start}
