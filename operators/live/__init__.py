"""Live feeds in the window."""
