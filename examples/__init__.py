"""Recorded programs, and what TraceVis3D makes of them."""
