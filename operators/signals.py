"""Signals: how files of the extension learn of changes.

What changes a view need not know what depends on it. What Blender does to the whole file has its signals in
:mod:`.handlers`.
"""

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, ParamSpec

P = ParamSpec("P")


class Signal(Generic[P]):
    """Receivers, which are called in the order in which they were connected."""

    def __init__(self) -> None:
        self._receivers: list[Callable[P, object]] = []
        self._left_out: list[Callable[P, object]] = []

    def connect(self, receiver: Callable[P, object]) -> None:
        """Let ``receiver`` be called from now on; one that is connected already stays where it is."""
        if receiver not in self._receivers:
            self._receivers.append(receiver)

    def disconnect(self, receiver: Callable[P, object]) -> None:
        """Let ``receiver`` be called no more; one that is not connected is not an error."""
        if receiver in self._receivers:
            self._receivers.remove(receiver)

    @contextmanager
    def without(self, receiver: Callable[P, object]) -> Iterator[None]:
        """Let ``receiver`` not be called for a while: it caused the change that the signal reports."""
        self._left_out.append(receiver)
        try:
            yield
        finally:
            self._left_out.remove(receiver)

    def send(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call all receivers.

        Raises
        ------
        Exception
            What the first receiver that failed has raised, after all were called. What others raised is
            printed in full.
        """
        first: Exception | None = None
        # A receiver may disconnect itself.
        for receiver in [each for each in self._receivers if each not in self._left_out]:
            try:
                receiver(*args, **kwargs)
            except Exception as error:
                if first is None:
                    first = error
                else:
                    traceback.print_exception(error)
        if first is not None:
            raise first


#: Signals, and what a module connects to them as long as it is registered.
Connections = Sequence[tuple[Signal[Any], Callable[..., object]]]


def connect(connections: Connections) -> None:
    """Connect each receiver to its signal."""
    for signal, receiver in connections:
        signal.connect(receiver)


def disconnect(connections: Connections) -> None:
    """Disconnect the receivers, the last one first."""
    for signal, receiver in reversed(connections):
        signal.disconnect(receiver)


#: A view was drawn again: scene, collection, traces, drawing.
on_show: Signal[[Any, Any, list[Any], Any]] = Signal()
#: A person has changed a view's parameters, style, filters or length: its collection.
on_change: Signal[[Any]] = Signal()
#: A person has chosen another active view, moved one, or turned to all of them.
on_move: Signal[[]] = Signal()
#: A person asks to look at the active view: the context.
on_look: Signal[[Any]] = Signal()
#: A view was given another filter stack: its collection.
on_filter: Signal[[Any]] = Signal()
#: A part of a view's trace was pointed at in the strip: collection, call.
on_point: Signal[[Any, int]] = Signal()
#: The selection in a trace, or the hovered element, has changed: the trace's key; "" after undo, redo or
#: loading, when any may have. A receiver must be quick, and must not select.
on_select: Signal[[str]] = Signal()
#: Traces were imported, and are to be shown: the context, and whether a person requested it.
on_import: Signal[[Any, bool]] = Signal()
#: A 3D view that shows views is being drawn: the context. A receiver must cost next to nothing.
on_draw: Signal[[Any]] = Signal()
#: The folder of plug-ins is another one, or what is in it: everything that is made of views is to be renewed.
on_plugins: Signal[[]] = Signal()
#: A long step has ended, and the status bar is free again for its previous text: the context.
on_task_end: Signal[[Any]] = Signal()
