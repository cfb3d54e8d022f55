"""A drawing as a page: one file with all that a browser needs to show it, explore it and search in it."""
