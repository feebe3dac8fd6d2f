"""The vocabulary of a static encoder: a SentencePiece model of lower-cased text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from tertium.errors import ModelError

NORMALIZATION = "nmt_nfkc_cf"
"""SentencePiece's own rules: compatible characters are made equal, case is folded."""
COVERAGE = 0.9998
"""The share of characters that have a token of their own; the rest is unknown."""
SEED_TOKENS = 300_000
MIN_COUNT = 2


def train_vocabulary(sentences: Iterable[str], *, tokens: int) -> bytes:
    """Train a unigram model on counted words, which is much faster than on sentences.

    Words that occur once are left out. The only special token is the unknown one, whose id is 0.
    """
    from sentencepiece import SentencePieceTrainer

    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence.lower().split())
    with TemporaryDirectory() as folder:
        table, model = Path(folder) / "words.tsv", Path(folder) / "spm"
        lines = (
            f"{word}\t{count}\n" for word, count in sorted(counts.items()) if count >= MIN_COUNT
        )
        table.write_text("".join(lines), encoding="utf-8", newline="\n")
        try:
            SentencePieceTrainer.train(
                input=str(table),
                input_format="tsv",
                model_prefix=str(model),
                model_type="unigram",
                vocab_size=tokens,
                character_coverage=COVERAGE,
                seed_sentencepiece_size=SEED_TOKENS,
                normalization_rule_name=NORMALIZATION,
                unk_id=0,
                bos_id=-1,
                eos_id=-1,
                pad_id=-1,
                num_threads=1,
                minloglevel=2,
            )
        except RuntimeError as error:
            raise ModelError(
                f"SentencePiece cannot train a vocabulary of {tokens} tokens on these sentences "
                f"({error})",
                cure="give more text, or ask for fewer tokens",
            ) from None
        return model.with_suffix(".model").read_bytes()
