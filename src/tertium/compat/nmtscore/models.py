"""The package's interface of models: a base class with hooks, its cache, and names."""

from __future__ import annotations

import json
import os
import sqlite3
import warnings
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tertium.errors import InputError, ModelError
from tertium.storage.paths import cache_folder
from tertium.text import check_text

CACHE_VARIABLE = "NMTSCORE_CACHE"
LOCK_TIMEOUT = 15.0
SCHEMA = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL)"

Sentences = str | Sequence[str]


def listed(sentences: Sentences, role: str) -> list[str]:
    """Return a list of sentences; each must be a string."""
    if not isinstance(sentences, str | Sequence):
        raise InputError(
            f"{role} is {type(sentences).__name__}; give a string or a list of strings"
        )
    several = [sentences] if isinstance(sentences, str) else sentences
    return [check_text(text, role=role, row=row) for row, text in enumerate(several, start=1)]


def paired(
    first: Sentences, second: Sentences, roles: tuple[str, str]
) -> tuple[list[str], list[str]]:
    """Return two lists of sentences of equal length.

    >>> paired("a", "b", ("a", "b"))
    (['a'], ['b'])
    """
    if isinstance(first, str) is not isinstance(second, str):
        one, many = roles if isinstance(first, str) else reversed(roles)
        raise InputError(
            f"{one} is a single string, but {many} is not; give two strings or two lists"
        )
    lists = listed(first, roles[0]), listed(second, roles[1])
    if len(lists[0]) != len(lists[1]):
        raise InputError(
            f"{len(lists[0])} sentences in {roles[0]}, but {len(lists[1])} in {roles[1]}; "
            "give one for each"
        )
    return lists


