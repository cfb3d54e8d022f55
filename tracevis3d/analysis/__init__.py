"""Analyses of a trace, as the papers define them."""
