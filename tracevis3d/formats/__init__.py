"""One file per trace format; the registry finds the right one by content."""
