"""Ready queries, by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import UsageError
from ..units import counted


@dataclass(frozen=True)
class ReadyQuery:
    """A query that has a name.

    Attributes
    ----------
    name : str
    sentence : str
        What it shows.
    sql : str
    traces : tuple of int
        How many traces it takes, at least and at most.
    """

    name: str
    sentence: str
    sql: str
    traces: tuple[int, int] = (1, 26)


_BOTH = (2, 2)
READY = (
    ReadyQuery(
        "hot-functions",
        "functions with the most self time",
        "SELECT function, count(*) AS calls, sum(self_ns) AS self_ns, max(duration_ns) AS longest_ns "
        "FROM calls GROUP BY function ORDER BY sum(self_ns) DESC, function LIMIT 20",
    ),
    ReadyQuery(
        "slowest-calls",
        "the calls that took longest",
        "SELECT id, function, thread, start_ns, duration_ns, self_ns, calls_below "
        "FROM calls ORDER BY duration_ns DESC, id LIMIT 20",
    ),
    ReadyQuery(
        "call-edges",
        "callers and callees, with the number of calls and their time",
        "SELECT caller.function AS caller, callee.function AS callee, count(*) AS calls, "
        "sum(callee.duration_ns) AS duration_ns FROM calls AS callee JOIN calls AS caller "
        "ON callee.parent_id = caller.id GROUP BY ALL ORDER BY calls DESC, caller, callee LIMIT 50",
        (1, 1),
    ),
    ReadyQuery(
        "hot-paths",
        "call paths with the most self time",
        "SELECT path, count(*) AS calls, sum(self_ns) AS self_ns "
        "FROM calls GROUP BY path ORDER BY sum(self_ns) DESC, path LIMIT 20",
    ),
    ReadyQuery(
        "sampled-functions",
        "functions with the most of what was sampled in them",
        "SELECT samples.kind, stacks.function, sum(weight) AS weight "
        "FROM samples JOIN stacks ON samples.stack_id = stacks.id "
        "GROUP BY ALL ORDER BY samples.kind, weight DESC, stacks.function LIMIT 50",
        (1, 1),
    ),
    ReadyQuery(
        "threads",
        "threads with their calls and the time in calls",
        "SELECT thread, count(*) AS calls, sum(self_ns) AS in_calls_ns, min(start_ns) AS first_ns, "
        "max(end_ns) AS last_ns FROM calls GROUP BY thread ORDER BY in_calls_ns DESC, thread",
    ),
    ReadyQuery(
        "longest-waits",
        "the waits that took longest, with who ended them",
        "SELECT thread, object, operation, start_ns, duration_ns, woken_by, held_by "
        "FROM waits WHERE blocked AND NOT nested ORDER BY duration_ns DESC, id LIMIT 20",
    ),
    ReadyQuery(
        "waits-by-object",
        "how long threads waited for each object",
        "SELECT object, count(*) AS waits, sum(duration_ns) AS waited_ns, max(duration_ns) AS longest_ns "
        "FROM waits WHERE blocked AND NOT nested GROUP BY object ORDER BY waited_ns DESC, object LIMIT 20",
    ),
    ReadyQuery(
        "live-at-end",
        "call sites whose memory was not freed",
        "SELECT call_site, count(*) AS blocks, sum(size) AS bytes FROM blocks WHERE freed_ns IS NULL "
        "GROUP BY call_site ORDER BY bytes DESC, call_site LIMIT 20",
    ),
    ReadyQuery(
        "counters",
        "the range of each counter",
        "SELECT name, count(*) AS samples, min(value) AS least, avg(value) AS average, max(value) AS most "
        "FROM counters GROUP BY name ORDER BY name",
    ),
    ReadyQuery(
        "only-in-one",
        "functions that one of two runs calls and the other does not",
        "SELECT function, any_value(trace) AS only_in, count(*) AS calls, sum(self_ns) AS self_ns "
        "FROM calls GROUP BY function HAVING count(DISTINCT trace) = 1 "
        "ORDER BY sum(self_ns) DESC, function LIMIT 50",
        _BOTH,
    ),
    ReadyQuery(
        "changed-calls",
        "functions that are called more or less often in the second run",
        "SELECT function, count(*) FILTER (trace = 'A') AS calls_a, "
        "count(*) FILTER (trace = 'B') AS calls_b, sum(self_ns) FILTER (trace = 'A') AS self_a_ns, "
        "sum(self_ns) FILTER (trace = 'B') AS self_b_ns "
        "FROM calls GROUP BY function HAVING calls_a <> calls_b "
        "ORDER BY abs(calls_b - calls_a) DESC, function LIMIT 50",
        _BOTH,
    ),
    ReadyQuery(
        "changed-time",
        "functions whose self time differs most between two runs",
        "SELECT function, sum(self_ns) FILTER (trace = 'A') AS self_a_ns, "
        "sum(self_ns) FILTER (trace = 'B') AS self_b_ns FROM calls GROUP BY function "
        "ORDER BY abs(coalesce(self_b_ns, 0) - coalesce(self_a_ns, 0)) DESC, function LIMIT 20",
        _BOTH,
    ),
    ReadyQuery(
        "changed-samples",
        "functions in which two profiles sampled most unlike amounts",
        "SELECT samples.kind, stacks.function, "
        "coalesce(sum(weight) FILTER (samples.trace = 'A'), 0) AS weight_a, "
        "coalesce(sum(weight) FILTER (samples.trace = 'B'), 0) AS weight_b "
        "FROM samples JOIN stacks ON samples.trace = stacks.trace AND samples.stack_id = stacks.id "
        "GROUP BY ALL ORDER BY samples.kind, abs(weight_b - weight_a) DESC, stacks.function LIMIT 50",
        _BOTH,
    ),
    ReadyQuery(
        "unmatched",
        "functions by the time of their calls that match nothing in the other run",
        "SELECT calls.trace, calls.function, count(*) AS calls, sum(calls.self_ns) AS self_ns "
        "FROM calls JOIN matches ON calls.trace = matches.trace AND calls.id = matches.call_id "
        "WHERE NOT matched GROUP BY ALL ORDER BY sum(calls.self_ns) DESC, calls.function LIMIT 50",
        _BOTH,
    ),
)
_NAME = re.compile(r"[a-z-]+")


def written_out(text: str, traces: int) -> str:
    """Return the SQL of a ready query, or SQL as it is.

    Parameters
    ----------
    text : str
        A name, or SQL.
    traces : int
        How many traces it is put to.

    Returns
    -------
    str

    Raises
    ------
    UsageError
        If no ready query has this name, it takes more or fewer traces, or the text is empty.
    """
    text = text.strip().rstrip(";").strip()
    if not text:
        raise UsageError("the query is empty: write SELECT … FROM calls, or a name that 'query --list' shows")
    if not _NAME.fullmatch(text.lower()):
        return text
    known = {query.name: query for query in READY}
    if text.lower() not in known:
        raise UsageError(f"there is no ready query {text!r}: the names are {', '.join(known)}")
    chosen = known[text.lower()]
    least, most = chosen.traces
    if not least <= traces <= most:
        wanted = counted(most, "trace") if least == most else f"{least} to {counted(most, 'trace')}"
        raise UsageError(f"the query {chosen.name!r} takes {wanted}, not {traces}")
    return chosen.sql
