"""Kernels of call trees: distinct subtrees, grammar, filters, tree layouts."""
