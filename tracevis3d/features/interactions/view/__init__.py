"""The time drum: which element calls which, and when."""
