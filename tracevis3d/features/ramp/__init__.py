"""Rounds as a ramp: each repetition a bar one step further; slopes, stalls and stragglers."""
