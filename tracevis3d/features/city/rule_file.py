"""A file of rules that says what width, height, hue and glyphs of buildings show."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import units
from ...errors import InputError, UsageError
from ...figures import settings_file
from .metrics import METRICS, NAMES, Floats, writer

#: Shapes of glyphs.
GLYPHS = ("sphere", "diamond", "cone", "pin", "disc")
_BINDINGS = ("width", "height", "hue", "glyph")
_CONDITIONS = ("name", "field", "above", "below")
_KEYS = (*_CONDITIONS, "hue", "glyph", "says")
_TIMES = ("self", "waits", "age")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
#: The most rules: each has a line in the legend.
_MOST = 12


@dataclass(frozen=True)
class Rule:
    """What buildings look like that fit some conditions.

    Attributes
    ----------
    name : str
        A pattern of full names; empty: any.
    field : str
        A key of :data:`.metrics.METRICS`; empty: none.
    above, below : float
        The bounds of the field, both excluded.
    hue : str
        A colour such as ``c0392b``; empty: that of the others.
    glyph : str
        One of :data:`GLYPHS`; empty: none.
    says : str
        What it means, for the legend.
    """

    name: str = ""
    field: str = ""
    above: float = -np.inf
    below: float = np.inf
    hue: str = ""
    glyph: str = ""
    says: str = ""

    def fits(self, names: list[str], measure: Callable[[str], Floats]) -> NDArray[np.bool_]:
        """Return which buildings fit.

        Parameters
        ----------
        names : list of str
            Full names of the buildings.
        measure : callable
            ``measure(field)`` returns its values, float64 (buildings,).

        Returns
        -------
        bool (buildings,)
        """
        found = np.ones(len(names), np.bool_)
        if self.name:
            pattern = re.compile(translate(self.name))
            found = np.array([pattern.fullmatch(name) is not None for name in names], np.bool_)
        if self.field:
            value = measure(self.field)
            found &= (value > self.above) & (value < self.below)
        return found


@dataclass(frozen=True)
class Rules:
    """What a file of rules says.

    Attributes
    ----------
    width, height, hue, glyph : str
        The measure that each shows; empty: what the view's parameters say, and no glyph.
    rules : tuple of Rule
        The first that fits a building applies.
    """

    width: str = ""
    height: str = ""
    hue: str = ""
    glyph: str = ""
    rules: tuple[Rule, ...] = ()

    def parameters(self) -> dict[str, str]:
        """Return the view's parameters that it determines."""
        bound = {"area": self.width, "height": self.height, "color": self.hue}
        return {name: field for name, field in bound.items() if field}


def read_rules(path: str) -> Rules:
    """Return the rules in a file.

    Parameters
    ----------
    path : str
        .toml (or .yaml, .json).

    Returns
    -------
    Rules

    Raises
    ------
    InputError
        If it can't be read, or says something that is not known: the sentence names the place.
    """
    if Path(path).suffix.lower() not in settings_file.SUFFIXES:
        raise InputError(f"{path}: name a file of rules that ends in {', '.join(settings_file.SUFFIXES)}")
    found = settings_file.read(path)
    _known(path, found, (*_BINDINGS, "rule"), "width, height, hue, glyph and [[rule]]")
    bound = {key: _field(f"{path}: {key}", found[key]) for key in _BINDINGS if key in found}
    for key in ("width", "height", "glyph"):
        if bound.get(key) == "age":
            raise InputError(f'{path}: {key} = "age": use it for hue: it is a point in time')
    listed = found.get("rule", [])
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
        raise InputError(f"{path}: rule: write [[rule]] above the lines of each rule")
    if len(listed) > _MOST:
        raise InputError(f"{path}: {len(listed):,} rules: write at most {_MOST}")
    rules = tuple(_rule(f"{path}: rule {i + 1}", one) for i, one in enumerate(listed))
    return Rules(**bound, rules=rules)


def _known(place: str, given: Mapping[str, Any], known: tuple[str, ...], said: str) -> None:
    for key in given:
        if key not in known:
            raise InputError(f"{place}: {key} is unknown: use {said}")


def _field(place: str, value: Any) -> str:
    if not isinstance(value, str) or value not in METRICS:
        raise InputError(f"{place} = {_shown(value)}: write one of {', '.join(METRICS)}")
    return value


def _rule(place: str, given: Mapping[str, Any]) -> Rule:
    _known(place, given, _KEYS, ", ".join(_KEYS[:-1]) + " and " + _KEYS[-1])
    for key in ("name", "hue", "glyph", "says"):
        if key in given and (not isinstance(given[key], str) or not given[key]):
            raise InputError(f"{place}: {key} = {_shown(given[key])}: write a text in quotes")
    field = _field(f"{place}: field", given["field"]) if "field" in given else ""
    bounds = [key for key in ("above", "below") if key in given]
    if bool(bounds) != bool(field):
        raise InputError(f"{place}: write field together with above or below")
    if not field and "name" not in given:
        raise InputError(f"{place}: says of no building that it fits: give a name, or field and above")
    if "hue" in given and not _COLOR.fullmatch(given["hue"]):
        raise InputError(f'{place}: hue = {_shown(given["hue"])}: write a colour such as "#c0392b"')
    if given.get("glyph", GLYPHS[0]) not in GLYPHS:
        raise InputError(f"{place}: glyph = {_shown(given['glyph'])}: write one of {', '.join(GLYPHS)}")
    if "hue" not in given and "glyph" not in given:
        raise InputError(f"{place}: changes nothing: give it a hue or a glyph")
    values = {key: _bound(f"{place}: {key}", field, given[key]) for key in bounds}
    return Rule(
        given.get("name", ""), field, **values, hue=given.get("hue", "").lstrip("#"),
        glyph=given.get("glyph", ""), says=given.get("says", "") or _said(given, field, values),
    )  # fmt: skip


def _bound(place: str, field: str, value: Any) -> float:
    if isinstance(value, str) and field in _TIMES:
        try:
            return float(units.read_time("bound", value))
        except UsageError:
            raise InputError(f'{place} = {_shown(value)}: write a time such as "5 ms"') from None
    if isinstance(value, str) and field == "bytes":
        try:
            return float(units.read_byte_size("bound", value))
        except UsageError:
            raise InputError(f'{place} = {_shown(value)}: write a size such as "1 MB"') from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        wanted = 'a time such as "5 ms"' if field in _TIMES else "a number"
        raise InputError(f"{place} = {_shown(value)}: write {wanted}")
    return float(value) * (1e6 if field in _TIMES else 1.0)


def _shown(value: Any) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _said(given: Mapping[str, Any], field: str, values: Mapping[str, float]) -> str:
    write = writer(field) if field else units.count
    words = [f"{NAMES[field]} {key} {write(value)}" for key, value in values.items()]
    return ", ".join(([given["name"]] if "name" in given else []) + words)
