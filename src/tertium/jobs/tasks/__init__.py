"""What can be done with rows."""
