"""The operations recorded beside calls: each one's number, name and kind."""

from __future__ import annotations

#: Kinds as the model's (:data:`tracevis3d.trace.model.SYNC_KINDS`), and one that is a call and no more.
WAIT, RELEASE, IO, CALL = "wait", "release", "io", "call"

#: Name and kind, by number. One list, so that a thread that reads it never meets half of an operation.
_operations: list[tuple[str, str]] = []


def operation(name: str, kind: str) -> int:
    """Return the number of an operation; the same name and kind give the same number.

    Parameters
    ----------
    name : str
        Such as "Lock.acquire".
    kind : str
        :data:`WAIT`, :data:`RELEASE`, :data:`IO` or :data:`CALL`.

    Returns
    -------
    int
    """
    # Two threads may both add it: its number is the first's.
    if (name, kind) not in _operations:
        _operations.append((name, kind))
    return _operations.index((name, kind))


def table() -> list[tuple[str, str]]:
    """Return name and kind of all operations, by number."""
    return list(_operations)
