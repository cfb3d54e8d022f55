"""Profiles: samples of stacks, or weights of call paths, as profilers write them."""
