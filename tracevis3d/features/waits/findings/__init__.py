"""Findings about a trace's waits."""
