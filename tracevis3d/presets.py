"""Presets: the parameters of a view under a name, each a JSON file in a folder of the view's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .atomic import write_text
from .errors import InputError, UsageError
from .parameters import declared

SUFFIX = ".json"


def names(folder: Path) -> list[str]:
    """Return the names of the presets in a folder, which need not be there, in order."""
    return sorted(path.stem for path in folder.glob(f"*{SUFFIX}"))


def read(path: Path, parameters: type) -> dict[str, Any]:
    """Return the values of a preset that fit a view as it is.

    Parameters
    ----------
    path : Path
    parameters : type
        The view's declaration. Those that the preset lacks have their defaults; what else it holds is left
        out.

    Returns
    -------
    dict of str to value
        By the parameters' names.

    Raises
    ------
    UsageError
        If it can't be read, or a value doesn't fit.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: the preset can't be read: {error}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path}: the preset can't be read: names and values are expected")
    return {p.name: p.read(found.get(p.name, p.default)) for p in declared(parameters)}


def write(path: Path, values: Mapping[str, Any]) -> None:
    """Write a preset; its folder is made.

    Parameters
    ----------
    path : Path
    values : mapping of str to value
        By the parameters' names.

    Raises
    ------
    UsageError
        If it can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: the preset can't be written: {error.strerror}") from None
    try:
        write_text(path, json.dumps(dict(values), indent=2) + "\n")
    except InputError as error:
        raise UsageError(str(error)) from None
