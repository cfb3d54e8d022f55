"""Differences between two traces, found and ranked."""
