"""The parameters of the view threads."""

from __future__ import annotations

from dataclasses import dataclass

from ....parameters import parameter
from ....views import common_parameters
from ....views.calls.colors import COLORS

#: Values of the parameter ``color``.
CALLS = {
    "auto": "what calls do with their time, where waits or I/O are known; else their modules or functions",
    "activity": "what takes most of a call's time: computing, waiting or I/O; stronger the more of it",
    "printed": "SyncTrace's rule: brown without waits and I/O, red where waits are less than half of the "
    "I/O, else green; stronger the more of it",
    **{name: words for name, words in COLORS.items() if name != "auto"},
}
#: Values of the parameter ``waits``; a .blend stores their places, so new ones go to the end.
CORRESPONDENCES = {
    "thread": "by the thread that waits",
    "object": "by the object that is waited for, grey where one thread alone ever waits for it",
    "state": "by what is waited for; only contention, for what another thread holds, has a strong colour",
}
#: Values of the parameter ``overview``.
SHOWN = {
    "auto": "above the main thread and beside focused ones, where a window shows a part of the trace",
    "always": "also where all of the trace is shown",
    "none": "nowhere",
}


#: Values of the parameter ``groups``.
GROUPS = {
    "auto": "if there are more threads than rows",
    "always": "in any case",
    "never": "each has a row of its own; those for which there is no room are left out",
}


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``threads``."""

    threads: str = common_parameters.threads(
        "those most involved in waits, and the busiest, as many as fit", group="Threads"
    )
    hide: str = parameter("", "Threads to hide, names and ids with commas between them", group="Threads")
    groups: str = parameter(
        "auto",
        "When threads that do the same, such as the workers of a pool, share a row, which shows how many of "
        "them run and wait",
        choices=GROUPS,
        group="Threads",
    )
    opened: str = parameter(
        "", "Groups to open, so that each of their threads has a row: one name or id of each, with commas "
        "between them", group="Threads",
    )  # fmt: skip
    order: str = parameter(
        "strength",
        "Order of the threads from the top: 'strength' (those that wait for each other are neighbours), "
        "'recorded', 'busiest', 'name', or names and ids with commas between them; the others follow",
        group="Threads",
    )
    main: str = parameter(
        "auto", "The thread that is pulled out: 'auto' (the one most involved in waits), 'none', or its name",
        group="Threads",
    )  # fmt: skip
    focus: str = parameter("", "Threads to widen, names and ids with commas between them", group="Threads")
    widen: float = parameter(
        3.0, "Width of widened threads, as a multiple of the others'", low=1.0, high=20.0, group="Threads"
    )
    overview: str = parameter(
        "auto", "Where the whole trace of a thread is drawn as a bar, with its window framed",
        choices=SHOWN, group="Threads",
    )  # fmt: skip
    rules: str = parameter(
        "", "Files of rules that say which functions wait, release and transfer, with commas between them",
        group="Data",
    )  # fmt: skip
    releases: str = parameter(
        "woke", "Which releases a wait is connected with", group="Data",
        choices={"woke": "the one that ended it", "every": "each within it, as the paper does"},
    )  # fmt: skip
    color: str = parameter("auto", "What the colour of a call shows", choices=CALLS, group="Data")
    finding: int = parameter(
        0, "Draw a single finding: its number in the list of the command 'waits'; 0: all threads and times",
        low=0, high=100_000, group="Data",
    )  # fmt: skip
    waits: str = parameter("state", "How waits are coloured", choices=CORRESPONDENCES, group="Data")
    object: str = parameter(
        "", "With waits=object: colour waits for just this object red, for it and others brown", group="Data"
    )
    start: str = common_parameters.window_start()
    end: str = common_parameters.window_end()
    windows: str = parameter(
        "", "Windows of single threads, with semicolons between them, such as worker-1=20ms..80ms",
        group="Window",
    )  # fmt: skip
    last_depth: int = common_parameters.last_depth()
    fold: float = parameter(
        0.0, "How many levels are folded, from the first", low=0.0, high=1e6, unit="levels", group="Window"
    )
    resolution: float = common_parameters.resolution(1.5)
    tubes: int = parameter(
        160,
        "The maximum number of waits drawn as funnels, the longest first; at most a quarter of them "
        "idle, asleep or timed out",
        low=0,
        high=100_000,
        group="Detail",
    )
    aggregates: str = parameter(
        "main", "Threads whose short waits are drawn, merged: 'main', 'all', 'none', or names and ids",
        group="Detail",
    )  # fmt: skip
    markers: str = parameter(
        "all", "Threads on whose rows the time is marked in which others wait for them: 'main', 'all', "
        "'none', or names and ids", group="Detail",
    )  # fmt: skip
    running: bool = parameter(
        True,
        "Show above the main thread how many threads run at each time, or queue for what the title is about",
        group="Detail",
    )
    memory: bool = parameter(
        True, "Show above the main thread how many bytes live, if memory is recorded", group="Detail"
    )
    tags: bool = parameter(
        True, "Names of waits are drawn in front, on plates; off: on the rows, where funnels may hide them",
        group="Detail",
    )  # fmt: skip
    starts: bool = parameter(True, "Shade the start of each call", group="Detail")
    path: bool = parameter(False, "Draw the critical path as a rail", group="Detail")
    path_end: str = parameter(
        "",
        "The thread whose end the critical path leads to; empty: the thread that ends last",
        group="Detail",
    )
    path_at: str = parameter(
        "", "The moment that the critical path leads to; empty: the end of the thread's last call",
        group="Detail",
    )  # fmt: skip
    labels: int = common_parameters.labels(
        60, "The maximum number of function names on a row, the widest calls first"
    )
    paper: float = parameter(
        0.0, "From the amphitheatre (0) to the paper's semicircle (1)", low=0.0, high=1.0, group="Shape"
    )
    lanes: float = parameter(
        0.0, "From the amphitheatre (0) to swim lanes (1)", low=0.0, high=1.0, group="Shape"
    )
    facing: float = parameter(
        0.55, "How far rows lean towards the reader: 0 along the radius, 1 facing them", low=0.0, high=1.0,
        group="Shape",
    )  # fmt: skip
    pull: float = parameter(
        0.6, "How far the main thread is pulled out, in scene units (the window is 16 wide)", low=0.0,
        high=8.0, group="Shape",
    )  # fmt: skip
    zero: float = parameter(
        0.6, "Radius of the first level on the semicircle, as a share of the outermost one's", low=0.1,
        high=0.95, group="Shape",
    )  # fmt: skip
    split: float = parameter(
        0.0,
        "On paper: height of the main thread's part, as a share of the picture's, down to the splitter, "
        "which can be dragged; 0: as its levels need",
        low=0.0, high=0.8, group="Shape",
    )  # fmt: skip
    taper: float = common_parameters.taper(0.8)
    spacing: float = parameter(
        0.45, "Free height between rows, as a share of theirs", low=0.0, high=5.0, group="Shape"
    )
    turn: float = common_parameters.turn(-14.0)
    tilt: float = common_parameters.tilt(14.0, 0.0, 60.0)
    palette: str = common_parameters.palette("The colours of threads and objects")
