"""The parameters of the view icicle."""

from __future__ import annotations

from dataclasses import dataclass

from ....parameters import parameter
from ....views import common_parameters
from ....views.calls.colors import COLORS
from ....views.calls.measures import MEASURES
from ....views.thread_selection import ORDERS


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``icicle``."""

    measure: str = parameter("calls", "What the thickness of a box shows", choices=MEASURES, group="Data")
    scale: str = parameter(
        "auto",
        "How the measure maps to thickness",
        choices={
            "auto": "what suits the measure: square root for time and bytes, logarithm for counts",
            "linear": "in proportion",
            "sqrt": "square root",
            "log": "logarithm, over at most five decades",
        },
        group="Data",
    )
    color: str = parameter("auto", "What the colour shows", choices=COLORS, group="Data")
    threads: str = common_parameters.threads("the busiest, as many as fit")
    unfolded: str = parameter(
        "",
        "Threads with all of their levels, while the lanes of others are folded and stay where they are: "
        "'auto' (the busiest that have room in 32 levels), 'none', or as for threads; empty: all",
        group="Data",
    )
    order: str = parameter("recorded", "Order of the threads, from the front", choices=ORDERS, group="Data")
    start: str = common_parameters.window_start()
    end: str = common_parameters.window_end()
    first_depth: int = common_parameters.first_depth()
    last_depth: int = common_parameters.last_depth()
    resolution: float = common_parameters.resolution(1.0)
    labels: int = common_parameters.labels(
        400, "The maximum number of names written on boxes, the widest first"
    )
    entries: int = common_parameters.entries(10)
    opening: float = parameter(
        1.0, "From the flat icicle plot (0) to the full 3D picture (1)", low=0.0, high=1.0, group="Shape"
    )
    winding: float = parameter(
        0.0, "Turns of a spiral along which time runs, 1 or more: what recurs with the time of a turn lies "
        "side by side; 0: time runs straight",
        low=0.0, high=60.0, group="Shape",
    )  # fmt: skip
    relief: float = parameter(0.5, "How far the thickest box reaches out", low=0.0, high=1.0, group="Shape")
    recede: float = parameter(
        1.0, "How far each thread's lane steps back behind the one below", low=0.0, high=3.0, group="Shape"
    )
    apart: float = parameter(
        0.0, "How far the last colour stands before the first, in scene units (the time window is 16 wide)",
        low=0.0, high=16.0, group="Shape",
    )  # fmt: skip
    taper: float = common_parameters.taper(0.5)
    level: float = parameter(
        0.0, "Height of a level in scene units (the time window is 16 wide); 0: as the picture allows",
        low=0.0, high=4.0, group="Shape",
    )  # fmt: skip
    spacing: float = parameter(
        1.5, "Free height between lanes, in levels", low=0.0, high=20.0, unit="levels", group="Shape"
    )
    gap: float = parameter(
        0.08, "Share of a level's height left free between a box and the boxes on it", low=0.0, high=0.9,
        group="Shape",
    )  # fmt: skip
    turn: float = common_parameters.turn(-13.0, group="Look")
    tilt: float = common_parameters.tilt(21.0, -20.0, 85.0, group="Look")
    palette: str = common_parameters.palette()
