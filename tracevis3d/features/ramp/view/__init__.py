"""The view of ramps: bars and their stages, one or two runs, and the histogram at the end."""
