"""Translation models run by CTranslate2 (see :class:`~tertium.models.base.TranslationModel`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

from tertium.errors import SettingError
from tertium.models.base import (
    Alternative,
    Languages,
    Progress,
    SentenceEncoder,
    TokenDistributions,
    TokenScores,
    Translation,
    describe_model,
    per_row,
)
from tertium.models.batches import batches_by_limit, padded_batches, uniform_batches
from tertium.models.candidates import BEAM_SEARCH, Candidate, Search
from tertium.models.card import TranslationCard, read_vocabulary
from tertium.models.engine import (
    ComputeType,
    Device,
    check_engine_settings,
    open_engine,
    run_batches,
)
from tertium.models.languages import LanguageSet, source_language, target_language
from tertium.models.threads import available_cores
from tertium.models.tokenizer import UNKNOWN, open_tokenizer, unknown_share
from tertium.models.translation.dialects import END, dialect
from tertium.models.translation.sampling import Source, sample_all

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
        card: TranslationCard,
        *,
        compute_type: ComputeType = "auto",
        device: Device = "cpu",
        threads: int | None = None,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        check_engine_settings(compute_type, threads, batch_tokens)
        self.card = card
        self.threads = threads or available_cores()
        self.batch_tokens = batch_tokens
        self._as_given = compute_type, threads
        settings = card.settings
        self._dialect = dialect(settings.dialect)
        tags = {*settings.source_languages.values(), *settings.target_languages.values()}
        self._source_tokenizer = open_tokenizer(
            card.path / settings.source_tokenizer, () if self._dialect.tag_is_text else tags
        )
        self._target_tokenizer = open_tokenizer(card.path / settings.target_tokenizer, tags)
        self._translator, self._settings = open_engine(
            "Translator",
            card.path,
            compute_type=compute_type,
            device=device,
            threads=self.threads,
        )
        exact = self._translator.device == "cpu" and compute_type == "int8"
        self._batches = uniform_batches if exact else padded_batches
        self._compute_type, self._device = compute_type, device
        self._process = os.getpid()
        self._known: frozenset[str] | None = None
        if self._translator.device != "cpu":
            self._settings["device"] = f"{self._translator.device}-{batch_tokens}"

    def __repr__(self) -> str:
        return describe_model(self)

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def fingerprint(self) -> str:
        return self.card.fingerprint

    @property
    def languages(self) -> LanguageSet:
        return self.card.settings.languages

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
        tags = self._target_tags(target_lang, len(targets))
        encoder_inputs, sources_cut = self._encoder_inputs(sources, source_lang, tags)
        prefixes, decoder_inputs, targets_cut = self._decoder_inputs(targets, sources, tags)

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
        return self._run("scoring", batches, len(shapes), submit, read, progress)

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
        if beam_size < 1:
            raise SettingError(f"beam_size is {beam_size}; it must be at least 1")
        search = Search(beam_size=beam_size)
        found = self.candidates(
            sources,
            target_lang=target_lang,
            source_lang=source_lang,
            search=search,
            progress=progress,
        )
        return [Translation(best.text, best.cut) for best, *_ in found]

    def candidates(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        search: Search = BEAM_SEARCH,
        blocked: Sequence[Sequence[Sequence[str]]] | None = None,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        """The n-best list of each source, or samples; an empty text has one empty candidate.

        ``blocked`` has the sequences of tokens that the n-best list of each source must not
        contain. CTranslate2 takes them for a whole batch, so such a source is searched alone.

        >>> import tertium
        >>> from tertium.models.candidates import Search
        >>> model = tertium.load_model("tertium-mini", cache=False)
        >>> [n_best] = model.candidates(["Thank you!"], target_lang="de", search=Search(count=2))
        >>> n_best[0].text, n_best[0].length
        ('Danke!', 3)
        """
        tags = self._target_tags(target_lang, len(sources))
        encoder_inputs, cut = self._encoder_inputs(sources, source_lang, tags)
        prefixes = [self._dialect.target_prefix(tag) for tag in tags]
        found = [[Candidate("", 0.0, 0)] for _ in sources]
        nonblank = [index for index, source in enumerate(sources) if source.strip()]
        find = self._sampled if search.sampling else self._searched
        computed = find(
            [
                Source(
                    encoder_inputs[index],
                    prefixes[index],
                    self._longest_translation(len(encoder_inputs[index])),
                    blocked[index] if blocked else (),
                )
                for index in nonblank
            ],
            search,
            progress,
        )
        for index, candidates in zip(nonblank, computed, strict=True):
            found[index] = [
                replace(candidate, cut=candidate.cut or cut[index]) for candidate in candidates
            ]
        return found

    def _searched(
        self, sources: Sequence[Source], search: Search, progress: Progress | None
    ) -> list[list[Candidate]]:
        """Find candidates by beam search."""

        def submit(batch: list[int]) -> list[Any]:
            futures: list[Any] = self._translator.translate_batch(
                [sources[index].tokens for index in batch],
                [sources[index].prefix for index in batch],
                beam_size=search.beam_size,
                num_hypotheses=search.count,
                patience=PATIENCE[self.card.settings.early_stopping],
                suppress_sequences=sources[batch[0]].blocked or None,
                max_input_length=0,
                min_decoding_length=0,
                max_decoding_length=sources[batch[0]].longest,
                return_end_token=True,
                return_scores=True,
                asynchronous=True,
            )
            return futures

        def read(index: int, result: Any) -> list[Candidate]:
            prefix = len(sources[index].prefix)
            return [
                # the engine's score is the mean over all tokens, those of the prefix included
                self._candidate(tokens[prefix:], score * len(tokens))
                for tokens, score in zip(result.hypotheses, result.scores, strict=True)
            ]

        alone = [index for index, source in enumerate(sources) if source.blocked]
        together = [index for index, source in enumerate(sources) if not source.blocked]
        batches = batches_by_limit(
            [sources[index].longest for index in together],
            [(len(sources[index].tokens),) for index in together],
            self.batch_tokens * TRANSLATION_SHARE,
            self._batches,
        )
        all_batches = chain(
            ([together[place] for place in batch] for batch in batches),
            ([index] for index in alone),
        )
        return self._run("translating", all_batches, len(sources), submit, read, progress)

    def _sampled(
        self, sources: Sequence[Source], search: Search, progress: Progress | None
    ) -> list[list[Candidate]]:
        """Draw candidates, every source by itself."""
        samples = sample_all(
            sources, search, self._open_worker, lambda: self.target_vocabulary, self.threads
        )
        found = []
        for drawn in samples:
            found.append([self._candidate(each.tokens, sum(each.log_probs)) for each in drawn])
            if progress is not None:
                progress("sampling", len(found), len(sources))
        return found

    def _candidate(self, tokens: Sequence[str], log_prob: float) -> Candidate:
        """A candidate from its tokens; without an end-of-sentence token, it did not end."""
        ended = bool(tokens) and tokens[-1] == END
        text = self._target_tokenizer.decode(tokens[:-1] if ended else tokens)
        return Candidate(text, log_prob, len(tokens), not ended)

    def _open_worker(self) -> Any:
        """Another engine with one worker, for sampling."""
        worker, _ = open_engine(
            "Translator",
            self.card.path,
            compute_type=self._compute_type,
            device=self._device,
            threads=1,
        )
        return worker

    def top_log_probs(
        self,
        targets: Sequence[str],
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        above: float,
        progress: Progress | None = None,
    ) -> list[TokenDistributions]:
        """Force-decode each target; also returns the most probable tokens at each position.

        CTranslate2 gives whole distributions only while it translates, one step after another, and
        one per batch of targets with the same length: this takes as long as translating with a
        beam of 1. An empty source has no distributions.
        """
        import numpy as np

        tags = self._target_tags(target_lang, len(targets))
        encoder_inputs, sources_cut = self._encoder_inputs(sources, source_lang, tags)
        prefixes, decoder_inputs, targets_cut = self._decoder_inputs(targets, sources, tags)
        ids = {token: id_ for id_, token in enumerate(self.target_vocabulary)}

        def submit(batch: list[int]) -> list[Any]:
            return self._decode_forced(
                [encoder_inputs[index] for index in batch],
                [decoder_inputs[index] for index in batch],
            )

        def read(index: int, result: Any) -> TokenDistributions | None:
            if not result.logits:
                return None
            tokens = decoder_inputs[index][len(prefixes[index]) :]
            if not targets_cut[index]:
                tokens = [*tokens, END]
            picked, top = [], []
            for step, token in enumerate(tokens, start=len(prefixes[index])):
                logits = np.array(result.logits[0][step], dtype=np.float64).ravel()
                log_probs = logits - np.logaddexp.reduce(logits)
                picked.append(float(log_probs[ids.get(token, ids[UNKNOWN])]))
                count = int((log_probs > np.log(above)).sum()) + 1
                best = np.sort(np.partition(log_probs, -min(count, len(log_probs)))[-count:])[::-1]
                top.append(tuple(map(float, best)))
            scores = TokenScores(
                tuple(tokens),
                tuple(picked),
                target_cut=targets_cut[index],
                source_cut=sources_cut[index],
            )
            return TokenDistributions(scores, tuple(top))

        shapes = [(len(a), len(b)) for a, b in zip(encoder_inputs, decoder_inputs, strict=True)]
        # uniform, because CTranslate2 takes one length limit per batch
        batches = uniform_batches(shapes, max(1, self.batch_tokens // TRANSLATION_SHARE))
        found = self._run("scoring", batches, len(shapes), submit, read, progress)
        missing = [index for index, each in enumerate(found) if each is None]
        if missing:
            scores = self.log_probs(
                [targets[index] for index in missing],
                [sources[index] for index in missing],
                target_lang=[per_row(target_lang, len(targets))[index] for index in missing],
                source_lang=[per_row(source_lang, len(targets))[index] for index in missing],
            )
            for index, each in zip(missing, scores, strict=True):
                found[index] = TokenDistributions(each, ((),) * len(each.tokens))
        return [each for each in found if each is not None]

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
        forced = [*prefix, *tokens[: self.card.settings.max_length - 1 - len(prefix)]]
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
        vocabulary = self.target_vocabulary
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
            self._known = frozenset(read_vocabulary(self.card, "source"))
        known = self._known
        return [unknown_share(tokens, known) for tokens in self._source_tokenizer.encode(texts)]

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text would be truncated as a source or as a target.

        >>> import tertium
        >>> tertium.load_model("tertium-mini", cache=False).too_long(["Hello!", "Hello! " * 500])
        [False, True]
        """
        source_tag, target_tag = (
            next(iter(tags.values())) for tags in (self.languages.source, self.languages.target)
        )
        frame = self._dialect.source([], source_tag=source_tag, target_tag=target_tag)
        source_room = self.card.settings.max_length - len(frame)
        prefix = self._dialect.target_prefix(target_tag)
        target_room = self.card.settings.max_length - 1 - len(prefix)
        framed = [self._dialect.source_text(text, target_tag=target_tag) for text in texts]
        return [
            len(source) > source_room or len(target) > target_room
            for source, target in zip(
                self._source_tokenizer.encode(framed),
                self._target_tokenizer.encode(texts),
                strict=True,
            )
        ]

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        return [len(tokens) for tokens in self._target_tokenizer.encode(texts)]

    def own_encoder(self) -> SentenceEncoder:
        from tertium.models.encoders.loading import encoder_of

        return encoder_of(self.card, None, *self._as_given)

    @cached_property
    def target_vocabulary(self) -> Sequence[str]:
        return read_vocabulary(self.card, "target")

    def target_tokens(self, texts: Sequence[str]) -> list[list[str]]:
        return self._target_tokenizer.encode(texts)

    def _decode_forced(self, encoder_inputs: list[list[str]], forced: list[list[str]]) -> list[Any]:
        """Decode forced tokens of equal number and one more, with the logits of every step."""
        futures: list[Any] = self._translator.translate_batch(
            encoder_inputs,
            forced,
            beam_size=1,
            return_logits_vocab=True,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=len(forced[0]) + 1,
            asynchronous=True,
        )
        return futures

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
            kept = tokens[: self.card.settings.max_length - len(special)]
            inputs.append(dialect.source(kept, source_tag=source_tag, target_tag=target_tag))
            cut.append(len(kept) < len(tokens))
        return inputs, cut

    def _decoder_inputs(
        self, targets: Sequence[str], sources: Sequence[str], tags: Sequence[str]
    ) -> tuple[list[list[str]], list[list[str]], list[bool]]:
        """Forced tokens of targets, these with the targets' own, and which were truncated."""
        if len(targets) != len(sources):
            raise ValueError(f"{len(targets)} targets for {len(sources)} sources")
        prefixes = [self._dialect.target_prefix(tag) for tag in tags]
        room = self.card.settings.max_length - 1  # the decoder also reads a start token
        inputs, cut = [], []
        for prefix, tokens in zip(prefixes, self._target_tokenizer.encode(targets), strict=True):
            body = tokens[: room - len(prefix)]
            inputs.append([*prefix, *body])
            cut.append(len(body) < len(tokens))
        return prefixes, inputs, cut

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
        return min(self.card.settings.max_length - 1, 2 * rounded + 50)

    def _run(
        self,
        task: str,
        batches: Iterable[list[int]],
        count: int,
        submit: Callable[[list[int]], list[Any]],
        read: Callable[[int, Any], Result],
        progress: Progress | None,
    ) -> list[Result]:
        """Queue the batches, longest first, and return the results in the order of the input."""
        return run_batches(
            batches,
            count,
            submit,
            read,
            task=task,
            progress=progress,
            threads=self.threads,
            model=self.name,
            process=self._process,
        )
