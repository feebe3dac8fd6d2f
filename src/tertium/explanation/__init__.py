"""Explanations of scores: token log-probabilities, alignments, intermediate translations."""
