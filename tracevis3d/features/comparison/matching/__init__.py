"""Which calls of two traces match, how similar they are, and in which groups (TraceDiff)."""
