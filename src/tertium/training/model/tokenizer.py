"""The SentencePiece model of a run: trained on its bitext, or given."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tertium.errors import ModelError
from tertium.models.convert.families import SENTENCEPIECE_FILES
from tertium.storage.atomic import write_bytes
from tertium.training.model.bitext import training_pairs
from tertium.training.model.plan import Plan

SPM = "spm.model"
START, PAD, END, UNKNOWN = 0, 1, 2, 3


class Tokenizer:
    """Converts sentences to token ids and back."""

    def __init__(self, path: Path, languages: Sequence[str]) -> None:
        from sentencepiece import SentencePieceProcessor

        self._processor: Any = SentencePieceProcessor(model_proto=path.read_bytes())
        self.size = int(self._processor.get_piece_size())
        ids = [self._processor.piece_to_id(token) for token in ("<s>", "<pad>", "</s>")]
        if ids != [START, PAD, END]:
            raise ModelError(
                f"{path}: <s>, <pad>, </s> have the ids {ids}, not {[START, PAD, END]}; "
                "train the SentencePiece model with Tertium"
            )
        self.tags = {
            lang: int(self._processor.piece_to_id(language_tag(lang))) for lang in languages
        }
        for lang, tag in self.tags.items():
            if tag == self._processor.unk_id():
                raise ModelError(
                    f"{path} has no token {language_tag(lang)}; "
                    "train it with the tags of all languages as user-defined symbols"
                )

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        return [list(ids) for ids in self._processor.encode(list(sentences), out_type=int)]

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._processor.decode(list(ids)))


def language_tag(lang: str) -> str:
    return f"__{lang}__"


def prepare_tokenizer(run: Path, plan: Plan) -> Tokenizer:
    """Return the run's tokenizer: that of ``init``, the given one, or one trained on the bitext."""
    path = run / SPM
    if not path.is_file():
        if plan.init is not None:
            given = [Path(plan.init) / name for name in SENTENCEPIECE_FILES]
        else:
            given = [] if plan.spm is None else [Path(plan.spm)]
        existing = next((file for file in given if file.is_file()), None)
        if existing is not None:
            write_bytes(path, existing.read_bytes())
        elif given:
            raise ModelError(f"{given[0]} does not exist; a SentencePiece model is needed")
        else:
            sentences = (
                sentence
                for file, _ in plan.bitext
                for pair in training_pairs(Path(file), plan)
                for sentence in (pair.a, pair.b)
            )
            trained = train_tokenizer(sentences, plan.languages, vocabulary=plan.recipe.vocabulary)
            write_bytes(path, trained)
    return Tokenizer(path, plan.languages)


def train_tokenizer(
    sentences: Iterable[str], languages: Sequence[str], *, vocabulary: int
) -> bytes:
    """Train a unigram model with byte fallback, split digits and a tag for each language."""
    from sentencepiece import SentencePieceTrainer

    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type="unigram",
            vocab_size=vocabulary,
            byte_fallback=True,
            split_digits=True,
            character_coverage=0.9999,
            input_sentence_size=2_000_000,
            shuffle_input_sentence=False,
            user_defined_symbols=[language_tag(lang) for lang in languages],
            bos_id=START,
            pad_id=PAD,
            eos_id=END,
            unk_id=UNKNOWN,
            num_threads=1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise ModelError(
            f"SentencePiece cannot train a vocabulary of {vocabulary} tokens on these sentences "
            f"({error}); give more text or a smaller --vocabulary"
        ) from None
    return model.getvalue()
