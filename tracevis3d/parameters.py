"""Parameters of views and filters: declared once, as a dataclass, from which everything else is made.

The command line's ``--set``, Blender's panel, the settings stored in a .blend and the tables in the docs all
read :func:`declared`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import UsageError

Value = bool | int | float | str
#: Values of parameters by name, as a key of what is cached; :func:`as_key` makes it.
Values = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a view, a format or a filter.

    Attributes
    ----------
    name : str
    default : bool, int, float or str
    sentence : str
        What it does, in one sentence without a final period.
    low, high : float or None
        Bounds, both allowed.
    unit : str
        Such as ``ns``, ``px``, ``degrees``; empty for a bare number.
    choices : dict
        For a string: the allowed values and a few words on each; empty: any text.
    group : str
        The heading it stands under in the panel.
    also : dict
        Other names of choices, and their own: both are read.
    in_style : dict
        The defaults of pictures in some styles, where they differ: ``paper`` is for a page.
    """

    name: str
    default: Value
    sentence: str
    low: float | None = None
    high: float | None = None
    unit: str = ""
    choices: Mapping[str, str] = dataclasses.field(default_factory=dict)
    group: str = ""
    also: Mapping[str, str] = dataclasses.field(default_factory=dict)
    in_style: Mapping[str, Value] = dataclasses.field(default_factory=dict)

    def read(self, text: str | Value) -> Value:
        """Return the value that ``text`` represents.

        Parameters
        ----------
        text : str, int, float or bool
            A value is checked as its text would be.

        Returns
        -------
        str, int, float or bool
            Of the parameter's type.

        Raises
        ------
        UsageError
            If it is of the wrong type, out of bounds or not among the choices.
        """
        value: Value
        kind = type(self.default)
        try:
            if kind is bool:
                value = text if isinstance(text, bool) else _TRUTH[str(text).strip().lower()]
            elif kind is int:
                value = int(text)
            elif kind is float:
                value = float(text)
                if not math.isfinite(value):
                    raise ValueError
            else:
                value = self.also.get(str(text), str(text))
        except (ValueError, KeyError, OverflowError):
            wanted = {bool: "yes or no", int: "a whole number", float: "a number"}[kind]
            raise UsageError(f"{self.name}={text}: {wanted} is expected") from None
        if not isinstance(value, (bool, str)):
            if self.low is not None and value < self.low:
                raise UsageError(f"{self.name}={text}: {self.low:g} is the minimum")
            if self.high is not None and value > self.high:
                raise UsageError(f"{self.name}={text}: {self.high:g} is the maximum")
        if self.choices and value not in self.choices:
            raise UsageError(f"{self.name}={text}: one of {', '.join(self.choices)} is expected")
        return value

    def described(self) -> str:
        """Return the sentence with unit, range and choices, for help and docs."""
        parts = [self.sentence]
        if self.choices:
            parts.append(
                "; ".join(f"{name}: {words}" if words else name for name, words in self.choices.items())
            )
        elif self.low is not None and self.high is not None:
            parts.append(f"{self.low:g} to {self.high:g}{' ' + self.unit if self.unit else ''}")
        elif self.low is not None:
            parts.append(f"{self.low:g}{' ' + self.unit if self.unit else ''} or more")
        elif self.unit:
            parts.append(f"in {self.unit}")
        for style, value in self.in_style.items():
            parts.append(f"In pictures of the style {style} {shown(value)} by default")
        return ". ".join(parts)


_TRUTH = {
    "yes": True,
    "true": True,
    "on": True,
    "1": True,
    "no": False,
    "false": False,
    "off": False,
    "0": False,
}


def parameter(
    default: Value,
    sentence: str,
    *,
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    choices: Mapping[str, str] | None = None,
    group: str = "",
    also: Mapping[str, str] | None = None,
    in_style: Mapping[str, Value] | None = None,
) -> Any:
    """Declare a field of a parameters dataclass; see :class:`Parameter`.

    Parameters
    ----------
    default : str, int, float or bool
        Also decides the type.
    sentence : str
        What it does.
    low, high : float, optional
        Bounds of a number.
    unit : str
    choices : mapping of str to str, optional
        The values of a text, each with a sentence.
    group : str
        The heading it stands under in the panel.
    also : mapping of str to str, optional
        Other names of choices, and their own.
    in_style : mapping of str to value, optional
        The defaults of pictures in some styles.

    Returns
    -------
    dataclasses.Field
    """
    declaration = Parameter(
        "",
        default,
        sentence,
        low,
        high,
        unit,
        dict(choices or {}),
        group,
        dict(also or {}),
        dict(in_style or {}),
    )
    return dataclasses.field(default=default, metadata={"parameter": declaration})


def declared(parameters: type) -> tuple[Parameter, ...]:
    """Return the parameters that the dataclass ``parameters`` declares, in order."""
    return tuple(
        dataclasses.replace(field.metadata["parameter"], name=field.name)
        for field in dataclasses.fields(parameters)
        if "parameter" in field.metadata
    )


def shown(value: object) -> str:
    """Return a value as it is written in docs, such as ``1`` for 1.0.

    Parameters
    ----------
    value : bool, int, float or str

    Returns
    -------
    str
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def in_style(parameters: type, settings: Mapping[str, Any], style: str) -> dict[str, Any]:
    """Return ``settings``, with the defaults of pictures in a style for parameters that are not among them.

    Parameters
    ----------
    parameters : type
        The dataclass that declares them.
    settings : mapping of str to object
        What is set.
    style : {"paper", "stage", "flat"}

    Returns
    -------
    dict
    """
    given = {name.replace("-", "_") for name in settings}
    own = {p.name: p.in_style[style] for p in declared(parameters) if style in p.in_style}
    return {**{name: value for name, value in own.items() if name not in given}, **settings}


P = TypeVar("P")


def as_key(values: Mapping[str, Value]) -> Values:
    """Return values of parameters so that they can be a key.

    Parameters
    ----------
    values : mapping of str to value

    Returns
    -------
    tuple of (str, value)
        By name.

    Examples
    --------
    >>> as_key({"relief": 0.5, "end": ""})
    (('end', ''), ('relief', 0.5))
    """
    return tuple(sorted(values.items(), key=lambda item: item[0]))


def read(parameters: type[P], values: Mapping[str, Any]) -> P:
    """Make an instance of the dataclass ``parameters`` from texts or values.

    Parameters
    ----------
    parameters : type
        A dataclass of fields made by :func:`parameter`.
    values : mapping of str to value
        By name; what is missing has its default.

    Returns
    -------
    parameters

    Raises
    ------
    UsageError
        For an unknown name or a value that does not fit.
    """
    known = {p.name: p for p in declared(parameters)}
    given = {}
    for word, value in values.items():
        name = word if word in known else word.replace("-", "_")
        if name not in known:
            raise UsageError(f"there is no parameter {name!r}: {_nearest(name, list(known))}")
        given[name] = known[name].read(value)
    return parameters(**given)


def _nearest(name: str, known: Sequence[str]) -> str:
    import difflib  # for this sentence alone

    close = difflib.get_close_matches(name, known, 1)
    return f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(known)}"
