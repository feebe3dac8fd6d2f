"""``tertium train``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tertium as library

from .conftest import Run

PAIRS = [
    ("The cat sleeps on the roof.", "Die Katze schläft auf dem Dach."),
    ("Nobody heard the bell.", "Niemand hat die Glocke gehört."),
    ("Bring me that ladder!", "Bring mir die Leiter!"),
    ("Yesterday a letter came.", "Gestern kam ein Brief."),
]


@pytest.fixture
def bitext(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    rows = ["left\tright", *("\t".join(pair) for pair in PAIRS)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_train_resume_and_export(tertium: Run, bitext: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    settings = ["--bitext", f"{bitext}=0.5", "--langs", "en,de", "--vocabulary", "320"]
    settings += ["--column", "left=en", "--column", "right=de", "--batch-tokens", "50"]
    done = tertium("train", "model", run, *settings, "--steps", "2")
    assert (done.returncode, done.stdout) == (0, f"{run}: 2 steps\n")
    done = tertium("train", "model", run, "--decay-steps", "2")
    assert done.stdout == f"{run}: 4 steps\n"
    done = tertium("train", "model", run)
    assert done.stdout == f"{run}: 4 steps\n"

    done = tertium("train", "model", run, "--rate", "0.1", "--steps", "5")
    assert done.returncode == 2
    assert "cannot be changed: --rate;" in done.stderr
    done = tertium("train", "model", run, *settings, "--seed", "7")
    assert done.returncode == 2
    assert "other settings (seed)" in done.stderr

    done = tertium("train", "export", run, tmp_path / "out", "--average", "2")
    assert done.stdout == f"{tmp_path / 'out'}\n"
    assert library.load_model(tmp_path / "out", cache=False).languages.all == {"en", "de"}
    done = tertium("train", "export", run, tmp_path / "hf", "--hugging-face")
    assert {"config.json", "model.safetensors", "spm.model"} <= {
        file.name for file in (tmp_path / "hf").iterdir()
    }
    wrong = tertium("train", "export", run, tmp_path / "no", "--hugging-face", "--name", "x")
    assert "has no setting --name" in wrong.stderr


def test_names_ranking_and_development_sets_by_name(
    tertium: Run, bitext: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    settings = ["--bitext", bitext, "--langs", "en,de", "--vocabulary", "320", "--steps", "1"]
    settings += ["--column", "left=en", "--column", "right=de", "--batch-tokens", "50"]
    settings += ["--names", "0.3", "--ranking", "0.1", "--joined-tokens", "20"]
    settings += ["--dev", f"talk={bitext}", "--dev-sentences", "0"]
    done = tertium("train", "model", run, *settings)
    assert done.returncode == 2
    assert "no pair has names or numbers" in done.stderr
    with bitext.open("a", encoding="utf-8") as stream:
        for number in range(12, 24):
            stream.write(f"She sold {number} boats.\tSie verkaufte {number} Boote.\n")
    done = tertium("train", "model", run, *settings)
    assert (done.returncode, done.stdout) == (0, f"{run}: 1 step\n")
    plan = json.loads((run / "plan.json").read_text(encoding="utf-8"))
    assert plan["dev"] == [["talk", str(bitext)]]
    assert (plan["mixture"]["names"], plan["mixture"]["joined_tokens"]) == (0.3, 20)
    assert plan["recipe"]["ranking"] == 0.1
    log = (run / "log.jsonl").read_text(encoding="utf-8")
    assert '"talk de-en": ' in log
    assert '"talk numbers": ' in log


def test_a_paraphraser_of_one_language_by_a_changed_recipe(
    tertium: Run, bitext: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    settings = ["--recipe", "parabank2", "--bitext", bitext, "--langs", "en"]
    settings += ["--column", "left=en", "--column", "right=en", "--batch-tokens", "50"]
    settings += ["--width", "32", "--inner-width", "64", "--encoder-layers", "1", "--heads", "2"]
    settings += ["--decoder-layers", "1", "--vocabulary", "310", "--clip", "1.2", "--steps", "2"]
    done = tertium("train", "model", run, *settings)
    assert (done.returncode, done.stdout) == (0, f"{run}: 2 steps\n")
    assert "parabank2 with other settings: --clip 1.2 (0.0), --width 32 (1024), " in done.stderr
    plan = json.loads((run / "plan.json").read_text(encoding="utf-8"))
    assert plan["changes"]["clip_norm"] == {"recipe": 0.0, "here": 1.2}
    assert plan["recipe"]["schedule"] == "inverse-sqrt"
    done = tertium("train", "model", run, "--clip", "2")
    assert "cannot be changed: --clip;" in done.stderr
    assert tertium("train", "export", run, tmp_path / "out").returncode == 0
    model = library.load_model(tmp_path / "out", cache=False)
    assert model.languages.all == {"en"}
    found = library.score("A bell.", "The bell.", measure="prism-ref", model=model, lang="en")
    assert found < 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "give its data"),
        (["--bitext", "absent.tsv", "--langs", "en,de"], "absent.tsv does not exist"),
        (["--bitext", "a.tsv"], "give --langs en,de, for example"),
        (["--bitext", "a.tsv", "--langs", "en,de", "--heads", "7"], "among 7 heads"),
        (["--bitext", "a.tsv", "--langs", "en,de", "--init", "x", "--width", "8"], "out --width"),
        (["--bitext", "a.tsv", "--langs", "en,de", "--schedule", "cosine"], "inverse-sqrt"),
        (["--bitext", "a.tsv=much", "--langs", "en,de"], "'much' is not a weight"),
        (["--bitext", "a.tsv", "--langs", "en,de", "--column", "en"], "NAME=LANG"),
        (
            ["--bitext", "a.tsv", "--langs", "en,de", "--recipe", "big"],
            "available: mini, mini-encoder",
        ),
        (["--bitext", "a.tsv", "--langs", "en,de", "--copies", "2"], "between 0 and 1"),
        (["--bitext", "a.tsv", "--langs", "en,de", "--precision", "fp8"], "float32, bf16, fp16"),
        (["--bitext", "a.tsv", "--langs", "en,de", "--device", "tpu"], "auto, cpu, cuda"),
        (["--bitext", "a.tsv", "--langs", "en,de", "--init", "x", "--spm", "y"], "leave out --spm"),
        (["--bitext", "a.tsv", "--langs", "en,de", "--ranking", "-1"], "must not be negative"),
        (["--bitext", "a.tsv", "--langs", "en,de", "--joined-tokens", "999"], "at most 510"),
        (["--bitext", "a.tsv", "--langs", "en,de", "--dev", "a", "--dev", "b"], "NAME=FILE"),
    ],
)
def test_what_cannot_be_trained(
    tertium: Run, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    done = tertium("train", "model", tmp_path / "run", *arguments)
    assert done.returncode == 2
    assert reason in done.stderr


def test_the_package_runs_as_a_module_as_launchers_start_it() -> None:
    command = [
        sys.executable,
        "-c",
        "import runpy; runpy.run_module('tertium', run_name='__main__')",
    ]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"tertium {library.__version__}\n")


def test_curve(tertium: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    log = tmp_path / "log.jsonl"
    log.write_text('{"step": 5, "loss": 2.5}\n{"step": 10, "dev": {"de-en": 2.0}}\n')
    assert tertium("train", "curve", log, tmp_path / "curve.png").returncode == 0
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
