"""The parameters of the view city."""

from __future__ import annotations

from dataclasses import dataclass

from ....parameters import parameter
from ....views import common_parameters
from ..maps import LAYOUTS
from ..metrics import KINDS, METRICS

_HEIGHTS = {name: words for name, words in METRICS.items() if name != "age"}


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``city``."""

    parts: str = parameter("auto", "What buildings are", choices=KINDS, group="Data")
    layout: str = parameter("treemap", "Where buildings stand", choices=LAYOUTS, group="Data")
    area: str = parameter("functions", "What the area of a building shows", choices=_HEIGHTS, group="Data")
    height: str = parameter("self", "What the height of a building shows", choices=_HEIGHTS, group="Data")
    color: str = parameter(
        "callers",
        "What the colour shows; of two traces, how the height changes",
        choices=METRICS,
        group="Data",
    )
    scale: str = parameter(
        "sqrt",
        "How the measure maps to heights",
        choices={"linear": "in proportion", "sqrt": "square root", "log": "logarithm, five decades at most"},
        group="Data",
    )
    floors: int = parameter(
        1, "Into how many slices of time a building is divided, the first at the ground; in films it "
        "grows with them",
        low=1, high=60, group="Data",
    )  # fmt: skip
    multiples: bool = parameter(
        False,
        "Show the slices of time (floors) side by side, each as a small city with its own heights",
        group="Data",
    )
    stack: str = parameter(
        "",
        "A moment, such as 1.5s or 20 (in ms): instead of arcs, the stacks at it arch over the roofs, with "
        "a trail of where they were before; empty: none. Films can let it run (--animate stack=0s..1.5s)",
        group="Data",
    )
    rules: str = parameter(
        "",
        "A file (.toml) that says what width, height, hue and glyphs of buildings show; see docs/city.md",
        group="Data",
    )
    arcs: int = parameter(
        25, "How many pairs of buildings are joined by an arc, those with the most calls first",
        low=0, high=1000, group="Detail",
    )  # fmt: skip
    labels: int = common_parameters.labels(
        40, "The maximum number of names of buildings, the highest first", 500
    )
    findings: int = parameter(
        3, "The maximum number of buildings called out; the first is marked", low=0, high=10, group="Detail"
    )
    opening: float = parameter(
        1.0,
        "From the flat map seen from above (0) to the city (1)",
        low=0.0,
        high=1.0,
        group="Shape",
        in_style={"flat": 0.0},
    )
    relief: float = parameter(1.0, "How high the highest building is", low=0.0, high=3.0, group="Shape")
    turn: float = common_parameters.turn(22.0, 60.0, group="Look")
    tilt: float = common_parameters.tilt(36.0, 5.0, 90.0, group="Look")
