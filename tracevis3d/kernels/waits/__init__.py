"""Kernels of waits and releases."""
