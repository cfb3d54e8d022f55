"""Profiles of Python programs."""
