"""Languages, families and features come from maintained data, and what is not there is said."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from tertium.data import uriel
from tertium.data.languages import is_constructed, iso_code, language_name, macrolanguage
from tertium.data.uriel import family_of, uriel_features
from tertium.errors import InputError, SettingError


@pytest.mark.parametrize(
    ("lang", "code", "name"),
    [
        ("de", "deu", "German"),
        ("deu", "deu", "German"),
        ("nb", "nob", "Norwegian Bokmål"),
        ("cmn", "cmn", "Mandarin Chinese"),
        ("toki", "tok", "Toki Pona"),
        ("ber", "ber", "Berber languages"),
        ("pes", "pes", "Iranian Persian"),
    ],
)
def test_names_and_codes(lang: str, code: str, name: str) -> None:
    assert (iso_code(lang), language_name(lang)) == (code, name)


def test_a_code_that_nobody_knows() -> None:
    assert iso_code("no such language") == "no such language"
    assert language_name("no such language") == "no such language"
    assert not is_constructed("no such language")
    assert macrolanguage("no such language") is None
    assert family_of("no such language") == "(none)"


@pytest.mark.parametrize(
    ("lang", "family"),
    [
        ("de", "Indo-European"),
        ("nob", "Indo-European"),  # by its macrolanguage
        ("tlh", "Artificial Language"),  # by ISO 639-3, as URIEL says of Esperanto
        ("epo", "Artificial Language"),
        ("ota", "Turkic"),  # by its kin
        ("ber", "Afro-Asiatic"),
        ("run", "Atlantic-Congo"),
        ("eus", "(none)"),
    ],
)
def test_families(lang: str, family: str) -> None:
    assert family_of(lang) == family


@pytest.mark.parametrize(
    ("name", "features"),
    [
        ("syntax_average", 103),
        ("phonology_average", 28),
        ("inventory_average", 158),
        ("geo", 299),
        ("learned", 512),
    ],
)
def test_feature_sets_have_their_size(name: str, features: int) -> None:
    found = uriel_features(name, ["fi", "tur"])
    assert found.values.shape == (2, features)
    assert not np.isnan(found.values).all()


def test_known_features() -> None:
    """English is SVO, Turkish SOV (of three sources, one has SVO for it too); NaN is unknown."""
    syntax = uriel_features("syntax_average", ["eng", "tur", "gos"])
    assert syntax.values[:2, :2].tolist() == [[1, 0], [0.3333, 1]]
    assert np.isnan(syntax.values[2]).all()


def test_what_is_not_there_is_named() -> None:
    assert uriel_features("learned", ["eng", "deu", "ber"]).absent == ("eng", "ber")
    assert uriel_features("geo", ["ber"]).values.shape[0] == 0
    with pytest.raises(SettingError, match="no feature set 'taste'"):
        uriel_features("taste", ["deu"])


def test_a_pickle_that_would_run_something_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return (print, ("gotcha",))

    file = tmp_path / "learned.npy"
    with file.open("wb") as stream:
        header = {"descr": "|O", "fortran_order": False, "shape": ()}
        np.lib.format.write_array_header_1_0(stream, header)
        pickle.dump(Evil(), stream)
    with pytest.raises(InputError, match="it contains"):
        uriel._learned(file)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langcodes", None)
    with pytest.raises(SettingError, match=r"tertium\[typology\]"):
        iso_code("deu")
