"""The output of the command line: a progress bar on standard error, and plain tables."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Sequence
from types import TracebackType

from .. import interrupts

#: A column is not cut below so many letters.
_LEAST_WIDTH = 12
_EVERY = 0.1  # seconds between two drawings of the bar


class Bar:
    """A progress bar on standard error; silent where that is no terminal, or if asked to be.

    It is called as a :class:`tracevis3d.progress.Progress`, and raises what :mod:`.interrupts` has heard.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._drawn = 0.0
        self._open = False

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __call__(self, done: float, what: str) -> None:
        interrupts.check()
        now = self.now()
        if not self._shown or (now - self._drawn < _EVERY and done < 1):
            return
        self._drawn = now
        self._open = True
        width = min(40, max(10, shutil.get_terminal_size().columns - 40))
        full = round(min(max(done, 0.0), 1.0) * width)
        sys.stderr.write(f"\r{'━' * full}{' ' * (width - full)} {done:4.0%} {what[:30]:<30}")
        sys.stderr.flush()

    def close(self) -> None:
        """Wipe the bar."""
        if self._open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._open = False

    @staticmethod
    def now() -> float:
        """Return seconds from some fixed moment."""
        return time.perf_counter()


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Lay ``rows`` out in two columns, the second wrapped to the terminal's width."""
    if not rows:
        return ""
    left = max(len(name) for name, _ in rows) + 2
    width = max(shutil.get_terminal_size((100, 24)).columns, left + 30)
    lines = []
    for name, text in rows:
        wrapped = textwrap.wrap(text, width - left) or [""]
        lines.append(f"{name:<{left}}{wrapped[0]}")
        lines.extend(" " * left + more for more in wrapped[1:])
    return "\n".join(lines)


def paragraph(text: str) -> str:
    """Wrap a text to the terminal's width."""
    return textwrap.fill(text, max(shutil.get_terminal_size((100, 24)).columns, 30), break_on_hyphens=False)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Lay ``rows`` of equally many texts out in columns as wide as their texts; the first row heads them."""
    widths = [max(len(text) for text in column) for column in zip(*rows)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows)
    return "\n".join(f"  {line}" for line in lines)


def aligned(
    head: Sequence[str], rows: Sequence[Sequence[str]], to_the_right: Sequence[bool], width: int | None
) -> str:
    """Lay a table out with a line under its head.

    Parameters
    ----------
    head : sequence of str
        The names of its columns.
    rows : sequence of sequence of str
    to_the_right : sequence of bool
        Which columns are numbers.
    width : int or None
        Of the terminal: the widest columns are cut until the table fits; None: nothing is cut.

    Returns
    -------
    str
    """
    cells = [[_printable(text) for text in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    while width and sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > _LEAST_WIDTH:
        widths[widths.index(max(widths))] -= 1
    lines = []
    for row in cells:
        cut = [text if len(text) <= most else text[: most - 1] + "…" for text, most in zip(row, widths)]
        lines.append(
            "  ".join(
                text.rjust(most) if right else text.ljust(most)
                for text, most, right in zip(cut, widths, to_the_right)
            ).rstrip()
        )
    lines.insert(1, "  ".join("─" * most for most in widths))
    return "\n".join(lines)


def _printable(text: str) -> str:
    """Return a text without what moves the cursor or changes colours."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
