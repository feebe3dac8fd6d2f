"""Installed models of all kinds: their names and folders, and loading by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tertium.errors import ModelError, SettingError
from tertium.models.cached import CachedLanguageModel, CachedModel
from tertium.models.card import (
    CARD,
    DetectorSettings,
    EncoderCard,
    EncoderSettings,
    LanguageCard,
    LanguageSettings,
    TranslationCard,
    TranslationSettings,
    read_card,
)
from tertium.models.engine import BATCH_TOKENS, ComputeType, Device
from tertium.models.public import (
    ENCODER_PACKAGES,
    catalog_name,
    package_hint,
    packaged_folder,
    public_entry,
    public_names,
)
from tertium.models.results import ResultFile
from tertium.models.translation.ctranslate2 import CTranslate2Model
from tertium.models.translation.pair import PairOfModels
from tertium.storage.paths import models_folder, results_file

if TYPE_CHECKING:
    from tertium.models.base import ParaphraseDetector, TextEncoder
    from tertium.models.language_model import CTranslate2LanguageModel

BUNDLED_FOLDER = Path(__file__).parent / "bundled"
DEFAULT_MODEL = "tertium-mini"
DEFAULT_ENCODER = "tertium-mini-encoder"
"""The encoder of sentences: for ``sss``, mining and alignment. Tokens in their context, as
``bertscore`` compares them, are those of the translation model's encoder."""
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


def find(name: str | Path) -> TranslationCard:
    """Read and verify the card of a translation model, given by name or as a folder."""
    return read_card(locate(name), TranslationSettings).verified()


def find_encoder(name: str | Path) -> EncoderCard | TranslationCard:
    """Read and verify the card of an encoder, or of a translation model that has one.

    An encoder that an installed package contains is converted when it is first used.
    """
    path = look_up(name)
    if len(pair_names(name)) > 1:
        raise ModelError(
            f"{name}: a pair of models has no common encoder", cure="choose one with {encoder}"
        )
    if path is None:
        public_name = catalog_name(str(name))
        packaged = packaged_folder(public_name)
        if packaged is not None:
            return _convert_packaged(public_name, packaged)
        try:
            path = locate(name)
        except ModelError as error:
            raise ModelError(f"{error}{package_hint(public_name)}") from None
    if read_card(path).settings.kind == TranslationSettings.kind:
        return read_card(path, TranslationSettings).verified()
    return read_card(path, EncoderSettings).verified()


def look_up(name: str | Path) -> Path | None:
    """The folder of a model of any kind, given by name or as a folder.

    The name may be in any case, or a hub id. None if the model is not installed.
    """
    available = list(entries())
    for entry in available:
        if entry.name == str(name):
            return entry.path
    given = {str(name).lower(), catalog_name(str(name)).lower(), cache_name(str(name)).lower()}
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
    device: Device = "cpu",
    threads: int | None = None,
    batch_tokens: int = BATCH_TOKENS,
    cache: bool | str | Path = True,
) -> CachedModel:
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
    return CachedModel(engine, _store(cache))


def load_encoder(
    encoder: str | Path = DEFAULT_MODEL,
    *,
    layer: int | None = None,
    compute_type: ComputeType = "auto",
    threads: int | None = None,
) -> TextEncoder:
    """Load an encoder by name or folder; a translation model stands for its encoder.

    ``layer`` counts from 1, like the hidden states of transformers, where 0 is the embeddings; the
    default is the last layer of the folder. Nothing above the layer is loaded or computed.

    >>> encoder = load_encoder("tertium-mini")
    >>> one, other, third = encoder.sentence_vectors(
    ...     ["I have a cat.", "Ich habe eine Katze.", "The train is late."]
    ... ).vectors
    >>> bool(one @ other > one @ third)
    True
    """
    from tertium.models.encoders import use
    from tertium.models.encoders.loading import encoder_of, universal

    if str(encoder).lower() == use.NAME:
        if layer is not None or compute_type not in ("auto", "float32"):
            raise SettingError(
                f"{use.NAME} has no layers to choose from, and supports only float32"
            )
        return universal(threads)
    return encoder_of(find_encoder(encoder), layer, compute_type, threads)


def load_detector(
    detector: str | Path,
    *,
    both_orders: bool = False,
    compute_type: ComputeType = "auto",
    threads: int | None = None,
) -> ParaphraseDetector:
    """Load a detector by name or folder; ``both_orders`` averages over both orders of the texts.

    ``detect`` returns P(paraphrase) of each pair. To get a detector, see ``docs/detectors.md``.
    """
    from tertium.models.detectors.model import Commutative, detector_of

    path = look_up(detector)
    if path is None:
        raise ModelError(
            f"no detector {str(detector)!r}: neither a folder nor in the cache",
            cure=("train one with `tertium train detector`", "convert one with `tertium models`"),
        )
    loaded = detector_of(read_card(path, DetectorSettings).verified(), compute_type, threads)
    return Commutative(loaded) if both_orders else loaded


def load_language_model(
    model: str | Path,
    *,
    compute_type: ComputeType = "auto",
    threads: int | None = None,
    cache: bool | str | Path = True,
) -> CachedLanguageModel:
    """Load a causal language model by name or folder; one that is already loaded is reused.

    ``compute_type`` is float32 (``auto`` is the same) or int8. ``cache`` is where results are
    cached on disk: in the default file (True), in another file, or nowhere (False). No language
    model ships with Tertium; see ``docs/language-models.md``.

    >>> import tertium
    >>> tertium.load_language_model("SmolLM2-135M")
    Traceback (most recent call last):
    ...
    tertium.errors.ModelError: SmolLM2-135M is not downloaded yet; use `tertium models fetch ...`
    """
    card = read_card(locate(model), LanguageSettings).verified()
    return CachedLanguageModel(_language_engine(card, compute_type, threads), _store(cache))


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


def _store(cache: bool | str | Path) -> ResultFile | None:
    if cache is False:
        return None
    return ResultFile(results_file() if cache is True else Path(cache))


@lru_cache(maxsize=4)
def _engine(
    card: TranslationCard,  # has the fingerprint: an overwritten folder is another model
    compute_type: ComputeType,
    device: Device,
    threads: int | None,
    batch_tokens: int,
) -> CTranslate2Model:
    return CTranslate2Model(
        card, compute_type=compute_type, device=device, threads=threads, batch_tokens=batch_tokens
    )


@lru_cache(maxsize=2)
def _language_engine(
    card: LanguageCard, compute_type: ComputeType, threads: int | None
) -> CTranslate2LanguageModel:
    from tertium.models.language_model import CTranslate2LanguageModel

    return CTranslate2LanguageModel(card, compute_type=compute_type, threads=threads)


def _convert_packaged(name: str, source: Path) -> EncoderCard:
    from tertium.models.convert.encoder import convert_encoder

    distribution = ENCODER_PACKAGES[name].distribution
    origin = f"{distribution} {version(distribution)}"
    entry = public_entry(name, "encoder")
    licence = entry.licence if entry else "unknown"
    return convert_encoder(
        source, models_folder() / name, name=name, licence=licence, origin=origin
    )
