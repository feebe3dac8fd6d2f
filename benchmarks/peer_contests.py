"""The tasks on which ``benchmarks/peers.py`` compares Tertium with its peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import tertium
from tertium.data.nbest import CandidateList
from tertium.mining.candidates import NeighbourSettings, within
from tertium.models.cached import CachedModel
from tertium.models.encoders.model import CTranslate2Encoder
from tertium.reranking.rerank import Reranker
from tertium.reranking.utilities import UtilitySettings
from tertium.text import Text

ENCODER, LAYER = "all-MiniLM-L6-v2", 6
PRECISIONS = ("float32", "int8")
LANG = "en"
NEIGHBOURS = 10
Scores = list[float]
Work = Callable[[Any], Scores]
"""Computes scores with a model of Tertium."""


@dataclass(frozen=True)
class Pairs:
    hyp: list[str]
    ref: list[str]

    def first(self, count: int) -> Pairs:
        return Pairs(self.hyp[:count], self.ref[:count])


@dataclass(frozen=True)
class Systems:
    """The outputs of several systems for the same sources."""

    outputs: list[list[str]]
    ref: list[str]

    def first(self, count: int) -> Systems:
        return Systems([output[:count] for output in self.outputs], self.ref[:count])


@dataclass(frozen=True)
class Contest:
    """One task: the request to the peer, and the calls of Tertium by precision."""

    name: str
    model: str
    size: str
    task: dict[str, Any]
    ours: dict[str, Callable[[], Scores]]
    environment: str = "peers"
    """The environment of the peer."""


def nmtscore(kind: str, pairs: Pairs, by: str) -> Work:
    """``direct``, or ``pivot`` or ``cross`` via a language; with the base of nmtscore."""
    via: dict[str, Any] = {"cross": {"target_lang": by}, "pivot": {"pivot_lang": by}}.get(kind, {})

    def work(model: CachedModel) -> Scores:
        return tertium.load(kind, model=model, base="2", **via)(pairs.hyp, pairs.ref, lang=LANG)

    return work


def five(pairs: Pairs, by: str) -> Work:
    """All translation-based measures, with one shared cache."""

    def work(model: CachedModel) -> Scores:
        scores = []
        for kind in ("direct", "pivot", "cross"):
            scores += nmtscore(kind, pairs, by)(model)
        for kind in ("prism-ref", "prism-src"):
            scores += tertium.load(kind, model=model)(pairs.hyp, pairs.ref, lang=LANG)
        return scores

    return work


def all_systems(systems: Systems) -> Work:
    """``direct`` of every system against the same references."""
    hyp = [text for output in systems.outputs for text in output]
    return nmtscore("direct", Pairs(hyp, systems.ref * len(systems.outputs)), LANG)


def translation_contests(
    name: str,
    original: Path,
    converted: Path,
    sizes: dict[str, int],
    pairs: Pairs,
    systems: Systems,
    *,
    by: str,
    threads: int,
) -> Iterator[Contest]:
    """The measures with one translation model; ``sizes`` gives the number of pairs of each."""
    engines = {
        precision: tertium.load_model(
            converted,
            compute_type=precision,  # type: ignore[arg-type]
            threads=threads,
            cache=False,
        ).model
        for precision in PRECISIONS
    }
    for kind, count in sizes.items():
        some, size = pairs.first(count), f"{count} pairs"
        texts: dict[str, Any] = {"hyp": some.hyp, "ref": some.ref}
        if kind == "systems":
            few = systems.first(count)
            work, size = all_systems(few), f"{len(few.outputs)} × {count} segments"
            texts = {"systems": few.outputs, "ref": few.ref}
        else:
            work = five(some, by) if kind == "five" else nmtscore(kind, some, by)
        yield Contest(
            kind,
            name,
            size,
            {"task": kind, "model": str(original), "lang": LANG, "by": by, **texts},
            {precision: _uncached(work, engine) for precision, engine in engines.items()},
        )


def _uncached(work: Work, engine: Any) -> Callable[[], Scores]:
    """Start with an empty cache, so that no result of the previous round is used."""
    return lambda: work(CachedModel(engine))


def load_encoders(threads: int) -> dict[str, Any]:
    """The encoder in every precision."""
    return {
        precision: tertium.load_encoder(
            ENCODER,
            compute_type=precision,  # type: ignore[arg-type]
            threads=threads,
        )
        for precision in PRECISIONS
    }


def vector_contests(original: Path, pairs: Pairs, *, threads: int) -> Iterator[Contest]:
    """BERTScore and WMD, including encoding."""
    for kind in ("bertscore", "wmd"):

        def work(encoder: CTranslate2Encoder, kind: str = kind) -> Scores:
            encoder.forget()
            return tertium.load(kind, encoder=encoder)(pairs.hyp, pairs.ref)

        encoders = load_encoders(threads)
        yield Contest(
            kind,
            ENCODER,
            f"{len(pairs.hyp)} pairs",
            {
                "task": kind,
                "model": str(original),
                "layer": LAYER,
                "hyp": pairs.hyp,
                "ref": pairs.ref,
            },
            {
                precision: lambda encoder=encoder, work=work: work(encoder)  # type: ignore[misc]
                for precision, encoder in encoders.items()
            },
        )


def mining_contest(original: Path, texts: list[str], *, threads: int) -> Contest:
    """The most similar pairs in one list of sentences, including encoding."""
    settings = NeighbourSettings(NEIGHBOURS, "absolute", method="exact")

    def work(encoder: CTranslate2Encoder) -> Scores:
        encoder.forget()
        vectors = encoder.sentence_vectors(texts, lang=LANG).vectors
        return sorted(within(vectors, settings).cosine.tolist(), reverse=True)[: len(texts)]

    encoders = load_encoders(threads)
    return Contest(
        "mining",
        ENCODER,
        f"{len(texts)} sentences",
        {"task": "mining", "model": str(original), "texts": texts, "neighbours": NEIGHBOURS},
        {
            precision: lambda encoder=encoder: work(encoder)  # type: ignore[misc]
            for precision, encoder in encoders.items()
        },
        "recent",
    )


def reranking_contests(systems: Systems) -> Iterator[Contest]:
    """Minimum Bayes risk with chrF among the outputs of all systems, by all four ways of mbrs."""
    lists = [list(dict.fromkeys(texts)) for texts in zip(*systems.outputs, strict=True)]
    numbered = [
        CandidateList(number, group=str(number), candidates=tuple(map(Text, texts)))
        for number, texts in enumerate(lists, start=1)
    ]

    def work(aggregate: bool) -> Scores:
        reranker = Reranker([tertium.load("chrf")], utility=UtilitySettings(aggregate=aggregate))
        return [score for ranking in reranker.rank(numbered) for score in ranking.scores]

    size = f"{len(lists)} lists, {sum(map(len, lists))} candidates"
    for aggregate, fast in product((False, True), repeat=2):
        name = "mbr" + ", aggregated" * aggregate + ", fastchrf" * fast
        task = {"task": "mbr", "lists": lists, "aggregate": aggregate, "fast": fast}
        yield Contest(name, "-", size, task, {"-": partial(work, aggregate)}, "recent")


def surface_contests(pairs: Pairs) -> Iterator[Contest]:
    """BLEU and chrF, which Tertium computes with sacrebleu: the cost of the wrapper."""
    for kind in ("bleu", "chrf"):
        yield Contest(
            kind,
            "-",
            f"{len(pairs.hyp)} pairs",
            {"task": kind, "hyp": pairs.hyp, "ref": pairs.ref},
            {"-": lambda kind=kind: tertium.load(kind)(pairs.hyp, pairs.ref)},  # type: ignore[misc]
        )
