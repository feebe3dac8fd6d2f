"""Choosing among candidates: quality estimation, mixtures, minimum Bayes risk."""
