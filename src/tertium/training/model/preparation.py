"""From the files of a plan to arrays on disk, once for each run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from tertium.errors import InputError, ModelError
from tertium.models.convert.families import SENTENCEPIECE_FILES
from tertium.storage.atomic import write_bytes
from tertium.training.model.bitext import Pair, read_bitext
from tertium.training.model.corpus import Corpus, Source, build_corpus, load_corpus, save_corpus
from tertium.training.model.heldout import held_out
from tertium.training.model.pieces import Pieces, train_pieces
from tertium.training.model.plan import Plan

SPM = "spm.model"
CORPUS = "corpus"


def prepare_pieces(run: Path, plan: Plan) -> Pieces:
    """The run's SentencePiece model: of ``init``, as given, or trained on the bitext."""
    path = run / SPM
    if not path.is_file():
        if plan.init is not None:
            given = [Path(plan.init) / name for name in SENTENCEPIECE_FILES]
        else:
            given = [] if plan.spm is None else [Path(plan.spm)]
        found = next((file for file in given if file.is_file()), None)
        if found is not None:
            write_bytes(path, found.read_bytes())
        elif given:
            raise ModelError(f"{given[0]} is not there; a SentencePiece model is needed")
        else:
            sentences = (
                sentence
                for file, _ in plan.bitext
                for pair in training_pairs(Path(file), plan)
                for sentence in (pair.a, pair.b)
            )
            trained = train_pieces(sentences, plan.languages, vocabulary=plan.recipe.vocabulary)
            write_bytes(path, trained)
    return Pieces(path, plan.languages)


def prepare_corpus(run: Path, plan: Plan, pieces: Pieces) -> Corpus:
    """The training data, read anew only if the run has no arrays yet."""
    folder = run / CORPUS
    corpus = load_corpus(folder)
    if corpus is None:
        shutil.rmtree(folder, ignore_errors=True)
        sources = [Source(training_pairs(Path(file), plan), weight) for file, weight in plan.bitext]
        corpus = build_corpus(sources, pieces, max_pieces=plan.recipe.max_pieces)
        save_corpus(corpus, folder)
    return corpus


def prepare_development(plan: Plan, pieces: Pieces) -> Corpus | None:
    """The held-out pairs, if the plan names a file of them."""
    if plan.dev is None:
        return None
    pairs = read_bitext(Path(plan.dev), plan.languages, columns=dict(plan.columns))
    return build_corpus([Source(pairs)], pieces, max_pieces=plan.recipe.max_pieces)


def discard_preparation(run: Path) -> None:
    """Remove what was made for a plan that no step was trained with."""
    (run / SPM).unlink(missing_ok=True)
    shutil.rmtree(run / CORPUS, ignore_errors=True)


def training_pairs(file: Path, plan: Plan) -> Iterator[Pair]:
    """The pairs of a file of which neither side is held out."""
    if not file.is_file():
        raise InputError(f"{file} is not there")
    for pair in read_bitext(file, plan.languages, columns=dict(plan.columns)):
        if not held_out(pair.a) and not held_out(pair.b):
            yield pair
