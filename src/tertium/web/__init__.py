"""The measures behind HTTP: a page for people, an interface for programs (extra: ``web``)."""
