"""The parameters of the view ramp."""

from __future__ import annotations

from dataclasses import dataclass

from ....parameters import parameter
from ....views import common_parameters


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``ramp``."""

    by: str = parameter(
        "auto",
        "What a round is",
        choices={
            "auto": "a call; in a trace without calls, an asynchronous operation",
            "calls": "a call of one function; its stages are what it calls",
            "phases": "a phase of the run, found automatically; its stages are the calls within it of the "
            "busiest thread",
            "spans": "an asynchronous operation; its stages are those within it",
        },
        group="Data",
    )
    repeated: str = parameter(
        "", "The function, or the operation, whose rounds are shown, or the function typical of phases; "
        "empty: the one that takes most time, all phases",
        group="Data",
    )  # fmt: skip
    start: str = common_parameters.window_start()
    end: str = common_parameters.window_end()
    resolution: float = common_parameters.resolution(
        1.0, "Stages of one kind with smaller gaps are drawn as one, narrower ones not at all"
    )
    entries: int = common_parameters.entries(8, "The maximum number of stages with a colour of their own")
    histogram: bool = parameter(True, "Draw the distribution of durations at the end", group="Detail")
    findings: int = parameter(2, "The maximum number of findings marked", low=0, high=3, group="Detail")
    opening: float = parameter(
        1.0, "From the flat staircase (0) to bars that stick out by their duration (1)", low=0.0, high=1.0,
        group="Shape",
    )  # fmt: skip
    relief: float = parameter(1.0, "How far the longest round sticks out", low=0.0, high=3.0, group="Shape")
    turn: float = common_parameters.turn(-18.0, group="Look")
    tilt: float = common_parameters.tilt(24.0, -20.0, 85.0, group="Look")
    palette: str = common_parameters.palette()
