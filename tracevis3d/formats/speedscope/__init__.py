"""speedscope's JSON."""
