"""Training of translation models from bitext."""
