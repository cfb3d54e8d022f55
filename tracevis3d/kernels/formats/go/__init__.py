"""Kernels that read execution traces of Go."""
