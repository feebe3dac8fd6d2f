"""Files on disk: atomic replacement, unfinished runs, resuming, locks, and the cache folder."""
