"""Kernels of layouts: level of detail, bundles, tubes, picking."""
