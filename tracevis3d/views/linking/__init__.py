"""Linking: which elements are highlighted with the one that is pointed at."""
