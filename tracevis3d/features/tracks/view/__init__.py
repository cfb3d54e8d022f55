"""The view of tracks: a wall of strips, a tube of loads, a path of two series."""
