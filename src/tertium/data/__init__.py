"""Readers of tables, bitext, systems' outputs and published datasets."""
