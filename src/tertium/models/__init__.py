"""Models: translation models, encoders, paraphrase detectors, and the engine that runs them."""

import os

os.environ.setdefault("CT2_USE_MKL", "0")
"""CTranslate2 reads this variable when it is imported. By default it multiplies with MKL on Intel
processors and with oneDNN on others, so that the numbers depend on the vendor."""
