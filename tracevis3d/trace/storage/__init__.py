"""Traces on disk: the store of one trace, the cache of all, and which files are trusted."""
