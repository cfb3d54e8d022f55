"""What explains the views, over the scene in the window: title, legend, rulers, names, callouts."""

from . import draw, legend, mouse, page, picture


def register() -> None:
    """Draw overlays, and hide what is printed."""
    legend.register()
    draw.register()
    mouse.register()
    page.register()
    picture.register()


def unregister() -> None:
    """Undo :func:`register`."""
    picture.unregister()
    page.unregister()
    mouse.unregister()
    draw.unregister()
    legend.unregister()
