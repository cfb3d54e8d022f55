"""Layouts of trees: cones, bubbles, hyperbolic space."""
