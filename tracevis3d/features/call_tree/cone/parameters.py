"""The parameters of the view cone."""

from __future__ import annotations

from dataclasses import dataclass

from ....parameters import parameter
from ....views import common_parameters
from ....views.calls.colors import COLORS

#: Values of ``size`` and ``height``.
QUANTITIES = {
    "calls": "calls in the subtree",
    "duration": "mean duration of such a subtree",
    "self": "mean self time of such a call",
    "occurrences": "how often the subtree occurs in the trace",
    "none": "nothing: all alike",
}


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``cone``."""

    size: str = parameter(
        "weight", "What the size of a node shows", group="Data",
        choices=QUANTITIES
        | {"weight": "what it carries in all its repetitions: time, or calls (see interest)"},
    )  # fmt: skip
    height: str = parameter(
        "none", "What the drop from a caller to a call shows, or how high a call stands in its bubble; none: "
        "one level each, or its duration", choices=QUANTITIES, group="Data",
    )  # fmt: skip
    color: str = parameter("auto", "What the colour shows", choices=COLORS, group="Data")
    threads: str = common_parameters.threads(
        "the four busiest, and those of the functions with most self time"
    )
    filters: str = parameter(
        "", "Filters with ; between them, such as 'utilities(effect=fade); constructors'", group="Data"
    )
    budget: int = parameter(
        300,
        "The maximum number of calls shown, the most interesting first",
        low=10,
        high=200_000,
        group="Detail",
    )
    interest: str = parameter(
        "duration",
        "What makes a subtree interesting",
        choices={"calls": "many calls", "duration": "much time, or many calls where there are no times"},
        group="Detail",
    )
    focus: str = parameter(
        "",
        "The call in focus: its number, or the first of the function with that name (or with it in its name)",
        group="Detail",
    )
    near: float = parameter(
        0.7,
        "How much interest decreases with each step away from the focus, or from the root",
        low=0.0,
        high=20.0,
        group="Detail",
    )
    turn: float = parameter(
        1.0,
        "How far the cones turn to bring the focus to the front; in a ball, how far it moves to the middle",
        low=0.0,
        high=1.0,
        group="Detail",
    )
    facing: str = parameter(
        "",
        "The call that the cones turn to the front, or that moves to the middle of a ball; empty: the "
        "focus. 12~5500~0.4 is a place between two calls, 0.4 of the way",
        group="Detail",
    )
    labels: int = common_parameters.labels(60, "The maximum number of names", stage=8)
    entries: int = common_parameters.entries(10)
    path: str = parameter(
        "duration",
        "The path drawn as a tube, from the root downward",
        choices={
            "duration": "always to the callee that takes the most time",
            "calls": "always to the callee with the most calls below it",
            "focus": "to the call in focus",
            "none": "no tube",
        },
        group="Detail",
    )
    layout: str = parameter(
        "cone",
        "Where callees stand",
        choices={
            "cone": "on a ring around the foot of their caller's cone",
            "bubble": "each subtree in a bubble of its own beside its caller, higher where it takes longer; "
            "seen from above no edges cross",
            "hyperbolic": "on hemispheres in hyperbolic space, seen as a ball: the focus is large in the "
            "middle, everything else shrinks towards the rim",
        },
        group="Shape",
    )
    room: str = parameter(
        "levels",
        "How the space of a cone tree is distributed",
        choices={
            "shown": "to what is shown; closed subtrees get space by the cube root of their calls",
            "all": "to every distinct callee, shown or not: the true proportions of the tree",
            "levels": "as shown, but each call takes space only at its own level, so that callees without "
            "shown callees stand close to their caller; in the flat picture the same as shown",
        },
        group="Shape",
    )
    opening: float = parameter(
        1.0,
        "Of cones and bubbles: from the flat tree seen from above (0) to the tree in space (1)",
        low=0.0,
        high=1.0,
        group="Shape",
        in_style={"flat": 0.0},
    )
    recline: bool = parameter(
        False, "Of cones: draw the tree from left to right instead of downward", group="Shape"
    )
    steepness: float = parameter(
        1.0, "Height of a cone tree, as a share of what fits the picture", low=0.05, high=5.0, group="Shape"
    )
    shells: str = parameter(
        "rings",
        "How cones are drawn",
        choices={
            "rings": "the ring that their callees stand on",
            "surfaces": "translucent surfaces too (solid in Workbench, which knows no translucent colours)",
            "none": "not at all",
        },
        group="Shape",
    )
    closed: str = parameter(
        "weight",
        "Of cones: what the cone of a closed subtree shows",
        choices={
            "weight": "what it carries, as the size of a node does",
            "shape": "SpaceTree's triangle: high as levels below it, wide as calls on a level, filled as far "
            "as what it carries",
        },
        group="Shape",
    )
    lists: str = parameter(
        "rings",
        "Of cones with room=levels: where more callees than rings stand, if nothing is shown below them",
        choices={
            "rings": "on several rings around each other",
            "cylinder": "on a cylinder, row by row; in the flat picture on rings",
        },
        group="Shape",
    )
    rings: int = parameter(
        40,
        "If there are more callees than this, they stand on several rings",
        low=3,
        high=1000,
        group="Shape",
    )
    sinking: float = parameter(
        1.0,
        "How far calls that filters sink have moved down, for films",
        low=0.0,
        high=1.0,
        group="Shape",
    )
    elevation: float = parameter(
        13.0, "How far the camera looks down", low=-20.0, high=89.0, unit="degrees", group="Look"
    )
    toward: str = parameter(
        "",
        "Of cones: the call that the camera moves to: its number, or the first with this text in its "
        "function's name; empty: the focus, or the closed subtree with the most calls",
        group="Look",
    )
    approach: float = parameter(
        0.0,
        "Of cones: how far the camera has moved there; closed subtrees near it are opened in place, as far "
        "as the budget allows",
        low=0.0,
        high=1.0,
        group="Look",
    )
    palette: str = common_parameters.palette()
