"""The primitives of a drawing: boxes, tubes, lines, marks, labels, legends, axes; NumPy only."""
