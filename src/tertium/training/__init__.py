"""Training of translation models from bitext (extra: ``train``)."""
