"""The fixture of pytest; nothing else of Tertium is imported until a test asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tertium.testing import Similarity


@pytest.fixture(scope="session")
def tertium_similarity() -> Similarity:
    """Assert that two texts are similar: ``tertium_similarity(text, expected, at_least=0.4)``."""
    from tertium.testing import Similarity

    return Similarity()
