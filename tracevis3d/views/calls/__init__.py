"""Calls in any view: their colours, measures, clusters, and the actions on them."""
