"""The parameters of the view source."""

from __future__ import annotations

from dataclasses import dataclass

from ....parameters import parameter
from ....views import common_parameters
from ..metrics import METRICS


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``source``."""

    height: str = parameter("auto", "What the height of a line shows", choices=METRICS, group="Data")
    color: str = parameter("auto", "What the colour of a line shows", choices=METRICS, group="Data")
    weighs: str = parameter(
        "",
        "Which quantity of a profile the metric weight shows, if it has several; two names, separated by a "
        "comma, are for height and colour; empty: the first and the second",
        group="Data",
    )  # fmt: skip
    scale: str = parameter(
        "sqrt",
        "How the metric maps to heights",
        choices={"linear": "in proportion", "sqrt": "square root", "log": "logarithm, five decades at most"},
        group="Data",
    )
    files: int = parameter(
        24, "The maximum number of files, those with the most of what the height shows first",
        low=1, high=400, group="Detail",
    )  # fmt: skip
    resolution: float = common_parameters.resolution(
        5.0, "Neighbouring lines that are closer are one bar, as high as the highest of them"
    )
    labels: int = common_parameters.labels(
        16, "The maximum number of lines whose function is named, the highest first", 500
    )
    findings: int = parameter(
        3, "The maximum number of lines that are called out", low=0, high=8, group="Detail"
    )
    opening: float = parameter(
        1.0, "From flat files with bars as long (0) to slabs with bars as high (1) as the metric says",
        low=0.0, high=1.0, group="Shape", in_style={"flat": 0.0},
    )  # fmt: skip
    relief: float = parameter(1.0, "How high the highest line is", low=0.0, high=3.0, group="Shape")
    turn: float = common_parameters.turn(7.0, 60.0, group="Look")
    tilt: float = common_parameters.tilt(40.0, 5.0, 90.0, group="Look")
