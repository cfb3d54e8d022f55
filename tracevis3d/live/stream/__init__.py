"""Live views: what flows through them, computed from what a feed has brought; nothing here knows Blender."""
