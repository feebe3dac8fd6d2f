"""Training of translation models and paraphrase detectors (extra: ``train``)."""
