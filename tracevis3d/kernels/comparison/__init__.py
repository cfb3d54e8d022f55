"""Kernels of the comparison: joins, similarities, groups, findings."""
