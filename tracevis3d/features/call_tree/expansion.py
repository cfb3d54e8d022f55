"""The parts of a call tree that are expanded, collapsed or hidden manually, and the resulting number of rows.

What a person did are exceptions along a few paths; everything else follows from the class
(:mod:`.row_counts`). Size and position are answered from sums along one path (SEAT, section 5.3.3).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Literal

from ...errors import UsageError
from .call_paths import CallPaths, UniquePath
from .row_counts import ALL, RowCounts

#: How filtered children of one path are shown, independent of the tree's setting.
Override = Literal["show", "hide"]


class PathOverride:
    """The override of one path, or of paths below it."""

    __slots__ = ("children", "hidden", "levels", "marks", "more", "order", "override", "shifts", "size")

    def __init__(self) -> None:
        self.levels: int | None = None
        self.override: Override | None = None
        self.hidden = False
        self.children: dict[int, PathOverride] = {}
        self.order: list[int] = []
        #: How many of the children are hidden.
        self.marks = 0
        self.size = 0
        #: Rows that it has beyond what the table counts for it; and the sums of these of its children.
        self.more = 0
        self.shifts: list[int] | None = None

    @property
    def plain(self) -> bool:
        """Return whether nothing is set, so that it can be removed."""
        return not (self.children or self.hidden or self.override) and self.levels is None


class Step:
    """A node on the way down a path, with what rules there.

    Parameters
    ----------
    node : int
        Its class.
    levels : int
        How many levels below it are expanded; :data:`ALL`: all.
    hide : bool
        Whether marked nodes below it are hidden.
    exception : PathOverride or None
        What was done manually there; None: nothing.
    """

    __slots__ = ("exception", "hide", "levels", "node")

    def __init__(self, node: int, levels: int, hide: bool, exception: PathOverride | None) -> None:
        self.node, self.levels, self.hide, self.exception = node, levels, hide, exception


class Expansion:
    """The expanded part of a call tree.

    Parameters
    ----------
    paths : CallPaths
    counts : RowCounts
    levels : int
        How many levels are expanded where nothing else was done; :data:`.row_counts.ALL`: everything.

    Attributes
    ----------
    counts : RowCounts
        Another one may be given, followed by :meth:`recount`.
    levels : int
        Likewise.
    top : PathOverride
        That of the forest's root: all others hang below it.
    """

    def __init__(self, paths: CallPaths, counts: RowCounts, levels: int) -> None:
        self._paths = paths
        self.counts, self.levels = counts, levels
        self.top = PathOverride()
        self.recount()

    @property
    def _inner(self) -> int:
        """The levels that the forest's root is expanded to, for that of the trees."""
        return ALL if self.levels == ALL else self.levels + 1

    def recount(self) -> None:
        """Count all rows again."""
        # Counts that may be needed later are computed now, so that no key press has to wait.
        self.counts.sums(self._inner)
        self._sum(self.top, self._paths.root, self._inner)

    def _hides(self, exception: PathOverride | None) -> bool:
        override = exception.override if exception is not None else None
        return override == "hide" if override else not self.counts.show

    def root_step(self) -> Step:
        """Return the forest's root."""
        special = self.top
        return Step(self._paths.root, self._inner, self._hides(special), special)

    def below(self, step: Step, ordinal: int) -> Step:
        """Return the child of a step.

        Parameters
        ----------
        step : Step
        ordinal : int
            Which child, from 0.

        Returns
        -------
        Step
        """
        exception = step.exception.children.get(ordinal) if step.exception is not None else None
        levels = ALL if step.levels == ALL else max(step.levels - 1, 0)
        if exception is not None and exception.levels is not None:
            levels = exception.levels
        node = self._paths.below(step.node, ordinal)
        return Step(node, levels, self._hides(exception), exception)

    def steps(self, path: UniquePath) -> list[Step]:
        """Return the forest's root and all nodes of a path.

        Parameters
        ----------
        path : UniquePath
            Ordinals of the edges from the root on.

        Returns
        -------
        list of Step
            One more than the path has edges.

        Raises
        ------
        UsageError
            If there is no such path.
        """
        self._paths.node(path)
        steps = [self.root_step()]
        for ordinal in path:
            steps.append(self.below(steps[-1], ordinal))
        return steps

    def is_marked(self, step: Step) -> bool:
        """Whether a step is marked as hidden, manually or by the filters."""
        own = step.exception is not None and step.exception.hidden
        return own or bool(self.counts.filtered[step.node])

    def has_marked(self, step: Step) -> bool:
        """Whether a child of a step is marked as hidden."""
        own = step.exception is not None and step.exception.marks > 0
        return own or self.counts.has_marked(step.node)

    def state(self, step: Step) -> str:
        """Return ``+`` (collapsed), ``-``, ``~`` (expanded but for filtered children) or nothing (a leaf)."""
        if not self._paths.degree(step.node):
            return ""
        if step.levels == 0:
            return "+"
        return "~" if step.hide and self.has_marked(step) else "-"

    def _size(self, step: Step) -> int:
        """Rows of a step as a child, whether it is hidden or not."""
        if step.levels == 0:
            return 1
        if step.exception is not None:
            return step.exception.size
        return self._plain_size(step)

    def _plain_size(self, step: Step) -> int:
        low, high = int(self._paths.edge_first[step.node]), int(self._paths.edge_first[step.node + 1])
        return 1 + self.counts.sums(step.levels).rows(low, high, step.hide)

    def _more(self, step: Step, ordinal: int) -> int:
        """Return the rows that an exceptional child has beyond those that the table counts for it."""
        below = self.below(step, ordinal)
        edge = int(self._paths.edge_first[step.node]) + ordinal
        general = self.counts.sums(step.levels).rows(edge, edge + 1, step.hide)
        return (0 if step.hide and self.is_marked(below) else self._size(below)) - general

    def _sum(self, exception: PathOverride, node: int, levels: int) -> None:
        """Count the rows of an exception and of all below it, deepest first."""
        order = [(exception, Step(node, levels, self._hides(exception), exception))]
        for _, step in order:
            assert step.exception is not None
            order += [
                (below, self.below(step, ordinal)) for ordinal, below in step.exception.children.items()
            ]
        for found, step in reversed(order):
            self._count_rows(found, step)

    def _count_rows(self, exception: PathOverride, step: Step) -> None:
        exception.size, exception.shifts = 1, None
        if step.levels == 0:
            return
        exception.size = self._plain_size(step)
        for ordinal, child in exception.children.items():
            child.more = self._more(step, ordinal)
            exception.size += child.more

    def _recount_child(self, exception: PathOverride, step: Step, ordinal: int) -> None:
        """Count the rows of an exception again of which one child has changed; drop that if it is plain."""
        child = exception.children[ordinal]
        exception.shifts = None
        before = child.more
        if child.plain:
            child.more = 0
            del exception.children[ordinal]
            del exception.order[bisect_left(exception.order, ordinal)]
        elif step.levels != 0:
            child.more = self._more(step, ordinal)
        if step.levels != 0:
            exception.size += child.more - before

    def change(self, path: UniquePath, **values: Any) -> None:
        """Set attributes of the exception at ``path`` and count the rows of it and its callers again.

        Parameters
        ----------
        path : UniquePath
            Ordinals of the edges from the root on.
        **values : object
            Attributes of :class:`PathOverride`.

        Raises
        ------
        UsageError
            If there is no such path, or something but ``override`` is set for the whole tree.
        """
        self._paths.node(path)
        if not path and set(values) != {"override"}:
            raise UsageError("of the whole tree only override can be set")
        if not path:
            self.top.override = values["override"]
            self.recount()
            return
        way = [self.top]
        for ordinal in path:
            special = way[-1]
            if ordinal not in special.children:
                special.children[ordinal] = PathOverride()
                insort(special.order, ordinal)
                special.shifts = None
            way.append(special.children[ordinal])
        was_hidden = way[-1].hidden
        for name, value in values.items():
            setattr(way[-1], name, value)
        way[-2].marks += way[-1].hidden - was_hidden
        steps = self.steps(path)
        for fresh, step in zip(way[:-1], steps, strict=False):
            if fresh.size == 0:
                self._count_rows(fresh, step)
        # Rows below change with the inherited levels and setting.
        self._sum(way[-1], steps[-1].node, steps[-1].levels)
        for k in range(len(path) - 1, -1, -1):
            self._recount_child(way[k], steps[k], path[k])

    def find(self, path: UniquePath) -> PathOverride | None:
        """Return the override of a path; None if it has none."""
        found: PathOverride | None = self.top
        for ordinal in path:
            found = found.children.get(ordinal) if found is not None else None
        return found

    @staticmethod
    def walk(exception: PathOverride, path: UniquePath) -> Iterator[tuple[UniquePath, PathOverride]]:
        """Yield all exceptions below one, callers first.

        Parameters
        ----------
        exception : PathOverride
            Where it begins; it is not among them.
        path : UniquePath
            That of ``exception``.

        Returns
        -------
        iterator of (UniquePath, PathOverride)
        """
        todo = [(path, exception)]
        while todo:
            at, found = todo.pop()
            if found is not exception:
                yield at, found
            todo += [((*at, ordinal), found.children[ordinal]) for ordinal in reversed(found.order)]

    def position(self, step: Step, ordinal: int) -> int:
        """Return the rows of a step's children before the one with this ordinal.

        Parameters
        ----------
        step : Step
        ordinal : int
            Which child, from 0.

        Returns
        -------
        int
        """
        low, exception = int(self._paths.edge_first[step.node]), step.exception
        position = self.counts.sums(step.levels).rows(low, low + ordinal, step.hide)
        if exception is None or not exception.order:
            return position
        if exception.shifts is None:
            more = (exception.children[other].more for other in exception.order)
            exception.shifts = [0, *accumulate(more)]
        return position + exception.shifts[bisect_left(exception.order, ordinal)]

    def child_at(self, step: Step, row: int) -> tuple[int, int]:
        """Return the child of a step that holds a row, counted from the first child's, and its position.

        Parameters
        ----------
        step : Step
        row : int
            From 0.

        Returns
        -------
        (int, int)
            The child's ordinal, and the rows before it.
        """
        degree = self._paths.degree(step.node)
        # Of children at the same position all but the last have no rows.
        ordinal = bisect_right(range(degree), row, key=lambda k: self.position(step, k)) - 1
        return ordinal, self.position(step, ordinal)

    def next_shown(self, step: Step, ordinal: int) -> int | None:
        """Return the next child of a step after ``ordinal`` that has rows; None if there is none.

        Parameters
        ----------
        step : Step
        ordinal : int
            A child, from 0.

        Returns
        -------
        int or None
        """
        if ordinal + 1 >= self._paths.degree(step.node):
            return None
        if not (step.hide and self.is_marked(self.below(step, ordinal + 1))):
            return ordinal + 1
        end, row = self._size(step) - 1, self.position(step, ordinal + 1)
        return self.child_at(step, row)[0] if row < end else None

    def exceptions(self) -> list[tuple[UniquePath, int | None, Override | None, bool]]:
        """Return the changes made manually as rows of path, levels, override and own mark, to be stored.

        The empty path represents the roots' parent, which has an override alone.

        Returns
        -------
        list of (UniquePath, int or None, Override or None, bool)
        """
        top: list[tuple[UniquePath, int | None, Override | None, bool]] = []
        if self.top.override:
            top.append(((), None, self.top.override, False))
        return top + [
            (path, e.levels, e.override, e.hidden)
            for path, e in self.walk(self.top, ())
            if e.hidden or e.override or e.levels is not None
        ]

    def restore(self, rows: list[tuple[UniquePath, int | None, Override | None, bool]]) -> int:
        """Do again what :meth:`exceptions` returned; return how many paths no longer exist."""
        lost = 0
        for path, levels, override, hidden in rows:
            try:
                if path:
                    self.change(tuple(path), levels=levels, override=override, hidden=hidden)
                else:
                    self.change((), override=override)
            except UsageError:
                lost += 1
        return lost
