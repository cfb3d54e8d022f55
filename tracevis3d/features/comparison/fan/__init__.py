"""Three and more traces as walls in a fan."""
