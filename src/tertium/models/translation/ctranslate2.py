"""Translation models run by CTranslate2 (see :class:`~tertium.models.base.TranslationModel`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from tertium.models.base import (
    BEAM_SEARCH,
    Alternative,
    Candidate,
    Progress,
    Query,
    Search,
    SentenceEncoder,
    TokenDistributions,
    TokenScores,
    TranslationModel,
)
from tertium.models.card import FromCard, TranslationCard, TranslationSettings, read_vocabulary
from tertium.models.engine import (
    BATCH_TOKENS,
    ComputeType,
    Device,
    Engine,
    batches_by_limit,
    uniform_batches,
)
from tertium.models.languages import LanguageSet, source_language, target_language
from tertium.models.tokenizer import END, UNKNOWN, dialect, open_tokenizer, unknown_share
from tertium.models.translation.sampling import Source, sample_all

LENGTH_STEP = 16
"""Sources whose lengths round up to the same multiple share a limit for their translations."""
TRANSLATION_SHARE = 4
"""The size of a batch for translation relative to one for scoring: only the logits of one step are
in memory, not those of all tokens."""
PATIENCE = {True: 1.0, False: 2.0}
"""CTranslate2's patience, with early stopping and without: beam search ends when this many times
the beam size of translations have ended. This gives the translations of transformers, which,
without early stopping, continues while a better translation is possible."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query as tokens of the engine."""

    source: list[str]
    """With special tokens."""
    target: list[str]
    """Without the end, and after the prefix."""
    prefix: int
    """The forced tokens before the first token of the target."""
    source_cut: bool
    target_cut: bool

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.source), len(self.target)


