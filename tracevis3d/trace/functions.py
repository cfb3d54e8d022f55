"""The functions of a trace that is being read: interned by name, with what its format knows of each."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .model import CONTAINER_KINDS, Containers, Functions
from .strings import Strings

#: Lines of a file are below this; others are unknown.
_LINES = 1 << 31

#: Containers from the outside in: ``(kind, name)`` with a kind of :data:`.model.CONTAINER_KINDS`.
ContainerPath = tuple[tuple[str, str], ...]


class SplitName(Protocol):
    """The parts of a recorded function name."""

    @property
    def label(self) -> str:
        """The short name for people."""

    @property
    def containers(self) -> ContainerPath:
        """The containers, from the outside in."""

    @property
    def file(self) -> str:
        """The source file; empty if unknown."""

    @property
    def line(self) -> int:
        """The line, from 1; 0 if unknown."""


class FunctionTable:
    """Functions by name; what a format itself records of one goes before what its name says.

    Examples
    --------
    >>> from tracevis3d.formats.names import split
    >>> table = FunctionTable()
    >>> table.add("main (a.py:1)"), table.add("f", file="b.py", line=7), table.add("f")
    (0, 1, 1)
    >>> functions, containers, files = table.tables(np.array([0, 1]), split)
    >>> [*functions.label], functions.line.tolist(), [*files]
    (['main', 'f'], [1, 7], ['a.py', 'b.py'])
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        #: Paths of containers and files, by number; 0: unknown.
        self._paths: dict[ContainerPath, int] = {(): 0}
        self._files: dict[str, int] = {"": 0}
        #: What is recorded of the first functions; of the others it is nothing.
        self._label: list[str | None] = []
        self._path, self._file, self._line = array("q"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def known(self, name: str) -> int:
        """Return the number of a function; -1 if there is none of this name."""
        return self._numbers.get(name, -1)

    def numbers(self, names: Iterable[str]) -> NDArray[np.int32]:
        """Return the numbers of functions, which are added where they are new."""
        table = self._numbers
        return np.array([table.setdefault(name, len(table)) for name in names], np.int32)

    def add(
        self,
        name: str,
        label: str | None = None,
        containers: ContainerPath = (),
        file: str = "",
        line: int = 0,
    ) -> int:
        """Return the number of a function; the first call that says more than its name applies.

        Parameters
        ----------
        name : str
            As recorded; it identifies the function.
        label : str, optional
            What people call it.
        containers : ContainerPath
        file : str
            Empty: unknown.
        line : int
            From 1; 0: unknown.

        Returns
        -------
        int
        """
        number = self._numbers.setdefault(name, len(self._numbers))
        line = line if 0 < line < _LINES else 0
        if label is not None or containers or file or line:
            path = self._paths.setdefault(containers, len(self._paths))
            self._set(number, label, path, self._files.setdefault(file, len(self._files)), line)
        return number

    def add_columns(
        self,
        names: Sequence[str],
        labels: Sequence[str],
        paths: Sequence[ContainerPath],
        path: NDArray[np.integer[Any]],
        files: Sequence[str],
        file: NDArray[np.integer[Any]],
        line: NDArray[np.integer[Any]],
    ) -> NDArray[np.int32]:
        """Return the numbers of many functions, as :meth:`add` does of each in turn.

        Parameters
        ----------
        names, labels : sequence of n str
        paths : sequence of ContainerPath
        path : int (n,)
            Rows of ``paths``.
        files : sequence of str
        file : int (n,)
            Rows of ``files``; where a file is empty, nothing but the name is known.
        line : int (n,)

        Returns
        -------
        int32 (n,)

        Raises
        ------
        ValueError
            If columns differ in length.
        """
        if not len(names) == len(labels) == len(path) == len(file) == len(line):
            raise ValueError("columns of functions are of the same length")
        before = len(self)
        added = dict(zip(names, range(before, before + len(names))))
        are_new = len(added) == len(names) and self._numbers.keys().isdisjoint(added)
        if are_new:
            self._numbers.update(added)
            number = np.arange(before, before + len(names), dtype=np.int32)
        else:
            number = self.numbers(names)
        file = np.array([self._files.setdefault(one, len(self._files)) for one in files], np.int64)[file]
        path = np.array([self._paths.setdefault(one, len(self._paths)) for one in paths], np.int64)[path]
        has_file = file > 0
        path = np.where(has_file, path, 0)
        line = np.where(has_file & (line > 0) & (line < _LINES), line, 0)
        if are_new:
            self._extend_to(before)
            self._label.extend(labels)
            for row in np.flatnonzero(~has_file).tolist():
                self._label[before + row] = None
            for column, more in zip(self._columns(), (path, file, line)):
                column.frombytes(np.ascontiguousarray(more, np.int64).tobytes())
        else:
            rows = zip(number.tolist(), labels, path.tolist(), file.tolist(), line.tolist(), strict=True)
            for at, *details in compress(rows, has_file.tolist()):
                self._set(at, *details)
        return number

    def tables(
        self, kept: NDArray[np.integer[Any]], split: Callable[[str], SplitName]
    ) -> tuple[Functions, Containers, Strings]:
        """Return the functions of a trace, their containers, and the files of their sources.

        Parameters
        ----------
        kept : int (n,)
            -1 for each function that is left out.
        split : callable
            What a name says.

        Returns
        -------
        Functions, Containers, Strings
        """
        is_kept = kept >= 0
        self._extend_to(len(self))
        names = [*self._numbers]
        labels: list[Any] = [*self._label]
        path, file, line = (np.array(column, np.int64) for column in self._columns())
        if not is_kept.all():
            names, labels = ([*compress(column, is_kept.tolist())] for column in (names, labels))
            path, file, line = path[is_kept], file[is_kept], line[is_kept]
        is_whole = (path > 0) & (file > 0)
        if None in labels:
            is_whole &= np.array([label is not None for label in labels], np.bool_)
        # What a format records in full need not be read from the name again.
        for row in np.flatnonzero(~is_whole).tolist():
            said = split(names[row])
            if labels[row] is None:
                labels[row] = said.label
            path[row] = path[row] or self._paths.setdefault(said.containers, len(self._paths))
            file[row] = file[row] or self._files.setdefault(said.file, len(self._files))
            line[row] = line[row] or said.line
        tree, paths, texts = _ContainerTree(), [*self._paths], [*self._files]
        container, at = np.empty(len(paths), np.int32), np.full(len(texts), -1, np.int32)
        for one in _by_appearance(path, len(paths)):
            container[one] = tree.index(paths[one])
        files_in_order = [one for one in _by_appearance(file, len(texts)) if one]
        at[files_in_order] = np.arange(len(files_in_order))
        functions = Functions(
            name=Strings.of(names),
            label=Strings.of(labels),
            container=container[path],
            file=at[file],
            line=line.astype(np.int32),
        )
        return functions, tree.table(), Strings.of(texts[one] for one in files_in_order)

    def _columns(self) -> tuple[array[int], array[int], array[int]]:
        return self._path, self._file, self._line

    def _extend_to(self, count: int) -> None:
        missing = count - len(self._label)
        self._label.extend([None] * missing)
        for column in self._columns():
            column.frombytes(bytes(column.itemsize * max(missing, 0)))

    def _set(self, number: int, label: str | None, path: int, file: int, line: int) -> None:
        """Keep what is recorded of a function unless that is known."""
        self._extend_to(number + 1)
        if self._label[number] is None and not any(column[number] for column in self._columns()):
            self._label[number], self._path[number] = label, path
            self._file[number], self._line[number] = file, line


def _by_appearance(values: NDArray[np.int64], size: int) -> list[int]:
    """Return the distinct values, all below ``size``, in the order in which they appear."""
    first = np.full(size, len(values))
    # Of several places, the one that is written last stays.
    first[values[::-1]] = np.arange(len(values) - 1, -1, -1)
    return np.argsort(first, kind="stable")[: np.count_nonzero(first < len(values))].tolist()  # type: ignore[no-any-return]


class _ContainerTree:
    """Containers, interned by their path."""

    def __init__(self) -> None:
        self._index: dict[tuple[int, str, str], int] = {}

    def index(self, path: ContainerPath) -> int:
        parent = -1
        for kind, name in path:
            parent = self._index.setdefault((parent, kind, name), len(self._index))
        return parent

    def table(self) -> Containers:
        return Containers(
            name=Strings.of([name for _, _, name in self._index]),
            parent=np.array([parent for parent, _, _ in self._index], np.int32),
            kind=np.array([CONTAINER_KINDS.index(kind) for _, kind, _ in self._index], np.uint8),
        )
