"""Installed models: their names and folders, and loading by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Literal

from tertium.errors import ModelError
from tertium.models.cache.memo import Memo
from tertium.models.cache.results import ResultFile
from tertium.models.engine import ComputeType
from tertium.models.folder import CARD, ModelFolder, read_folder
from tertium.models.public import catalog_name, public_entry, public_names
from tertium.models.translation.ctranslate2 import BATCH_TOKENS, CTranslate2Model
from tertium.models.translation.pair import PairOfModels
from tertium.storage.paths import models_folder, results_file

BUNDLED_FOLDER = Path(__file__).parent / "bundled"
DEFAULT_MODEL = "tertium-mini"
PLUS = "+"
"""Between the names of two models that are used as one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A model that can be loaded by its name."""

    name: str
    where: Literal["bundled", "cached"]
    path: Path


def entries() -> Iterator[Entry]:
    """List the bundled models, then the models in the cache."""
    for where, folder in (("bundled", BUNDLED_FOLDER), ("cached", models_folder())):
        for card in sorted(folder.glob(f"*/{CARD}")):
            yield Entry(card.parent.name, where, card.parent)  # type: ignore[arg-type]


def find(name: str | Path) -> ModelFolder:
    """Read the folder of a translation model, given by name or as a folder."""
    return read_folder(locate(name))


def look_up(name: str | Path) -> Path | None:
    """The folder of a model of any kind, given by name or as a folder.

    The name may be in any case, or a hub id. None if the model is not installed.
    """
    given = {str(name).lower(), catalog_name(str(name)).lower(), cache_name(str(name)).lower()}
    available = list(entries())
    for entry in available:
        if entry.name == str(name):
            return entry.path
    for entry in available:
        if entry.name.lower() in given:
            return entry.path
    path = Path(name).expanduser()
    return path if path.is_dir() else None


def cache_name(name: str) -> str:
    """The name of a model's folder in the cache, for a catalog name or a hub id.

    >>> cache_name("facebook/m2m100_418M"), cache_name("someone/model")
    ('m2m100_418M', 'someone--model')
    """
    return catalog_name(name).replace("/", "--")


def locate(name: str | Path) -> Path:
    """Like :func:`look_up`, but a model that is not installed is an error."""
    path = look_up(name)
    if path is not None:
        return path
    entry = public_entry(str(name))
    if entry is not None:
        raise ModelError(
            f"{entry.name} is not downloaded yet; use `tertium models fetch {entry.name}`"
        )
    names = [entry.name for entry in entries()]
    near = get_close_matches(str(name), [*names, *public_names()], n=1)
    raise ModelError(
        f"no model {str(name)!r}: neither a folder nor one of {', '.join(names)}, nor in the "
        f"catalog of public models (see `tertium models`)"
        + (f"; did you mean {near[0]!r}?" if near else "")
    )


def load_model(
    model: str | Path = DEFAULT_MODEL,
    *,
    compute_type: ComputeType = "auto",
    device: Literal["cpu", "cuda", "auto"] = "cpu",
    threads: int | None = None,
    batch_tokens: int = BATCH_TOKENS,
    cache: bool | str | Path = True,
) -> Memo:
    """Load a model by name or folder; a model that is already loaded is reused.

    ``A+B`` is a pair of models for opposite directions, such as opus-mt-en-fr+opus-mt-fr-en.
    ``compute_type`` is float32 (``auto`` is the same) or int8 with 7-bit weights, independent of
    the precision of the file. ``cache`` is where results are cached on disk: in the default file
    (True), in another file, or nowhere (False).

    >>> model = load_model("tertium-mini", cache=False)
    >>> sorted(model.languages.all)
    ['de', 'en', 'es', 'fr']
    """
    engines = [
        _engine(find(name), compute_type, device, threads, batch_tokens)
        for name in pair_names(model)
    ]
    engine = engines[0] if len(engines) == 1 else PairOfModels(*engines)
    if cache is False:
        return Memo(engine)
    return Memo(engine, ResultFile(results_file() if cache is True else Path(cache)))


def pair_names(model: str | Path) -> list[str | Path]:
    """The names of the two models of a pair ``A+B``, or the one name that is given.

    A name or a folder with a plus sign that exists is one model.

    >>> pair_names("opus-mt-en-fr+opus-mt-fr-en"), pair_names("tertium-mini")
    (['opus-mt-en-fr', 'opus-mt-fr-en'], ['tertium-mini'])
    """
    if PLUS not in str(model) or look_up(model) is not None:
        return [model]
    names = str(model).split(PLUS)
    if len(names) != 2 or not all(names):
        raise ModelError(f"{model}: a pair of models is written FIRST{PLUS}SECOND")
    return list(names)


@lru_cache(maxsize=4)
def _engine(
    folder: ModelFolder,  # has the fingerprint: an overwritten folder is another model
    compute_type: ComputeType,
    device: Literal["cpu", "cuda", "auto"],
    threads: int | None,
    batch_tokens: int,
) -> CTranslate2Model:
    return CTranslate2Model(
        folder,
        compute_type=compute_type,
        device=device,
        threads=threads,
        batch_tokens=batch_tokens,
    )
