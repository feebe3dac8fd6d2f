"""The model of py3langid, which is unpacked once.

py3langid unpacks its model in every process: 0.4 s of CPU time, and 69 MB of memory. Here the
unpacked arrays are kept in the cache folder, and mapped into memory: processes share them, and
starting takes 10 ms.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tertium.errors import ModelError
from tertium.storage.paths import identifiers_folder
from tertium.storage.unfinished import appearing


def load_identifier(*, norm_probs: bool = False) -> Any:
    """A ``py3langid.langid.LanguageIdentifier`` with the model that is part of the package.

    With ``norm_probs``, it gives probabilities instead of scores.
    """
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    folder = identifiers_folder() / f"py3langid-{version('py3langid')}"
    try:
        return _mapped(folder, norm_probs)
    except (OSError, ValueError, EOFError):  # not unpacked yet, or damaged
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=norm_probs)
    with suppress(OSError, ModelError):  # a full disk, or another process was faster
        _unpack(identifier, folder)
    return identifier


def _unpack(identifier: Any, folder: Path) -> None:
    import numpy as np

    shutil.rmtree(folder, ignore_errors=True)
    arrays = {
        "probabilities": identifier.nb_ptc,
        "prior": identifier.nb_pc,
        "languages": np.array(identifier.nb_classes),
        "moves": np.asarray(identifier.tk_nextmove),
        "rows": np.asarray(identifier.tk_row),
        "features": np.asarray(identifier.tk_output, np.int32),
    }
    with appearing(folder) as made:
        made.mkdir()
        for name, array in arrays.items():
            np.save(made / name, array, allow_pickle=False)


def _mapped(folder: Path, norm_probs: bool) -> Any:
    import numpy as np
    from py3langid.langid import LanguageIdentifier

    def array(name: str) -> Any:
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))

    return LanguageIdentifier(
        array("probabilities"),
        array("prior"),
        array("languages").tolist(),
        memoryview(array("moves")),  # whose items are integers of Python
        array("features").tolist(),
        norm_probs=norm_probs,
        tk_row=array("rows").tolist(),
    )
