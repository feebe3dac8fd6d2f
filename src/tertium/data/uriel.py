"""URIEL's typological features and families, from the files of lang2vec (Littell et al., 2017).

The files are read as they are: the package itself needs ``pkg_resources``, which setuptools no
longer has.
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

from tertium.data.languages import is_constructed, iso_code, macrolanguage, missing
from tertium.errors import InputError, SettingError
from tertium.stats.arrays import Floats

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
"""Feature sets, by lang2vec's names: the file, and how their features' names begin."""
FAMILIES = "family_features.npz"
UNKNOWN = -1.0
CONSTRUCTED = "Artificial Language"
"""URIEL's own name for the family of some of them."""
NO_FAMILY = "(none)"
KIN = {"ber": "kab", "ota": "tur"}
"""What no source has a family of: a code for a group, and a language that URIEL lists without one.
They have that of their nearest kin."""


@dataclass(frozen=True)
class Features:
    """A feature set: a row a language, a column a feature, NaN where URIEL knows nothing."""

    name: str
    langs: tuple[str, ...]
    """Those that URIEL has, as they were asked for."""
    values: Floats
    absent: tuple[str, ...]
    """Those that it has not."""


def uriel_features(name: str, langs: Sequence[str]) -> Features:
    """Look up a feature set by the languages' codes, each by its own and by no other's.

    >>> found = uriel_features("syntax_average", ["deu", "tok"])
    >>> found.langs, found.values.shape, found.absent
    (('deu',), (1, 103), ('tok',))
    """
    if name not in FILES:
        raise SettingError(f"no feature set {name!r}: there are {', '.join(FILES)}")
    table = _load(*FILES[name])
    there = [lang for lang in langs if iso_code(lang) in table]
    width = len(next(iter(table.values())))
    values = np.array([table[iso_code(lang)] for lang in there], dtype=np.float64)
    values = values.reshape(len(there), width)
    values[values == UNKNOWN] = np.nan if name != "learned" else UNKNOWN
    absent = tuple(lang for lang in langs if lang not in there)
    return Features(name, tuple(there), values, absent)


def family_of(lang: str) -> str:
    """The largest group that URIEL counts a language to.

    Where URIEL has none: constructed languages (ISO 639-3) are of the family that URIEL has for
    some of them, the others of that of their macrolanguage. What is left has no family, as an
    isolate has.

    >>> [family_of(lang) for lang in ("deu", "nob", "tok", "ber", "eus")]
    ['Indo-European', 'Indo-European', 'Artificial Language', 'Afro-Asiatic', '(none)']
    """
    code = iso_code(lang)
    if code in _families():
        return _families()[code]
    if is_constructed(code):
        return CONSTRUCTED
    wider = KIN.get(code) or macrolanguage(code)
    return _families().get(wider, NO_FAMILY) if wider else NO_FAMILY


def uriel_version() -> str:
    """Which lang2vec is there."""
    _path(FAMILIES)
    return f"lang2vec-{distribution('lang2vec').version}"


@cache
def _families() -> dict[str, str]:
    with np.load(_path(FAMILIES)) as found:
        langs, names = found["langs"], [name.removeprefix("F_") for name in found["feats"].tolist()]
        members = found["data"][:, :, 0] == 1
    sizes = members.sum(axis=0)
    largest = np.where(members, sizes, 0).argmax(axis=1)
    return {
        str(lang): names[place]
        for lang, place, own in zip(langs, largest, members, strict=True)
        if own.any()
    }


@cache
def _load(file: str, prefix: str) -> dict[str, Floats]:
    path = _path(file)
    if path.suffix == ".npy":
        return _learned(path)
    with np.load(path) as found:
        columns = [name.startswith(prefix) for name in found["feats"].tolist()]
        values = found["data"][:, columns, 0].astype(np.float64)
        langs = [str(lang) for lang in found["langs"]]
    return dict(zip(langs, values, strict=True))


def _learned(path: Path) -> dict[str, Floats]:
    """Read vectors by language from a pickle of a dict, which may hold arrays and nothing else."""
    with path.open("rb") as stream:
        np.lib.format.read_magic(stream)
        np.lib.format.read_array_header_1_0(stream)
        content = stream.read()
    try:
        found = _Arrays(io.BytesIO(content), encoding="latin1").load()
        table = found if isinstance(found, dict) else found.item()
        return {lang: np.asarray(table[lang], dtype=np.float64) for lang in table["langs"]}
    except (pickle.UnpicklingError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not what lang2vec ships: {error}") from None


class _Arrays(pickle.Unpickler):
    """Reads arrays and plain values; a pickle that names anything else is refused."""

    def find_class(self, module: str, name: str) -> Any:
        allowed = {
            ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
            ("numpy", "ndarray"): np.ndarray,
            ("numpy", "dtype"): np.dtype,
            ("_codecs", "encode"): str.encode,
        }
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return allowed[module, name]


def _path(file: str) -> Path:
    """Where a file of lang2vec is; its script of the same name may hide the package."""
    try:
        path = Path(str(distribution("lang2vec").locate_file(f"lang2vec/data/{file}")))
    except PackageNotFoundError:
        raise missing("lang2vec") from None
    if not path.is_file():
        raise InputError(f"{path} is missing; install lang2vec anew")
    return path
