"""Training a detector: the same weights from the same seed, whatever interrupts it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import tertium
from tertium.errors import ModelError, ResumeError, SettingError
from tertium.training.checkpoints import list_checkpoints, read_checkpoint
from tertium.training.detector.data import Example, PairSampler
from tertium.training.detector.export import draw_detector_curve, export_detector, languages_table
from tertium.training.detector.plan import (
    DetectorPlan,
    DetectorRecipe,
    Scratch,
    read_detector_plan,
)
from tertium.training.detector.run import BEST, DetectorPace, train_detector
from tertium.training.log import LOG, read_log

from ..conftest import ConvertedEncoder

WORDS = ["sea", "book", "garden", "house", "tea", "train", "letter", "roof"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """48 pairs, of which half say "not", and are no paraphrases."""
    rows = ["sentence1\tsentence2\tlabel"]
    for word in WORDS:
        for other in (1, 2, 3):
            rows.append(f"the {word} is {other}\ta {word} so {other}\t1")
            rows.append(f"the {word} is {other}\ta {word} not {other}\t0")
    path = tmp_path_factory.mktemp("pairs") / "en.tsv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def plan(pairs: Path) -> DetectorPlan:
    files = (("en", str(pairs)),)
    return DetectorPlan(
        train=files,
        dev=(("en", str(pairs)), ("de", str(pairs))),
        test=files,
        scratch=Scratch(layers=1, width=32, heads=2, vocabulary=300),
        recipe=DetectorRecipe(rate=2e-3, epochs=3, batch_size=8, accumulate=2, dev_steps=3),
    )


PACE = DetectorPace(save_steps=2, log_steps=1)


def same_weights(a: Path, b: Path) -> bool:
    left, right = (read_checkpoint(path)["network"] for path in (a, b))
    return left.keys() == right.keys() and all(
        torch.equal(left[name], right[name]) for name in left
    )


@pytest.fixture(scope="module")
def unbroken(plan: DetectorPlan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "unbroken"
    trained = train_detector(run, plan, PACE)
    assert (trained.step, trained.steps, trained.finished) == (9, 9, True)
    return run


def test_stopped_and_resumed_is_the_same(
    unbroken: Path, plan: DetectorPlan, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert not train_detector(run, plan, replace(PACE, stop_at=4)).finished
    list_checkpoints(run)[-1].unlink()  # as if it had been killed before this one was saved
    train_detector(run, plan, replace(PACE, stop_at=7))
    train_detector(run, None, PACE)
    assert same_weights(list_checkpoints(run)[-1], list_checkpoints(unbroken)[-1])
    assert same_weights(run / BEST, unbroken / BEST)
    dev = [[r["dev"] for r in read_log(each / LOG) if "dev" in r] for each in (run, unbroken)]
    assert dev[0] == dev[1]


def test_another_seed_is_another_detector(
    unbroken: Path, plan: DetectorPlan, tmp_path: Path
) -> None:
    train_detector(tmp_path / "again", plan, PACE)
    assert same_weights(tmp_path / "again" / BEST, unbroken / BEST)
    train_detector(tmp_path / "other", replace(plan, seed=2), PACE)
    assert not same_weights(tmp_path / "other" / BEST, unbroken / BEST)
    with pytest.raises(ResumeError, match=r"other settings \(seed\)"):
        train_detector(unbroken, replace(plan, seed=2), PACE)


def test_the_best_checkpoint_is_kept_and_exported(unbroken: Path, plan: DetectorPlan) -> None:
    records = [r for r in read_log(unbroken / LOG) if "dev" in r]
    assert [record["step"] for record in records] == [3, 6, 9]
    best = max(records, key=lambda record: record["dev"]["accuracy"])
    state = read_checkpoint(unbroken / BEST)
    assert state["step"] == best["step"]
    assert set(best["dev"]) == {"accuracy", "en", "de"}
    folder = export_detector(unbroken)
    detector = tertium.load_detector(folder.path)
    table = languages_table(detector, plan.test, both_orders=detector)
    assert [str(cell) for cell in table.rows[0][:2]] == ["en", "48"]
    assert table.rows[0][3].value == pytest.approx(state["accuracy"])  # in PyTorch, as here
    assert table.rows[0][4].value == 0.5
    draw_detector_curve(unbroken / LOG, unbroken / "curve.png")
    assert (unbroken / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert read_detector_plan(unbroken) == plan


def test_it_learns(plan: DetectorPlan, tmp_path: Path) -> None:
    recipe = replace(plan.recipe, epochs=12, accumulate=1, dev_steps=24)
    trained = train_detector(tmp_path / "run", replace(plan, recipe=recipe), DetectorPace())
    assert trained.best_accuracy > 0.9


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "distilbert"])
def test_any_encoder_can_be_trained(
    family: str, encoder: Callable[[str], ConvertedEncoder], plan: DetectorPlan, tmp_path: Path
) -> None:
    init = str(encoder(family).original.folder)
    recipe = replace(plan.recipe, epochs=1, max_pieces=20)
    run = tmp_path / family
    train_detector(run, replace(plan, init=init, recipe=recipe), PACE)
    folder = export_detector(run, name="mine")
    assert (folder.name, folder.detecting.max_length) == ("mine", 20)
    detector = tertium.load_detector(folder.path)
    accuracy = languages_table(detector, plan.test).rows[0][3].value
    assert accuracy == pytest.approx(read_checkpoint(run / BEST)["accuracy"])


def test_updates_go_through_the_pairs_without_repetition() -> None:
    examples = [Example((n,), (0,), n % 2, "en") for n in range(10)]
    recipe = DetectorRecipe(batch_size=2, accumulate=2, epochs=2)
    sampler = PairSampler(examples, recipe, pad=0, seed=5)
    assert sampler.steps == 5
    batches = [batch for step in range(5) for batch in sampler.batches(step)]
    drawn = [number for batch in batches for number in batch.ids[:, 0].tolist()]
    assert sorted(drawn[:10]) == sorted(drawn[10:]) == list(range(10))
    assert drawn[:10] != drawn[10:]
    other = PairSampler(examples, recipe, pad=0, seed=5)
    assert np.array_equal(other.batches(3)[1].ids, sampler.batches(3)[1].ids)


def test_what_is_wrong_is_named(plan: DetectorPlan, tmp_path: Path) -> None:
    with pytest.raises(ResumeError, match="no run yet"):
        train_detector(tmp_path / "none", None, PACE)
    with pytest.raises(SettingError, match="choose the best checkpoint"):
        replace(plan, dev=())
    with pytest.raises(SettingError, match="rate is 0"):
        DetectorRecipe(rate=0)
    with pytest.raises(ModelError, match="there is no such folder"):
        train_detector(tmp_path / "run", replace(plan, init="nowhere"), PACE)
