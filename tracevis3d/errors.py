"""Errors for the user. Each message is one sentence that names the place and the remedy."""

from __future__ import annotations


class TraceVisError(Exception):
    """Base of all errors that are shown to the user as one sentence.

    ``exit_code`` is what the command line returns for it.
    """

    exit_code = 1


class InputError(TraceVisError):
    """The input can't be used: the sentence names the file, the byte, line or field, and the reason."""


class Unreadable(InputError):
    """A file's content makes no sense in its format: the registry of formats adds how to record another."""


#: What to do with a trace that lacks what is needed.
SEE_INFO = "'tracevis3d info' shows what is in it"


def not_recorded(path: str, what: str, remedy: str = "'tracevis3d info' shows what is") -> InputError:
    """Return the error for a view of something that a trace lacks.

    Parameters
    ----------
    path : str
        The trace's file; may be empty.
    what : str
        The things, in the plural.
    remedy : str

    Returns
    -------
    InputError
    """
    return InputError(f"{path or 'this trace'}: no {what} are recorded in it: {remedy}")


class UsageError(TraceVisError):
    """The words on the command line, or the parameters of a call, are off."""

    exit_code = 2


class MissingDependency(TraceVisError):
    """A library or program that this step needs is not installed: the sentence says how to get it."""


class Cancelled(TraceVisError):
    """The user stopped a long step (ESC, Ctrl-C)."""

    exit_code = 130
