"""Distributed traces: spans of services, which call each other."""
