"""Cached results of models: in memory and on disk."""
