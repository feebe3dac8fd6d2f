"""A SentencePiece model as ``tokenizer.json``, which language models are read with."""

from __future__ import annotations

from pathlib import Path
from typing import Any


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
