"""The scene for Blender's window: element metadata, highlights, detail, viewpoints."""
