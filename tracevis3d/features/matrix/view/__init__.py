"""The view of matrices: bars on the floor, and on the walls what they add up to."""
