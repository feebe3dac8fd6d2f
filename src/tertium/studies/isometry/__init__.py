"""Isometry of translation models (Shankar, 2020)."""
