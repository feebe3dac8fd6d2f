"""Load causal language models by name or folder."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tertium.errors import ModelError
from tertium.models.cache.language import LanguageMemo
from tertium.models.cache.results import ResultFile
from tertium.models.catalog import locate
from tertium.models.engine import ComputeType
from tertium.models.language.folder import read_language_folder
from tertium.models.language.model import CTranslate2LanguageModel
from tertium.storage.paths import results_file


def load_language_model(
    model: str | Path,
    *,
    compute_type: ComputeType = "auto",
    threads: int | None = None,
    cache: bool | str | Path = True,
) -> LanguageMemo:
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
    folder = read_language_folder(locate(model))
    engine = _engine(folder.path, folder.fingerprint, compute_type, threads)
    if cache is False:
        return LanguageMemo(engine)
    return LanguageMemo(engine, ResultFile(results_file() if cache is True else Path(cache)))


@lru_cache(maxsize=2)
def _engine(
    path: Path,
    fingerprint: str,  # a folder that was rewritten is another model
    compute_type: ComputeType,
    threads: int | None,
) -> CTranslate2LanguageModel:
    folder = read_language_folder(path)
    if folder.fingerprint != fingerprint:
        raise ModelError(f"{path} was changed while it was being loaded")
    return CTranslate2LanguageModel(folder, compute_type=compute_type, threads=threads)
