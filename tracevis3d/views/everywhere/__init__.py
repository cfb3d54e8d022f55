"""What all views can do alike: other names of functions, and tracks behind what they draw."""
