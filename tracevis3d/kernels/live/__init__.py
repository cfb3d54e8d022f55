"""Kernels of the live feed: calls that grow, bars that flow."""
