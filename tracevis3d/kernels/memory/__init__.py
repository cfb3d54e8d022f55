"""Kernels of memory: blocks of a recording and of a feed."""
