"""The call tree of each thread as an extruded icicle."""
