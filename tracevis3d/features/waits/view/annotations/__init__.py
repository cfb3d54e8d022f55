"""Texts around the rows: captions, tags of waits, legends, notes."""
