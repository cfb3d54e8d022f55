"""Where the nodes of a tree go: cones, bubbles, hyperbolic space."""
