"""Formats of one event or one stack to a line."""
