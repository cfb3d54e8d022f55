"""Virtual reality: landmarks at bookmarks and findings, a tour through them, pointing with a controller."""

from . import landmarks, pointing


def register() -> None:
    """Register the operators."""
    landmarks.register()


def unregister() -> None:
    """Remove them; nothing watches controllers any more."""
    pointing.stop()
    landmarks.unregister()
