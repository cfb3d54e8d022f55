"""The operations recorded beside calls: each one's number, name and kind."""

from __future__ import annotations

#: Kinds as the model's (:data:`tracevis3d.trace.model.SYNC_KINDS`), and one that is a call and no more.
WAIT, RELEASE, IO, CALL = "wait", "release", "io", "call"

_names: list[str] = []
_kinds: list[str] = []


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
    for number, known in enumerate(_names):
        if known == name and _kinds[number] == kind:
            return number
    _names.append(name)
    _kinds.append(kind)
    return len(_names) - 1


def table() -> list[tuple[str, str]]:
    """Return name and kind of all operations, by number."""
    return list(zip(_names, _kinds, strict=True))
