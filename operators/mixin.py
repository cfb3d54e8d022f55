"""What a class that is mixed into operators may use of the operator that it becomes part of."""

from collections.abc import Callable
from typing import Any, ClassVar


class OperatorMixin:
    """A part of operators; Blender gives it the rest."""

    options: Any
    report: Callable[[set[str], str], None]
    execute: Callable[[Any], set[str]]
    poll_message_set: ClassVar[Callable[[str], None]]
