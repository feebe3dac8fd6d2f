"""Paraphrases from a translation model."""
