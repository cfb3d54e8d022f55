"""Frames, callouts, signs and texts on the walls of a comparison."""
