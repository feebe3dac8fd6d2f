"""Training of paraphrase detectors."""
