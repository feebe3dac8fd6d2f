"""Every detector says what its original says, in any batch, and needs no PyTorch."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tertium
from tertium.errors import InputError, ModelError, SettingError
from tertium.models.base import ParaphraseDetector
from tertium.models.card import DetectorCard, DetectorSettings, TranslationSettings, read_card
from tertium.models.convert.detector import convert_detector

from ..cli.conftest import TERTIUM
from ..conftest import ConvertedEncoder
from ..tiny_encoders import ENCODERS

FIRST = ["The sea was calm.", "She reads a book.", "x", "She reads [SEP] a book."]
SECOND = ["The calm sea.", "He reads a book in the garden of the old house. " * 12, "y", "tea"]


@dataclass(frozen=True)
class TinyDetector:
    """The same classifier twice: in PyTorch, and as a folder of ours."""

    tokenizer: Any
    network: Any
    original: Path
    folder: DetectorCard

    def probability(self, a: str, b: str) -> float:
        import torch

        longest = self.folder.settings.max_length
        given = self.tokenizer(
            a,
            b,
            truncation=True,
            max_length=longest,
            return_tensors="pt",
            split_special_tokens=True,
        )
        with torch.no_grad():
            classes = torch.softmax(self.network(**given).logits[0], dim=-1)
        return float(classes[1])


@pytest.fixture(scope="module")
def detectors(
    encoder: Callable[[str], ConvertedEncoder], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], TinyDetector]:
    made: dict[str, TinyDetector] = {}

    def get(family: str) -> TinyDetector:
        import torch
        from transformers import AutoModelForSequenceClassification
        from transformers.utils import logging

        if family not in made:
            scratch = tmp_path_factory.mktemp(f"detector-{family}")
            original = encoder(family).original
            logging.set_verbosity_error()
            torch.manual_seed(3)
            network = AutoModelForSequenceClassification.from_pretrained(
                original.folder, num_labels=2
            ).eval()
            for name, weights in network.named_parameters():
                if "classifier" in name or "pooler" in name:
                    torch.nn.init.normal_(weights, 0.0, 0.3)
                if "token_type" in name:
                    torch.nn.init.normal_(weights, 0.0, 0.5)
            network.save_pretrained(scratch / "original")
            original.tokenizer.save_pretrained(scratch / "original")
            folder = convert_detector(scratch / "original", scratch / "converted", name=family)
            made[family] = TinyDetector(original.tokenizer, network, scratch / "original", folder)
        return made[family]

    return get


@pytest.mark.parametrize("family", list(ENCODERS))
def test_the_same_as_the_original(family: str, detectors: Callable[[str], TinyDetector]) -> None:
    tiny = detectors(family)
    loaded = tertium.load_detector(tiny.folder.path)
    assert isinstance(loaded, ParaphraseDetector)
    found = loaded.detect(FIRST[:3], SECOND[:3])
    expected = [tiny.probability(a, b) for a, b in zip(FIRST[:3], SECOND[:3], strict=True)]
    assert found.probabilities == pytest.approx(expected, abs=1e-5)
    assert max(expected) - min(expected) > 1e-3
    assert found.cut == (False, True, False)
    for place, (a, b) in enumerate(zip(FIRST[:3], SECOND[:3], strict=True)):
        assert loaded.detect([a], [b]).probabilities[0] == pytest.approx(
            found.probabilities[place], abs=1e-6
        )


def test_order_matters_unless_it_must_not(detectors: Callable[[str], TinyDetector]) -> None:
    path = detectors("bert").folder.path
    one = tertium.load_detector(path)
    forth = one.detect(FIRST, SECOND).probabilities
    back = one.detect(SECOND, FIRST).probabilities
    assert max(abs(a - b) for a, b in zip(forth, back, strict=True)) > 1e-3
    both = tertium.load_detector(path, both_orders=True)
    means = [(a + b) / 2 for a, b in zip(forth, back, strict=True)]
    assert both.detect(FIRST, SECOND).probabilities == pytest.approx(means)
    assert both.detect(SECOND, FIRST).probabilities == pytest.approx(means)


def test_empty_texts_and_none_at_all(detectors: Callable[[str], TinyDetector]) -> None:
    loaded = tertium.load_detector(detectors("xlm-roberta").folder.path)
    assert loaded.detect([], []).probabilities == ()
    [p] = loaded.detect([""], [""]).probabilities
    assert 0 <= p <= 1
    with pytest.raises(InputError, match="1 first text, but 2 second texts"):
        loaded.detect(["a"], ["b", "c"])
    with pytest.raises(InputError, match="two lists"):
        loaded.detect("a", "b")


def test_no_pytorch_is_loaded(detectors: Callable[[str], TinyDetector]) -> None:
    code = (
        "import sys, tertium\n"
        f"found = tertium.load_detector({str(detectors('bert').folder.path)!r})\n"
        "found.detect(['a'], ['b'])\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_wrong_is_named(
    detectors: Callable[[str], TinyDetector],
    encoder: Callable[[str], ConvertedEncoder],
    tmp_path: Path,
) -> None:
    tiny = detectors("bert")
    read_card(tiny.folder.path, DetectorSettings).verified()
    with pytest.raises(ModelError, match=r"no detector 'nothing'.*train detector"):
        tertium.load_detector("nothing")
    with pytest.raises(ModelError, match="is an encoder, not a paraphrase detector"):
        tertium.load_detector(encoder("bert").folder.path)
    with pytest.raises(ModelError, match="is a paraphrase detector, not a translation model"):
        read_card(tiny.folder.path, TranslationSettings)
    with pytest.raises(ModelError, match=r"weights are missing .* it is not a classifier"):
        convert_detector(encoder("bert").original.folder, tmp_path / "out")
    with pytest.raises(SettingError, match=r"positive=2: .* has 2 classes"):
        convert_detector(tiny.original, tmp_path / "out", positive=2)
    other = convert_detector(tiny.original, tmp_path / "turned", positive=0)
    turned = tertium.load_detector(other.path).detect(FIRST, SECOND).probabilities
    straight = tertium.load_detector(tiny.folder.path).detect(FIRST, SECOND).probabilities
    assert turned == pytest.approx([1 - p for p in straight])


def test_detectors_are_listed(
    detectors: Callable[[str], TinyDetector], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERTIUM_CACHE", str(tmp_path))
    folder = detectors("bert").folder
    shutil.copytree(folder.path, tmp_path / "models" / "mine")
    listed = subprocess.run([*TERTIUM, "models"], capture_output=True, text=True, check=True)
    assert [line for line in listed.stdout.splitlines() if folder.fingerprint[:12] in line]
    assert "mine" in listed.stdout
    told = subprocess.run(
        [*TERTIUM, "models", "info", "mine"], capture_output=True, text=True, check=True
    )
    assert "detector     bert" in told.stdout
    assert folder.fingerprint in told.stdout
