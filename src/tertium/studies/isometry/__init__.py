"""The isometry of translation models (Shankar, 2020)."""
