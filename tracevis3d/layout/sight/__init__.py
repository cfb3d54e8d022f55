"""What a 3D view sees, where it looks, and what is pointed at in it."""
