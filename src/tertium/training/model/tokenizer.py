"""The SentencePiece model of a run: trained on its bitext, or given; also as ``tokenizer.json``."""

from __future__ import annotations

import hashlib
import heapq
import io
import math
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tertium.errors import DataWarning, ModelError
from tertium.models.convert.families import SENTENCEPIECE_FILES
from tertium.models.tokenizer import open_sentencepiece
from tertium.storage.atomic import write_bytes
from tertium.training.model.bitext import training_pairs
from tertium.training.model.plan import Plan

SPM = "spm.model"
START, PAD, END, UNKNOWN = 0, 1, 2, 3
RARE_SHARE = 0.01
"""A language with a smaller share of the sample hardly has tokens of its own."""


class Tokenizer:
    """Converts sentences to token ids and back."""

    def __init__(self, path: Path, languages: Sequence[str]) -> None:
        self._processor: Any = open_sentencepiece(path)
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
            sample = vocabulary_sample(
                (
                    (lang, sentence, weight)
                    for file, weight in plan.bitext
                    for pair in training_pairs(Path(file), plan)
                    for lang, sentence in ((pair.lang_a, pair.a), (pair.lang_b, pair.b))
                ),
                size=plan.recipe.vocabulary_sentences,
                seed=plan.seed,
            )
            warn_of_rare_languages(sample, plan.languages)
            trained = train_tokenizer(
                (sentence for _, sentence in sample),
                plan.languages,
                vocabulary=plan.recipe.vocabulary,
            )
            write_bytes(path, trained)
    return Tokenizer(path, plan.languages)


def vocabulary_sample(
    sentences: Iterable[tuple[str, str, float]], *, size: int, seed: int = 0
) -> list[tuple[str, str]]:
    """Draw distinct sentences in random order, from (language, sentence, weight).

    Each sentence gets the key -log(u) / weight, with u from a hash of the seed and the sentence,
    and the smallest keys are taken (Efraimidis and Spirakis 2006): a weighted sample without
    replacement in one pass, which does not depend on the order of the sentences.
    """
    salt = str(seed).encode()
    largest: list[tuple[float, str, str]] = []  # a heap of negated keys
    chosen: dict[tuple[str, str], float] = {}
    for lang, sentence, weight in sentences:
        digest = hashlib.blake2b(f"{lang} {sentence}".encode(), digest_size=8, key=salt).digest()
        key = -math.log((int.from_bytes(digest) + 1) / 2**64) / weight
        known = chosen.get((lang, sentence))
        if known is not None and known <= key:
            continue
        if known is None and len(chosen) >= size:
            while chosen.get(largest[0][1:]) != -largest[0][0]:
                heapq.heappop(largest)  # replaced by a smaller key
            if key >= -largest[0][0]:
                continue
            del chosen[heapq.heappop(largest)[1:]]
        chosen[lang, sentence] = key
        heapq.heappush(largest, (-key, lang, sentence))
    return sorted(chosen, key=chosen.__getitem__)


def warn_of_rare_languages(sample: Sequence[tuple[str, str]], languages: Sequence[str]) -> None:
    """Warn of languages that the vocabulary will have hardly any tokens of."""
    characters: Counter[str] = Counter()
    for lang, sentence in sample:
        characters[lang] += len(sentence)
    for lang in languages:
        share = characters[lang] / max(1, characters.total())
        if share < RARE_SHARE:
            warnings.warn(
                f"only {share:.2%} of the {len(sample)} sentences that the vocabulary is made from "
                f"are in {lang!r}, by characters: it will be cut into single characters or bytes; "
                "give its files more weight",
                DataWarning,
                stacklevel=2,
            )


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
            f"({error})",
            cure=("give more text", "a smaller {vocabulary}"),
        ) from None
    return model.getvalue()


def write_tokenizer_json(spm: Path, out: Path) -> None:
    """Write a unigram model; texts get the ids that SentencePiece gives them.

    Control tokens have names with a space, which no text contains, so that a text that has
    ``</s>`` in it is read as ordinary characters, as SentencePiece does.
    """
    from sentencepiece import sentencepiece_model_pb2
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    model: Any = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(spm.read_bytes())
    special = (model.SentencePiece.CONTROL, model.SentencePiece.UNKNOWN)
    tokens = [
        (f"control token {place}" if piece.type in special else piece.piece, piece.score)
        for place, piece in enumerate(model.pieces)
    ]
    unknown = int(model.trainer_spec.unk_id)
    tokenizer = Tokenizer(models.Unigram(tokens, unk_id=unknown, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap),
            normalizers.Strip(left=True, right=True),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.save(str(out))