class Cache(MutableMapping[str, Any]):
    """A dictionary in an SQLite file, with JSON values: what ``load_cache`` opens.

    Changes are saved by :meth:`commit`, or when the ``with`` block ends without an error.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=LOCK_TIMEOUT)
        self._connection.execute(SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.commit()
        self.close()

    def __getitem__(self, key: str) -> Any:
        rows = self._connection.execute("SELECT value FROM answers WHERE key = ?", (key,))
        row = rows.fetchone()
        if row is None:
            raise KeyError(key)
        return json.loads(row[0])

    def __setitem__(self, key: str, value: Any) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, json.dumps(value))
        )

    def __delitem__(self, key: str) -> None:
        if not self._connection.execute("DELETE FROM answers WHERE key = ?", (key,)).rowcount:
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        for [key] in self._connection.execute("SELECT key FROM answers ORDER BY rowid"):
            yield key

    def __len__(self) -> int:
        [count] = self._connection.execute("SELECT count(*) FROM answers").fetchone()
        return int(count)

    def commit(self) -> None:
        """Save the changes."""
        self._connection.commit()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class TranslationModel:
    """Translates and scores; a subclass implements the hooks.

    The hooks are those of the package: ``__str__``, ``requires_src_lang``, ``_set_src_lang``,
    ``_set_tgt_lang``, ``_translate``, ``_score`` and, for the cache, ``cache_path`` and
    ``load_cache``. During a call the model stores its languages, so threads must not share it.
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

        ``kwargs`` go to :meth:`_translate`. With ``use_cache`` the results are saved in a file.
        """
        sources = listed(source_sentences, "source_sentences")
        src_lang = self._set_languages(src_lang, tgt_lang)

        def compute(places: Sequence[int]) -> list[Any]:
            some = [sources[place] for place in places]
            return self._translate(some, return_score, batch_size, **kwargs)

        head = ["translate", src_lang, tgt_lang, return_score, sorted(kwargs.items())]
        results = self._results([[*head, source] for source in sources], compute, use_cache)
        if return_score:
            results = [tuple(result) for result in results]
        return results[0] if isinstance(source_sentences, str) else results

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

        ``kwargs`` go to :meth:`_score`. With ``use_cache`` the results are saved in a file.
        """
        sources, hypotheses = paired(
            source_sentences, hypothesis_sentences, ("source_sentences", "hypothesis_sentences")
        )
        src_lang = self._set_languages(src_lang, tgt_lang)

        def compute(places: Sequence[int]) -> list[Any]:
            return self._score(
                [sources[place] for place in places],
                [hypotheses[place] for place in places],
                batch_size,
                **kwargs,
            )

        head = ["score", src_lang, tgt_lang, sorted(kwargs.items())]
        rows = zip(sources, hypotheses, strict=True)
        results = self._results([[*head, *row] for row in rows], compute, use_cache)
        return results[0] if isinstance(source_sentences, str) else results

    @property
    def requires_src_lang(self) -> bool:
        """Whether the model needs the language of its source."""
        raise self._undefined("requires_src_lang")

    def _set_src_lang(self, src_lang: str) -> None:
        """Called before every query of a model that requires it."""
        self.src_lang = src_lang

    def _set_tgt_lang(self, tgt_lang: str) -> None:
        """Called before every query."""
        self.tgt_lang = tgt_lang

    def _translate(
        self,
        source_sentences: list[str],
        return_score: bool = False,
        batch_size: int = 8,
        **kwargs: Any,
    ) -> list[Any]:
        """Translate; with ``return_score``, return tuples of a text and its score (or None)."""
        raise self._undefined("_translate")

    def _score(
        self,
        source_sentences: list[str],
        hypothesis_sentences: list[str],
        batch_size: int = 8,
        **kwargs: Any,
    ) -> list[float]:
        """Score each hypothesis in the current target language."""
        raise self._undefined("_score")

    @property
    def cache_path(self) -> Path:
        """The file of cached results: in ``$NMTSCORE_CACHE``, or in Tertium's cache."""
        given = os.environ.get(CACHE_VARIABLE)
        folder = Path(given).expanduser() if given else cache_folder() / "nmtscore"
        # The package's file has other keys and the results of another engine.
        return folder / f"{str(self).replace('/', '_')}-tertium.sqlite"

    def load_cache(self) -> Any:
        """Open the cached results: a dictionary for a ``with`` block, with ``commit``."""
        return Cache(self.cache_path)

    def _set_languages(self, src_lang: str | None, tgt_lang: str) -> str | None:
        """Set the languages, and return the source language if the model needs it."""
        self._set_tgt_lang(tgt_lang)
        if not self.requires_src_lang:
            return None
        if src_lang is None:
            warnings.warn(
                f"{self} needs the source language; 'en' is assumed (use src_lang)",
                stacklevel=3,
            )
            src_lang = "en"
        self._set_src_lang(src_lang)
        return src_lang

    def _results(
        self,
        queries: Sequence[object],
        compute: Callable[[Sequence[int]], list[Any]],
        use_cache: bool,
    ) -> list[Any]:
        """The result of each query, from the cache (if it is used) or from the model."""
        keys = [json.dumps(query, default=repr) for query in queries] if use_cache else []
        results: dict[int, Any] = {}
        if use_cache:
            with self.load_cache() as cache:
                results = {place: cache.get(key, None) for place, key in enumerate(keys)}
        places = [place for place in range(len(queries)) if results.get(place) is None]
        new = compute(places) if places else []
        if len(new) != len(places):
            raise ModelError(f"{self} returned {len(new)} results for {len(places)} queries")
        results.update(zip(places, new, strict=True))
        if use_cache and places:
            with self.load_cache() as cache:
                cache.update({keys[place]: results[place] for place in places})
                cache.commit()
        return [results[place] for place in range(len(queries))]

    def _undefined(self, hook: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not define {hook}")


def load_translation_model(name: str | Path, **kwargs: Any) -> TranslationModel:
    """Load a model by a name of the package, by a name of Tertium's, or by its folder.

    ``kwargs`` are those of :class:`~tertium.compat.nmtscore.engine.EngineModel`.

    >>> model = load_translation_model("tertium-mini")
    >>> str(model), model.requires_src_lang
    ('tertium-mini', False)
    """
    from tertium.compat.nmtscore.engine import EngineModel

    return EngineModel(name, **kwargs)
