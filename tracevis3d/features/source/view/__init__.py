"""The view of the source: slabs of lines, their bars and names, and the camera."""
