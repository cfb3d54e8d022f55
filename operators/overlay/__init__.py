"""What explains the views, over the scene in the window: title, legend, rulers, names, callouts."""

from . import draw, legend, mouse, page


def register() -> None:
    """Draw overlays, and hide what is printed."""
    legend.register()
    draw.register()
    mouse.register()
    page.register()


def unregister() -> None:
    """Undo :func:`register`."""
    page.unregister()
    mouse.unregister()
    draw.unregister()
    legend.unregister()
