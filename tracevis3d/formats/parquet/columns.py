"""From the columns of an Arrow table back to those of the model: the reverse of :mod:`....tables.tabular`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...tables.tabular import Tabular
from ...trace.strings import Strings

R = TypeVar("R", bound=Tabular)


def record(kind: type[R], arrow: Any, known: Mapping[str, Any], texts: Mapping[str, list[str]]) -> R:
    """Return a record of the model with the columns of a table.

    Parameters
    ----------
    kind : type
        A dataclass of :mod:`tracevis3d.trace.model`.
    arrow : pyarrow.Table
        As :meth:`..tables.tabular.Tabular.to_arrow` makes it; types may be wider, and texts plain.
    known : mapping
        Fields that the table doesn't have.
    texts : mapping of str to list of str
        Fields of texts that rows point into -> those that come first, in their order.

    Returns
    -------
    Tabular

    Raises
    ------
    ValueError
        If a column is missing, or can't be what the model wants; the text says which.
    """
    found: dict[str, Any] = dict(known)
    for f in fields(kind):  # type: ignore[arg-type]
        if f.name in found or not f.metadata.get("as_table", True):
            continue
        name = f.metadata.get("called", f.name)
        if "unit" in f.metadata:
            name = f"{name}_{f.metadata['unit']}"
        names = f.metadata.get("names")
        is_own = isinstance(names, str) and any(other.name == names for other in fields(kind))  # type: ignore[arg-type]
        if isinstance(names, str) and not is_own:
            name += "_id"
        if name not in arrow.column_names:
            raise ValueError(f"the column {name} is missing")
        try:
            column = arrow[name].combine_chunks()
            if f.metadata.get("optional") and column.null_count == len(column):
                continue
            if isinstance(names, str) and is_own:
                found |= _pointing(f, column, names, texts.get(names, []))
            else:
                found |= _field(f, column, names if isinstance(names, tuple) else None)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"the column {name}: {' '.join(str(error).split())}") from None
    return kind(**found)


def _field(f: Field[Any], column: Any, kinds: tuple[str, ...] | None) -> dict[str, Any]:
    if "dtype" not in f.metadata:
        return {f.name: Strings.of(text or "" for text in column.to_pylist())}
    dtype = f.metadata["dtype"]
    if kinds is None:
        return {f.name: numbers(column, dtype)}
    codes, texts = _codes(column)
    if unknown := [text for text in texts if text not in kinds]:
        raise ValueError(f"{unknown[0]!r} is not one of {', '.join(kinds)}")
    if (codes < 0).any():
        raise ValueError("a row is empty")
    which = np.array([kinds.index(text) for text in texts], np.int64)
    return {f.name: (which[codes] if len(which) else codes).astype(dtype)}


def _pointing(f: Field[Any], column: Any, into: str, first: list[str]) -> dict[str, Any]:
    """Return a column of numbers that point into texts of its own table, and these texts."""
    found: dict[str, Any] = {}
    if "slices" in f.metadata:
        found[f.metadata["slices"]] = np.asarray(column.offsets, np.int64)
        column = column.flatten()
    codes, texts = _codes(column)
    every = [*dict.fromkeys((*first, *texts))]
    place = {text: number for number, text in enumerate(every)}
    # The last entry, which -1 selects, is empty.
    which = np.array([*(place[text] for text in texts), -1], np.int64)
    found[into] = Strings.of(every)
    found[f.name] = which[codes].astype(f.metadata["dtype"])
    return found


def _codes(column: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Return the texts of a column, each once, and which one each row has; -1: none."""
    if not hasattr(column, "dictionary"):
        column = column.dictionary_encode()
    return numbers(column.indices, np.dtype(np.int64)), [str(text) for text in column.dictionary.to_pylist()]


def numbers(column: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers of a type; -1 for null.

    Parameters
    ----------
    column : pyarrow.Array
    dtype : dtype

    Returns
    -------
    array of dtype (n,)

    Raises
    ------
    ValueError
        If a number does not fit into the type.
    """
    if column.null_count:
        column = column.fill_null(-1)
    plain = column.to_numpy(zero_copy_only=False)
    if dtype.kind in "iu" and plain.dtype.kind == "f":
        plain = np.where(np.isnan(plain), -1, plain)  # pandas makes floats of whole numbers with gaps
        if not np.array_equal(plain, np.floor(plain)):
            raise ValueError("whole numbers are expected")
    elif dtype.kind in "iu" and plain.dtype.kind not in "iu":
        raise ValueError(f"whole numbers are expected, not {plain.dtype}")
    result = plain.astype(dtype)
    if not np.array_equal(result, plain):
        raise ValueError(f"a number does not fit into {dtype}")
    return np.ascontiguousarray(result)
