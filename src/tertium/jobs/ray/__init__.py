"""Jobs that run on a Ray cluster (extra: ``ray``)."""
