"""Filters: which calls of a trace are hidden, faded or sunk (SEAT, section 4.5.2)."""
