"""Execution traces of Go programs: goroutines as threads, what they wait for, and who goes on with them."""
