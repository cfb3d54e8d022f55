"""Profiles that Linux' perf records."""
