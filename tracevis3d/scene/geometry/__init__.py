"""Elements of a drawing as meshes and instances."""
