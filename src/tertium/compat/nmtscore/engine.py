"""Tertium's models with the interface of the package."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any, Literal

from tertium.compat.nmtscore.models import TranslationModel
from tertium.errors import CutWarning, SettingError
from tertium.models.base import make_queries
from tertium.models.catalog import load_model
from tertium.models.engine import ComputeType
from tertium.models.languages import source_language, target_language
from tertium.models.public import public_entry

DEVICE = re.compile(r"(cpu|cuda)(?::(\d+))?")
FINGERPRINT_DIGITS = 12


class EngineModel(TranslationModel):
    """A model from Tertium's catalog.

    ``model_name_or_path`` (or ``model_dir``) is a folder to use instead of the named model;
    ``compute_type`` and ``threads`` are those of :func:`tertium.load_model`; ``fp16=False``
    overrides an int8 ``compute_type``.
    """

    def __init__(
        self,
        name: str | Path,
        *,
        device: object = None,
        model_name_or_path: str | Path | None = None,
        model_dir: str | Path | None = None,
        fp16: bool = True,
        compute_type: ComputeType = "auto",
        threads: int | None = None,
    ) -> None:
        self.model = load_model(
            model_name_or_path or model_dir or name,
            compute_type=compute_type if fp16 else "float32",
            device=engine_device(device),
            threads=threads,
            cache=False,  # use_cache is an argument of each call
        )
        self.model_name_or_path = published_name(str(name)) or self.model.name

    def __str__(self) -> str:
        return self.model_name_or_path

    @property
    def requires_src_lang(self) -> bool:
        return self.model.needs_source_language

    @property
    def cache_path(self) -> Path:
        """A separate file for every combination of settings that can change a score."""
        choices = [self.model.fingerprint[:FINGERPRINT_DIGITS], *self.model.settings.values()]
        path = super().cache_path
        return path.with_name("-".join([path.stem, *choices]) + path.suffix)

    def _set_src_lang(self, src_lang: str) -> None:
        self.src_lang = source_language(self.model, src_lang)

    def _set_tgt_lang(self, tgt_lang: str) -> None:
        self.tgt_lang = target_language(self.model, tgt_lang)

    def _translate(
        self,
        source_sentences: list[str],
        return_score: bool = False,
        batch_size: int = 8,
        num_beams: int = 5,
        beam: int | None = None,
        **kwargs: Any,
    ) -> list[Any]:
        """Translate by beam search; the package's Prism calls ``num_beams`` ``beam``."""
        refuse(kwargs, "translate_kwargs", "batch_size, num_beams (or beam) and use_cache")
        answers = self.model.translate(
            source_sentences,
            target_lang=self.tgt_lang,
            source_lang=self.src_lang if self.requires_src_lang else None,
            beam_size=num_beams if beam is None else beam,
        )
        warn_of_cuts([answer.cut for answer in answers])
        texts = [answer.text for answer in answers]
        if not return_score:
            return texts
        return list(zip(texts, self._score(source_sentences, texts), strict=True))

    def _score(
        self,
        source_sentences: list[str],
        hypothesis_sentences: list[str],
        batch_size: int = 8,
        **kwargs: Any,
    ) -> list[float]:
        """``2 ** mean(ln p)``; the engine chooses the batches, which do not change the scores."""
        refuse(kwargs, "score_kwargs", "batch_size and use_cache")
        queries = make_queries(
            hypothesis_sentences,
            source_sentences,
            target_lang=self.tgt_lang,
            source_lang=self.src_lang if self.requires_src_lang else None,
        )
        answers = self.model.log_probs(queries)
        warn_of_cuts([answer.cut for answer in answers])
        return [float(2**answer.H) for answer in answers]


def published_name(name: str) -> str | None:
    """The name of a model in the package's signatures: its hub id; Prism has none.

    >>> published_name("small100"), published_name("prism")
    ('alirezamsh/small100', 'prism')
    """
    entry = public_entry(name, "translation")
    return (entry.hub_id or entry.name) if entry else None


def engine_device(device: object) -> Literal["cpu", "cuda"]:
    """Parse a device as PyTorch writes it; a number is a GPU, and -1 the CPU.

    >>> engine_device(None), engine_device("cuda:0"), engine_device(-1)
    ('cpu', 'cuda', 'cpu')
    """
    if isinstance(device, int):
        device = "cpu" if device < 0 else f"cuda:{device}"
    match = DEVICE.fullmatch(str(device or "cpu"))
    if match is None:
        raise SettingError(f"device {str(device)!r} is neither cpu nor cuda")
    if match[1] == "cuda" and match[2] not in (None, "0"):
        raise SettingError(
            f"device {str(device)!r}: only the first GPU is used; "
            f"select another with CUDA_VISIBLE_DEVICES={match[2]} and device='cuda'"
        )
    return "cuda" if match[1] == "cuda" else "cpu"


def refuse(kwargs: dict[str, Any], where: str, supported: str) -> None:
    """Refuse unsupported arguments, which the package would pass on to transformers."""
    if kwargs:
        raise SettingError(f"{where} has no {', '.join(sorted(kwargs))}; supported: {supported}")


def warn_of_cuts(cut: list[bool]) -> None:
    """Warn if texts were truncated."""
    if any(cut):
        warnings.warn(
            f"{sum(cut)} of {len(cut)} texts are longer than the model reads, or have a "
            "translation that does not end: they were truncated",
            CutWarning,
            stacklevel=2,
        )
