"""Scanners: from bytes to columns."""
