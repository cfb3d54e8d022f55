"""What shots need of a drawing: where a selection is, which calls travel to another, when each appears."""
