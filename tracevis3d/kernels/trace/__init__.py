"""Kernels of the model: calls from events, packing, search, measures."""
