"""What the window needs of a scene: element metadata, highlights, detail, viewpoints."""
