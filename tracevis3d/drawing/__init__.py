"""The words a view speaks. NumPy only: nothing here knows Blender."""
