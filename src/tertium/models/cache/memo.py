"""Every distinct question is put to a model once: in a run, and across runs."""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tertium.errors import ModelError
from tertium.models.base import (
    Alternative,
    Languages,
    Progress,
    SuggestingModel,
    TokenScores,
    Translation,
    TranslationModel,
    per_row,
)
from tertium.models.proxy import ForwardingModel

Answer = TypeVar("Answer")

MEMORY_BYTES = 64 << 20
ENTRY_BYTES = 250
"""What an answer takes in memory beside itself (measured): its key, two objects, their places."""
EDITION = 2
"""Part of every key; to be raised whenever an answer's meaning or layout changes."""


class Store(Protocol):
    """Where answers outlive the run."""

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]: ...

    def put(self, answers: Mapping[bytes, bytes]) -> None: ...


@dataclass
class Tally:
    """How many questions were put, how many of them were new, how many the store could answer."""

    questions: int = 0
    distinct: int = 0
    from_cache: int = 0

    def __str__(self) -> str:
        """Write the tally as a run's summary shows it.

        >>> print(Tally(4812, 1930, 0))
        4 812 questions, 1 930 distinct, 0 from cache
        """
        questions, distinct, from_cache = (
            f"{number:,}".replace(",", " ")
            for number in (self.questions, self.distinct, self.from_cache)
        )
        return f"{questions} questions, {distinct} distinct, {from_cache} from cache"


