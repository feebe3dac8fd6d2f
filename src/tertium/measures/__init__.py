"""Formulas: one short file per family."""
