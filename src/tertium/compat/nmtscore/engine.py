"""Tertium's models with the interface of the package's."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any, Literal

from tertium.compat.nmtscore.models import TranslationModel
from tertium.errors import CutWarning, SettingError
from tertium.models.catalog import load_model
from tertium.models.engine import ComputeType
from tertium.models.languages import source_language, target_language
from tertium.models.translation.known import known_model

DEVICE = re.compile(r"(cpu|cuda)(?::(\d+))?")
FINGERPRINT_DIGITS = 12


class EngineModel(TranslationModel):
    """A model from Tertium's catalog.

    ``model_name_or_path`` (or ``model_dir``) is a folder to be used in place of the one that the
    name stands for. ``compute_type`` and ``threads`` are those of :func:`tertium.load_model`;
    ``fp16=False`` overrides an int8 ``compute_type``.
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
            cache=False,  # whether answers are kept is said call by call
        )
        self.model_name_or_path = published_name(str(name)) or self.model.name

    def __str__(self) -> str:
        return self.model_name_or_path

    @property
    def requires_src_lang(self) -> bool:
        return self.model.needs_source_language

    @property
    def cache_path(self) -> Path:
        """A file of its own for whatever can change a number."""
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
        """Translate by beam search; the prism of the package says ``beam`` for ``num_beams``."""
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
        """``2 ** mean(ln p)``; the engine makes its own batches, which never change a number."""
        refuse(kwargs, "score_kwargs", "batch_size and use_cache")
        answers = self.model.log_probs(
            hypothesis_sentences,
            source_sentences,
            target_lang=self.tgt_lang,
            source_lang=self.src_lang if self.requires_src_lang else None,
        )
        warn_of_cuts([answer.cut for answer in answers])
        return [float(2**answer.H) for answer in answers]


def published_name(name: str) -> str | None:
    """What the package's signatures call a model: its name on the hub; Prism has none.

    >>> published_name("small100"), published_name("prism")
    ('alirezamsh/small100', 'prism')
    """
    known = known_model(name)
    return known.hub_id if known else name if name == "prism" else None


def engine_device(device: object) -> Literal["cpu", "cuda"]:
    """Read a device as PyTorch spells it; a number is a GPU, and -1 the CPU.

    >>> engine_device(None), engine_device("cuda:0"), engine_device(-1)
    ('cpu', 'cuda', 'cpu')
    """
    if isinstance(device, int):
        device = "cpu" if device < 0 else f"cuda:{device}"
    found = DEVICE.fullmatch(str(device or "cpu"))
    if found is None:
        raise SettingError(f"device {str(device)!r} is neither cpu nor cuda")
    if found[1] == "cuda" and found[2] not in (None, "0"):
        raise SettingError(
            f"device {str(device)!r}: only the first GPU is used; "
            f"choose another with CUDA_VISIBLE_DEVICES={found[2]}, and say 'cuda'"
        )
    return "cuda" if found[1] == "cuda" else "cpu"


def refuse(kwargs: dict[str, Any], where: str, known: str) -> None:
    """Say what is not there, where the package would hand it on to transformers."""
    if kwargs:
        raise SettingError(f"{where} has no {', '.join(sorted(kwargs))}; there are {known}")


def warn_of_cuts(cut: list[bool]) -> None:
    """Say so if texts were too long for the model."""
    if any(cut):
        warnings.warn(
            f"{sum(cut)} of {len(cut)} texts are longer than the model reads, or have a "
            "translation that does not end: only the beginning counts",
            CutWarning,
            stacklevel=2,
        )
