"""How well methods find the spans where two texts differ."""
