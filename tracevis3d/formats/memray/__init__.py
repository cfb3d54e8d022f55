"""memray's recordings, its own files and as text."""
