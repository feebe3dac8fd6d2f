"""The engine: CTranslate2 behind the protocol of :class:`~tertium.models.base.TranslationModel`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from tertium.errors import ModelError, SettingError
from tertium.models.base import (
    Alternative,
    Languages,
    Progress,
    TokenScores,
    Translation,
    known_language,
    per_row,
)
from tertium.models.batches import padded_batches, uniform_batches
from tertium.models.dialects import END, dialect
from tertium.models.folder import ModelFolder
from tertium.models.threads import available_cores
from tertium.models.tokenizer import SentencePieceTokenizer

ComputeType = Literal["auto", "float32", "int8"]
Answer = TypeVar("Answer")

COMPUTE_TYPES = ("auto", "float32", "int8")
BATCH_TOKENS = 512
"""Enough to keep a core busy; more only makes the table of logits outgrow the cache."""
TRANSLATION_SHARE = 4
"""Translations per scoring: they hold the logits of one step at a time, not of all tokens."""
IN_FLIGHT = 4
"""Batches queued for each worker: none waits for work, and memory stays bounded."""


class CTranslate2Model:
    """A translation model run by CTranslate2.

    ``compute_type="auto"`` keeps the precision that the weights were saved in. On a CPU every core
    runs a batch of its own (many small multiplications gain nothing from being split).
    """

    def __init__(
        self,
        folder: ModelFolder,
        *,
        compute_type: ComputeType = "auto",
        device: Literal["cpu", "cuda", "auto"] = "cpu",
        threads: int | None = None,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        if compute_type not in COMPUTE_TYPES:
            raise SettingError(
                f"compute_type {compute_type!r} is none of {', '.join(COMPUTE_TYPES)}"
            )
        if threads is not None and threads < 1:
            raise SettingError(f"threads is {threads}; it must be at least 1")
        if batch_tokens < 1:
            raise SettingError(f"batch_tokens is {batch_tokens}; it must be at least 1")
        import ctranslate2

        self.folder = folder
        self.threads = threads or available_cores()
        self.batch_tokens = batch_tokens
        self._dialect = dialect(folder.dialect)
        self._tokenizer = SentencePieceTokenizer(folder.path / folder.tokenizer)
        try:
            self._translator = ctranslate2.Translator(
                str(folder.path),
                device=device,
                compute_type="default" if compute_type == "auto" else compute_type,
                inter_threads=self.threads,
                intra_threads=1,
            )
        except (IndexError, RuntimeError, ValueError) as error:
            raise ModelError(f"{folder.path}: the engine cannot load the model: {error}") from error
        self._batches = uniform_batches if self._translator.device == "cpu" else padded_batches
        self._settings = {
            "precision": self._translator.compute_type,
            "engine": f"ctranslate2-{ctranslate2.__version__}",
        }

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def fingerprint(self) -> str:
        return self.folder.fingerprint

    @property
    def languages(self) -> frozenset[str]:
        return frozenset(self.folder.languages)

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
        target_langs = self._known(target_lang, len(targets))
        encoder_inputs, sources_cut = self._encoder_inputs(sources, source_lang, target_langs)
        prefixes = [self._dialect.target_prefix(lang) for lang in target_langs]
        room = self.folder.max_length - 1  # the decoder reads one start token of its own
        bodies, targets_cut = [], []
        for prefix, pieces in zip(prefixes, self._tokenizer.encode(targets), strict=True):
            bodies.append(pieces[: room - len(prefix)])
            targets_cut.append(len(bodies[-1]) < len(pieces))
        decoder_inputs = [[*prefix, *body] for prefix, body in zip(prefixes, bodies, strict=True)]

        def submit(batch: list[int]) -> list[Any]:
            futures: list[Any] = self._translator.score_batch(
                [encoder_inputs[index] for index in batch],
                [decoder_inputs[index] for index in batch],
                max_input_length=0,  # whatever was too long is cut above, openly
                asynchronous=True,
            )
            return futures

        def read(index: int, result: Any) -> TokenScores:
            end = -1 if targets_cut[index] else None  # a cut text has not come to its end
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
        return self._run("scoring", shapes, submit, read, progress, self.batch_tokens)

    def translate(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = 5,
        progress: Progress | None = None,
    ) -> list[Translation]:
        """Translate each source by beam search; nothing is translated as nothing."""
        if beam_size < 1:
            raise SettingError(f"beam_size is {beam_size}; it must be at least 1")
        target_langs = self._known(target_lang, len(sources))
        encoder_inputs, cut = self._encoder_inputs(sources, source_lang, target_langs)
        prefixes = [self._dialect.target_prefix(lang) for lang in target_langs]
        blank = [not source.strip() for source in sources]

        def submit(batch: list[int]) -> list[Any]:
            longest = max(len(encoder_inputs[index]) for index in batch)
            futures: list[Any] = self._translator.translate_batch(
                [encoder_inputs[index] for index in batch],
                [prefixes[index] for index in batch],
                beam_size=beam_size,
                max_input_length=0,
                min_decoding_length=0,
                max_decoding_length=self._longest_translation(longest),
                return_end_token=True,
                asynchronous=True,
            )
            return futures

        def read(index: int, result: Any) -> Translation:
            pieces = result.hypotheses[0][len(prefixes[index]) :]
            ended = bool(pieces) and pieces[-1] == END
            text = self._tokenizer.decode(pieces[:-1] if ended else pieces)
            return Translation(text, cut[index] or not ended)

        asked = [index for index in range(len(sources)) if not blank[index]]
        found = self._run(
            "translating",
            [(len(encoder_inputs[index]),) for index in asked],
            lambda batch: submit([asked[place] for place in batch]),
            lambda place, result: read(asked[place], result),
            progress,
            self.batch_tokens * TRANSLATION_SHARE,
        )
        answers = [Translation("")] * len(sources)
        for index, translation in zip(asked, found, strict=True):
            answers[index] = translation
        return answers

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
        """What the model would rather have said at some places of a target, best first."""
        import numpy as np

        [lang] = self._known(target_lang, 1)
        [encoder_input], _ = self._encoder_inputs([source], source_lang, [lang])
        prefix = self._dialect.target_prefix(lang)
        [pieces] = self._tokenizer.encode([target])
        forced = [*prefix, *pieces[: self.folder.max_length - 1 - len(prefix)]]
        [result] = self._translator.translate_batch(
            [encoder_input],
            [forced],
            beam_size=1,
            return_logits_vocab=True,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=len(forced) + 1,
        )
        vocabulary = self.folder.target_vocabulary()
        found = []
        for place in places:
            logits = np.array(result.logits[0][len(prefix) + place], dtype=np.float64).ravel()
            log_probs = logits - np.logaddexp.reduce(logits)
            best = np.argsort(-log_probs)[:count]
            found.append([Alternative(vocabulary[id_], float(log_probs[id_])) for id_ in best])
        return found

    def _encoder_inputs(
        self, sources: Sequence[str], source_lang: Languages, target_langs: Sequence[str]
    ) -> tuple[list[list[str]], list[bool]]:
        source_langs: Sequence[str | None]
        if self.needs_source_language:
            source_langs = self._known(source_lang, len(sources))
        else:
            source_langs = [None] * len(sources)
        framed, cut = [], []
        for pieces, source, target in zip(
            self._tokenizer.encode(sources), source_langs, target_langs, strict=True
        ):
            frame = self._dialect.source([], source_lang=source, target_lang=target)
            kept = pieces[: self.folder.max_length - len(frame)]
            framed.append(self._dialect.source(kept, source_lang=source, target_lang=target))
            cut.append(len(kept) < len(pieces))
        return framed, cut

    def _longest_translation(self, source_length: int) -> int:
        """Stop a decoder that has lost its way, long before the positions run out."""
        return min(self.folder.max_length - 1, 2 * source_length + 50)

    def _known(self, languages: Languages, count: int) -> list[str]:
        return [known_language(self, lang) for lang in per_row(languages, count)]

    def _run(
        self,
        what: str,
        shapes: Sequence[tuple[int, ...]],
        submit: Callable[[list[int]], list[Any]],
        read: Callable[[int, Any], Answer],
        progress: Progress | None,
        batch_tokens: int,
    ) -> list[Answer]:
        """Keep the workers busy, longest first, and put the answers back in order."""
        answers: dict[int, Answer] = {}
        flying: deque[tuple[list[int], list[Any]]] = deque()

        def land() -> None:
            batch, futures = flying.popleft()
            for index, future in zip(batch, futures, strict=True):
                answers[index] = read(index, future.result())
            if progress is not None:
                progress(what, len(answers), len(shapes))

        for batch in self._batches(shapes, batch_tokens):
            flying.append((batch, submit(batch)))
            if len(flying) > IN_FLIGHT * self.threads:
                land()
        while flying:
            land()
        return [answers[index] for index in range(len(shapes))]
