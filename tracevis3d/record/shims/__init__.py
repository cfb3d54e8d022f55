"""Wrappers at the leaves: neither their calls nor what they call are recorded as calls."""
