"""The model of py3langid, which is unpacked once.

py3langid (0.4.0) unpacks its model in every process: 0.4 to 0.6 s of CPU time, and 69 MB of memory.
Here the unpacked arrays are kept in the cache folder, and mapped into memory: processes share them,
and starting takes 20 ms. Only the public constructor and attributes of its class are used; whatever
goes wrong with the arrays, the packed model is used.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tertium.errors import ModelError
from tertium.storage.atomic import sync
from tertium.storage.paths import identifiers_folder
from tertium.storage.unfinished import derived

FORMAT = 1
ENGLISH = "Where did you learn to speak French so well?"


def load_identifier(*, norm_probs: bool = False) -> Any:
    """A ``py3langid.langid.LanguageIdentifier`` with the model that is part of the package.

    With ``norm_probs``, it gives probabilities instead of scores.
    """
    folder = unpacked_folder()
    with suppress(Exception):  # not unpacked yet, damaged, or of another version
        return _mapped(folder, norm_probs)
    identifier = _packed(norm_probs)
    with suppress(Exception):  # a full disk, or another layout of the arrays
        _unpack(identifier, folder)
    return identifier


def unpacked_folder() -> Path:
    """Where the arrays of this version of py3langid are kept."""
    return identifiers_folder() / f"py3langid-{version('py3langid')}-{FORMAT}"


def check_unpacked() -> None:
    """Compare the arrays in the cache with the model of the package; ModelError if they differ."""
    import numpy as np

    folder = unpacked_folder()
    for name, array in _arrays(_packed(False)).items():
        try:
            same = np.array_equal(_array(folder, name), array)
        except Exception as error:
            raise ModelError(f"{folder} is damaged ({error})") from error
        if not same:
            raise ModelError(f"{folder} is damaged ({name})")


def _packed(norm_probs: bool) -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=norm_probs)


def _arrays(identifier: Any) -> dict[str, Any]:
    import numpy as np

    return {
        "probabilities": identifier.nb_ptc,
        "prior": identifier.nb_pc,
        "languages": np.array(identifier.nb_classes),
        "moves": np.asarray(identifier.tk_nextmove),
        "rows": np.asarray(identifier.tk_row),
        "features": np.asarray(identifier.tk_output, np.int32),
    }


def _array(folder: Path, name: str) -> Any:
    import numpy as np

    return np.asarray(np.lib.format.open_memmap(folder / f"{name}.npy", mode="r"))


def _mapped(folder: Path, norm_probs: bool) -> Any:
    from py3langid.langid import LanguageIdentifier

    identifier = LanguageIdentifier(
        _array(folder, "probabilities"),
        _array(folder, "prior"),
        _array(folder, "languages").tolist(),
        memoryview(_array(folder, "moves")),  # whose items are integers of Python
        _array(folder, "features").tolist(),
        norm_probs=norm_probs,
        tk_row=_array(folder, "rows").tolist(),
    )
    if identifier.classify(ENGLISH)[0] != "en":
        raise ModelError(f"{folder} is damaged")
    return identifier


def _is_complete(folder: Path) -> bool:
    try:
        _mapped(folder, norm_probs=False)
    except Exception:
        return False
    return True


def _unpack(identifier: Any, folder: Path) -> None:
    """Write the arrays, unless another process has done so meanwhile; replace damaged ones."""
    import numpy as np

    with derived(folder, lambda: _is_complete(folder)) as made:
        for name, array in _arrays(identifier).items():
            with (made / f"{name}.npy").open("wb") as stream:
                np.save(stream, array, allow_pickle=False)
                sync(stream)
