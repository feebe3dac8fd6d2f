"""Localisation files: translations with the file, line and key that each stands at."""