class Memo(ForwardingModel):
    """A model that remembers: same protocol, same answers, each question asked once.

    The answers to one call are stored together or not at all. A run that is killed and taken up
    again therefore knows, at each call, just what an unbroken run would know, puts the same
    questions to the engine in the same batches, and gets the same numbers.
    """

    def __init__(self, model: TranslationModel, store: Store | None = None) -> None:
        super().__init__(model)
        self.store = store
        self.tally = Tally()
        self._memory: OrderedDict[bytes, bytes] = OrderedDict()
        self._bytes = 0

    def log_probs(
        self,
        targets: Sequence[str],
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        count = len(targets)
        target_langs, source_langs = (
            self._targets(target_lang, count),
            self._sources(source_lang, count),
        )
        questions = list(zip(sources, source_langs, targets, target_langs, strict=True))

        def ask(open_questions: Sequence[int]) -> list[TokenScores]:
            return self.model.log_probs(
                [targets[index] for index in open_questions],
                [sources[index] for index in open_questions],
                target_lang=[target_langs[index] for index in open_questions],
                source_lang=[source_langs[index] for index in open_questions],
                progress=progress,
            )

        return self._answers(("log_probs",), questions, ask, pack_scores, unpack_scores)

    def translate(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = 5,
        progress: Progress | None = None,
    ) -> list[Translation]:
        count = len(sources)
        target_langs, source_langs = (
            self._targets(target_lang, count),
            self._sources(source_lang, count),
        )
        questions = list(zip(sources, source_langs, target_langs, strict=True))

        def ask(open_questions: Sequence[int]) -> list[Translation]:
            return self.model.translate(
                [sources[index] for index in open_questions],
                target_lang=[target_langs[index] for index in open_questions],
                source_lang=[source_langs[index] for index in open_questions],
                beam_size=beam_size,
                progress=progress,
            )

        operation = ("translate", beam_size)
        return self._answers(operation, questions, ask, pack_translation, unpack_translation)

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
        """What the model would rather have said; nothing where it cannot tell. Not remembered."""
        if not isinstance(self.model, SuggestingModel):
            return [[] for _ in places]
        return self.model.alternatives(
            target, source, places, target_lang=target_lang, source_lang=source_lang, count=count
        )

    def _targets(self, languages: Languages, count: int) -> list[str | None]:
        """A language by another name makes no other question."""
        resolve = self.languages.resolve
        return [lang and resolve(lang) for lang in per_row(languages, count)]

    def _sources(self, languages: Languages, count: int) -> list[str | None]:
        """A model that does not look at the source language gets one question, not two."""
        looks = self.needs_source_language or not self.languages.symmetric
        return self._targets(languages if looks else None, count)

    def _answers(
        self,
        operation: tuple[str | int, ...],
        questions: Sequence[tuple[str | None, ...]],
        ask: Callable[[Sequence[int]], list[Answer]],
        pack: Callable[[Answer], bytes],
        unpack: Callable[[bytes], Answer | None],
    ) -> list[Answer]:
        head = [EDITION, self.fingerprint, sorted(self.settings.items()), operation]
        keys = [question_key([*head, question]) for question in questions]
        first = {key: index for index, key in reversed(list(enumerate(keys)))}
        known: dict[bytes, Answer] = {}
        for key in first:
            if key in self._memory:
                self._memory.move_to_end(key)
                answer = unpack(self._memory[key])
                if answer is not None:
                    known[key] = answer
        unknown = sorted((key for key in first if key not in known), key=first.__getitem__)
        new: dict[bytes, bytes] = {}
        if self.store is not None and unknown:
            for key, value in self.store.get(unknown).items():
                answer = unpack(value)  # None if it is no answer: then ask again
                if answer is not None:
                    known[key] = answer
                    self._remember(key, value)
        pending = [key for key in unknown if key not in known]
        self.tally.questions += len(keys)
        self.tally.distinct += len(unknown)
        self.tally.from_cache += len(unknown) - len(pending)
        if pending:
            for key, answer in zip(pending, ask([first[key] for key in pending]), strict=True):
                known[key] = answer
                new[key] = pack(answer)
                if unpack(new[key]) is None:
                    question = questions[first[key]]
                    raise ModelError(f"{self.name} gives no number for {question!r}")
            if self.store is not None:
                self.store.put(new)
            for key, value in new.items():
                self._remember(key, value)
        return [known[key] for key in keys]

    def _remember(self, key: bytes, value: bytes) -> None:
        self._memory[key] = value
        self._bytes += ENTRY_BYTES + len(value)
        while self._bytes > MEMORY_BYTES:
            _, dropped = self._memory.popitem(last=False)
            self._bytes -= ENTRY_BYTES + len(dropped)


def question_key(question: object) -> bytes:
    """Hash a structured question; no two questions are spelled alike, whatever their texts hold.

    >>> question_key(["a_b", "c"]) == question_key(["a", "b_c"])
    False
    """
    spelling = json.dumps(question, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(spelling.encode("ascii"), digest_size=20).digest()


def pack_scores(scores: TokenScores) -> bytes:
    """Spell scores as one line of JSON and, after it, the log-probabilities as bare numbers.

    Engines compute in float32, which takes half the room; float64 is for those that do not.
    """
    numbers = array("f", scores.log_probs)
    if tuple(numbers) != scores.log_probs:
        numbers = array("d", scores.log_probs)
    head = [numbers.typecode, scores.target_cut, scores.source_cut, scores.tokens]
    return json.dumps(head, separators=(",", ":")).encode("ascii") + b"\n" + numbers.tobytes()


def unpack_scores(value: bytes) -> TokenScores | None:
    """Undo :func:`pack_scores`; None if the value is none of its, or holds what is no number."""
    head, _, numbers = value.partition(b"\n")
    try:
        typecode, target_cut, source_cut, tokens = json.loads(head)
        log_probs = array(typecode, numbers)
    except (TypeError, ValueError):
        return None
    if len(log_probs) != len(tokens) or not all(map(math.isfinite, log_probs)):
        return None
    return TokenScores(tuple(tokens), tuple(log_probs), target_cut, source_cut)


def pack_translation(translation: Translation) -> bytes:
    """Spell a translation as JSON."""
    return json.dumps([translation.cut, translation.text]).encode("ascii")


def unpack_translation(value: bytes) -> Translation | None:
    """Undo :func:`pack_translation`; None if the value is none of its."""
    try:
        cut, text = json.loads(value)
    except (TypeError, ValueError):
        return None
    return Translation(text, cut)
