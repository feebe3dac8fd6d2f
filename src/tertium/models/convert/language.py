"""Conversion of causal language models from Hugging Face folders (extra: ``convert``).

CTranslate2's converters ignore some settings of a network without saying so (soft-capped logits,
some scalings of positions). Every conversion is therefore checked: the engine must give the
log-probabilities of transformers on a sequence of random tokens.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.errors import ModelError
from tertium.models.card import TOKENIZER, LanguageCard, LanguageSettings, read_card, write_card
from tertium.models.convert.checkpoint import (
    CONFIG,
    check_libraries,
    count,
    load_all_weights,
    not_converted,
    quiet,
    read_config_file,
    read_object,
)
from tertium.models.convert.encoder import save_tokenizer, vocabulary
from tertium.models.convert.translation import Quantization, Vocabulary
from tertium.models.engine_file import quantize_file
from tertium.storage.atomic import appearing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FAMILIES = ("gpt2", "opt", "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma3_text")
"""Families whose log-probabilities were compared with those of transformers."""
CAUSAL = ("ForCausalLM", "LMHeadModel")
"""How the architectures of causal language models end, in ``config.json``."""
SPECIAL = ("bos_token", "eos_token")
MAX_LENGTH = 2048
"""Longer texts need gigabytes for their logits, and sentences are shorter."""
PROBE_TOKENS = 64
TOLERANCE = 0.01
"""The largest difference of a log-probability; the families above have 1e-5."""


def is_language_model(source: Path) -> bool:
    """Whether a folder contains a causal language model, supported or not."""
    try:
        names = read_config_file(source).get("architectures")
    except ModelError:
        return False
    return isinstance(names, list) and any(str(name).endswith(CAUSAL) for name in names)


def convert_language_model(
    source: Path,
    out: Path,
    *,
    name: str | None = None,
    licence: str = "unknown",
    quantization: Quantization = "float32",
    origin: str = "",
) -> LanguageCard:
    """Convert a causal language model; ``out`` is written atomically."""
    if not source.is_dir():
        raise ModelError(f"{source}: no such folder")
    config = read_config_file(source)
    family = config.get("model_type")
    if family not in FAMILIES:
        raise ModelError(
            f"{source}: language models of type {family!r} are unsupported "
            f"(supported: {', '.join(FAMILIES)})"
        )
    check_libraries()
    with appearing(out) as made:
        scratch = made.with_name(TOKENIZER)
        save_tokenizer(source, scratch)
        size = count(config, source / CONFIG, "vocab_size")
        tokens, unknown = vocabulary(scratch, size, source)
        start, end = special_tokens(source, config, tokens)
        settings = LanguageSettings(
            family=str(family), max_length=longest(config, source), start=start, end=end
        )
        probe = random_tokens(tokens, min(PROBE_TOKENS, settings.max_length))
        expected = _convert_weights(source, made, tokens, (start, end, unknown), probe)
        check_engine(made, [tokens[id_] for id_ in probe], expected, source)
        if quantization == "int8":
            quantize_file(made / "model.bin")
        scratch.rename(made / TOKENIZER)
        write_card(
            made, settings, name=name or out.name, licence=licence, origin=origin or source.name
        )
    return read_card(out, LanguageSettings)


def longest(config: Mapping[str, Any], source: Path) -> int:
    """The number of tokens that a network reads, and that the engine computes as it does.

    Within a sliding window, attention is the same as without one; the engine computes no more.

    >>> longest({"max_position_embeddings": 8192, "sliding_window": 512}, Path("m"))
    512
    """
    length = count(config, source / CONFIG, "n_positions", "max_position_embeddings")
    slides = config.get("use_sliding_window", True)  # Qwen has a window that is not used
    window = config.get("sliding_window") if slides else None
    return min(length, MAX_LENGTH, window or MAX_LENGTH)


def special_tokens(
    source: Path, config: Mapping[str, Any], tokens: Sequence[str]
) -> tuple[str, str]:
    """The start and the end token: those of the tokenizer, or else those of ``config.json``.

    A model without a start token, such as Qwen, reads its end token at the start, as after another
    text (the rule of EleutherAI's evaluation harness).
    """
    known: dict[str, Any] = {}
    for file in ("special_tokens_map.json", "tokenizer_config.json"):
        if (source / file).is_file():
            settings = read_object(source / file)
            known |= {name: settings[name] for name in SPECIAL if name in settings}

    def named(kind: str) -> str | None:
        token = known.get(f"{kind}_token")
        token = token.get("content") if isinstance(token, dict) else token
        if isinstance(token, str) and token in tokens:
            return token
        ids = config.get(f"{kind}_token_id")
        ids = ids[:1] if isinstance(ids, list) else [ids]
        places = [id_ for id_ in ids if isinstance(id_, int) and 0 <= id_ < len(tokens)]
        return tokens[places[0]] if places else None

    end = named("eos")
    if end is None:
        raise ModelError(f"{source}: neither its tokenizer nor {CONFIG} names its end token")
    return named("bos") or end, end


def random_tokens(tokens: Sequence[str], length: int) -> list[int]:
    """The same pseudo-random ids on every machine."""
    draw = random.Random(0)
    return [draw.randrange(len(tokens)) for _ in range(length)]


def check_engine(
    made: Path, probe: Sequence[str], expected: NDArray[np.float32], source: Path
) -> None:
    """Compare the engine with the original; a family may have settings that the engine ignores."""
    import ctranslate2
    import numpy as np

    generator = ctranslate2.Generator(str(made), compute_type="float32", intra_threads=1)
    [result] = generator.score_batch([list(probe)], max_input_length=0)
    difference = float(np.abs(np.array(result.log_probs) - expected).max())
    if not difference <= TOLERANCE:  # also if it is not a number
        raise ModelError(
            f"{source} cannot be converted: the engine's log-probabilities differ from those of "
            f"transformers by {difference:.2g}, so its {CONFIG} has a setting that the engine "
            "does not have"
        )


class LanguageVocabulary(Vocabulary):
    """The vocabulary of a language model, as a tokenizer for the converter of CTranslate2."""

    def __init__(self, tokens: list[str], special: tuple[str, str, str]) -> None:
        super().__init__(tokens, len(tokens))
        self.bos_token, self.eos_token, self.unk_token = special


def _convert_weights(
    source: Path, out: Path, tokens: list[str], special: tuple[str, str, str], probe: Sequence[int]
) -> NDArray[np.float32]:
    """Write the engine's files; returns the log-probabilities of the probe in transformers."""
    from ctranslate2.converters import TransformersConverter

    expected: list[Any] = []

    class Converter(TransformersConverter):  # type: ignore[misc]
        def load_model(self, model_class: Any, path: str, **options: Any) -> Any:
            network = load_all_weights(model_class, source, **options)
            expected.append(_log_probs(network.eval(), probe))  # the converter takes it apart
            return network

        def load_tokenizer(self, tokenizer_class: Any, path: str, **options: Any) -> Vocabulary:
            return LanguageVocabulary(tokens, special)

    try:
        with quiet():
            Converter(str(source)).convert(str(out))
    except Exception as error:  # of transformers or CTranslate2
        raise not_converted(source, error) from error
    log_probs: NDArray[np.float32] = expected[0]
    return log_probs


def _log_probs(network: Any, ids: Sequence[int]) -> NDArray[np.float32]:
    """The log-probability of every token but the first, computed by transformers."""
    import torch

    with torch.no_grad():
        logits = network(torch.tensor([list(ids)])).logits[0]
    log_probs = torch.log_softmax(logits.float(), dim=-1)
    picked: NDArray[np.float32] = log_probs[range(len(ids) - 1), list(ids[1:])].numpy()
    return picked
