"""Comparison of two or more systems on one test set, with significance tests."""
