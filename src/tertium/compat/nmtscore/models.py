"""The models as the package has them: a base class with hooks, and names."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tertium.compat.nmtscore.cache import Cache
from tertium.compat.nmtscore.texts import Sentences, listed, paired
from tertium.errors import ModelError
from tertium.storage.paths import cache_folder

CACHE_VARIABLE = "NMTSCORE_CACHE"


class TranslationModel:
    """Translates and scores; a subclass says how, by its hooks.

    The hooks are those of the package: ``__str__``, ``requires_src_lang``, ``_set_src_lang``,
    ``_set_tgt_lang``, ``_translate``, ``_score`` and, for the cache, ``cache_path`` and
    ``load_cache``. Between two hooks the model holds the languages of one call, so it is not to be
    shared by threads.
    """

    src_lang: str | None = None
    tgt_lang: str | None = None

    def __str__(self) -> str:
        raise self._undefined("__str__")

    def translate(
        self,
        tgt_lang: str,
        source_sentences: Sentences,
        src_lang: str | None = None,
        return_score: bool = False,
        batch_size: int = 8,
        use_cache: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Translate a sentence, or a list of them; with ``return_score``, tuples with the score.

        ``kwargs`` go to :meth:`_translate`. With ``use_cache`` the answers outlive the process.
        """
        sources = listed(source_sentences, "source_sentences")
        src_lang = self._set_languages(src_lang, tgt_lang)

        def ask(places: Sequence[int]) -> list[Any]:
            some = [sources[place] for place in places]
            return self._translate(some, return_score, batch_size, **kwargs)

        head = ["translate", src_lang, tgt_lang, return_score, sorted(kwargs.items())]
        found = self._answers([[*head, source] for source in sources], ask, use_cache)
        if return_score:
            found = [tuple(answer) for answer in found]
        return found[0] if isinstance(source_sentences, str) else found

    def score(
        self,
        tgt_lang: str,
        source_sentences: Sentences,
        hypothesis_sentences: Sentences,
        src_lang: str | None = None,
        batch_size: int = 8,
        use_cache: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Score a hypothesis given its source, or a list of them: ``2 ** mean(ln p)``.

        ``kwargs`` go to :meth:`_score`. With ``use_cache`` the answers outlive the process.
        """
        sources, hypotheses = paired(
            source_sentences, hypothesis_sentences, ("source_sentences", "hypothesis_sentences")
        )
        src_lang = self._set_languages(src_lang, tgt_lang)

        def ask(places: Sequence[int]) -> list[Any]:
            return self._score(
                [sources[place] for place in places],
                [hypotheses[place] for place in places],
                batch_size,
                **kwargs,
            )

        head = ["score", src_lang, tgt_lang, sorted(kwargs.items())]
        rows = zip(sources, hypotheses, strict=True)
        found = self._answers([[*head, *row] for row in rows], ask, use_cache)
        return found[0] if isinstance(source_sentences, str) else found

    @property
    def requires_src_lang(self) -> bool:
        """Whether the model must be told the language of its source."""
        raise self._undefined("requires_src_lang")

    def _set_src_lang(self, src_lang: str) -> None:
        """Called before every question of a model that requires it."""
        self.src_lang = src_lang

    def _set_tgt_lang(self, tgt_lang: str) -> None:
        """Called before every question."""
        self.tgt_lang = tgt_lang

    def _translate(
        self,
        source_sentences: list[str],
        return_score: bool = False,
        batch_size: int = 8,
        **kwargs: Any,
    ) -> list[Any]:
        """Translate; with ``return_score``, give pairs of a text and its score (or None)."""
        raise self._undefined("_translate")

    def _score(
        self,
        source_sentences: list[str],
        hypothesis_sentences: list[str],
        batch_size: int = 8,
        **kwargs: Any,
    ) -> list[float]:
        """Score each hypothesis in the language that was set."""
        raise self._undefined("_score")

    @property
    def cache_path(self) -> Path:
        """The file of answers: in ``$NMTSCORE_CACHE``, or in Tertium's own cache."""
        given = os.environ.get(CACHE_VARIABLE)
        folder = Path(given).expanduser() if given else cache_folder() / "nmtscore"
        # The package's own file has other keys and another engine's numbers.
        return folder / f"{str(self).replace('/', '_')}-tertium.sqlite"

    def load_cache(self) -> Any:
        """Open the answers: a dictionary to be used in a ``with`` block, with ``commit``."""
        return Cache(self.cache_path)

    def _set_languages(self, src_lang: str | None, tgt_lang: str) -> str | None:
        """Set what has to be set, and return the source language if it makes a difference."""
        self._set_tgt_lang(tgt_lang)
        if not self.requires_src_lang:
            return None
        if src_lang is None:
            warnings.warn(
                f"{self} must be told the source language; 'en' is assumed (say it with src_lang)",
                stacklevel=3,
            )
            src_lang = "en"
        self._set_src_lang(src_lang)
        return src_lang

    def _answers(
        self,
        questions: Sequence[object],
        ask: Callable[[Sequence[int]], list[Any]],
        use_cache: bool,
    ) -> list[Any]:
        """Answer each question from the cache, if there is one, or from the model."""
        keys = [json.dumps(question, default=repr) for question in questions] if use_cache else []
        known: dict[int, Any] = {}
        if use_cache:
            with self.load_cache() as cache:
                known = {place: cache.get(key, None) for place, key in enumerate(keys)}
        places = [place for place in range(len(questions)) if known.get(place) is None]
        new = ask(places) if places else []
        if len(new) != len(places):
            raise ModelError(f"{self} gives {len(new)} answers to {len(places)} questions")
        known.update(zip(places, new, strict=True))
        if use_cache and places:
            with self.load_cache() as cache:
                cache.update({keys[place]: known[place] for place in places})
                cache.commit()
        return [known[place] for place in range(len(questions))]

    def _undefined(self, hook: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not define {hook}")


def load_translation_model(name: str | Path, **kwargs: Any) -> TranslationModel:
    """Load a model by a name of the package's, by any name that Tertium knows, or by its folder.

    ``kwargs`` are those of :class:`~tertium.compat.nmtscore.engine.EngineModel`.

    >>> model = load_translation_model("tertium-mini")
    >>> str(model), model.requires_src_lang
    ('tertium-mini', False)
    """
    from tertium.compat.nmtscore.engine import EngineModel

    return EngineModel(name, **kwargs)
