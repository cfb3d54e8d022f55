"""Going from one to the next: the choice of operators that page through rows or results."""

from typing import Any

from bpy.props import EnumProperty


def step(what: str, between: tuple[str, str, str] | None = None, *, ends: bool = False) -> Any:
    """Return the property of where to go: to the one before or after, with ``ends`` also the first and last.

    ``what`` names the list; ``between`` is one more choice, in the middle.
    """
    items = [("PREVIOUS", "Previous", f"The {what} before"), ("NEXT", "Next", f"The {what} after")]
    if between:
        items.insert(1, between)
    if ends:
        items = [("FIRST", "First", f"The first {what}"), *items, ("LAST", "Last", f"The last {what}")]
    return EnumProperty(items=items, name="Step", default="NEXT")
