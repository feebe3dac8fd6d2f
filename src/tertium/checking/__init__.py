"""Checking translation files: what is wrong with the translations that they hold."""
