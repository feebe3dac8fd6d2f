"""Sensitivity to rephrasing in many languages (Wang, Chen and Ataman, 2024)."""
