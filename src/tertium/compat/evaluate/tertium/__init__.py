"""A module of Hugging Face ``evaluate``; it loads the file of the same name as this folder."""
