"""URIEL's typological features and families, from the files of lang2vec (Littell et al., 2017).

Only the data files of lang2vec, which has had no release since 2019, are used: its code needs
``pkg_resources``, which was removed from setuptools. Its successor URIEL+ (``urielplus`` 1.3) ships
neither the averaged and predicted features nor the learned vectors that studies are based on.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tertium.data.languages import check_typology, is_constructed, iso_code, macrolanguage
from tertium.errors import InputError, SettingError

Floats = NDArray[np.float64]

FILES = {
    "syntax_average": ("feature_averages.npz", "S_"),
    "phonology_average": ("feature_averages.npz", "P_"),
    "inventory_average": ("feature_averages.npz", "INV_"),
    "syntax_knn": ("feature_predictions.npz", "S_"),
    "phonology_knn": ("feature_predictions.npz", "P_"),
    "inventory_knn": ("feature_predictions.npz", "INV_"),
    "geo": ("geocoord_features.npz", "GC_"),
    "learned": ("learned.npy", ""),
}
"""Feature sets by lang2vec's names: the file, and the prefix of the names of their features."""
FAMILIES = "family_features.npz"
UNKNOWN = -1.0
CONSTRUCTED = "Artificial Language"
"""URIEL's name for the family of some constructed languages."""
NO_FAMILY = "(none)"
RELATED = {"ber": "kab", "ota": "tur"}
"""Codes without a family in any source (a group, and a language that URIEL lists without one), with
the closely related language whose family is used instead."""


@dataclass(frozen=True)
class Features:
    """A feature set of shape (languages, features); NaN where URIEL has no value."""

    name: str
    langs: tuple[str, ...]
    """The languages that URIEL has, under the codes that were given."""
    values: Floats
    absent: tuple[str, ...]
    """The languages that URIEL does not have."""
    names: tuple[str, ...] = ()
    """Of the features."""


def uriel_features(name: str, langs: Sequence[str]) -> Features:
    """Look up a feature set by the codes of languages, without any substitution.

    >>> features = uriel_features("syntax_average", ["deu", "tok"])
    >>> features.langs, features.values.shape, features.absent
    (('deu',), (1, 103), ('tok',))
    """
    if name not in FILES:
        raise SettingError(f"no feature set {name!r}; available: {', '.join(FILES)}")
    table = _load(*FILES[name])
    present = [lang for lang in langs if iso_code(lang) in table]
    width = len(next(iter(table.values())))
    values = np.array([table[iso_code(lang)] for lang in present], dtype=np.float64)
    values = values.reshape(len(present), width)
    values[values == UNKNOWN] = np.nan if name != "learned" else UNKNOWN
    absent = tuple(lang for lang in langs if lang not in present)
    return Features(name, tuple(present), values, absent, _names(*FILES[name], width))


def family_of(lang: str) -> str:
    """The largest group in URIEL that a language belongs to.

    If URIEL has none, constructed languages (ISO 639-3) get the family that URIEL uses for some of
    them, and other languages that of their macrolanguage. All others, like isolates, have none.

    >>> [family_of(lang) for lang in ("deu", "nob", "tok", "ber", "eus")]
    ['Indo-European', 'Indo-European', 'Artificial Language', 'Afro-Asiatic', '(none)']
    """
    code = iso_code(lang)
    if code in _families():
        return _families()[code]
    if is_constructed(code):
        return CONSTRUCTED
    related = RELATED.get(code) or macrolanguage(code)
    return _families().get(related, NO_FAMILY) if related else NO_FAMILY


@cache
def _families() -> dict[str, str]:
    with np.load(_path(FAMILIES)) as file:
        langs, names = file["langs"], [name.removeprefix("F_") for name in file["feats"].tolist()]
        members = file["data"][:, :, 0] == 1
    sizes = members.sum(axis=0)
    largest = np.where(members, sizes, 0).argmax(axis=1)
    return {
        str(lang): names[place]
        for lang, place, groups in zip(langs, largest, members, strict=True)
        if groups.any()
    }


@cache
def _names(file: str, prefix: str, width: int) -> tuple[str, ...]:
    """The names of the features; the dimensions of learned vectors have numbers."""
    path = _path(file)
    if path.suffix == ".npy":
        return tuple(f"dimension {number}" for number in range(1, width + 1))
    with np.load(path) as arrays:
        names = map(str, arrays["feats"].tolist())
        return tuple(name.removeprefix(prefix) for name in names if name.startswith(prefix))


@cache
def _load(file: str, prefix: str) -> dict[str, Floats]:
    path = _path(file)
    if path.suffix == ".npy":
        return _learned(path)
    with np.load(path) as arrays:
        columns = [name.startswith(prefix) for name in arrays["feats"].tolist()]
        values = arrays["data"][:, columns, 0].astype(np.float64)
        langs = [str(lang) for lang in arrays["langs"]]
    return dict(zip(langs, values, strict=True))


def _learned(path: Path) -> dict[str, Floats]:
    """Read vectors by language from a pickled dict; the pickle may contain only arrays."""
    with path.open("rb") as stream:
        np.lib.format.read_magic(stream)
        np.lib.format.read_array_header_1_0(stream)
        content = stream.read()
    try:
        loaded = _ArrayUnpickler(io.BytesIO(content), encoding="latin1").load()
        table = loaded if isinstance(loaded, dict) else loaded.item()
        return {lang: np.asarray(table[lang], dtype=np.float64) for lang in table["langs"]}
    except (pickle.UnpicklingError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not the file that lang2vec ships: {error}") from None


class _ArrayUnpickler(pickle.Unpickler):
    """Loads arrays and plain values; a pickle with anything else is refused."""

    def find_class(self, module: str, name: str) -> Any:
        allowed = {
            ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
            ("numpy", "ndarray"): np.ndarray,
            ("numpy", "dtype"): np.dtype,
            ("_codecs", "encode"): str.encode,
        }
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"it contains {module}.{name}")
        return allowed[module, name]


def _path(file: str) -> Path:
    """The path of a data file of lang2vec, found without importing the package."""
    check_typology("lang2vec")
    try:
        path = Path(str(distribution("lang2vec").locate_file(f"lang2vec/data/{file}")))
    except PackageNotFoundError as error:  # another module of this name
        raise InputError(f"lang2vec is not installed as a package: {error}") from None
    if not path.is_file():
        raise InputError(f"{path} is missing; reinstall lang2vec")
    return path
