"""Icons for kinds of functions and patterns, and what they mean."""

from typing import Any

#: Kind -> Blender's icon.
ICONS = {
    "constructor": "FILE_NEW",
    "accessor": "EYEDROPPER",
    "utility": "TOOL_SETTINGS",
    "polymorphic": "DUPLICATE",
    "function": "DOT",
    "pattern": "COPYDOWN",
    "sequence": "SEQUENCE",
}
_WORDS = {
    "constructor": "makes or ends objects",
    "accessor": "gets or sets",
    "utility": "utility",
    "polymorphic": "polymorphic",
    "function": "other function",
    "pattern": "pattern",
    "sequence": "sequence",
}
_PER_ROW = 2


def draw_legend(layout: Any, roles: set[str]) -> None:
    """Say what the icons of ``roles`` mean, those alone that are seen."""
    present = [role for role in ICONS if role in roles]
    if len(present) < 2:
        return
    grid = layout.grid_flow(row_major=True, columns=_PER_ROW, align=True)
    grid.active = False
    for role in present:
        grid.label(text=_WORDS[role], icon=ICONS[role])
