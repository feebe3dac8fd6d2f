"""Bitext filters: each decides which sentence pairs to keep, and gives the reason and the value."""
