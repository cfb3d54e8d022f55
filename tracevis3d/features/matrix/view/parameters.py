"""The parameters of the view matrix."""

from __future__ import annotations

from dataclasses import dataclass

from ....parameters import parameter
from ....views import common_parameters
from ....views.calls.parts import PARTS
from ..subjects import SUBJECTS


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``matrix``."""

    about: str = parameter("auto", "What rows and columns are", choices=SUBJECTS, group="Data")
    parts: str = parameter("auto", "What callers and callees are", choices=PARTS, group="Data")
    value: str = parameter(
        "auto",
        "What is summed up of callers and callees",
        choices={
            "calls": "the number of calls",
            "self": "the self time of the callee",
            "time": "the time from the callee's begin to its end",
            "auto": "the number of calls; in a profile of samples the time",
        },
        group="Data",
    )
    third: str = parameter(
        "time",
        "The third category",
        choices={
            "time": "slices of time, by the begin of each call or wait",
            "thread": "threads; of arrows, their kind",
            "none": "there is none",
        },
        group="Data",
    )
    slices: int = parameter(12, "Into how many slices time is divided", low=1, high=100, group="Data")
    repeated: str = parameter(
        "", "For about=rounds: the function whose calls are rounds; empty: the one that takes most time",
        group="Data",
    )  # fmt: skip
    within: bool = parameter(
        False, "Also show calls within one part; if there are no others, they are always shown", group="Data"
    )
    start: str = common_parameters.window_start()
    end: str = common_parameters.window_end()
    most: int = parameter(
        28, "The maximum number of rows and columns; the rest is summed up in one more", low=2, high=200,
        group="Detail",
    )  # fmt: skip
    color: str = parameter(
        "value",
        "What the colour shows",
        choices={"value": "the value, on a logarithmic scale", "third": "the third category"},
        group="Detail",
    )
    scale: str = parameter(
        "auto",
        "How values map to heights",
        choices={
            "auto": "linear for rounds, square root for others",
            "linear": "in proportion",
            "sqrt": "square root",
            "log": "logarithm, over at most five decades",
        },
        group="Detail",
    )
    walls: bool = parameter(
        True,
        "Show on the walls how the values of each column and each row are spread over time",
        group="Detail",
    )
    findings: int = parameter(1, "The maximum number of findings marked", low=0, high=5, group="Detail")
    form: str = parameter(
        "auto",
        "What stands on the floor",
        choices={
            "auto": "a surface for rounds, bars for others",
            "bars": "a bar for each pair",
            "surface": "slopes between neighbours where rows or columns have an order: rounds, sizes",
        },
        group="Shape",
    )
    opening: float = parameter(
        1.0, "From the flat matrix seen from above (0) to bars between walls (1)", low=0.0, high=1.0,
        group="Shape", in_style={"flat": 0.0},
    )  # fmt: skip
    relief: float = parameter(1.0, "How high the highest bar is", low=0.0, high=3.0, group="Shape")
    spread: float = parameter(
        0.0, "How far the levels of the third category are lifted off the bars: 0 stacked in one bar, 1 each "
        "on a floor of its own",
        low=0.0, high=1.0, group="Shape",
    )  # fmt: skip
    rows_open: float = parameter(
        1.0, "How far the rows are open: 0 collapsed onto the wall at the back, 1 each in its place",
        low=0.0, high=1.0, group="Shape",
    )  # fmt: skip
    columns_open: float = parameter(
        1.0, "How far the columns are open: 0 collapsed onto the wall at the left, 1 each in its place",
        low=0.0, high=1.0, group="Shape",
    )  # fmt: skip
    turn: float = common_parameters.turn(16.0, 60.0, group="Look")
    tilt: float = common_parameters.tilt(38.0, 5.0, 90.0, group="Look")
    palette: str = common_parameters.palette()
