"""Tables as Arrow, pandas and Polars take them: packages that are installed beside this one."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from .column import Column, Texts

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def needed(package: str, extra: str = "tables") -> Any:
    """Import a package that is not always installed.

    Parameters
    ----------
    package : str
        Its name, for Python and for ``pip``.
    extra : str
        The extra of ours that brings it along.

    Returns
    -------
    module

    Raises
    ------
    UsageError
        If it is missing, or can't be loaded.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise UsageError(f"{package} can't be loaded: it lacks {error.name}") from None
        raise UsageError(f"{package} is needed: pip install 'tracevis3d[{extra}]'") from None
    except ImportError as error:
        raise UsageError(f"{package} can't be loaded: {' '.join(str(error).split())}") from None


def to_arrow(columns: Mapping[str, Column]) -> pyarrow.Table:
    """Return columns as an Arrow table: see :meth:`.table.Table.to_arrow`.

    Parameters
    ----------
    columns : mapping of str to Column

    Returns
    -------
    pyarrow.Table
    """
    pa = needed("pyarrow")
    return pa.table({name: _array(pa, column) for name, column in columns.items()})


def to_pandas(columns: Mapping[str, Column]) -> pandas.DataFrame:
    """Return columns as a data frame of pandas: see :meth:`.table.Table.to_pandas`.

    Parameters
    ----------
    columns : mapping of str to Column

    Returns
    -------
    pandas.DataFrame
    """
    pandas = needed("pandas")
    arrow = to_arrow(columns)
    frame = arrow.to_pandas(split_blocks=True)
    for field in arrow.schema:
        # Integers with nulls would become floats.
        if str(field.type).startswith("int") and arrow[field.name].null_count:
            whole = getattr(pandas, f"I{str(field.type)[1:]}Dtype")
            frame[field.name] = arrow[field.name].to_pandas(types_mapper=lambda _, of=whole: of())
    return frame


def to_polars(columns: Mapping[str, Column]) -> polars.DataFrame:
    """Return columns as a data frame of Polars: see :meth:`.table.Table.to_polars`.

    Parameters
    ----------
    columns : mapping of str to Column

    Returns
    -------
    polars.DataFrame
    """
    return needed("polars").from_arrow(to_arrow(columns))


def unique(texts: Texts) -> list[str]:
    """Return texts of which no two are the same: later ones get a number, ``name #2``.

    Parameters
    ----------
    texts : sequence of str

    Returns
    -------
    list of str

    Examples
    --------
    >>> unique(["a", "b", "a"])
    ['a', 'b', 'a #2']
    """
    taken: set[str] = set()
    met: dict[str, int] = {}
    found = []
    for text in texts:
        chosen = text
        while chosen in taken:
            met[text] = met.get(text, 1) + 1
            chosen = f"{text} #{met[text]}"
        taken.add(chosen)
        found.append(chosen)
    return found


def _array(pa: Any, column: Column) -> Any:
    values, gaps = column.values, None
    if not isinstance(values, np.ndarray):
        array = _texts(pa, values)
    else:
        if (column.has_gaps or column.names is not None) and values.dtype.kind != "u":
            gaps = values < 0
        if column.names is not None and values.dtype == np.uint8:
            values = values.view(np.int8)  # pandas takes no unsigned ones
        array = _numbers(pa, values, gaps if gaps is not None and gaps.any() else None)
        if column.names is not None:
            array = pa.DictionaryArray.from_arrays(array, pa.array(unique(column.names), pa.string()))
    if column.first is not None:
        if column.names is not None:
            array = array.dictionary_decode()  # few libraries take dictionaries within lists
        array = pa.LargeListArray.from_arrays(pa.array(column.first), array)
    return array


def _numbers(pa: Any, values: NDArray[Any], gaps: NDArray[np.bool_] | None) -> Any:
    if values.dtype == np.bool_:
        return pa.array(values, mask=gaps)
    values = np.ascontiguousarray(values)
    valid = None if gaps is None else pa.py_buffer(np.packbits(~gaps, bitorder="little"))
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(values.dtype), len(values), [valid, pa.py_buffer(values)]
    )


def _texts(pa: Any, texts: Texts) -> Any:
    return pa.array([*texts], pa.large_string())
