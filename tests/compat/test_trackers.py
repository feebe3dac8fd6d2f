"""The snippets for MLflow and Weights & Biases, run as the page shows them."""

from __future__ import annotations

import textwrap
from pathlib import Path

import tertium

from .tools import block, run, tool

SCORES = tertium.load("chrf").score(["a dog", "a cat"], ["a dog", "the cat"], lang="en")


@tool("mlflow", "mlflow-skinny")
def test_mlflow(tmp_path: Path) -> None:
    code = block("MLflow", "python")
    code += textwrap.dedent("""
        run = mlflow.last_active_run()
        print("found", run.data.metrics["chrf"], run.data.tags["chrf.signature"])
    """)
    (tmp_path / "snippet.py").write_text(code, "utf-8")
    store = f"MLFLOW_TRACKING_URI='file://{tmp_path}/runs' MLFLOW_ALLOW_FILE_STORE=true"
    printed = run(f"{store} python -W ignore snippet.py", tmp_path)
    assert f"found {SCORES.system} {SCORES.signature}" in printed


@tool("wandb")
def test_wandb(tmp_path: Path) -> None:
    code = block("Weights and Biases", "python").rstrip()  # the last line is inside the run
    code += "\n    print('found', run.summary['chrf'], run.config['chrf.signature'])\n"
    (tmp_path / "snippet.py").write_text(code, "utf-8")
    printed = run("WANDB_MODE=offline WANDB_SILENT=true python -W ignore snippet.py", tmp_path)
    [line] = [line for line in printed.splitlines() if line.startswith("found")]
    assert line == f"found {SCORES.system} {SCORES.signature}"
    assert list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))
