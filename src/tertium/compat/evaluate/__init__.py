"""The folder that Hugging Face ``evaluate`` loads: ``tertium.compat.plugin_folder("evaluate")``."""
