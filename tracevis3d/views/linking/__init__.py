"""Linking: what is highlighted with what is pointed at."""
