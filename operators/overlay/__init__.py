"""What explains the views, over the scene in the window: title, legend, rulers, names, callouts."""

from . import draw, page


def register() -> None:
    """Draw overlays, and hide what is printed."""
    draw.register()
    page.register()


def unregister() -> None:
    """Undo :func:`register`."""
    page.unregister()
    draw.unregister()
