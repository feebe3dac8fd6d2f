"""Conversion of published models to the engine's format (extra: ``convert``)."""
