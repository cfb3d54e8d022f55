"""The state of views and traces in the .blend, and the selection."""
