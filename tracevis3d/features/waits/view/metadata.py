"""The metadata of elements: waits, threads, objects; and how much of a call waits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.links import Link
from ....drawing.primitives import Meaning
from ..outcomes import HOW, KINDS_OF_WAITING, OUTCOMES
from ..waits import INFERRED, IO, WAIT, Waits
from . import calls as blocks
from .correspondences import OPEN
from .rows.alike import MANY
from .skyline import RUNNING


def metadata(waits: Waits, rows: Meaning) -> dict[str, Meaning]:
    """Return what the ids of waits represent: who waits, how long, for what, and who ended and held it.

    Parameters
    ----------
    waits : Waits
    rows : Meaning
        What rows are, by their first threads.

    Returns
    -------
    dict
        A kind of elements -> its meaning.
    """
    ops, trace = waits.ops, waits.trace
    titles = [trace.threads.title(t) for t in range(len(trace.threads))]
    values = (
        ("waited (ns)", ops.lasted.astype(np.float64)),
        ("released (ns)", np.where(waits.woken_at >= 0, waits.woken_at, np.nan)),
    )
    count, outcomes = np.diff(ops.first), waits.outcomes

    def of_blocked(index: NDArray[np.uint8]) -> NDArray[np.int64]:
        return np.where(ops.blocked, index.astype(np.int64), -1)

    inferred = waits.held_by_source == INFERRED
    held = np.where(waits.held_by >= 0, waits.held_by + len(titles) * inferred, -1)
    texts = (
        ("operation", list(ops.names), ops.name.astype(np.int64)),
        ("for", list(ops.objects), np.where(count > 0, np.append(ops.object, -1)[ops.first[:-1]], -1)),
        # SyncTrace distinguishes waits for any and for all of several objects.
        ("of several objects", ["any", "all"], np.where(count > 1, ops.all.astype(np.int64), -1)),
        ("waiting thread", titles, ops.thread.astype(np.int64)),
        ("released by", titles, waits.woken_by.astype(np.int64)),
        ("held by", [*titles, *(f"{title} (inferred)" for title in titles)], held.astype(np.int64)),
        ("in", list(trace.functions.label), waits.function.astype(np.int64)),
        ("ended", list(OUTCOMES), of_blocked(outcomes.outcome)),
        ("evidence", list(HOW), of_blocked(outcomes.how)),
        ("kind of wait", list(KINDS_OF_WAITING), of_blocked(outcomes.state)),
    )
    of_waits = Meaning(calls=((0, ops.call),), values=values, texts=texts, links=_links(waits))
    kinds = ("correspondence", "correspondence out of sight", "release", "wait marker", "wait start",
             "wait plate", "wait line", "wait for several", "idle", "hold", OPEN)  # fmt: skip
    shares = {}
    if len(ops):
        # What the paper's tooltip says of a call: how much of it waits, and reads or writes.
        spent = tuple(
            (title, np.where(time > 0, time, np.nan))
            for title, time in (
                ("waits (ns)", waits.time_in(WAIT)),
                ("reads or writes (ns)", waits.time_in(IO)),
            )
        )
        shares = dict.fromkeys(("call", "cluster"), Meaning(calls=(), values=spent))
    objects = Meaning(
        calls=(),
        texts=(("object", list(ops.objects), np.arange(len(ops.objects), dtype=np.int64)),),
        links=(Link("object", np.arange(len(ops.objects))),),
    )
    each = np.arange(len(titles) + 1)
    # A row of several is none of its threads.
    several = dict(rows.values)[MANY] > 1
    threads = Meaning(
        values=(
            ("waits (ns)", np.where(several, np.nan, waits.waited)),
            ("ended waits (ns)", np.where(several, np.nan, waits.hubs()[0])),
            *rows.values,
        ),
        texts=(("thread", titles, np.where(several, -1, each[:-1])),),
        links=rows.links,
    )
    return {
        **dict.fromkeys(kinds, of_waits),
        **dict.fromkeys(("row", "thread"), threads),
        RUNNING: Meaning(calls=(), values=((RUNNING, each * 1.0),)),
        **dict.fromkeys(("start", "overview"), blocks.meaning(trace)),
        **dict.fromkeys(("object", "queue"), objects),
        **shares,
    }


def _links(waits: Waits) -> tuple[Link, ...]:
    """Return the links of waits: to themselves, their objects, their releases, and the holding threads.

    Releases, markers and tubes have the number of their wait, so all of one wait are the same thing.
    """
    ops, n = waits.ops, len(waits.ops)
    waker = waits.waker
    released = np.where(waker >= 0, np.append(ops.call, -1)[waker], -1)
    return (
        Link("wait", np.arange(n)),
        Link("object", ops.object.astype(np.int64), first=ops.first, role="related"),
        Link("call", released, role="matched"),
        Link("thread", waits.held_by.astype(np.int64), role="matched", answers=False),
    )
