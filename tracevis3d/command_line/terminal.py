"""The output of the command line: a progress bar on standard error, and plain tables."""

from __future__ import annotations

import contextlib
import math
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, TextIO

from .. import interrupts
from ..units import printable

#: Minimum width of a shortened column, in characters.
_LEAST_WIDTH = 12
_EVERY = 0.1  # seconds between two drawings of the bar
_TIME_LEFT_AFTER = 2.0  # seconds of a stage
#: Characters that move the cursor, change colours or the window's title, or turn text around:
#: names in recordings may hold any.
_BACKWARDS = (0x061C, *range(0x200E, 0x2010), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = (*(c for c in range(0x20) if chr(c) not in "\n\t"), *range(0x7F, 0xA0), *_BACKWARDS)
_REPLACED = dict.fromkeys(_CONTROLS, "\ufffd")
#: JSON escapes for those that json does not escape.
JSON_ESCAPES = {c: f"\\u{c:04x}" for c in _CONTROLS if c >= 0x7F}


class PlainText:
    """A stream of text that leaves out what a terminal would obey.

    Parameters
    ----------
    stream : TextIO
        Where the text is written.
    """

    def __init__(self, stream: TextIO) -> None:
        self.exact = stream

    def write(self, text: str) -> int:
        """Write a text; return its length."""
        self.exact.write(text.translate(_REPLACED))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.exact, name)


@contextlib.contextmanager
def plain_output() -> Iterator[None]:
    """Write plain text alone to standard output, and letters that have no UTF-8 as escapes."""
    if sys.stdout is None:
        yield
        return
    if getattr(sys.stdout, "errors", "") in ("strict", "surrogateescape"):
        getattr(sys.stdout, "reconfigure", lambda **_: None)(errors="backslashreplace")
    with contextlib.redirect_stdout(PlainText(sys.stdout)):
        yield


def exact_output() -> TextIO:
    """Return standard output for data that other programs read: nothing is left out of it."""
    stream: TextIO = getattr(sys.stdout, "exact", sys.stdout)
    return stream


def in_one_line(text: str) -> str:
    """Return a text as one line of plain text."""
    return text.replace("\n", " ").translate(_REPLACED)


class Bar:
    """A progress bar on standard error; silent where that is not a terminal, or if asked to be.

    It is called as a :class:`tracevis3d.progress.Progress`, and raises what :mod:`.interrupts` has heard.
    A stage that takes longer than two seconds shows the time that it will still take at its pace so far;
    a stage begins where the share falls back.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._drawn = 0.0
        self._open = False
        self._reached, self._began_at, self._began = 0.0, 0.0, self.now()

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __call__(self, done: float, what: str) -> None:
        interrupts.check()
        now, done = self.now(), min(max(done, 0.0), 1.0)
        if done < self._reached:
            self._began_at, self._began = done, now
        self._reached = done
        if not self._shown or (now - self._drawn < _EVERY and done < 1):
            return
        self._drawn = now
        self._open = True
        width = min(40, max(10, shutil.get_terminal_size().columns - 52))
        full = round(done * width)
        left = self._time_left(now)
        sys.stderr.write(f"\r{'━' * full}{' ' * (width - full)} {done:4.0%} {what[:30]:<30} {left:<11}")
        sys.stderr.flush()

    def _time_left(self, now: float) -> str:
        spent, gone = now - self._began, self._reached - self._began_at
        if spent < _TIME_LEFT_AFTER or gone <= 0 or self._reached >= 1:
            return ""
        left = math.ceil(spent * (1 - self._reached) / gone)
        return f"{left} s left" if left < 100 else f"{math.ceil(left / 60)} min left"

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
    rows = [(in_one_line(name), text) for name, text in rows]
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
    cells = [[printable(text) for text in row] for row in (head, *rows)]
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
