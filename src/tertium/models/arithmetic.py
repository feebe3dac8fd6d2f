"""The int8 arithmetic of the processor and CTranslate2, fixed so that it is the same everywhere.

In int8, the products of weights and activations are exact (see :mod:`tertium.models.engine_file`).
The rest of a network, such as attention, is computed in float32, and its sums depend in the last
digit on the instruction set. In float32 that stays in the last digit. In int8 it does not: some
activations are then rounded to the next integer, which changes a log-probability by up to 0.8
(OPUS-MT, 1 000 sentences). Therefore the instruction set is fixed for int8.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tertium.errors import PrecisionWarning
from tertium.models.engine_file import LIMIT, encoder_file

NATIVE_VARIABLE = "TERTIUM_NATIVE_INT8"
"""If it is 1, CTranslate2 chooses the instruction set: faster, but not the same everywhere."""
ONEDNN_VARIABLE = "ONEDNN_MAX_CPU_ISA"
INSTRUCTION_SET = "AVX2_VNNI"
"""The widest instruction set with the same float32 sums as AVX2. Processors without VNNI use AVX2;
with VNNI, integer products are the same and faster."""
NARROWER = ("SSE41", "AVX", "AVX2", INSTRUCTION_SET)
NAMES = {"f88e48cf": "avx2", "0b656af2": "avx512"}
"""Names for the arithmetic of oneDNN with CTranslate2 4, by the digest of the test network."""

WIDTH, HEADS, INNER, TOKENS, LENGTHS = 128, 2, 256, 64, (3, 17, 40, 100)
"""The size of the test network, and the lengths of the sequences that it reads."""


@lru_cache(maxsize=1)
def int8_arithmetic() -> str:
    """Name the int8 arithmetic of this process: ``avx2``, unless something prevents it.

    The name stands for a digest of the output of a small network, so two processes with the same
    name compute the same numbers.
    """
    with _fixed_instruction_set():
        digest = _digest()
    name = NAMES.get(digest, digest)
    if name == "avx512" and not _native():
        warnings.warn(
            "a float32 model was used in this process before the first int8 model, so int8 runs "
            "with AVX-512, and its numbers differ from those of other runs (signature: "
            "int8-avx512); run int8 models in a separate process",
            PrecisionWarning,
            stacklevel=2,
        )
    return name


def saturates(largest_weight: int) -> bool:
    """Whether sums of int8 products overflow here with weights of this size.

    A layer multiplies activations that are all 255 by weights that are all of this size.
    """
    with _fixed_instruction_set():
        [[row]] = _run(_saturation_network(largest_weight), [[0]])
    return not np.allclose(row, WIDTH, rtol=0.02)


@contextmanager
def _fixed_instruction_set() -> Iterator[None]:
    """Limit oneDNN, which reads the variable at its first multiplication."""
    before = os.environ.get(ONEDNN_VARIABLE)
    if _native() or (before or "").upper() in NARROWER:
        yield
        return
    os.environ[ONEDNN_VARIABLE] = INSTRUCTION_SET
    try:
        yield
    finally:  # other libraries, such as PyTorch, also read the variable
        if before is None:
            del os.environ[ONEDNN_VARIABLE]
        else:
            os.environ[ONEDNN_VARIABLE] = before


def _native() -> bool:
    return os.environ.get(NATIVE_VARIABLE, "0") not in ("", "0")


def _digest() -> str:
    network = _random_network()
    digest = hashlib.sha256()
    for length in LENGTHS:
        digest.update(_run(network, [[id_ % TOKENS for id_ in range(length)]]).tobytes())
    return digest.hexdigest()[:8]


def _run(variables: Mapping[str, NDArray[Any]], ids: list[list[int]]) -> NDArray[np.float32]:
    import ctranslate2

    config = dict.fromkeys(("unk_token", "bos_token", "eos_token"), "<unk>")
    files = {
        "config.json": json.dumps({**config, "layer_norm_epsilon": None}).encode(),
        "vocabulary.json": json.dumps(["<unk>", *map(str, range(1, TOKENS))]).encode(),
        "model.bin": encoder_file(variables),
    }
    encoder = ctranslate2.Encoder("arithmetic", compute_type="int8", intra_threads=1, files=files)
    output = encoder.forward_batch(ids)
    return np.array(output.last_hidden_state, dtype=np.float32)


def _random_network() -> dict[str, NDArray[Any]]:
    """One Transformer layer with 7-bit pseudo-random weights, the same on every machine."""
    network = dict(_zero_network())
    for seed, (name, array) in enumerate(network.items()):
        if array.ndim and not name.endswith("_scale"):
            numbers = _noise(array.size, seed).reshape(array.shape)
            network[name] = numbers if array.dtype == np.int8 else (numbers / 64).astype(np.float32)
    return network


def _saturation_network(largest_weight: int) -> dict[str, NDArray[Any]]:
    """A layer whose first product is the sum of WIDTH ones, and whose second copies it."""
    network = dict(_zero_network())
    layer = "encoder/layer_0/ffn"
    network[f"{layer}/layer_norm/beta"] += 1  # gamma is 0: the input of the product is 1 everywhere
    network[f"{layer}/linear_0/weight"] += largest_weight
    network[f"{layer}/linear_0/weight_scale"][:] = largest_weight
    network[f"{layer}/linear_1/weight"][:, 0] = LIMIT
    network[f"{layer}/linear_1/weight_scale"][:] = LIMIT
    return network


def _zero_network() -> Iterator[tuple[str, NDArray[Any]]]:
    """The variables of a pre-norm Transformer layer: zeros, and scales of 512."""
    for name, number in (("pre_norm", 1), ("activation", 0), ("embeddings_merge", 0)):
        yield f"encoder/{name}", np.array(number, np.int8)
    yield "encoder/multi_query_attention", np.array(0, np.int8)
    yield "encoder/num_heads", np.array(HEADS, np.int16)
    yield "encoder/scale_embeddings", np.array(1, np.float32)
    yield "encoder/position_encodings/encodings", np.zeros((max(LENGTHS), WIDTH), np.float32)
    weights = {
        "embeddings_0": (TOKENS, WIDTH),
        "layer_0/self_attention/linear_0": (3 * WIDTH, WIDTH),
        "layer_0/self_attention/linear_1": (WIDTH, WIDTH),
        "layer_0/ffn/linear_0": (INNER, WIDTH),
        "layer_0/ffn/linear_1": (WIDTH, INNER),
    }
    for name, shape in weights.items():
        yield f"encoder/{name}/weight", np.zeros(shape, np.int8)
        yield f"encoder/{name}/weight_scale", np.full(shape[0], 512, np.float32)
        if "linear" in name:
            yield f"encoder/{name}/bias", np.zeros(shape[0], np.float32)
    for part in ("self_attention", "ffn"):
        for name in ("gamma", "beta"):
            yield f"encoder/layer_0/{part}/layer_norm/{name}", np.zeros(WIDTH, np.float32)


def _noise(count: int, seed: int) -> NDArray[np.int8]:
    """Pseudo-random numbers from -63 to 63, computed with integer arithmetic only."""
    numbers = np.arange(count, dtype=np.uint64) + np.uint64(1_000_003 * (seed + 1))
    for _ in range(2):
        numbers = (numbers ^ (numbers >> np.uint64(16))) * np.uint64(0x45D9F3B) % np.uint64(1 << 32)
    return ((numbers >> np.uint64(8)) % np.uint64(2 * LIMIT + 1)).astype(np.int8) - np.int8(LIMIT)
