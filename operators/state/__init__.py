"""What the .blend stores of views and traces, and what is selected."""
