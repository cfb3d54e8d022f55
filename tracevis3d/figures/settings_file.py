"""Settings that people write into a file: YAML, TOML or JSON, read as plain values alone."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

from ..errors import InputError, UsageError
from ..machine.bounds import check_written

SUFFIXES = (".yaml", ".yml", ".toml", ".json")
#: The least whole number that is refused: computing with it may fail.
_TOO_LARGE = 1 << 63
#: What settings look like.
_WRITE = "write lines such as 'style: paper'"


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the settings in a file.

    Parameters
    ----------
    path : path
        .yaml, .yml, .toml or .json. Of YAML only plain values are read: no tags, no anchors.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If it can't be read.
    UsageError
        If PyYAML is needed and missing.
    """
    place = Path(path)
    check_written(place, "settings", _WRITE)
    try:
        text = place.read_text("utf-8")
        found = _parsed(text, place.suffix.lower())
        _check_numbers(found)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: {' '.join(str(error).split())}: {_WRITE}") from None
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise InputError(f"{path}: settings are expected: {_WRITE}")
    return found


def _parsed(text: str, suffix: str) -> Any:
    if suffix == ".json":
        return json.loads(text)
    if suffix == ".toml":
        return tomllib.loads(text)
    try:
        import yaml
    except ImportError:
        raise UsageError("PyYAML is needed for .yaml: pip install 'tracevis3d[figures]'") from None

    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            # Anchors can make a small file a huge one.
            if isinstance(event, yaml.AliasEvent):
                raise ValueError(f"line {event.start_mark.line + 1}: anchors are not read")
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _check_numbers(found: Any) -> None:
    todo = [found]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
        elif isinstance(value, int) and abs(value) >= _TOO_LARGE:
            raise ValueError(f"a number of {len(str(abs(value)))} digits is too large")
