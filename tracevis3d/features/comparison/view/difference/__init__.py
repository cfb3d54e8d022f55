"""What differs between two traces, call by call: its kind, how much it matters, its colour and its words."""
