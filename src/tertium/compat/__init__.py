"""The interfaces of other tools, over Tertium's measures and models."""
