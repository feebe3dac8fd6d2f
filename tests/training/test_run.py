from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch

from tertium.errors import InputError, ModelError, OutputError, ResumeError, SettingError
from tertium.storage.resume import locked
from tertium.training import loop
from tertium.training.checkpoints import average_weights, list_checkpoints
from tertium.training.log import LOG, read_log
from tertium.training.loop import Pace, update
from tertium.training.model.plan import Plan
from tertium.training.model.run import train
from tertium.training.plan import PLAN, read_plan, write_plan

PACE = Pace(steps=30, decay_steps=8, save_steps=7, dev_steps=10, log_steps=5)


def weights(run: Path) -> dict[str, torch.Tensor]:
    return average_weights(list_checkpoints(run)[-1:])


def same_weights(a: Path, b: Path) -> bool:
    left, right = weights(a), weights(b)
    return left.keys() == right.keys() and all(
        torch.equal(left[name], right[name]) for name in left
    )


@pytest.fixture(scope="module")
def unbroken(tiny_plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "unbroken"
    assert train(run, tiny_plan, PACE).step == 30
    return run


def test_a_run_that_was_stopped_twice_ends_with_the_same_weights(
    unbroken: Path, tiny_plan: Plan, tmp_path: Path
) -> None:
    run = tmp_path / "broken"
    train(run, tiny_plan, replace(PACE, steps=5, decay_steps=None))
    train(run, tiny_plan, replace(PACE, steps=18, decay_steps=None))
    assert not same_weights(unbroken, run)
    train(run, None, PACE)
    assert same_weights(unbroken, run)


def test_a_run_that_was_stopped_while_decaying_remembers_the_decay(
    unbroken: Path, tiny_plan: Plan, tmp_path: Path
) -> None:
    run = tmp_path / "decaying"
    train(run, tiny_plan, PACE)
    list_checkpoints(run)[-1].unlink()
    assert list_checkpoints(run)[-1].name == "step-000000028.pt"
    assert train(run, None, Pace(save_steps=7)).step == 30
    assert same_weights(unbroken, run)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_run_resumes_to_the_same_weights(tiny_plan: Plan, tmp_path: Path) -> None:
    run = tmp_path / "killed"
    write_plan(run, tiny_plan)
    command = [sys.executable, "-c", "from tertium.cli import main; main()", "train", "model"]
    process = subprocess.Popen([*command, str(run), "--save-steps", "2"])
    try:
        while len(list_checkpoints(run)) < 3:
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    steps = int(list_checkpoints(run)[-1].stem.removeprefix("step-")) + 3
    train(run, None, Pace(steps=steps))
    train(tmp_path / "unbroken", tiny_plan, Pace(steps=steps))
    assert same_weights(tmp_path / "unbroken", run)


def test_only_the_last_checkpoints_stay(unbroken: Path, tiny_plan: Plan, tmp_path: Path) -> None:
    assert [path.name for path in list_checkpoints(unbroken)] == [
        f"step-{step:09d}.pt" for step in (7, 14, 21, 28, 30)
    ]
    run = tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    (run / "checkpoints" / "step-000000001.new").write_bytes(b"half of a checkpoint")
    train(run, tiny_plan, Pace(steps=4, save_steps=1, keep=2))
    assert [path.name for path in list_checkpoints(run)] == [
        "step-000000003.pt",
        "step-000000004.pt",
    ]
    assert not list(run.rglob("*.new"))


def test_the_log_has_the_loss_the_speed_and_each_direction(unbroken: Path) -> None:
    records = read_log(unbroken / LOG)
    assert [record["step"] for record in records if "loss" in record] == [5, 10, 15, 20, 25, 30]
    assert all(record["tokens_per_second"] > 0 for record in records if "loss" in record)
    losses = [record["dev"] for record in records if "dev" in record]
    assert len(losses) == 3
    assert losses[0]["translation"] > losses[-1]["translation"] > 0
    within = {"copy en", "copy de", "paraphrase en"}
    assert set(losses[0]) == {"translation", "en-de", "de-en", *within}


def test_translating_on_the_way_changes_no_weight(
    unbroken: Path, tiny_plan: Plan, tmp_path: Path
) -> None:
    run = tmp_path / "translating"
    train(run, tiny_plan, replace(PACE, dev_sentences=3))
    assert same_weights(unbroken, run)
    scores = [record["chrf"] for record in read_log(run / LOG) if "chrf" in record]
    assert len(scores) == 3
    assert set(scores[0]) == {"translation", "en-de", "de-en"}
    assert all(0 <= score <= 100 for some in scores for score in some.values())


def test_another_plan_is_another_run(unbroken: Path, tiny_plan: Plan) -> None:
    with pytest.raises(ResumeError, match=r"other settings \(seed\)"):
        train(unbroken, replace(tiny_plan, seed=2), PACE)


def test_a_run_that_is_asked_to_stop_saves_first(
    tiny_plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def stopping(*arguments: Any) -> tuple[float, int]:
        if arguments[1] == 2:
            signal.raise_signal(signal.SIGTERM)
        return update(*arguments)

    monkeypatch.setattr(loop, "update", stopping)
    assert train(tmp_path / "run", tiny_plan, Pace()).step == 3
    assert [path.name for path in list_checkpoints(tmp_path / "run")] == ["step-000000003.pt"]
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_run_that_diverges_says_so(
    tiny_plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "update", lambda *_: (float("nan"), 1))
    with pytest.raises(ModelError, match="lower peak_rate="):
        train(tmp_path / "run", tiny_plan, Pace(steps=1))
    assert not list_checkpoints(tmp_path / "run")


def test_a_broken_checkpoint_is_named(tiny_plan: Plan, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(run, tiny_plan, Pace(steps=2, save_steps=1))
    [first, last] = list_checkpoints(run)
    last.write_bytes(first.read_bytes()[:1000])
    with pytest.raises(ResumeError, match=r"step-000000002.pt cannot be read .* remove it"):
        train(run, None, Pace(steps=3))
    last.unlink()
    assert train(run, None, Pace(steps=3)).step == 3


def test_development_sets_by_domain(tiny_plan: Plan, bitext: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("en\tde\nSnow fell.\tSchnee fiel.\n", encoding="utf-8")
    plan = replace(tiny_plan, dev=(("news-x", str(other)), ("talk", str(bitext))))
    train(tmp_path / "run", plan, Pace(steps=1, dev_steps=1, dev_sentences=1))
    [record] = [record for record in read_log(tmp_path / "run" / LOG) if "dev" in record]
    directions = {
        f"{domain} {pair}" for domain in ("news-x", "talk") for pair in ("en-de", "de-en")
    }
    means = {"translation", "news-x translation", "talk translation"}
    within = {"news-x copy en", "news-x copy de", "talk copy en", "talk copy de"}
    assert set(record["dev"]) == directions | means | within | {"talk paraphrase en"}
    assert set(record["chrf"]) == directions | means
    losses = record["dev"]
    assert losses["translation"] == pytest.approx(
        sum(losses[name] for name in directions) / 4, abs=1e-4
    )
    assert losses["talk translation"] == pytest.approx(
        (losses["talk en-de"] + losses["talk de-en"]) / 2, abs=1e-4
    )
    assert set(record["retrieval"]) == means | {"news-x de-en", "talk de-en"}
    assert record["retrieval"]["news-x de-en"] == 1  # there is only one pair
    with pytest.raises(SettingError, match="the same name; name each with dev="):
        replace(tiny_plan, dev=(("a", str(other)), ("a", str(bitext))))


def test_names_and_ranking_resume_to_the_same_weights(tiny_plan: Plan, tmp_path: Path) -> None:
    """The lexicon is that of the packages, the replaceable names are those of the corpus."""
    path = tmp_path / "names.tsv"
    rows = [
        f"Tom has {n} dogs and Mary sleeps.\tTom hat {n} Hunde und Mary schläft." for n in range(9)
    ]
    path.write_text("\n".join(["en\tde", *rows]) + "\n", encoding="utf-8")
    plan = replace(
        tiny_plan,
        bitext=(*tiny_plan.bitext, (str(path), 1.0)),
        dev=(("", str(path)),),
        recipe=replace(tiny_plan.recipe, ranking=0.5),
        mixture=replace(tiny_plan.mixture, names=0.3, joined_tokens=60),
    )
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    train(unbroken, plan, Pace(steps=9, dev_steps=9))
    lexicon = json.loads((unbroken / "corpus" / "lexicon.json").read_text(encoding="utf-8"))
    assert lexicon["names"] == {"Mary": "female", "Tom": "male"}
    [record] = [record for record in read_log(unbroken / LOG) if "contrast" in record]
    assert set(record["contrast"]) == {"names", "negation", "words", "copy", "half"}
    assert 0 <= record["contrast"]["names"] <= 1
    train(broken, plan, Pace(steps=4))
    with patch("tertium.training.model.corpus.build_lexicon", side_effect=AssertionError):
        train(broken, None, Pace(steps=9))
    assert same_weights(unbroken, broken)
    plain = replace(plan, recipe=replace(plan.recipe, ranking=0.0))
    train(tmp_path / "plain", plain, Pace(steps=9))
    assert not same_weights(unbroken, tmp_path / "plain")


def test_what_is_not_there_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(ResumeError, match="not a training run yet"):
        train(tmp_path, None, Pace(steps=1))


def test_the_log_of_steps_that_were_done_again_counts_once(tmp_path: Path) -> None:
    path = tmp_path / LOG
    path.write_text(
        '{"step": 5, "loss": 3}\n{"step": 10, "loss": 2}\n{"step": 15, "loss": 1}\n'
        '{"step": 7, "resumed": true}\n{"step": 10, "loss": 2}\n{"step": 10, "dev": {}}\n'
    )
    assert [record["step"] for record in read_log(path)] == [5, 10, 10]


def test_a_plan_that_failed_before_its_first_step_may_be_mended(
    tiny_plan: Plan, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    wrong = replace(tiny_plan, bitext=((str(tmp_path / "absent.tsv"), 1.0),))
    with pytest.raises(InputError, match=r"absent\.tsv does not exist"):
        train(run, wrong, Pace(steps=1))
    (run / "spm.model").write_bytes(b"of the wrong plan")
    assert train(run, tiny_plan, Pace(steps=1)).step == 1


def test_a_plan_of_version_1_is_read(tiny_plan: Plan, tmp_path: Path) -> None:
    write_plan(tmp_path, tiny_plan)
    text = (tmp_path / PLAN).read_text(encoding="utf-8")
    content = json.loads(text.replace('"max_tokens"', '"max_pieces"'))
    content["dev"] = content["dev"][0][1]  # one file without a name
    del (
        content["recipe"]["ranking"],
        content["mixture"]["names"],
        content["mixture"]["joined_tokens"],
    )
    (tmp_path / PLAN).write_text(json.dumps(content), encoding="utf-8")
    assert read_plan(tmp_path, Plan) == tiny_plan
    content["dev"] = None
    (tmp_path / PLAN).write_text(json.dumps(content), encoding="utf-8")
    assert read_plan(tmp_path, Plan) == replace(tiny_plan, dev=())


@pytest.mark.parametrize("wrong", ["[]", "{", '{"languages": ["en", "de"]}', '{"train": []}'])
def test_what_is_not_a_plan_is_refused(wrong: str, tmp_path: Path) -> None:
    (tmp_path / PLAN).write_text(wrong, encoding="utf-8")
    with pytest.raises(ResumeError, match="not a plan of `tertium train model`"):
        read_plan(tmp_path, Plan)


def test_one_process_at_a_time_trains_in_a_folder(tiny_plan: Plan, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with locked(run), pytest.raises(OutputError, match="in use by another run"):
        train(run, tiny_plan, Pace(steps=1))
    assert not run.exists()
