"""A task of lighteval that is scored by Tertium: translation from German into English.

lighteval custom copy examples/adapters/lighteval/model.py "tertium_de_en|0" \
    --custom-tasks examples/adapters/lighteval/translation.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from tertium.compat.lighteval import tertium_metric


def question(line: dict[str, Any], task_name: str = "") -> Doc:
    """The prompt of a row, its reference, and its source."""
    return Doc(
        task_name=task_name,
        query=f"Translate into English.\nGerman: {line['src']}\nEnglish:",
        choices=[line["ref"]],
        gold_index=0,
        specific={"source": line["src"]},
    )


TASKS_TABLE = [
    LightevalTaskConfig(
        name="tertium_de_en",
        prompt_function=question,
        hf_repo=str(Path(__file__).parent / "data"),
        hf_subset="default",
        metrics=[
            tertium_metric("cross", lang="en"),
            tertium_metric("chrf", lang="en"),
            tertium_metric("prism-src", lang="en", source_lang="de"),
        ],
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        generation_size=64,
        stop_sequence=["\n"],
    )
]
