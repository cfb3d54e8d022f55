"""What the papers compute from a trace."""
