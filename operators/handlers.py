"""Blender's operations on the whole file, as signals: one handler of Blender's for each of them."""

from collections.abc import Callable

import bpy

from .signals import Signal

#: Another file is about to be loaded, or was.
before_loading: Signal[[]] = Signal()
after_loading: Signal[[]] = Signal()
#: The file is about to be saved, or was, or could not be: where it goes, empty if Blender doesn't say.
before_saving: Signal[[str]] = Signal()
after_saving: Signal[[str]] = Signal()
#: A step is about to be undone or redone, or was.
before_undo: Signal[[]] = Signal()
after_undo: Signal[[]] = Signal()


def _handler(send: Callable[[object], None]) -> Callable[..., None]:
    """Return a handler that lives on when another file is loaded."""

    @bpy.app.handlers.persistent
    def handler(what: object = None, _unused: object = None) -> None:
        send(what)

    return handler


def _without_file(signal: Signal[[]]) -> Callable[..., None]:
    return _handler(lambda _what: signal.send())


def _with_file(signal: Signal[[str]]) -> Callable[..., None]:
    return _handler(lambda what: signal.send(what if isinstance(what, str) else ""))


#: Name of one of Blender's lists of handlers, and our function for it.
_HANDLERS = (
    ("load_pre", _without_file(before_loading)),
    ("load_post", _without_file(after_loading)),
    ("save_pre", _with_file(before_saving)),
    ("save_post", _with_file(after_saving)),
    ("save_post_fail", _with_file(after_saving)),
    ("undo_pre", _without_file(before_undo)),
    ("redo_pre", _without_file(before_undo)),
    ("undo_post", _without_file(after_undo)),
    ("redo_post", _without_file(after_undo)),
)


def register() -> None:
    """Put each handler on its list."""
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    """Take the handlers off again."""
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
