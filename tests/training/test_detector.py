"""Training a detector: the same weights from the same seed, whatever interrupts it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import tertium
from tertium.errors import ModelError, ResumeError, SettingError
from tertium.training.checkpoints import BEST, list_checkpoints, read_checkpoint
from tertium.training.detector.data import Example, PairSampler, make_pair_batch
from tertium.training.detector.export import export_detector, languages_table
from tertium.training.detector.plan import (
    DetectorPlan,
    DetectorRecipe,
    Scratch,
    get_detector_recipe,
)
from tertium.training.detector.run import train_detector
from tertium.training.log import LOG, draw_curve, read_log
from tertium.training.loop import Pace
from tertium.training.plan import read_plan, write_plan
from tertium.training.precision import survives_product

from ..conftest import ConvertedEncoder
from .processes import finish, several, start

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
        recipe=DetectorRecipe(peak_rate=2e-3, epochs=3, batch_size=8, accumulate=2, dev_steps=3),
    )


PACE = Pace(save_steps=2, log_steps=1)


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
    assert not train_detector(run, plan, replace(PACE, steps=4)).finished
    list_checkpoints(run)[-1].unlink()  # as if it had been killed before this one was saved
    train_detector(run, plan, replace(PACE, steps=7))
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
    draw_curve(unbroken / LOG, unbroken / "curve.png")
    assert (unbroken / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert read_plan(unbroken, DetectorPlan) == plan


def test_it_learns(plan: DetectorPlan, tmp_path: Path) -> None:
    recipe = replace(plan.recipe, epochs=12, accumulate=1, dev_steps=24)
    trained = train_detector(tmp_path / "run", replace(plan, recipe=recipe), Pace())
    assert trained.best.score > 0.9


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "distilbert"])
def test_any_encoder_can_be_trained(
    family: str, encoder: Callable[[str], ConvertedEncoder], plan: DetectorPlan, tmp_path: Path
) -> None:
    init = str(encoder(family).original.folder)
    recipe = replace(plan.recipe, epochs=1, max_tokens=20)
    run = tmp_path / family
    train_detector(run, replace(plan, init=init, recipe=recipe), PACE)
    folder = export_detector(run, name="mine")
    assert (folder.name, folder.settings.max_length) == ("mine", 20)
    detector = tertium.load_detector(folder.path)
    accuracy = languages_table(detector, plan.test).rows[0][3].value
    assert accuracy == pytest.approx(read_checkpoint(run / BEST)["accuracy"])


def test_updates_go_through_the_pairs_without_repetition() -> None:
    examples = [Example((n,), (0,), n % 2, "en") for n in range(10)]
    recipe = DetectorRecipe(batch_size=2, accumulate=2, epochs=2)
    sampler = PairSampler(examples, recipe, pad=0, seed=5)
    assert sampler.steps == 5
    batches = [sampler.batch(number) for number in range(10)]
    drawn = [number for batch in batches for number in batch.ids[:, 0].tolist()]
    assert sorted(drawn[:10]) == sorted(drawn[10:]) == list(range(10))
    assert drawn[:10] != drawn[10:]
    other = PairSampler(examples, recipe, pad=0, seed=5)
    assert np.array_equal(other.batch(7).ids, sampler.batch(7).ids)


def test_a_part_of_a_batch_has_no_more_padding_than_it_needs() -> None:
    examples = [Example((5,) * n, (0,) * n, n % 2, "en") for n in (3, 1, 2)]
    batch = make_pair_batch(examples, pad=0)
    part = batch.part(1, 2)
    assert (part.ids.tolist(), part.mask.tolist(), part.labels.tolist()) == ([[5]], [[1]], [1])
    assert [batch.part(part, 4).count for part in range(4)] == [1, 1, 1, 0]


@several
def test_two_processes_have_the_gradients_of_one(
    encoder: Callable[[str], ConvertedEncoder], plan: DetectorPlan, tmp_path: Path
) -> None:
    """Without dropout; of the pairs of an odd batch, each process gets every other one."""
    init = shutil.copytree(encoder("bert").original.folder, tmp_path / "init")
    config = json.loads((init / "config.json").read_text("utf-8"))
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (init / "config.json").write_text(json.dumps(config), "utf-8")
    recipe = replace(plan.recipe, max_tokens=20, batch_size=5, accumulate=3)
    plan = replace(plan, init=str(init), recipe=recipe)
    write_plan(tmp_path / "two", plan)
    processes = start("train", "detector", tmp_path / "two", "--device", "cpu", "--stop-at", "1")
    train_detector(tmp_path / "one", plan, replace(PACE, steps=1))
    assert finish(processes) == [0, 0]
    one, two = (
        read_checkpoint(list_checkpoints(tmp_path / run)[-1])["optimizer"]["state"]
        for run in ("one", "two")
    )
    assert one.keys() == two.keys()
    for parameter in one:  # Adam's mean is a tenth of the gradient
        left, right = (state[parameter]["exp_avg"] for state in (one, two))
        torch.testing.assert_close(left, right, rtol=1e-4, atol=1e-7)
    assert max(float(state["exp_avg"].abs().max()) for state in one.values()) > 1e-3


@pytest.mark.filterwarnings("ignore:.*often slower than float32")
def test_a_detector_learns_in_16_bits(plan: DetectorPlan, tmp_path: Path) -> None:
    if not survives_product("bf16"):
        pytest.skip("TRAINING IN bf16 IS NOT TESTED: its products kill this process")
    pace = replace(PACE, precision="bf16")
    train_detector(tmp_path / "run", plan, replace(pace, steps=5))
    train_detector(tmp_path / "run", None, PACE)
    train_detector(tmp_path / "unbroken", plan, pace)
    last = [list_checkpoints(tmp_path / run)[-1] for run in ("run", "unbroken")]
    assert [read_checkpoint(path)["precision"] for path in last] == ["bf16", "bf16"]
    assert same_weights(*last)


def test_what_is_wrong_is_named(plan: DetectorPlan, tmp_path: Path) -> None:
    with pytest.raises(ResumeError, match="not a training run yet"):
        train_detector(tmp_path / "none", None, PACE)
    with pytest.raises(SettingError, match="choose the best checkpoint"):
        replace(plan, dev=())
    with pytest.raises(SettingError, match="rate is 0"):
        DetectorRecipe(peak_rate=0)
    with pytest.raises(ModelError, match="no such Hugging Face folder"):
        train_detector(tmp_path / "run", replace(plan, init="nowhere"), PACE)


def test_the_recipes_are_those_of_the_paper() -> None:
    """Shankar (2020), 4.2.3: 32 pairs per update; 2e-5, or for XLM-R large 1e-6 and 4 times 8."""
    base, large = get_detector_recipe("base"), get_detector_recipe("large")
    assert (base.peak_rate, base.batch_size, base.accumulate, base.epochs) == (2e-5, 32, 1, 10)
    assert (large.peak_rate, large.batch_size, large.accumulate, large.epochs) == (1e-6, 8, 4, 10)
    assert base.warmup_steps == large.warmup_steps == 0
    with pytest.raises(SettingError, match="unknown recipe 'huge'; available: base, large"):
        get_detector_recipe("huge")
