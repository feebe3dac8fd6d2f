"""Engines: what gives a probability or a vector."""
