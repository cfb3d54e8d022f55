"""Lists beside the views: call tree, functions, filters, search results, differences, threads."""
