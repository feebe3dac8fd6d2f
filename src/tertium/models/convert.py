"""From Hugging Face folders to model folders that Tertium loads (extra: ``convert``)."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from tertium.errors import ModelError
from tertium.models.dialects import dialect as dialect_named
from tertium.models.folder import ModelFolder, write_card

SENTENCEPIECE_FILES = ("spm.model", "sentencepiece.bpe.model")
LANGUAGE_TAG = re.compile(r"__([a-z]{2,3})__")


class Vocabulary:
    """A folder's vocabulary with what the engine's converter asks of a tokenizer.

    The pieces are those of ``vocab.json`` and, after them, the language tags; where there is no
    such file, those of the SentencePiece model itself.
    """

    bos_token, eos_token, unk_token = "<s>", "</s>", "<unk>"
    special_tokens_map: dict[str, list[str]] = {}  # noqa: RUF012 (read by the converter only)

    def __init__(self, folder: Path, languages: Sequence[str]) -> None:
        from sentencepiece import SentencePieceProcessor

        self.sentencepiece = next(
            (name for name in SENTENCEPIECE_FILES if (folder / name).is_file()), None
        )
        if self.sentencepiece is None:
            raise ModelError(f"{folder} has no SentencePiece model ({SENTENCEPIECE_FILES[0]})")
        if (folder / "vocab.json").is_file():
            ids = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
            self.tokens = sorted(ids, key=ids.__getitem__)
            self.tokens += [f"__{lang}__" for lang in languages]
        else:
            processor = SentencePieceProcessor(model_file=str(folder / self.sentencepiece))
            self.tokens = [processor.id_to_piece(id_) for id_ in range(processor.get_piece_size())]
        self.num_madeup_words = 0

    def get_vocab(self) -> dict[str, int]:
        return {token: id_ for id_, token in enumerate(self.tokens)}

    def convert_ids_to_tokens(self, id_: int) -> str:
        return str(self.tokens[id_])

    def languages(self) -> list[str]:
        """The languages that have a tag."""
        return [found[1] for token in self.tokens if (found := LANGUAGE_TAG.fullmatch(token))]


def convert(
    source: Path,
    out: Path,
    *,
    name: str,
    dialect: Literal["prism", "m2m100"],
    licence: str,
    languages: Sequence[str] = (),
    quantization: Literal["int8"] | None = None,
) -> ModelFolder:
    """Convert a folder of M2M100 architecture; ``out`` appears whole, or not at all.

    ``languages`` are the tags that follow ``vocab.json``, in order; they are not needed where the
    SentencePiece model has the tags itself.
    """
    from ctranslate2.converters import TransformersConverter

    dialect_named(dialect)
    if out.exists():
        raise ModelError(f"{out} is there already; remove it or name another folder")
    vocabulary = Vocabulary(source, languages)
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    vocabulary.num_madeup_words = config["vocab_size"] - len(vocabulary.tokens)

    class Converter(TransformersConverter):  # type: ignore[misc]
        def load_model(self, model_class: Any, path: str, **options: Any) -> Any:
            return model_class.from_pretrained(path, use_safetensors=True, **options)

        def load_tokenizer(self, tokenizer_class: Any, path: str, **options: Any) -> Vocabulary:
            return vocabulary

    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        made = Path(scratch) / out.name
        Converter(str(source)).convert(str(made), quantization=quantization)
        assert vocabulary.sentencepiece is not None
        shutil.copy(source / vocabulary.sentencepiece, made / "spm.model")
        write_card(
            made,
            name=name,
            dialect=dialect,
            languages=vocabulary.languages(),
            max_length=config["max_position_embeddings"],
            tokenizer="spm.model",
            licence=licence,
        )
        made.rename(out)
    from tertium.models.folder import read_folder

    return read_folder(out)
