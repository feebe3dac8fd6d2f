"""Paraphrase generation with a translation model."""
