"""Vectors of texts that were encoded before, as far as they fit."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Ids = tuple[int, ...]
Rows = NDArray[np.float32]

MOST_BYTES = 256 * 2**20


class VectorMemo:
    """Keeps the vectors of the sequences that were asked for last, up to a number of bytes.

    Several measures of one run, and many systems against one set of references, ask for the same
    texts again and again.

    >>> memo = VectorMemo(most_bytes=16)
    >>> for number in (1, 2, 3):
    ...     memo.put((number,), np.zeros((1, 2), np.float32))
    >>> memo.get((1,)) is None, memo.get((3,))
    (True, array([[0., 0.]], dtype=float32))
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self._rows: OrderedDict[Ids, Rows] = OrderedDict()
        self._lock = Lock()

    def get(self, ids: Ids) -> Rows | None:
        """What is known of a sequence; asking keeps it fresh."""
        with self._lock:
            rows = self._rows.get(ids)
            if rows is not None:
                self._rows.move_to_end(ids)
            return rows

    def put(self, ids: Ids, rows: Rows) -> None:
        """Keep the vectors of a sequence, and forget those that were not asked for the longest."""
        with self._lock:
            if ids in self._rows:
                return
            self._rows[ids] = rows
            self.bytes += rows.nbytes
            while self.bytes > self.most_bytes:
                _, oldest = self._rows.popitem(last=False)
                self.bytes -= oldest.nbytes
