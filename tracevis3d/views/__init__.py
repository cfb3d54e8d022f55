"""Shared by all views: their contract and registry, actions, lists, filters, and element metadata."""
