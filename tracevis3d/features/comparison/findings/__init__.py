"""What differs between two traces, found and ranked."""
