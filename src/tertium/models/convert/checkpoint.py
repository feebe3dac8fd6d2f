"""Reading of published models: their configuration, and weights (extra: ``convert``).

Errors name file and reason. transformers initialises missing weights at random, and PyTorch
suggests unpickling files that contain more than weights; here both are errors.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from tertium.errors import ModelError, first_line
from tertium.registry import Extra, check_extras

CONFIG = "config.json"


def read_config_file(folder: Path) -> dict[str, Any]:
    """Read ``config.json``; a folder without it is not a model."""
    if not (folder / CONFIG).is_file():
        raise ModelError(f"{folder} has no {CONFIG}: it is not a model that can be converted")
    return read_object(folder / CONFIG)


def read_object(file: Path) -> dict[str, Any]:
    """Read a JSON object."""
    content = read_json(file)
    if not isinstance(content, dict):
        raise ModelError(f"{file} cannot be read: it contains {_kind(content)}, not an object")
    return content


def read_json(file: Path) -> Any:
    """Read JSON of any kind."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ModelError(f"{file} cannot be read: it is not UTF-8 text") from None
    except (FileNotFoundError, RecursionError, ValueError) as error:
        raise ModelError(f"{file} cannot be read: {first_line(error)}") from None


def count(settings: Mapping[str, Any], file: Path, *names: str) -> int:
    """Get a positive integer from settings, by the first of ``names`` that they have."""
    for name in names:
        value = settings.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ModelError(f"{file}: {name} is {value!r}, not a positive integer")
        return value
    raise ModelError(f"{file} has no {' or '.join(names)}")


def _kind(content: object) -> str:
    names = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(content), "a number")


FORBIDDEN = re.compile(r"GLOBAL (\S+)")
"""The name of the object that PyTorch refuses to load, in its error message."""
COMPUTED = re.compile(
    r"(^|\.)(embed_positions\.(weights|_float_tensor)|version"
    r"|attn\.(masked_)?bias|rotary_emb\.inv_freq)$"
)
"""Entries of old checkpoints that no network uses: sinusoids and version numbers of fairseq, causal
masks of GPT-2, frequencies of Llama."""


CONVERT = Extra("convert", ("torch", "transformers", "langcodes"))


def check_libraries() -> None:
    """Check that the packages for a conversion are installed."""
    check_extras("converting a model", [CONVERT])


def load_weights(model_class: Any, folder: Path, **options: Any) -> tuple[Any, Mapping[str, Any]]:
    """Load a network with transformers' loading report; a wrong shape is an error."""
    with quiet():
        try:
            network, report = model_class.from_pretrained(
                folder,
                **{
                    **options,
                    "dtype": "float32",
                    "ignore_mismatched_sizes": True,  # reported below
                    "output_loading_info": True,
                },
            )
        except Exception as error:  # of transformers, torch or safetensors
            raise not_converted(folder, error) from error
    if report["mismatched_keys"]:
        name, shape, expected = min(report["mismatched_keys"])
        raise ModelError(
            f"{folder}: the weights do not match config.json: {name} is {_shape(shape)}, "
            f"not {_shape(expected)}"
        )
    return network, report


def load_all_weights(model_class: Any, folder: Path, **options: Any) -> Any:
    """Load a network whose weights are exactly those of its checkpoint.

    Modules beside the network, such as a head that was used in training, are ignored.
    """
    network, report = load_weights(model_class, folder, **options)
    refuse_missing(folder, report)
    parts = {name for part in (network, network.base_model) for name, _ in part.named_children()}
    unused = [
        name
        for name in report["unexpected_keys"]
        if name.partition(".")[0] in parts and not COMPUTED.search(name)
    ]
    if unused:
        raise ModelError(
            f"{folder}: config.json describes a network without some of the weights: "
            f"{first_names(unused)}"
        )
    return network


def refuse_missing(folder: Path, report: Mapping[str, Any]) -> None:
    """Raise an error if the checkpoint lacks weights, which transformers initialises at random."""
    if missing := report["missing_keys"]:
        raise ModelError(f"{folder}: weights are missing: {first_names(missing)}")


def first_names(names: Iterable[str]) -> str:
    """The first three names, for an error message.

    >>> first_names(["d", "c", "b", "a"]), first_names(["a"])
    ('a, b, c ...', 'a')
    """
    ordered = sorted(names)
    return ", ".join(ordered[:3]) + (" ..." if len(ordered) > 3 else "")


def not_converted(folder: Path, error: Exception) -> ModelError:
    """The error for weights that transformers, PyTorch or CTranslate2 cannot load."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, UnpicklingError):
        files = sorted(folder.glob("*.bin"))
        where = files[0] if len(files) == 1 else folder
        match = FORBIDDEN.search(str(error))
        what = f"more than weights ({match[1]})" if match else "something other than weights"
        return ModelError(f"{where} cannot be converted: it contains {what}, and is not loaded")
    reason = first_line(error) or type(error).__name__
    return ModelError(f"{folder}: its weights cannot be converted: {reason}")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers; our errors report what matters."""
    from transformers.utils import logging

    shown, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(shown)
        if bars:
            logging.enable_progress_bar()


def _shape(size: Iterable[int]) -> str:
    return " x ".join(map(str, size))
