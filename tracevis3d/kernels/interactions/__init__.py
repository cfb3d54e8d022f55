"""Kernels of the interactions: phases, sequences and chords as images."""
