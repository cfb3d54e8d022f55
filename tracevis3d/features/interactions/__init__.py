"""Which part calls which, and when (ExtraVis): elements, phases, patterns and the time drum."""
