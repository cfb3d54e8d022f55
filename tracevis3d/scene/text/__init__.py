"""Texts, rulers and legends as geometry."""
