"""Studies of measures, after the protocols of the papers."""
