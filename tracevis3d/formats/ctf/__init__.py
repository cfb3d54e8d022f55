"""LTTng's Common Trace Format."""
