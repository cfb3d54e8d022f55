"""Filters: what of a trace is hidden, faded or sunk, so that what matters is seen (SEAT, section 4.5.2)."""
