"""The weights of a Hugging Face folder: all that the network has, and nothing but weights.

transformers fills what a checkpoint lacks with random numbers, and PyTorch's advice about a file
that holds more than weights is to let it run: neither is for us (extra: ``convert``).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from tertium.errors import ModelError, first_line

FORBIDDEN = re.compile(r"GLOBAL (\S+)")
"""How PyTorch names what it will not load."""
COMPUTED = re.compile(r"(^|\.)(embed_positions\.(weights|_float_tensor)|version)$")
"""What old checkpoints have and no network reads: sinusoids, and fairseq's marks."""


def load_weights(model_class: Any, folder: Path, **options: Any) -> tuple[Any, Mapping[str, Any]]:
    """Load a network, and what transformers reports of it; a wrong shape is an error."""
    with quiet():
        try:
            network, report = model_class.from_pretrained(
                folder,
                **{
                    **options,
                    "dtype": "float32",
                    "ignore_mismatched_sizes": True,  # they are named below
                    "output_loading_info": True,
                },
            )
        except Exception as error:  # of transformers, torch or safetensors
            raise not_converted(folder, error) from error
    if report["mismatched_keys"]:
        name, found, wanted = min(report["mismatched_keys"])
        raise ModelError(
            f"{folder}: the weights do not fit config.json: {name} is {_shape(found)}, "
            f"not {_shape(wanted)}"
        )
    return network, report


def load_all_weights(model_class: Any, folder: Path, **options: Any) -> Any:
    """Load a network that has every weight of its checkpoint, and no other.

    What somebody added beside the network, such as a head for training, does no harm.
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
    """A weight that the checkpoint lacks is an error, not a random number."""
    if missing := report["missing_keys"]:
        raise ModelError(f"{folder}: weights are missing: {first_names(missing)}")


def first_names(names: Iterable[str]) -> str:
    """The first three names, for people.

    >>> first_names(["d", "c", "b", "a"]), first_names(["a"])
    ('a, b, c ...', 'a')
    """
    ordered = sorted(names)
    return ", ".join(ordered[:3]) + (" ..." if len(ordered) > 3 else "")


def not_converted(folder: Path, error: Exception) -> ModelError:
    """What to say of weights that somebody else's code fails at."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, UnpicklingError):
        files = sorted(folder.glob("*.bin"))
        where = files[0] if len(files) == 1 else folder
        found = FORBIDDEN.search(str(error))
        what = f"more than weights ({found[1]})" if found else "something else than weights"
        return ModelError(f"{where} cannot be converted: it holds {what}, and is not loaded")
    reason = first_line(error) or type(error).__name__
    return ModelError(f"{folder}: its weights cannot be converted: {reason}")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from reporting: what matters of it is said in our errors."""
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
