"""What --verbose prints."""

from __future__ import annotations

import logging
import sys


class _Terminal(logging.Handler):
    """Writes log messages to what is standard error at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


def log_to_terminal(verbose: bool) -> None:
    """Log what is done to standard error, if requested."""
    logger = logging.getLogger("tertium")
    for handler in logger.handlers[:]:
        if isinstance(handler, _Terminal):
            logger.removeHandler(handler)
    if verbose:
        handler = _Terminal()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
