"""Worker processes that end with the process that started them."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing import parent_process


def follow_parent() -> None:
    """Leave Ctrl-C to the parent process, and exit when it ends: a pool does not notice that.

    The initializer of every process pool.
    """

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()
