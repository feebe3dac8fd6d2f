"""Published test sets by name, through the registry of sacrebleu and its cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertium.errors import InputError, first_line


@dataclass(frozen=True)
class TestSet:
    """The files of a test set in one language pair."""

    __test__ = False  # not a test, whatever pytest thinks of the name

    name: str
    source: Path
    references: tuple[Path, ...]


def sacrebleu_test_set(name: str, pair: tuple[str, str]) -> TestSet:
    """Find a test set such as wmt20 in the cache of sacrebleu, which downloads it if necessary."""
    from sacrebleu.dataset import DATASETS
    from sacrebleu.utils import SACREBLEU_DIR

    if name not in DATASETS:
        raise InputError(f"no test set {name!r}; `sacrebleu --list` shows their names")
    dataset: Any = DATASETS[name]
    langpair = "-".join(pair)
    if langpair not in dataset.langpairs:
        pairs = ", ".join(sorted(dataset.langpairs))
        raise InputError(f"test set {name} has no language pair {langpair}; it has {pairs}")
    try:
        source = dataset.get_source_file(langpair)
        references = dataset.get_reference_files(langpair)
    except (Exception, SystemExit) as error:  # sacrebleu leaves if a download fails
        urls = ", ".join(dataset.data or ())
        raise InputError(
            f"test set {name} is not in {SACREBLEU_DIR} and cannot be downloaded from {urls}: "
            f"{first_line(error) if isinstance(error, Exception) else 'see above'}; go online, or "
            f"copy the folder {name} from a machine that has it"
        ) from None
    return TestSet(f"{name}/{langpair}", Path(source), tuple(map(Path, references)))
