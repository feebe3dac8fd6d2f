"""Find pairs of texts with the same meaning, and align the sentences of two documents."""
