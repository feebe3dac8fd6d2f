"""Make a Hugging Face folder from the bundled model, to train it further.

    python scripts/unbundle.py runs/bundled-float
    python scripts/train_bundled.py data runs/next --init runs/bundled-float

The weights are the int8 weights of the bundled model, times their scales: rounded, but the nearest
that can be had of the weights that were trained.
"""

from __future__ import annotations

import argparse
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tertium.models.catalog import BUNDLED_FOLDER, DEFAULT_MODEL
from tertium.models.engine_file import SCALE, EngineFile, read_engine_file
from tertium.storage.atomic import appearing
from tertium.training.model.network import new_network
from tertium.training.model.plan import get_recipe
from tertium.training.model.tokenizer import SPM

RECIPE = replace(get_recipe("mini"), d_model=256, heads=4)
ATTENTIONS = {"self_attn": "self_attention", "encoder_attn": "attention"}
LAYER = re.compile(r"model\.(?:encoder|decoder)\.layers\.\d+")
PROJECTIONS = ("q_proj", "k_proj", "v_proj")


def read_weights(file: EngineFile) -> dict[str, NDArray[np.float32]]:
    """Read all weights and biases in float32, by their names in the file."""
    weights = {}
    with file.path.open("rb") as stream:
        for name in file.variables:
            numbers = file.numbers(stream, name)
            if name + SCALE in file.variables:
                numbers = numbers / file.numbers(stream, name + SCALE)[..., None]
            weights[name] = np.asarray(numbers, np.float32)
    return weights


def engine_weights(name: str, weights: dict[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """Find the weights that transformers calls by a name."""
    if name.endswith(("shared.weight", "embed_tokens.weight", "lm_head.weight")):
        return weights["decoder/embeddings/weight"]
    *_, module, kind = name.split(".")
    side = "encoder" if ".encoder." in name.replace("encoder_attn", "") else "decoder"
    if not LAYER.match(name):
        return weights[f"{side}/layer_norm/{_norm(kind)}"]
    layer = f"{side}/layer_{name.split('.')[3]}"
    part = name.split(".")[4]
    if part in ATTENTIONS:
        attention = f"{layer}/{ATTENTIONS[part]}"
        if module == "out_proj":
            last = 1 if part == "self_attn" else 2
            return weights[f"{attention}/linear_{last}/{kind}"]
        place = PROJECTIONS.index(module)
        if part == "self_attn":  # query, key and value in one matrix
            return np.split(weights[f"{attention}/linear_0/{kind}"], 3)[place]
        if place == 0:
            return weights[f"{attention}/linear_0/{kind}"]
        return np.split(weights[f"{attention}/linear_1/{kind}"], 2)[place - 1]
    if part in ("fc1", "fc2"):
        return weights[f"{layer}/ffn/linear_{int(part[2]) - 1}/{kind}"]
    norms = {
        "self_attn_layer_norm": "self_attention",
        "encoder_attn_layer_norm": "attention",
        "final_layer_norm": "ffn",
    }
    return weights[f"{layer}/{norms[part]}/layer_norm/{_norm(kind)}"]


def _norm(kind: str) -> str:
    return {"weight": "gamma", "bias": "beta"}[kind]


def unbundled_network(file: EngineFile) -> Any:
    """Return a network of transformers with the weights of an engine's file."""
    import torch

    weights = read_weights(file)
    network = new_network(RECIPE, len(weights["decoder/embeddings/weight"]))
    with torch.no_grad():
        for name, parameter in network.state_dict().items():
            parameter.copy_(torch.from_numpy(engine_weights(name, weights)))
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    bundled = BUNDLED_FOLDER / DEFAULT_MODEL
    network = unbundled_network(read_engine_file(bundled / "model.bin"))
    with appearing(out.absolute()) as folder:
        network.save_pretrained(str(folder))
        shutil.copyfile(bundled / SPM, folder / SPM)
    print(out)


if __name__ == "__main__":
    main()
