"""The version, which every signature names."""

__version__ = "0.3.0.dev0"
