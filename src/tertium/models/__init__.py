"""Engines: what gives a probability or a vector."""

import os

os.environ.setdefault("CT2_USE_MKL", "0")
"""CTranslate2 reads it when it is imported. By default it would multiply with MKL on Intel's
processors and with oneDNN on others, and the numbers would depend on the vendor."""
