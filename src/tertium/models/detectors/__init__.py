"""Paraphrase detectors."""
