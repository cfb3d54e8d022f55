"""Operations are numbered and listed right, whatever other threads do meanwhile."""

import itertools
import sys

import pytest

from tracevis3d.record import operations


@pytest.fixture(autouse=True)
def table(monkeypatch):
    """Begin with no operations, and put back those that there are."""
    monkeypatch.setattr(operations, "_operations", [])


def between_lines(function, meanwhile):
    """Call a function; between any two of its lines, do what another thread might do just then."""

    def trace(frame, event, _argument):
        if frame.f_code is function.__code__ and event == "line":
            sys.settrace(None)
            meanwhile(frame.f_lineno)
            sys.settrace(trace)
        return trace if frame.f_code is function.__code__ else None

    def run(*arguments):
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return function(*arguments)
        finally:
            sys.settrace(before)

    return run


def test_an_operation_has_one_number():
    first = operations.operation("Lock.acquire", operations.WAIT)
    other = operations.operation("Lock.acquire", operations.CALL)
    assert (first, other) == (0, 1)
    assert operations.operation("Lock.acquire", operations.WAIT) == first
    assert operations.table() == [("Lock.acquire", "wait"), ("Lock.acquire", "call")]


def test_the_table_is_whole_while_threads_add_to_it():
    seen = []
    add = between_lines(operations.operation, lambda line: seen.append(operations.table()))
    numbers = [add(name, operations.IO) for name in ("read", "write", "read")]
    assert numbers == [0, 1, 0]
    assert len(seen) > 4
    assert all(before == after[: len(before)] for before, after in itertools.pairwise(seen))


@pytest.mark.parametrize("name", ["read", "write"])
def test_threads_that_add_at_once_get_the_numbers_of_their_own_operations(name):
    def meanwhile(line):
        for pair in (("write", operations.IO), (f"line {line}", operations.CALL)):
            number = operations.operation(*pair)
            assert operations.table()[number] == pair

    number = between_lines(operations.operation, meanwhile)(name, operations.IO)
    assert operations.table()[number] == (name, "io")
    assert operations.operation(name, operations.IO) == number
