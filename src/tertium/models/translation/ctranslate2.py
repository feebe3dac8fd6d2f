"""Translation models run by CTranslate2 (see :class:`~tertium.models.base.TranslationModel`)."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

from tertium.errors import ModelError, SettingError
from tertium.models.base import (
    Alternative,
    Languages,
    Progress,
    TokenScores,
    Translation,
    describe_model,
    per_row,
)
from tertium.models.batches import batches_by_limit, padded_batches, uniform_batches
from tertium.models.engine import IN_FLIGHT, ComputeType, Device, check_engine_settings, open_engine
from tertium.models.folder import ModelFolder
from tertium.models.languages import LanguageSet, source_language, target_language
from tertium.models.threads import available_cores
from tertium.models.tokenizer import open_tokenizer, unknown_share
from tertium.models.translation.dialects import END, dialect

Result = TypeVar("Result")

BATCH_TOKENS = 512
"""Enough to keep a core busy; with more, the logits no longer fit into the processor's cache."""
LENGTH_STEP = 16
"""Sources whose lengths round up to the same multiple share a limit for their translations."""
TRANSLATION_SHARE = 4
"""The size of a batch for translation relative to one for scoring: only the logits of one step are
in memory, not those of all tokens."""
PATIENCE = {True: 1.0, False: 2.0}
"""CTranslate2's patience, with early stopping and without: beam search ends when this many times
the beam size of translations have ended. This gives the translations of transformers, which,
without early stopping, continues while a better translation is possible."""


