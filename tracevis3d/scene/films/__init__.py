"""Films: frames that are rendered one by one, kept on disk, and joined."""
