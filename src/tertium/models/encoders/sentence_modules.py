"""The modules of a sentence-transformers folder, which compute a sentence vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertium.errors import ModelError
from tertium.models.convert.checkpoint import not_converted, read_json, read_object
from tertium.models.encoders.pooling import ACTIVATIONS, MODES, Dense

MODULES = "modules.json"
LEGACY_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""In the order in which sentence-transformers concatenates them."""


@dataclass(frozen=True, eq=False)
class SentenceModules:
    """The modules that compute a sentence vector; a plain encoder has mean pooling."""

    transformer: Path
    pooling: tuple[str, ...] = ("mean",)
    dense: tuple[Dense, ...] = ()
    max_length: int | None = None
    lowercase: bool = False
    prefix: str = ""


def read_sentence_modules(folder: Path) -> SentenceModules:
    """Read ``modules.json`` and the modules; an unsupported module is an error."""
    if not (folder / MODULES).is_file():
        return SentenceModules(folder)
    transformer, dense = folder, []
    pooling: tuple[str, ...] = ("mean",)
    for kind, path in _modules(folder):
        match kind:
            case "Transformer":
                transformer = path
            case "Pooling":
                pooling = _pooling(path)
            case "Dense":
                dense.append(_dense(path))
            case "Normalize":
                pass  # our sentence vectors always have length 1
            case _:
                raise ModelError(
                    f"{folder}: the module {kind} is unsupported "
                    "(supported: Transformer, Pooling, Dense, Normalize)"
                )
    settings: dict[str, Any] = {}
    for file in sorted(transformer.glob("sentence_*_config.json")):
        settings |= read_object(file)
    return SentenceModules(
        transformer,
        pooling,
        tuple(dense),
        max_length=settings.get("max_seq_length") or _tokenizer_limit(transformer),
        lowercase=bool(settings.get("do_lower_case", False)),
        prefix=_default_prompt(folder),
    )


def _modules(folder: Path) -> list[tuple[str, Path]]:
    """The modules in order: kind and folder."""
    file = folder / MODULES
    try:
        modules = sorted(read_json(file)[:], key=lambda module: int(module["idx"]))
        return [
            (str(module["type"]).rpartition(".")[2], folder / str(module["path"]))
            for module in modules
        ]
    except (KeyError, TypeError, ValueError):
        raise ModelError(
            f"{file} cannot be read: it must be a list of modules, each with idx, type and path"
        ) from None


def _pooling(path: Path) -> tuple[str, ...]:
    config = read_object(path / "config.json")
    setting = config.get("pooling_mode")
    if setting is None:
        setting = [mode for key, mode in LEGACY_MODES.items() if config.get(key)] or ["mean"]
    modes = (setting,) if isinstance(setting, str) else tuple(setting)
    for mode in modes:
        if mode not in MODES:
            raise ModelError(
                f"{path}: the pooling {mode!r} is unsupported (supported: {', '.join(MODES)})"
            )
    if config.get("include_prompt") is False:
        raise ModelError(f"{path}: pooling without the prompt is unsupported")
    return modes


def _dense(path: Path) -> Dense:
    config = read_object(path / "config.json")
    if config.get("use_residual") or config.get("module_input_name", "sentence_embedding") != (
        "sentence_embedding"
    ):
        raise ModelError(f"{path}: this kind of Dense module is unsupported")
    activation = str(config.get("activation_function", "Tanh")).rpartition(".")[2].lower()
    if activation not in ACTIVATIONS:
        raise ModelError(
            f"{path}: the activation {activation!r} is unsupported "
            f"(supported: {', '.join(ACTIVATIONS)})"
        )
    weights = _weights(path)
    return Dense(weights["linear.weight"], weights.get("linear.bias"), activation)


def _weights(path: Path) -> Mapping[str, Any]:
    """Read the weights, without running code of a checkpoint."""
    import torch

    try:
        if (path / "model.safetensors").is_file():
            from safetensors.torch import load_file

            tensors = load_file(path / "model.safetensors")
        else:
            tensors = torch.load(path / "pytorch_model.bin", map_location="cpu", weights_only=True)
        return {name: tensor.float().numpy() for name, tensor in tensors.items()}
    except Exception as error:  # of torch or safetensors
        raise not_converted(path, error) from error


def _tokenizer_limit(folder: Path) -> int | None:
    file = folder / "tokenizer_config.json"
    limit = read_object(file).get("model_max_length") if file.is_file() else None
    return int(limit) if limit is not None and limit < 1_000_000 else None


def _default_prompt(folder: Path) -> str:
    file = folder / "config_sentence_transformers.json"
    config = read_object(file) if file.is_file() else {}
    name = config.get("default_prompt_name")
    return str(config.get("prompts", {}).get(name, "")) if name else ""
