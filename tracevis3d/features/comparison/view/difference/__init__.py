"""The differences between two traces, call by call: kind, importance, colour and text."""
