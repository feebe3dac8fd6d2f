"""Run the tests that nmtscore 0.3.3 publishes with ``tertium.compat.nmtscore`` in its place.

    python benchmarks/nmtscore_suite.py
    python benchmarks/nmtscore_suite.py --small100 path/to/model-folder

The tests come from the source release on PyPI and are not changed; only ``import nmtscore`` is
redirected. The models are tiny ones that were trained on the sentences of the tests. The numbers in
``test_readme.py`` are those of the real SMaLL-100, so without ``--small100`` these tests must fail,
and are counted separately.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
RELEASE = "nmtscore==0.3.3"
PARALLEL = (
    ("This is a test.", "Dies ist ein Test.", "C'est un test.", "Это тест."),
    ("This is a test.", "Das ist ein Test.", "Ceci est un test.", "Это проверка."),
    ("That is an attempt.", "Das ist ein Versuch.", "C'est un essai.", "Это попытка."),
    ("That is an attempt.", "Dies ist ein Test.", "C'est un test.", "Это тест."),
    ("This is a sentence.", "Das ist ein Satz.", "C'est une phrase.", "Это предложение."),
    (
        "A translation that is completely wrong.",
        "Diese Übersetzung ist komplett falsch.",
        "Une traduction tout à fait fausse.",
        "Совершенно неверный перевод.",
    ),
    (
        "A sentence completely unrelated",
        "Ein völlig anderer Satz.",
        "Une tout autre phrase.",
        "Совсем другое предложение.",
    ),
)
STEPS = 400
ALIAS = """
import importlib, sys
for part in ("", ".models", ".scorer"):
    sys.modules["nmtscore" + part] = importlib.import_module("tertium.compat.nmtscore" + part)
"""
REAL_NUMBERS = (
    "test_nmtscorer",
    "test_batch_processing",
    "test_different_similarity_measures",
    "test_batch_size",
    "test_caching",
    "ReadmeTestCase::test_nmt_models",
)
"""The tests that compare with numbers of the real SMaLL-100."""


def fetch_tests(folder: Path) -> Path:
    """Download the source release, and redirect ``import nmtscore`` in its tests."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:"]
    subprocess.run([*command, RELEASE, "--dest", str(folder)], check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as release:
        release.extractall(folder, filter="data")
    tests = folder / archive.name.removesuffix(".tar.gz") / "tests"
    (tests / "conftest.py").write_text(ALIAS, encoding="utf-8")
    return tests


def write_models(models: Path, scratch: Path, small100: Path | None) -> None:
    """Write tiny models (or the real SMaLL-100) to the cache under the names in the tests."""
    sys.path.insert(0, str(ROOT))
    from tests.tiny import make_m2m100, make_small100

    from tertium.models.convert.translation import convert

    for family, make in (("m2m100", make_m2m100), ("small100", make_small100)):
        original = scratch / family
        original.mkdir()
        tiny = make(original, PARALLEL)
        tiny.learn()
        tiny.model.save_pretrained(original)
        convert(original, scratch / f"{family}-converted", name=family)
    for name in ("m2m100_418M", "m2m100_1.2B", "prism"):
        shutil.copytree(scratch / "m2m100-converted", models / name)
    shutil.copytree(small100 or scratch / "small100-converted", models / "small100")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small100", type=Path, help="a folder with the real SMaLL-100, converted")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tests = fetch_tests(folder)
        write_models(folder / "cache" / "models", folder, arguments.small100)
        command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(tests)]
        environment = {
            **os.environ,
            "TERTIUM_CACHE": str(folder / "cache"),
            "HOME": str(folder),
        }
        run = subprocess.run(
            [*command, "-p", "no:cacheprovider", "-rf", "-Wignore", "--tb=line", str(tests)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    print(run.stdout)
    failed = [line.split()[1] for line in run.stdout.splitlines() if line.startswith("FAILED")]
    real = [test for test in failed if test.endswith(REAL_NUMBERS)]
    print(f"{RELEASE}: {run.stdout.splitlines()[-1]}")
    if arguments.small100 is None:
        print(f"{len(real)} of the failures compare with numbers of the real SMaLL-100")
    others = failed if arguments.small100 else sorted(set(failed) - set(real))
    print("other failures:", ", ".join(others) or "none")
    sys.exit(bool(others))


if __name__ == "__main__":
    main()