class CTranslate2Model:
    """A translation model run by CTranslate2.

    ``compute_type="auto"`` is float32, whatever the precision of the saved weights. On a CPU every
    core runs one batch at a time.
    """

    def __init__(
        self,
        folder: ModelFolder,
        *,
        compute_type: ComputeType = "auto",
        device: Device = "cpu",
        threads: int | None = None,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        check_engine_settings(compute_type, threads, batch_tokens)
        self.folder = folder
        self.threads = threads or available_cores()
        self.batch_tokens = batch_tokens
        self._dialect = dialect(folder.dialect)
        tags = {*folder.languages.source.values(), *folder.languages.target.values()}
        self._source_tokenizer = open_tokenizer(
            folder.path / folder.source_tokenizer, () if self._dialect.tag_is_text else tags
        )
        self._target_tokenizer = open_tokenizer(folder.path / folder.target_tokenizer, tags)
        self._translator, self._settings = open_engine(
            "Translator",
            folder.path,
            compute_type=compute_type,
            device=device,
            threads=self.threads,
        )
        exact = self._translator.device == "cpu" and compute_type == "int8"
        self._batches = uniform_batches if exact else padded_batches
        self._process = os.getpid()
        self._known: frozenset[str] | None = None
        if self._translator.device != "cpu":
            self._settings["device"] = f"{self._translator.device}-{batch_tokens}"

    def __repr__(self) -> str:
        return describe_model(self)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def fingerprint(self) -> str:
        return self.folder.fingerprint

    @property
    def languages(self) -> LanguageSet:
        return self.folder.languages

    @property
    def needs_source_language(self) -> bool:
        return self._dialect.needs_source_language

    @property
    def settings(self) -> Mapping[str, str]:
        return self._settings

    def log_probs(
        self,
        targets: Sequence[str],
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        """Force-decode each target from its source, token by token.

        >>> import tertium
        >>> model = tertium.load_model("tertium-mini", cache=False)
        >>> [scores] = model.log_probs(["Hallo!"], ["Hello!"], target_lang="de")
        >>> scores.tokens
        ('▁Hallo', '!', '</s>')
        """
        if len(targets) != len(sources):
            raise ValueError(f"{len(targets)} targets for {len(sources)} sources")
        tags = self._target_tags(target_lang, len(targets))
        encoder_inputs, sources_cut = self._encoder_inputs(sources, source_lang, tags)
        prefixes = [self._dialect.target_prefix(tag) for tag in tags]
        room = self.folder.max_length - 1  # the decoder also reads a start token
        bodies, targets_cut = [], []
        for prefix, tokens in zip(prefixes, self._target_tokenizer.encode(targets), strict=True):
            bodies.append(tokens[: room - len(prefix)])
            targets_cut.append(len(bodies[-1]) < len(tokens))
        decoder_inputs = [[*prefix, *body] for prefix, body in zip(prefixes, bodies, strict=True)]

        def submit(batch: list[int]) -> list[Any]:
            futures: list[Any] = self._translator.score_batch(
                [encoder_inputs[index] for index in batch],
                [decoder_inputs[index] for index in batch],
                max_input_length=0,  # long texts were truncated above
                asynchronous=True,
            )
            return futures

        def read(index: int, result: Any) -> TokenScores:
            # a truncated text has no end-of-sentence token
            end = -1 if targets_cut[index] else None
            window = slice(len(prefixes[index]), end)
            return TokenScores(
                tuple(result.tokens[window]),
                tuple(result.log_probs[window]),
                target_cut=targets_cut[index],
                source_cut=sources_cut[index],
            )

        shapes = [
            (len(source), len(target))
            for source, target in zip(encoder_inputs, decoder_inputs, strict=True)
        ]
        batches = self._batches(shapes, self.batch_tokens)
        scored = self._run("scoring", batches, len(shapes), submit, read, progress)
        return [scored[index] for index in range(len(shapes))]

    def translate(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = 5,
        progress: Progress | None = None,
    ) -> list[Translation]:
        """Translate each source by beam search; the translation of an empty text is empty."""
        found = self._search(sources, target_lang, source_lang, beam_size, progress=progress)
        return [n_best[0] if n_best else Translation("") for n_best in found]

    def n_best(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = 5,
        count: int = 5,
        blocked: Sequence[Sequence[Sequence[str]]] | None = None,
        progress: Progress | None = None,
    ) -> list[list[Translation]]:
        """The best translations of each source, best first; none of an empty text.

        ``blocked`` has the sequences of tokens that the translations of each source must not
        contain. CTranslate2 takes them for a whole batch, so such a source is searched alone.

        >>> import tertium
        >>> model = tertium.load_model("tertium-mini", cache=False).model
        >>> settings = {"target_lang": "de", "beam_size": 2, "count": 2}
        >>> [translations] = model.n_best(["Hello!"], blocked=[[["▁Hallo"]]], **settings)
        >>> len(translations), any("Hallo" in each.text for each in translations)
        (2, False)
        """
        if count < 1:
            raise SettingError(f"count is {count}; it must be at least 1")
        return self._search(
            sources, target_lang, source_lang, beam_size, count, blocked, progress=progress
        )

    def _search(
        self,
        sources: Sequence[str],
        target_lang: Languages,
        source_lang: Languages,
        beam_size: int,
        count: int = 1,
        blocked: Sequence[Sequence[Sequence[str]]] | None = None,
        *,
        progress: Progress | None,
    ) -> list[list[Translation]]:
        """The engine's beam search; an empty text has no translations."""
        if beam_size < 1:
            raise SettingError(f"beam_size is {beam_size}; it must be at least 1")
        tags = self._target_tags(target_lang, len(sources))
        encoder_inputs, cut = self._encoder_inputs(sources, source_lang, tags)
        prefixes = [self._dialect.target_prefix(tag) for tag in tags]
        patience = max(PATIENCE[self.folder.early_stopping], count / beam_size)

        def submit(batch: list[int]) -> list[Any]:
            futures: list[Any] = self._translator.translate_batch(
                [encoder_inputs[index] for index in batch],
                [prefixes[index] for index in batch],
                beam_size=beam_size,
                num_hypotheses=count,
                patience=patience,
                suppress_sequences=blocked[batch[0]] if blocked else None,
                max_input_length=0,
                min_decoding_length=0,
                max_decoding_length=self._longest_translation(len(encoder_inputs[batch[0]])),
                return_end_token=True,
                asynchronous=True,
            )
            return futures

        def read(index: int, result: Any) -> list[Translation]:
            return [
                self._translation(tokens[len(prefixes[index]) :], cut[index])
                for tokens in result.hypotheses
            ]

        nonblank = [index for index, source in enumerate(sources) if source.strip()]
        alone = [index for index in nonblank if blocked and blocked[index]]
        together = [index for index in nonblank if not (blocked and blocked[index])]
        shapes = [(len(encoder_inputs[index]),) for index in together]
        limits = [self._longest_translation(length) for (length,) in shapes]
        max_tokens = self.batch_tokens * TRANSLATION_SHARE
        batches = batches_by_limit(limits, shapes, max_tokens, self._batches)
        found = self._run(
            "translating",
            chain(
                ([together[place] for place in batch] for batch in batches), ([i] for i in alone)
            ),
            len(nonblank),
            submit,
            read,
            progress,
        )
        return [found.get(index, []) for index in range(len(sources))]

    def _translation(self, tokens: Sequence[str], source_cut: bool) -> Translation:
        ended = bool(tokens) and tokens[-1] == END
        text = self._target_tokenizer.decode(tokens[:-1] if ended else tokens)
        return Translation(text, source_cut or not ended)

    def alternatives(
        self,
        target: str,
        source: str,
        places: Sequence[int],
        *,
        target_lang: str,
        source_lang: str | None = None,
        count: int = 3,
    ) -> list[list[Alternative]]:
        """The most probable tokens at some positions of a target, best first."""
        import numpy as np

        tags = self._target_tags(target_lang, 1)
        [encoder_input], _ = self._encoder_inputs([source], source_lang, tags)
        prefix = self._dialect.target_prefix(tags[0])
        [tokens] = self._target_tokenizer.encode([target])
        forced = [*prefix, *tokens[: self.folder.max_length - 1 - len(prefix)]]
        [result] = self._translator.translate_batch(
            [encoder_input],
            [forced],
            beam_size=1,
            return_logits_vocab=True,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=len(forced) + 1,
        )
        if not result.logits:  # the source is empty
            return [[] for _ in places]
        vocabulary = self.folder.target_vocabulary()
        alternatives = []
        for place in places:
            logits = np.array(result.logits[0][len(prefix) + place], dtype=np.float64).ravel()
            log_probs = logits - np.logaddexp.reduce(logits)
            best = np.argsort(-log_probs)[:count]
            alternatives.append(
                [Alternative(vocabulary[id_], float(log_probs[id_])) for id_ in best]
            )
        return alternatives

    def unknown_shares(self, texts: Sequence[str]) -> list[float]:
        """For each text, the share of characters that the tokenizer of sources does not know."""
        if self._known is None:
            self._known = frozenset(self.folder.source_vocabulary())
        known = self._known
        return [unknown_share(tokens, known) for tokens in self._source_tokenizer.encode(texts)]

    @property
    def target_vocabulary(self) -> Sequence[str]:
        return self.folder.target_vocabulary()

    def target_tokens(self, texts: Sequence[str]) -> list[list[str]]:
        return self._target_tokenizer.encode(texts)

    def _encoder_inputs(
        self, sources: Sequence[str], source_lang: Languages, target_tags: Sequence[str]
    ) -> tuple[list[list[str]], list[bool]]:
        """Tokenize sources and add special tokens; also returns which sources were truncated."""
        dialect = self._dialect
        source_tags = self._source_tags(source_lang, len(sources))
        texts = [
            dialect.source_text(text, target_tag=tag)
            for text, tag in zip(sources, target_tags, strict=True)
        ]
        inputs, cut = [], []
        for tokens, source_tag, target_tag in zip(
            self._source_tokenizer.encode(texts), source_tags, target_tags, strict=True
        ):
            special = dialect.source([], source_tag=source_tag, target_tag=target_tag)
            kept = tokens[: self.folder.max_length - len(special)]
            inputs.append(dialect.source(kept, source_tag=source_tag, target_tag=target_tag))
            cut.append(len(kept) < len(tokens))
        return inputs, cut

    def _source_tags(self, languages: Languages, count: int) -> list[str]:
        """The language tags of the sources; an optional language is checked if it is given."""
        tags = self.languages.source
        return [
            ""
            if lang is None and not self.needs_source_language
            else tags[source_language(self, lang)]
            for lang in per_row(languages, count)
        ]

    def _target_tags(self, languages: Languages, count: int) -> list[str]:
        tags = self.languages.target
        return [tags[target_language(self, lang)] for lang in per_row(languages, count)]

    def _longest_translation(self, source_length: int) -> int:
        """The maximum length of a translation, for a decoder that does not end the sentence.

        CTranslate2 takes one limit per batch, so sources of similar lengths share a limit.
        """
        rounded = -(-source_length // LENGTH_STEP) * LENGTH_STEP
        return min(self.folder.max_length - 1, 2 * rounded + 50)

    def _run(
        self,
        task: str,
        batches: Iterable[list[int]],
        count: int,
        submit: Callable[[list[int]], list[Any]],
        read: Callable[[int, Any], Result],
        progress: Progress | None,
    ) -> dict[int, Result]:
        """Queue the batches, and return the result of each of their ``count`` queries by index."""
        if os.getpid() != self._process:
            raise ModelError(
                f"{self.name} was loaded before this process was forked and has lost its threads; "
                "load it in the new process, or start processes with 'spawn'"
            )
        results: dict[int, Result] = {}
        pending: deque[tuple[list[int], list[Any]]] = deque()

        def collect() -> None:
            batch, futures = pending.popleft()
            for index, future in zip(batch, futures, strict=True):
                results[index] = read(index, future.result())
            if progress is not None:
                progress(task, len(results), count)

        for batch in batches:
            pending.append((batch, submit(batch)))
            if len(pending) > IN_FLIGHT * self.threads:
                collect()
        while pending:
            collect()
        return results
