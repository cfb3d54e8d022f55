"""Programs whose memory is known: parts that each do one thing with blocks, put together at random."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

#: Steps of a program, and seconds between two.
STEPS, STEP_S = 64, 0.012


@dataclass
class Part:
    """What a part of a program does at each step; each allocates in a function of its own.

    Attributes
    ----------
    name : str
        The function that allocates.
    step : callable
        Called with the number of each step.
    truth : str
        The kind of finding that is true of it; empty: nothing is wrong with it.
    by_size : str
        The kind that is true of it if sizes and call sites of blocks are known, but not which is which.
    blocks : list
        What it keeps now: its bytes at the end are known by this.
    """

    name: str
    step: Callable[[int], None]
    truth: str = ""
    by_size: str = ""
    blocks: list[bytearray] = field(default_factory=list)

    def kept(self) -> int:
        """Return the bytes that it keeps, without what Python adds to each block."""
        return sum(map(len, self.blocks))


def leaks(size: int) -> Part:
    """Each step keeps two blocks for ever."""
    kept: list[bytearray] = []

    def leak(step: int) -> None:
        kept.append(bytearray(size))
        kept.append(bytearray(size))

    return Part("leak", leak, "leak", blocks=kept)


def leaks_in_part(size: int) -> Part:
    """Each step keeps three blocks, and lets the oldest two go."""
    kept: list[bytearray] = []

    def grow(step: int) -> None:
        for _ in range(3):
            kept.append(bytearray(size))
        del kept[:2]

    return Part("grow", grow, "leak", blocks=kept)


def bounded(size: int) -> Part:
    """A cache that forgets its oldest entries."""
    kept: list[bytearray] = []

    def cache(step: int) -> None:
        for _ in range(4):
            kept.append(bytearray(size))
        del kept[:-40]

    return Part("cache", cache, "", "forgotten", kept)


def teeth(size: int, every: int) -> Part:
    """A buffer that fills up and is emptied as a whole."""
    kept: list[bytearray] = []

    def fill(step: int) -> None:
        if step % every == every - 1:
            kept.clear()
        else:
            kept.append(bytearray(size))

    return Part("fill", fill, "saw-tooth", blocks=kept)


def forgets(size: int) -> Part:
    """What is made at the start is never used again, and kept."""
    kept: list[bytearray] = []

    def prepare(step: int) -> None:
        for _ in range(8 if step < 3 else 0):
            kept.append(bytearray(size))

    return Part("prepare", prepare, "forgotten", blocks=kept)


def frees_late(size: int) -> Part:
    """What is made at the start is freed at the end."""
    kept: list[bytearray] = []

    def load(step: int) -> None:
        for _ in range(8 if step < 3 else 0):
            kept.append(bytearray(size))
        if step == STEPS - 2:
            kept.clear()

    return Part("load", load, blocks=kept)


def grows_and_frees(size: int) -> Part:
    """A result is gathered, and given away at the end."""
    kept: list[bytearray] = []

    def gather(step: int) -> None:
        kept.append(bytearray(size))
        if step == STEPS - 2:
            kept.clear()

    return Part("gather", gather, blocks=kept)


def churns(size: int) -> Part:
    """Many blocks, each of which is freed at once."""

    def format_row(step: int) -> None:
        for _ in range(12):
            bytearray(size)

    return Part("format_row", format_row, "churn")


MAKERS: tuple[Callable[[random.Random], Part], ...] = (
    lambda r: leaks(r.randrange(4_000, 12_000)),
    lambda r: leaks_in_part(r.randrange(8_000, 20_000)),
    lambda r: bounded(r.randrange(6_000, 20_000)),
    lambda r: teeth(r.randrange(30_000, 90_000), r.choice((8, 10, 12))),
    lambda r: forgets(r.randrange(10_000, 30_000)),
    lambda r: frees_late(r.randrange(10_000, 30_000)),
    lambda r: grows_and_frees(r.randrange(8_000, 20_000)),
    lambda r: churns(r.randrange(8_000, 30_000)),
)


def program(seed: int) -> list[Part]:
    """Return the parts of a program: two to four of different kinds."""
    draw = random.Random(seed)
    return [make(draw) for make in draw.sample(MAKERS, draw.randrange(2, 5))]


def run(
    parts: list[Part], between: Callable[[int], object] = lambda step: time.sleep(STEP_S)
) -> dict[str, int]:
    """Run a program; return the bytes that each part keeps at the end.

    Parameters
    ----------
    parts : list of Part
    between : callable
        Called after each step, with its number.
    """
    for step in range(STEPS):
        for part in parts:
            part.step(step)
        between(step)
    return {part.name: part.kept() for part in parts}


def wanted(parts: list[Part], sees_short: bool) -> Iterator[tuple[str, str]]:
    """Yield kinds and functions of the findings that are true.

    Parameters
    ----------
    parts : list of Part
    sees_short : bool
        Whether blocks that are freed at once are recorded.
    """
    for part in parts:
        if part.truth and (sees_short or part.truth != "churn"):
            yield part.truth, part.name
