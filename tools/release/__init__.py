"""What a release consists of: built, listed and checked (``python -m tools.release``)."""
