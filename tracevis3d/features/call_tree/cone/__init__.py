"""The call tree as a cone tree, as bubbles or in hyperbolic space."""
