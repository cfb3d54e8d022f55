"""The view threads; :mod:`.view` declares it."""

from .parameters import Parameters
from .view import VIEW

__all__ = ["VIEW", "Parameters"]
