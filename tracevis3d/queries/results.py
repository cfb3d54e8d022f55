"""Results of queries as texts, CSV and files."""

from __future__ import annotations

import csv as comma_separated
import io
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

from ..atomic import replacing
from ..tables.arrow import needed
from .database import Answer


def texts(answer: Answer, most: int) -> list[list[str]]:
    """Return its first rows as people read them: whole numbers with commas, nothing for null.

    Parameters
    ----------
    answer : Answer
    most : int
        Rows.

    Returns
    -------
    list of list of str
        A row each.
    """
    columns = [column.to_pylist() for column in answer.arrow.slice(0, most).columns]
    return [[_text(value) for value in row] for row in zip(*columns)]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal) and value == value.to_integral_value():
        value = int(value)  # sums are wider than 64 bits
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float | Decimal):
        return f"{value:,.6g}"
    return str(value)


def is_number(answer: Answer) -> list[bool]:
    """Return which of its columns are numbers, which stand to the right."""
    kinds = ("int", "uint", "float", "double", "decimal")
    return [str(field.type).startswith(kinds) for field in answer.arrow.schema]


def csv(answer: Answer) -> str:
    """Return it as CSV, with a line of names."""
    out = io.StringIO()
    writer = comma_separated.writer(out, lineterminator="\n")
    writer.writerow(answer.columns)
    for batch in answer.arrow.to_batches():
        writer.writerows(zip(*(column.to_pylist() for column in batch.columns)))
    return out.getvalue()


def write(answer: Answer, path: str | os.PathLike[str]) -> None:
    """Write it, by the suffix of ``path``: .csv, .json or .parquet.

    Parameters
    ----------
    answer : Answer
    path : path

    Raises
    ------
    InputError
        If the file can't be written.
    """
    suffix = Path(path).suffix.lower()
    with replacing(path) as beside:
        if suffix == ".parquet":
            needed("pyarrow.parquet", "query").write_table(answer.arrow, beside)
        elif suffix == ".json":
            text = json.dumps(answer.rows, indent=2, ensure_ascii=False, default=str)
            beside.write_text(text + "\n", "utf-8")
        else:
            beside.write_text(csv(answer), "utf-8", newline="")
