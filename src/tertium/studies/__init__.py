"""The papers' protocols: which measure to trust, and where it breaks."""
