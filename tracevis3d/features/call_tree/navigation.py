"""Moving through a partial tree by keys and clicks, a window of rows at a time (SEAT, section 6.5).

It knows nothing of a screen: whatever draws rows asks :meth:`TreeNavigation.rows` for those of the window,
and calls one method for each key or click. Size and position of the complete tree are there for a scrollbar.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Literal

from ...errors import UsageError
from .partial_tree import PartialTree, Row, UniquePath

#: Maximum number of selected rows; a longer range ends there.
MOST_SELECTED = 10_000
#: The keys of section 6.5.1, and the methods that they call.
KEYS = {
    "HOME": "home",
    "END": "end",
    "PAGE_UP": "page_up",
    "PAGE_DOWN": "page_down",
    "UP_ARROW": "up",
    "DOWN_ARROW": "down",
    "LEFT_ARROW": "left",
    "RIGHT_ARROW": "right",
    "BACK_SPACE": "back",
}
#: A short help on keys and clicks (usability problem 11).
HINT = (
    "Click the sign: + expands, - or ~ collapses. Ctrl-click it to switch between ~ (some callees are "
    "filtered out) and - (all are shown). Click a name to select it; Ctrl adds, Shift selects all "
    "between."
)


class TreeNavigation:
    """A window over a partial tree, with a current row and a selection.

    Parameters
    ----------
    tree : PartialTree
    page : int
        Rows of the window, one at least.

    Attributes
    ----------
    first : UniquePath or None
        The window's first row; None in an empty tree.
    current : UniquePath or None
        The row that keys start from.
    selected : list of UniquePath
        In the order of selection.
    """

    def __init__(self, tree: PartialTree, page: int = 20) -> None:
        self.tree = tree
        self.page = page
        self.selected: list[UniquePath] = []
        self.first: UniquePath | None = None
        self.current: UniquePath | None = None
        self._anchor: UniquePath | None = None
        self.settle()

    # -- the window -----------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Rows of the complete tree."""
        return self.tree.size

    @property
    def position(self) -> int:
        """Number of the window's first row; for a scrollbar."""
        return self.tree.offset(self.first) if self.first else 0

    def rows(self) -> list[Row]:
        """Return the rows of the window: as many as it has, whatever the size of the tree."""
        return self.tree.construct(self.first, 0, self.page).rows

    def settle(self) -> None:
        """Move what no longer has a row, after opening, closing or filtering, to its nearest caller's."""
        shown = self.tree.nearest_shown
        top = self.tree.path_at(0) if self.tree.size else None
        self.first = (shown(self.first) if self.first else None) or top
        self.current = shown(self.current) if self.current else None
        self._anchor = shown(self._anchor) if self._anchor else None
        moved = [shown(path) for path in self.selected]
        self.selected = list(dict.fromkeys(path for path in moved if path))
        self._show_from(self.position)

    # -- keys -------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Do what a key of :data:`KEYS` does.

        Parameters
        ----------
        key : str
            Its name.

        Raises
        ------
        UsageError
            If it is none of them.
        """
        if key not in KEYS:
            raise UsageError(f"{key} is not a key of the tree: choose one of {', '.join(KEYS)}")
        method: Callable[[], None] = getattr(self, KEYS[key])
        if self.size:
            method()

    def home(self) -> None:
        """Show the first page, and make the first row the current one."""
        self._show_from(0)
        self._choose(self.tree.path_at(0))

    def end(self) -> None:
        """Show the last page, and make the last row the current one."""
        self._show_from(self.size)
        self._choose(self.tree.path_at(self.size - 1))

    def page_up(self) -> None:
        """Show the page before, the first one at most; the current row keeps its place in the window."""
        self._turn(-self.page)

    def page_down(self) -> None:
        """Show the next page, the last one at most; the current row keeps its place in the window."""
        self._turn(self.page)

    def up(self) -> None:
        """Make the row before the current one; the window moves by a row where that is outside it."""
        self._step(-1)

    def down(self) -> None:
        """Make the next row the current one; the window moves by a row where that is outside it."""
        self._step(1)

    def left(self) -> None:
        """Close the current row if it is open, else go to its caller."""
        if self.current is None:
            return
        if self.tree.state(self.current) in ("-", "~"):
            self.tree.collapse(self.current)
            self.settle()
        else:
            self.back()

    def right(self) -> None:
        """Open the current row if it is closed, else go to its first callee that is shown."""
        if self.current is None:
            return
        state = self.tree.state(self.current)
        if state == "+":
            self.tree.expand(self.current)
            self.settle()
        elif state:
            row = self.tree.offset(self.current) + 1
            below = self.tree.path_at(row) if row < self.size else ()
            if below[:-1] == self.current:
                self._choose(below)
                self._scroll_to(row)

    def back(self) -> None:
        """Go to the caller of the current row; the window begins with it if it wasn't in it."""
        caller = self.tree.parent(self.current) if self.current else None
        if caller is None:
            return
        self._choose(caller)
        row = self.tree.offset(caller)
        if not self.position <= row < self.position + self.page:
            self._show_from(row)

    # -- clicks and scrolling ---------------------------------------------------------------------------

    def click(
        self,
        path: UniquePath,
        part: Literal["label", "sign"] = "label",
        *,
        ctrl: bool = False,
        shift: bool = False,
    ) -> None:
        """Do what a click on a row does.

        On the sign it opens or closes; with ctrl, callees that filters hide are shown there or hidden again.
        On the label it selects: with ctrl one row more or less, with shift all rows from the one selected
        before.

        Parameters
        ----------
        path : UniquePath
            That of the row.
        part : {'label', 'sign'}
            Where on the row.
        ctrl, shift : bool
            Whether these keys are held.

        Raises
        ------
        UsageError
            If the path has no row.
        """
        row = self.tree.offset(path)
        if part == "sign":
            self._click_sign(path, ctrl)
            return
        if shift:
            start = self.tree.offset(self._anchor) if self._anchor else row
            low, high = min(start, row), max(start, row)
            rows = self.tree.construct(None, low, min(high - low + 1, MOST_SELECTED)).rows
            between = [found.path for found in rows]
            self.selected = list(dict.fromkeys([*self.selected, *between])) if ctrl else between
            self.current = path
            return
        if ctrl:
            was = path in self.selected
            self.selected = [other for other in self.selected if other != path] + ([] if was else [path])
            self.current = self._anchor = path
            return
        self._choose(path)

    def scroll(self, rows: int) -> None:
        """Move the window by a number of rows; the current row and the selection stay."""
        self._show_from(self.position + rows)

    def jump(self, row: int) -> None:
        """Let the window begin at a row, or at the last page: a long jump (SEAT, section 5.4.2.2)."""
        self._show_from(row)

    def go(self, number: int) -> None:
        """Make a row the current one by its number, from 1, and bring it into the window.

        Parameters
        ----------
        number : int
            From 1.

        Raises
        ------
        UsageError
            If there is no such row.
        """
        self._choose(numbered(self.tree, number))
        self._scroll_to(number - 1)

    def skip(self, rows: int) -> int:
        """Make the row this many rows on the current one, back if negative; return how many were skipped.

        It stops at the ends (SEAT, section 5.3.4).

        Parameters
        ----------
        rows : int
            Negative: back.

        Returns
        -------
        int
        """
        if not self.size:
            return 0
        tree = self.tree
        path, skipped = tree.forward(self.current or self.first or tree.path_at(0), rows)
        self._choose(path)
        self._scroll_to(tree.offset(path))
        return skipped

    def expand_to(self, path: UniquePath) -> None:
        """Open all callers of a path, make it current, and bring it into the window."""
        row = self.tree.expand_to(path)
        self.settle()
        self._choose(path)
        if not self.position <= row < self.position + self.page:
            self._show_from(row - self.page // 3)

    # -- storing ----------------------------------------------------------------------------------------

    def written(self) -> dict[str, str]:
        """Return the state as texts, to be stored: the rows opened manually, the window, the selection."""
        return {
            "opened": json.dumps(
                [[text_of(path), levels, override, hidden] for path, levels, override, hidden in
                 self.tree.exceptions()],
                separators=(",", ":"),
            ),
            "first": text_of(self.first),
            "current": text_of(self.current),
            "anchor": text_of(self._anchor),
            "chosen": " ".join(text_of(path) for path in self.selected),
        }  # fmt: skip

    def read(self, words: Mapping[str, str]) -> int:
        """Take on the state that :meth:`written` returned; return how many opened paths no longer exist.

        The tree must be new: what was opened in it manually stays. Texts that are damaged count as empty.

        Parameters
        ----------
        words : mapping of str to str
            As they were stored.

        Returns
        -------
        int
        """
        try:
            stored = json.loads(words.get("opened") or "[]")
            opened = [
                (path_of(str(path)) or (), _levels(levels), _override(override), bool(hidden))
                for path, levels, override, hidden in stored
            ]
        except (ValueError, TypeError):
            opened = []
        lost = self.tree.restore([row for row in opened if row[0] or row[2]])
        self.place(words)
        return lost

    def place(self, words: Mapping[str, str]) -> None:
        """Take on the window and the selection of a stored state; what is open stays as it is."""
        self.first = path_of(words.get("first", ""))
        self.current = path_of(words.get("current", ""))
        self._anchor = path_of(words.get("anchor", ""))
        self.selected = [path for text in words.get("chosen", "").split() if (path := path_of(text))]
        self.settle()

    # -- inside -----------------------------------------------------------------------------------------

    def _choose(self, path: UniquePath) -> None:
        self.current = self._anchor = path
        self.selected = [path]

    def _show_from(self, row: int) -> None:
        """Let the window begin at a row, as far as it is full then."""
        row = max(min(row, self.size - self.page), 0)
        self.first = self.tree.path_at(row) if self.size else None

    def _scroll_to(self, row: int) -> None:
        """Move the window just so far that it holds a row."""
        top = self.position
        self._show_from(min(max(top, row - self.page + 1), row))

    def _step(self, rows: int) -> None:
        at = self.tree.offset(self.current) if self.current else self.position - rows
        row = min(max(at + rows, 0), self.size - 1)
        self._choose(self.tree.path_at(row))
        self._scroll_to(row)

    def _turn(self, rows: int) -> None:
        before = self.position
        at = self.tree.offset(self.current) - before if self.current else 0
        self._show_from(before + rows)
        after = self.position
        if after == before:
            # There is no further page: the current row becomes the last one.
            at = rows
        row = after + min(max(at, 0), self.page - 1)
        self._choose(self.tree.path_at(min(row, self.size - 1)))

    def _click_sign(self, path: UniquePath, ctrl: bool) -> None:
        state = self.tree.state(path)
        if state == "+":
            self.tree.expand(path)
        elif state and ctrl:
            # Without filtered callees there is nothing to show or to hide.
            if self.tree.has_filtered(path):
                self.tree.toggle_filtered(path)
        elif state:
            self.tree.collapse(path)
        self.settle()


def numbered(tree: PartialTree, number: int) -> UniquePath:
    """Return the path of a row by its number, from 1.

    Parameters
    ----------
    tree : PartialTree
    number : int
        From 1.

    Returns
    -------
    UniquePath

    Raises
    ------
    UsageError
        If there is no such row.
    """
    if not 1 <= number <= tree.size:
        raise UsageError(f"there is no row {number:,}: the rows go from 1 to {tree.size:,}")
    return tree.path_at(number - 1)


def text_of(path: UniquePath | None) -> str:
    """Return a path as text, such as ``0.3.12``; empty for None."""
    return ".".join(map(str, path or ()))


def path_of(text: str) -> UniquePath | None:
    """Return the path that a text represents; None if it represents none."""
    words = text.split(".") if text else []
    return tuple(map(int, words)) if words and all(w.isascii() and w.isdigit() for w in words) else None


def carried(words: Mapping[str, str], old: PartialTree, new: PartialTree) -> dict[str, str]:
    """Return a stored state with its paths in one tree as those of another, by the calls that they represent.

    Filters of single calls change which calls a row represents, so the same place has other ordinals. What
    was opened at a call that the other tree lacks is dropped; window and selection move to its caller.

    Parameters
    ----------
    words : mapping of str to str
        As :meth:`TreeNavigation.written` returned them.
    old : PartialTree
        The tree that they were stored for.
    new : PartialTree
        The tree that they are wanted for, of the same trace.

    Returns
    -------
    dict of str to str
    """

    def moved(text: str) -> UniquePath | None:
        try:
            return new.path_of(old.call(path_of(text) or ()))[0]
        except UsageError:
            return None

    opened = []
    for text, *what in json.loads(words.get("opened") or "[]"):
        path = moved(text) if text else None
        if text and old.is_sequence(old.node(path_of(text) or ())):
            continue  # It has no call of its own by which it could be found.
        if not text:
            opened.append(["", *what])
        if path is not None and new.call(path) == old.call(path_of(text) or ()):
            opened.append([text_of(path), *what])
    return {
        "opened": json.dumps(opened, separators=(",", ":")),
        **{name: text_of(moved(words[name])) if words.get(name) else "" for name in
           ("first", "current", "anchor")},
        "chosen": " ".join(text_of(moved(text)) for text in words.get("chosen", "").split()),
    }  # fmt: skip


def _levels(value: object) -> int | None:
    return int(value) if isinstance(value, int) and value >= -1 else None


def _override(value: object) -> Literal["show", "hide"] | None:
    return "show" if value == "show" else "hide" if value == "hide" else None
