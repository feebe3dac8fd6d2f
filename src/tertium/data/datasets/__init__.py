"""Readers of the public datasets, each in the layout it is published in, and of anybody's own."""
