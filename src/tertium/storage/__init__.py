"""Files on disk: atomic replacement, unfinished runs, resuming, and where the cache is."""