class CTranslate2Model(FromCard[TranslationSettings], TranslationModel):
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
        self.card = card
        self._as_given = compute_type, threads
        self._device = device
        settings = card.settings
        self._dialect = dialect(settings.dialect)
        tags = {*settings.source_languages.values(), *settings.target_languages.values()}
        self._source_tokenizer = open_tokenizer(
            card.path / settings.source_tokenizer, () if self._dialect.tag_is_text else tags
        )
        self._target_tokenizer = open_tokenizer(card.path / settings.target_tokenizer, tags)
        self._engine = self._opened(threads, batch_tokens)
        self._settings = self._engine.settings

    @property
    def languages(self) -> LanguageSet:
        return self.card.settings.languages

    @property
    def needs_source_language(self) -> bool:
        return self._dialect.needs_source_language

    def log_probs(
        self, queries: Sequence[Query], *, progress: Progress | None = None
    ) -> list[TokenScores]:
        """Force-decode each target from its source, token by token.

        >>> import tertium
        >>> from tertium.models.base import Query
        >>> model = tertium.load_model("tertium-mini", cache=False)
        >>> [scores] = model.log_probs([Query("Hallo!", "Hello!", "de")])
        >>> scores.tokens
        ('▁Hallo', '!', '</s>')
        """
        prepared = self._prepared(queries)

        def submit(batch: list[int]) -> list[Any]:
            futures: list[Any] = self._engine.backend.score_batch(
                [prepared[index].source for index in batch],
                [prepared[index].target for index in batch],
                max_input_length=0,  # long texts were truncated above
                asynchronous=True,
            )
            return futures

        def read(index: int, result: Any) -> TokenScores:
            query = prepared[index]
            # a truncated text has no end-of-sentence token
            window = slice(query.prefix, -1 if query.target_cut else None)
            return TokenScores(
                tuple(result.tokens[window]),
                tuple(result.log_probs[window]),
                query.target_cut,
                query.source_cut,
            )

        engine = self._engine
        batches = engine.batches([query.shape for query in prepared], engine.batch_tokens)
        return engine.run("scoring", batches, len(prepared), submit, read, progress)

    def candidates(
        self,
        queries: Sequence[Query],
        *,
        search: Search = BEAM_SEARCH,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        """The n-best list of each source, or samples; an empty text has one empty candidate.

        >>> import tertium
        >>> from tertium.models.base import Query
        >>> from tertium.models.base import Search
        >>> model = tertium.load_model("tertium-mini", cache=False)
        >>> [n_best] = model.candidates([Query("", "Thank you!", "de")], search=Search(count=2))
        >>> n_best[0].text, n_best[0].length
        ('Danke!', 3)
        """
        unblocked: list[Sequence[Sequence[str]]] = [()] * len(queries)
        return self.candidates_without(queries, unblocked, search=search, progress=progress)

    def candidates_without(
        self,
        queries: Sequence[Query],
        blocked: Sequence[Sequence[Sequence[str]]],
        *,
        search: Search,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        """Candidates without the blocked token sequences of each.

        CTranslate2 takes the sequences for a whole batch, so such a source is searched alone.
        """
        prepared = self._prepared(queries)
        found = [[Candidate("", 0.0, 0)] for _ in queries]
        nonblank = [index for index, query in enumerate(queries) if query.source.strip()]
        find = self._sampled if search.sampling else self._searched
        computed = find(
            [
                Source(
                    query.source,
                    query.target[: query.prefix],
                    self._longest_translation(len(query.source)),
                    sequences,
                )
                for query, sequences in ((prepared[place], blocked[place]) for place in nonblank)
            ],
            search,
            progress,
        )
        for place, several in zip(nonblank, computed, strict=True):
            cut = prepared[place].source_cut
            found[place] = [replace(each, cut=each.cut or cut) for each in several]
        return found

    def _searched(
        self, sources: Sequence[Source], search: Search, progress: Progress | None
    ) -> list[list[Candidate]]:
        """Find candidates by beam search."""

        def submit(batch: list[int]) -> list[Any]:
            futures: list[Any] = self._engine.backend.translate_batch(
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
            self._engine.batch_tokens * TRANSLATION_SHARE,
            self._engine.batches,
        )
        all_batches = chain(
            ([together[place] for place in batch] for batch in batches),
            ([index] for index in alone),
        )
        return self._engine.run("translating", all_batches, len(sources), submit, read, progress)

    def _sampled(
        self, sources: Sequence[Source], search: Search, progress: Progress | None
    ) -> list[list[Candidate]]:
        """Draw candidates, every source by itself."""
        samples = sample_all(
            sources,
            search,
            lambda: self._opened(1).backend,
            lambda: self.target_vocabulary,
            self._engine.threads,
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

    def _opened(self, threads: int | None, batch_tokens: int = BATCH_TOKENS) -> Engine:
        """Open the engine; sampling takes another one with one worker for each thread."""
        return Engine(
            "Translator",
            self.card.path,
            self.card.name,
            compute_type=self._as_given[0],
            device=self._device,
            threads=threads,
            batch_tokens=batch_tokens,
        )

    def top_log_probs(
        self, queries: Sequence[Query], *, above: float, progress: Progress | None = None
    ) -> list[TokenDistributions]:
        """Force-decode each target; also returns the most probable tokens at each position.

        CTranslate2 gives whole distributions only while it translates, one step after another, and
        one per batch of targets with the same length: this takes as long as translating with a
        beam of 1. An empty source has no distributions.
        """
        import numpy as np

        prepared = self._prepared(queries)
        ids = {token: id_ for id_, token in enumerate(self.target_vocabulary)}

        def submit(batch: list[int]) -> list[Any]:
            return self._decode_forced([prepared[index] for index in batch])

        def read(index: int, result: Any) -> TokenDistributions | None:
            if not result.logits:
                return None
            query = prepared[index]
            tokens = query.target[query.prefix :]
            if not query.target_cut:
                tokens = [*tokens, END]
            picked, top = [], []
            for step, token in enumerate(tokens, start=query.prefix):
                log_probs = _log_softmax(result.logits[0][step])
                picked.append(float(log_probs[ids.get(token, ids[UNKNOWN])]))
                count = int((log_probs > np.log(above)).sum()) + 1
                best = np.sort(np.partition(log_probs, -min(count, len(log_probs)))[-count:])[::-1]
                top.append(tuple(map(float, best)))
            scores = TokenScores(tuple(tokens), tuple(picked), query.target_cut, query.source_cut)
            return TokenDistributions(scores, tuple(top))

        # uniform, because CTranslate2 takes one length limit per batch
        batches = uniform_batches(
            [query.shape for query in prepared],
            max(1, self._engine.batch_tokens // TRANSLATION_SHARE),
        )
        found = self._engine.run("scoring", batches, len(prepared), submit, read, progress)
        missing = [index for index, each in enumerate(found) if each is None]
        if missing:
            scored = self.log_probs([queries[index] for index in missing])
            for index, scores in zip(missing, scored, strict=True):
                found[index] = TokenDistributions(scores, ((),) * len(scores.tokens))
        return [each for each in found if each is not None]

    def alternatives(
        self,
        queries: Sequence[Query],
        *,
        places: Sequence[int],
        count: int = 3,
        progress: Progress | None = None,
    ) -> list[list[list[Alternative]]]:
        """The most probable tokens at some positions of each target, best first."""
        return [
            self._alternatives(query, places, count, progress) for query in self._prepared(queries)
        ]

    def _alternatives(
        self, query: Prepared, places: Sequence[int], count: int, progress: Progress | None
    ) -> list[list[Alternative]]:
        import numpy as np

        [result] = self._engine.run(
            "suggesting",
            [[0]],
            1,
            lambda _: self._decode_forced([query]),
            lambda _, result: result,
            progress,
        )
        if not result.logits:  # the source is empty
            return [[] for _ in places]
        vocabulary = self.target_vocabulary
        alternatives = []
        for place in places:
            log_probs = _log_softmax(result.logits[0][query.prefix + place])
            best = np.argsort(-log_probs)[:count]
            alternatives.append(
                [Alternative(vocabulary[id_], float(log_probs[id_])) for id_ in best]
            )
        return alternatives

    def unknown_shares(self, texts: Sequence[str]) -> list[float]:
        """For each text, the share of characters that the tokenizer of sources does not know."""
        known = self._source_vocabulary
        return [unknown_share(tokens, known) for tokens in self._source_tokenizer.encode(texts)]

    @cached_property
    def _source_vocabulary(self) -> frozenset[str]:
        return frozenset(read_vocabulary(self.card, "source"))

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

    def prepare(self, texts: Sequence[str]) -> None:
        """Tokenize texts in advance; the tokenizers remember their tokens."""
        self._source_tokenizer.encode(texts)
        self._target_tokenizer.encode(texts)

    def _decode_forced(self, queries: Sequence[Prepared]) -> list[Any]:
        """Decode forced tokens of equal number and one more, with the logits of every step."""
        futures: list[Any] = self._engine.backend.translate_batch(
            [query.source for query in queries],
            [query.target for query in queries],
            beam_size=1,
            return_logits_vocab=True,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=len(queries[0].target) + 1,
            asynchronous=True,
        )
        return futures

    def _prepared(self, queries: Sequence[Query]) -> list[Prepared]:
        """Tokenize targets and sources, truncate them, and add special tokens."""
        dialect, longest = self._dialect, self.card.settings.max_length
        codes = {(query.source_lang, query.target_lang) for query in queries}
        tags = {pair: (self._source_tag(pair[0]), self._target_tag(pair[1])) for pair in codes}
        pairs = [tags[query.source_lang, query.target_lang] for query in queries]
        sources = self._source_tokenizer.encode(
            [
                dialect.source_text(query.source, target_tag=tag)
                for query, (_, tag) in zip(queries, pairs, strict=True)
            ]
        )
        targets = self._target_tokenizer.encode([query.target for query in queries])
        prepared = []
        for source, target, (source_tag, target_tag) in zip(sources, targets, pairs, strict=True):
            special = dialect.source([], source_tag=source_tag, target_tag=target_tag)
            kept = source[: longest - len(special)]
            prefix = dialect.target_prefix(target_tag)
            body = target[: longest - 1 - len(prefix)]  # the decoder also reads a start token
            prepared.append(
                Prepared(
                    dialect.source(kept, source_tag=source_tag, target_tag=target_tag),
                    [*prefix, *body],
                    len(prefix),
                    source_cut=len(kept) < len(source),
                    target_cut=len(body) < len(target),
                )
            )
        return prepared

    def _source_tag(self, lang: str | None) -> str:
        """The language tag of a source; an optional language is checked if it is given."""
        if lang is None and not self.needs_source_language:
            return ""
        return self.languages.source[source_language(self, lang)]

    def _target_tag(self, lang: str | None) -> str:
        return self.languages.target[target_language(self, lang)]

    def _longest_translation(self, source_length: int) -> int:
        """The maximum length of a translation, for a decoder that does not end the sentence.

        CTranslate2 takes one limit per batch, so sources of similar lengths share a limit.
        """
        rounded = -(-source_length // LENGTH_STEP) * LENGTH_STEP
        return min(self.card.settings.max_length - 1, 2 * rounded + 50)


def _log_softmax(logits: Any) -> Any:
    """The logarithms of probabilities, from the engine's logits of one step."""
    import numpy as np

    values = np.array(logits, dtype=np.float64).ravel()
    return values - np.logaddexp.reduce(values)
