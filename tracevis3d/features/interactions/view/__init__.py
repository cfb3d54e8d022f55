"""The view interactions; :mod:`.view` declares it."""

from .view import VIEW, Parameters

__all__ = ["VIEW", "Parameters"]
