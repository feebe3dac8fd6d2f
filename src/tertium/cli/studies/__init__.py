"""The commands of ``tertium study``, one file each."""
