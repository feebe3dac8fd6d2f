"""Names that users know, and the folders behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from tertium.errors import ModelError
from tertium.models.cache.memo import Memo
from tertium.models.cache.results import ResultFile
from tertium.models.engine import ComputeType
from tertium.models.folder import CARD, ModelFolder, read_folder
from tertium.models.public import catalog_name, public_encoder, public_model
from tertium.models.translation.ctranslate2 import BATCH_TOKENS, CTranslate2Model
from tertium.storage.paths import answers_file, models_folder

BUNDLED_FOLDER = Path(__file__).parent / "bundled"
DEFAULT_MODEL = "tertium-mini"


@dataclass(frozen=True, slots=True)
class Entry:
    """A model that can be loaded by its name."""

    name: str
    where: Literal["bundled", "cached"]
    path: Path


def entries() -> Iterator[Entry]:
    """List what is bundled, then what lies in the cache."""
    for where, folder in (("bundled", BUNDLED_FOLDER), ("cached", models_folder())):
        for card in sorted(folder.glob(f"*/{CARD}")):
            yield Entry(card.parent.name, where, card.parent)  # type: ignore[arg-type]


def find(name: str | Path) -> ModelFolder:
    """Find a translation model by its name, or take the folder that is named."""
    return read_folder(locate(name))


def look_up(name: str | Path) -> Path | None:
    """The folder of a model, an encoder or a detector, given by name or as a folder.

    The name may be in any case, or the id of a repository on the hub. None if it is not here.
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
    """The name of a model's folder in the cache, for a name or an id of the hub.

    >>> cache_name("facebook/m2m100_418M"), cache_name("someone/model")
    ('m2m100_418M', 'someone--model')
    """
    return catalog_name(name).replace("/", "--")


def locate(name: str | Path) -> Path:
    """Like :func:`look_up`; what is not here is an error that says how to get it."""
    path = look_up(name)
    if path is not None:
        return path
    entry = public_model(str(name)) or public_encoder(str(name))
    if entry is not None:
        raise ModelError(
            f"{entry.name} is not downloaded yet; use `tertium models fetch {entry.name}`"
        )
    names = ", ".join(entry.name for entry in entries())
    raise ModelError(
        f"no model {str(name)!r}: neither a folder nor one of {names}, nor in the catalog of "
        "public models (see `tertium models`)"
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
    """Load a model by name or folder; loading the same one again costs nothing.

    ``compute_type`` is float32 (``auto`` is the same), or int8 with 7-bit weights, whatever the
    precision of the file. ``cache`` keeps results on disk: in the common file (True), in another
    file, or not at all (False).

    >>> model = load_model("tertium-mini", cache=False)
    >>> sorted(model.languages.all)
    ['de', 'en', 'es', 'fr']
    """
    folder = find(model)
    engine = _engine(folder.path, folder.fingerprint, compute_type, device, threads, batch_tokens)
    if cache is False:
        return Memo(engine)
    return Memo(engine, ResultFile(answers_file() if cache is True else Path(cache)))


@lru_cache(maxsize=4)
def _engine(
    path: Path,
    fingerprint: str,  # a folder that was written anew is another model
    compute_type: ComputeType,
    device: Literal["cpu", "cuda", "auto"],
    threads: int | None,
    batch_tokens: int,
) -> CTranslate2Model:
    return CTranslate2Model(
        read_folder(path),
        compute_type=compute_type,
        device=device,
        threads=threads,
        batch_tokens=batch_tokens,
    )
