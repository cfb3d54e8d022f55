"""Linking: what lights up with what is pointed at."""
