"""What Linux' ftrace writes as text."""
