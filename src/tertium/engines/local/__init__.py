"""Jobs that run on this machine."""
