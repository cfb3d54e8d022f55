"""A film on the timeline: its shots, the markers and the camera's keyframes made of them, playing it."""

from . import shots, stored


def register() -> None:
    """Register what scenes store of a film, and the operators."""
    stored.register()
    shots.register()


def unregister() -> None:
    """Undo :func:`register`."""
    shots.unregister()
    stored.unregister()
