"""The class and the command line of prism.py, with the numbers of prism.py."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from tertium.compat import prism
from tertium.compat.prism import EXAMPLE, Prism, check_published, main
from tertium.errors import CutWarning, InputError, LanguageError, ModelError, SettingError
from tertium.models.catalog import entries
from tertium.models.convert import translation as converting
from tertium.models.convert.fairseq.release import Release
from tertium.storage.paths import models_folder

from ..conftest import Converted
from ..released import Released

WEIGHTS = os.environ.get("TERTIUM_TEST_WEIGHTS")
"""A folder with the original release in ``m39v1/`` (http://data.statmt.org/prism/m39v1.tar)."""

# The example of prism's README, https://github.com/thompsonb/prism.
CAND = ["Hi world.", "This is a Test."]
REF = ["Hello world.", "This is a test."]
SRC = ["Bonjour le monde.", "C'est un test."]


@pytest.mark.skipif(
    WEIGHTS is None,
    reason="PRISM'S PUBLISHED NUMBERS WERE NOT CHECKED: "
    "set TERTIUM_TEST_WEIGHTS to a folder that has the original release in m39v1/",
)
def test_the_numbers_that_prism_published() -> None:
    prism = Prism(model_dir=Path(str(WEIGHTS)) / "m39v1", lang="en")
    assert prism.identifier()["model"] == "m39v1"
    assert len(prism.model.languages.all) == 39
    segments = prism.score(cand=CAND, ref=REF, segment_scores=True)
    assert segments == pytest.approx([-1.4878583, -0.5490748], abs=1e-4)
    assert prism.score(cand=CAND, ref=REF) == pytest.approx(-1.0184666, abs=1e-4)
    segments = prism.score(cand=CAND, src=SRC, segment_scores=True)
    assert segments == pytest.approx([-2.462842, -1.1985264], abs=1e-4)
    assert prism.score(cand=CAND, src=SRC) == pytest.approx(-1.8306842, abs=1e-4)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return Released(tmp_path_factory.mktemp("prism") / "release")


def expected_ref(release: Released) -> list[float]:
    """The paper's formula over a plain PyTorch forward pass."""
    return [
        0.5 * fmean(release.log_probs(cand, ref, "en"))
        + 0.5 * fmean(release.log_probs(ref, cand, "en"))
        for cand, ref in zip(CAND, REF, strict=True)
    ]


def expected_src(release: Released) -> list[float]:
    pairs = zip(CAND, SRC, strict=True)
    return [fmean(release.log_probs(cand, src, "en")) for cand, src in pairs]


def test_published_scores_are_compared(release: Released, monkeypatch: pytest.MonkeyPatch) -> None:
    """With those of the network, for want of the weights; then with the real ones."""
    expected = [*expected_ref(release), *expected_src(release)]
    names = ("ref 1", "ref 2", "src 1", "src 2")
    own = replace(EXAMPLE, scores=dict(zip(names, expected, strict=True)))
    assert list(EXAMPLE.scores) == list(names)
    with monkeypatch.context() as patch:
        patch.setattr("tertium.compat.prism.EXAMPLE", own)
        found = check_published(release.folder)
    assert list(found.values()) == pytest.approx(expected, abs=1e-4)
    with pytest.raises(ModelError, match=r"ref 1 of the example .* not -1\.4878583"):
        check_published(release.folder)


def test_scores_are_those_of_the_network(release: Released) -> None:
    prism = Prism(model_dir=str(release.folder) + "/", lang="en")
    for found, expected in (
        (prism.score(cand=CAND, ref=REF, segment_scores=True), expected_ref(release)),
        (prism.score(cand=CAND, src=SRC, segment_scores=True), expected_src(release)),
    ):
        assert isinstance(found, np.ndarray)
        assert found.dtype == np.float32
        assert found == pytest.approx(expected, abs=1e-4)
    system = prism.score(CAND, REF)
    assert isinstance(system, np.float32)
    assert system == pytest.approx(fmean(expected_ref(release)), abs=1e-4)
    assert prism.score(CAND, src=SRC) == pytest.approx(fmean(expected_src(release)), abs=1e-4)


def test_identifier(release: Released) -> None:
    """prism.py's hash is MD5 over the four files, one after the other."""
    import hashlib

    names = ("checkpoint.pt", "spm.model", "dict.src.txt", "dict.tgt.txt")
    content = b"".join((release.folder / name).read_bytes() for name in names)
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    found = Prism(release.folder, "en").identifier()
    assert found["model"] == digest
    assert found["seg_scores"] == found["sys_scores"] == "avg_log_prob"
    assert found["log_base"] == "e"
    assert found["temperature"] == 1.0
    assert [entry.name for entry in entries() if entry.where == "cached"] == [
        f"prism-{digest[:12]}"
    ]


def test_a_release_is_converted_once(release: Released, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Prism(release.folder, "en")
    monkeypatch.setattr(Release, "write", None)  # whoever converts again will fall over it
    second = Prism(release.folder, "de")
    assert first.model.fingerprint == second.model.fingerprint
    [folder] = models_folder().iterdir()
    assert Prism(folder, "en").model.fingerprint == first.model.fingerprint
    assert Prism(folder.name, "en").model.fingerprint == first.model.fingerprint


def test_another_process_may_be_first(release: Released, monkeypatch: pytest.MonkeyPatch) -> None:
    real = converting.convert

    def too_late(source: Path, out: Path, **settings: str) -> object:
        real(source, out, name=settings["name"])  # as another process does meanwhile
        return real(source, out, name=settings["name"])

    monkeypatch.setattr(converting, "convert", too_late)
    assert Prism(release.folder, "en").score(CAND, REF) < 0


def test_nothing_half_finished_is_left(release: Released, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Release, out: Path) -> None:
        out.mkdir()
        (out / "model.bin").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Release, "write", fail)
    with pytest.raises(OSError, match="No space left"):
        Prism(release.folder, "en")
    assert list(models_folder().iterdir()) == []


def test_models_of_tertium(tiny_prism: Converted) -> None:
    original = tiny_prism.original
    prism = Prism(tiny_prism.folder.path, lang="deu")
    assert prism.lang == "de"
    assert prism.identifier()["model"] == tiny_prism.folder.name
    found = prism.score(["Das Meer."], src=["The sea."], segment_scores=True)
    expected = fmean(original.log_probs("Das Meer.", "The sea.", "de", "en"))
    assert found == pytest.approx([expected], abs=1e-4)


def test_what_cannot_be_done_is_said(release: Released, tiny_m2m100: Converted) -> None:
    with pytest.raises(SettingError, match=r"temperature=2\.0: .*only 1\.0 is supported"):
        Prism(release.folder, "en", temperature=2.0)
    with pytest.raises(LanguageError, match="'sw', which the model does not support"):
        Prism(release.folder, "sw")
    with pytest.raises(ModelError, match="neither a folder nor one of"):
        Prism("no/such/folder", "en")
    prism = Prism(release.folder, "en")
    with pytest.raises(InputError, match='exactly one of "ref" and "src"'):
        prism.score(CAND)
    with pytest.raises(InputError, match='exactly one of "ref" and "src"'):
        prism.score(CAND, REF, SRC)
    with pytest.raises(InputError, match="2 hypotheses, but 1 references"):
        prism.score(CAND, REF[:1])
    with pytest.raises(InputError, match="as a list of strings"):
        prism.score("Hi world.", "Hello world.")
    with pytest.raises(InputError, match="nothing to score"):
        prism.score([], ref=[])
    tagged = Prism(tiny_m2m100.folder.path, "en")
    assert tagged.score(CAND, REF) < 0
    with pytest.raises(LanguageError, match="must know the language of the sources"):
        tagged.score(CAND, src=SRC)


def test_long_texts_are_cut_and_said(release: Released) -> None:
    with pytest.warns(CutWarning, match="1 of 1 row holds"):
        score = Prism(release.folder, "en").score(["sea " * 100], ["sea"])
    assert np.isfinite(score)


def write(folder: Path, name: str, lines: list[str]) -> str:
    (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(folder / name)


def test_the_command_line(
    release: Released, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--cand", write(tmp_path, "cand.en", CAND), "--ref", write(tmp_path, "ref.en", REF)]
    shared = ["--lang", "en", "--model-dir", str(release.folder)]
    main([*files, *shared])
    out, err = capsys.readouterr()
    assert float(out) == pytest.approx(fmean(expected_ref(release)), abs=1e-4)
    assert err.startswith("Prism identifier: {'version': 'tertium-")
    main([*files[:2], "--src", write(tmp_path, "src.fr", SRC), *shared, "--segment-scores"])
    lines = capsys.readouterr().out.splitlines()
    assert [float(line) for line in lines] == pytest.approx(expected_src(release), abs=1e-4)
    main([*files, *shared, "--debug"])
    shown = capsys.readouterr().err
    first = release.log_probs(CAND[0], REF[0], "en")
    assert f"[{first[0]:.2f}]" in shown
    assert shown.count("Output[0] = ") == shown.count("Output[1] = ") == 2


def test_the_command_line_as_a_process(release: Released, tmp_path: Path) -> None:
    """Candidates come from standard input where no file is named."""
    ref = write(tmp_path, "ref.en", REF)
    command = [sys.executable, "-W", "error", "-m", "tertium.compat.prism", "--ref", ref]
    command += ["--lang", "en", "--model-dir", str(release.folder)]
    done = subprocess.run(command, input="\n".join(CAND), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(fmean(expected_ref(release)), abs=1e-4)


def test_sets_of_sacrebleu(
    release: Released,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The language is that of the candidates, for sources too (prism.py took the sources')."""
    import sacrebleu

    dataset = type(sacrebleu.DATASETS["wmt19"])
    ref, src = write(tmp_path, "ref.en", REF), write(tmp_path, "src.fr", SRC)
    monkeypatch.setattr(dataset, "get_reference_files", lambda self, pair: [ref])
    monkeypatch.setattr(dataset, "get_source_file", lambda self, pair: src)
    shared = ["--cand", write(tmp_path, "cand.en", CAND), "--model-dir", str(release.folder)]
    main([*shared, "--ref", "sacrebleu:wmt19:de-en"])
    out = capsys.readouterr().out
    assert float(out) == pytest.approx(fmean(expected_ref(release)), abs=1e-4)
    main([*shared, "--src", "sacrebleu:wmt19:de-en"])
    out = capsys.readouterr().out
    assert float(out) == pytest.approx(fmean(expected_src(release)), abs=1e-4)
    for wrong in ("sacrebleu:wmt19", "sacrebleu:none:de-en", "sacrebleu:wmt19:xx-yy"):
        with pytest.raises(SystemExit, match="2"):
            main([*shared, "--src", wrong])
        assert "write it as sacrebleu:TESTSET:LANGPAIR" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lang", "en"], "exactly one of --ref and --src"),
        (["--ref", "REF", "--src", "REF", "--lang", "en"], "exactly one of --ref and --src"),
        (["--ref", "REF"], "use --lang"),
        (["--ref", "REF", "--lang", "en", "--temperature", "0.5"], "temperature=0.5"),
        (["--ref", "none.txt", "--lang", "en"], "none.txt cannot be read"),
    ],
)
def test_mistakes_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    ref = write(tmp_path, "ref.en", REF)
    named = [ref if option == "REF" else option for option in options]
    with pytest.raises(SystemExit, match="2"):
        main(["--model-dir", "tertium-mini", "--cand", ref, *named])
    assert message in capsys.readouterr().err


def test_the_release_that_prism_knows() -> None:
    """The hash and the name that prism.py has."""
    assert prism.RELEASE_NAMES["8412b2044da4b9b2c0a8ce87b305d0d1"] == "m39v1"
