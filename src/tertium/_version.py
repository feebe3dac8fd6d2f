"""The version, which every signature names."""

__version__ = "0.2.0.dev0"
