"""Readers of text pairs."""
