"""Settings are described once, on the fields of the measures."""

from __future__ import annotations

import pytest

import tertium
from tertium.errors import SettingError
from tertium.measures.loading import known_settings
from tertium.measures.registry import measure_names


@pytest.mark.parametrize("name", measure_names())
def test_every_setting_has_a_meaning(name: str) -> None:
    for each in known_settings(name).values():
        assert each.meaning.endswith((".", "all.")), each.name
        if each.choices:
            assert each.default in each.choices


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("chrf:char_order=0", "char_order=0: it must be a whole number from 1"),
        ("direct:base=10", "base='10': it must be one of 'e', '2'"),
        ("prism-ref:alpha=2", "alpha=2.0: it must be a number from 0 to 1"),
        ("wmd:distance=far", "distance='far': it must be one of 'euclidean', 'cosine'"),
        ("cross:beam_size=0", "beam_size=0: it must be"),
    ],
)
def test_values_are_checked_by_the_description(spec: str, message: str) -> None:
    with pytest.raises(SettingError, match=message.replace("(", r"\(")):
        tertium.load(spec)


def test_a_truth_value_is_not_a_number() -> None:
    with pytest.raises(SettingError, match="normalized=1"):
        tertium.load("direct", normalized=1)
