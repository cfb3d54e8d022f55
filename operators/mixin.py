"""The attributes of an operator that a class mixed into it may use."""

from collections.abc import Callable
from typing import Any, ClassVar


class OperatorMixin:
    """A part of operators; Blender gives it the rest."""

    options: Any
    report: Callable[[set[str], str], None]
    execute: Callable[[Any], set[str]]
    poll_message_set: ClassVar[Callable[[str], None]]
