"""The findings of a matrix, one sentence each: the largest cell, hubs, slow rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import units
from .table import Table, is_rest

#: Minimum number of other parts that use a hub.
_HUB = 0.6
_LEAST_HUB = 5
#: A slow round takes at least this many times the median.
_SLOW = 2.0
#: A round is a ridge if it is slow on this share of the threads that run it.
_RIDGE = 0.5


@dataclass(frozen=True)
class Finding:
    """A finding about a matrix.

    Attributes
    ----------
    sentence, short : str
    row, column : int
        Where it is.
    ridge : {"", "row", "column"}
        Whether it is about all of the row, or of the column.
    where : str
        The names of the row and the column, where the short form says neither.
    """

    sentence: str
    short: str
    row: int
    column: int
    ridge: str = ""
    where: str = ""


def findings(table: Table) -> tuple[Finding, ...]:
    """Return the findings, the most important first; at least one.

    Parameters
    ----------
    table : Table
        With at least one item.

    Returns
    -------
    tuple of Finding
    """
    if table.rows.what == "round":
        found = [_slow_round(table), _slow_column(table)]
    else:
        found = [_largest(table), _hub(table)]
    return tuple(one for one in found if one is not None) or (_anything(table),)


def _anything(table: Table) -> Finding:
    flat = table.flat
    row, column = np.unravel_index(int(flat.argmax()), flat.shape)
    rows, columns = len(table.rows.names), len(table.columns.names)
    return Finding(
        f"{units.counted(rows, table.rows.what)} and {units.counted(columns, table.columns.what)}",
        "",
        int(row),
        int(column),
    )


def _largest(table: Table) -> Finding | None:
    """Say which cell is the largest; of calls between different parts, if there are any."""
    flat = table.flat.copy()
    if table.rows.what.partition(" ")[2] == table.columns.what.partition(" ")[2] and table.verb == "calls":
        same = np.array([[a == b for b in table.columns.names] for a in table.rows.names])
        if (flat * ~same).sum() > 0:
            flat[same] = 0.0
    whole = float(flat.sum())
    if not whole > 0:
        return None
    # Several that share a row or a column are nobody.
    single = flat.copy()
    single[-1:] *= not is_rest(table.rows)
    single[:, -1:] *= not is_rest(table.columns)
    chosen = single if single.any() else flat
    row, column = (int(i) for i in np.unravel_index(int(chosen.argmax()), flat.shape))
    value, share = float(flat[row, column]), float(flat[row, column] / whole)
    a, b = table.rows.names[row], table.columns.names[column]
    what = units.percentage(share)
    is_between = table.within or flat.sum() < table.flat.sum()
    between = "between different parts" if table.verb == "calls" and is_between else ""
    number = " calls" if table.of == "calls" else ""
    said = {
        "calls": f"{a} calls {b} most: {table.write(value)}{number}, {what} of all",
        "runs": f"{b} on {a} takes {table.write(value)}, {what} of all self time",
        "waits for": f"{a} waits longest for {b}: {table.write(value)}, {what} of all waiting",
        "waits while it is held by": f"{a} waits longest for what {b} holds: {table.write(value)}, {what} "
        "of all waiting with a known holder",
        "makes": f"{a} calls constructors of {b} most: {table.write(value)} times, {what} of all",
        "allocates": f"{a} allocates most: {table.write(value)} in blocks of {b} to twice that, {what}",
        "sends to": f"{a} sends most to {b}: {table.write(value)} arrows, {what} of all",
    }[table.verb]
    short = f"{table.write(value)}, {what}"
    return Finding(f"{said} {between}".strip(), short, row, column, where=f"{a}, {b}")


def _hub(table: Table) -> Finding | None:
    """Say which column most rows deal with."""
    used = (table.flat > 0).sum(axis=0)
    used[-1:] *= not is_rest(table.columns)
    rows = len(table.rows.names)
    top = int(used.argmax())
    if used[top] < max(_HUB * rows, _LEAST_HUB) or table.verb not in ("calls", "waits for"):
        return None
    name, verb = (
        table.columns.names[top],
        {"calls": "is called by", "waits for": "is waited for by"}[table.verb],
    )
    sentence = f"{name} {verb} {used[top]:,} of {rows:,} {table.rows.what.replace('calling ', '')}s"
    row = int(table.flat[:, top].argmax())
    return Finding(sentence, f"{verb} {used[top]:,}", row, top, where=name)


def _slow_round(table: Table) -> Finding | None:
    """Say which round takes much longer than the others, and in what."""
    flat = table.flat
    of_round = flat.max(axis=1) if table.verb == "on" else flat.sum(axis=1)
    top, busy = int(of_round.argmax()), of_round[of_round > 0]
    if not len(busy) or of_round[top] < _SLOW * (usual := float(np.median(busy))):
        return None
    column = int(flat[top].argmax())
    times = units.count(float(f"{of_round[top] / usual:.2g}"))
    where = f" on {table.columns.names[column]}"
    if table.verb != "on":
        where = f", mostly in {table.columns.names[column]}"
    ridge = ""
    if table.verb == "on":
        there = flat > 0
        slow = there[top] & (flat[top] >= _SLOW * usual)
        ran = int(there[top].sum())
        if slow.sum() > 1 and slow.sum() >= _RIDGE * ran:
            ridge = "row"
            many = (
                f"{slow.sum():,} of {ran:,}" if slow.sum() < ran else "both" if ran == 2 else f"all {ran:,}"
            )
            where = f"; it is slow on {many} threads"
    name, takes = table.rows.names[top], table.write(float(of_round[top]))
    sentence = f"Round {name} of {table.rows.of} takes {takes}, {times} times the median{where}"
    return Finding(sentence, f"round {name}: {times} ×", top, column, ridge)


def _slow_column(table: Table) -> Finding | None:
    """Say which column is the ridge: the slowest in most rounds."""
    flat = table.flat
    columns = len(table.columns.names)
    if columns < 2:
        return None
    there = flat.sum(axis=1) > 0
    slowest = np.bincount(flat[there].argmax(axis=1), minlength=columns)
    top = int(slowest.argmax())
    share = float(slowest[top] / max(int(there.sum()), 1))
    name = table.columns.names[top]
    row = int(flat[:, top].argmax())
    if share <= 1.5 / columns:
        return None
    sentence = f"{name} takes longest in {units.percentage(share)} of the rounds of {table.rows.of}"
    return Finding(sentence, f"{name}: longest in {units.percentage(share)}", row, top, "column")
