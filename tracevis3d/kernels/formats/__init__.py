"""Kernels of formats: scanners from bytes to columns, and writers."""
