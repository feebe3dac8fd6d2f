"""Token vectors cached in memory."""

from __future__ import annotations

from threading import Lock

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

Ids = tuple[int, ...]
Rows = NDArray[np.float32]

MAX_BYTES = 256 * 2**20


class VectorMemo:
    """Caches the vectors of the most recently used token sequences, up to a number of bytes.

    Several measures in one run, and many systems with the same references, encode the same texts
    again and again.

    >>> memo = VectorMemo(max_bytes=16)
    >>> for number in (1, 2, 3):
    ...     memo.put((number,), np.zeros((1, 2), np.float32))
    >>> memo.get((1,)) is None, memo.get((3,))
    (True, array([[0., 0.]], dtype=float32))
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._rows: LRUCache[Ids, Rows] = LRUCache(max_bytes, getsizeof=lambda rows: rows.nbytes)
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        """The number of bytes in use."""
        return int(self._rows.currsize)

    def get(self, ids: Ids) -> Rows | None:
        """Return the vectors of a sequence, or None, and mark them as recently used."""
        with self._lock:
            return self._rows.get(ids)

    def put(self, ids: Ids, rows: Rows) -> None:
        """Store the vectors of a sequence; the least recently used ones are evicted."""
        with self._lock:
            if ids not in self._rows and rows.nbytes <= self._rows.maxsize:
                self._rows[ids] = rows
