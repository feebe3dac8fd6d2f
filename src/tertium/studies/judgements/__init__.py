"""Correlation with human judgements."""
