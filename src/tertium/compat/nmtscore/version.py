"""Which nmtscore this is, and which Tertium stands behind it: a version with a local part."""

from tertium import __version__ as tertium_version

__version__ = f"0.3.3+tertium.{tertium_version}"
