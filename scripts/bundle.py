"""Make the bundled model: convert a model to int8, and record its golden numbers.

    python scripts/bundle.py path/to/hugging-face-folder

The folder contains a model of the M2M100 architecture, and a SentencePiece model that has the
language tags.
The model card (README.md) and the licence (LICENSE, which names the data) are kept in
``src/tertium/models/bundled/tertium-mini/`` and edited by hand.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from tertium.models.base import make_queries
from tertium.models.catalog import BUNDLED_FOLDER, DEFAULT_MODEL, load_model
from tertium.models.convert.translation import convert
from tertium.models.golden import GOLDEN, INT8

LICENCE = "CC-BY-4.0"
EXAMPLES = [
    ("en", "de", "Where is the station?", "Wo ist der Bahnhof?"),
    ("de", "en", "Ich habe heute keine Zeit.", "I have no time today."),
    ("fr", "en", "Il pleut depuis hier soir.", "It has been raining since last night."),
    ("es", "fr", "¿Qué hora es?", "Quelle heure est-il ?"),
    ("en", "en", "She sold her house.", "She has sold the house."),
    ("en", "es", "Close the window, please.", "Los gatos duermen mucho."),
    ("de", "de", "", "Das ist alles."),
    ("fr", "fr", "🙂 «€5»", "🙂 « 5 € »"),
]


def golden_entries(folder: Path) -> list[dict[str, object]]:
    """Score a few targets, in float32 and in int8, as the expected values of ``tertium doctor``."""
    entries: list[dict[str, object]] = [
        {"target": target, "source": source, "target_lang": target_lang, "source_lang": source_lang}
        for target_lang, source_lang, target, source in EXAMPLES
    ]
    for compute_type in ("int8", "float32"):  # float32 first would change the int8 arithmetic
        model = load_model(folder, compute_type=compute_type, cache=False)
        if compute_type == "int8" and model.settings["precision"] != INT8:
            raise SystemExit(f"int8 is {model.settings['precision']} here, not {INT8}")
        for (target_lang, source_lang, target, source), entry in zip(
            EXAMPLES, entries, strict=True
        ):
            [scores] = model.log_probs(
                make_queries([target], [source], target_lang=target_lang, source_lang=source_lang)
            )
            entry[compute_type] = [round(log_prob, 6) for log_prob in scores.log_probs]
    return entries


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    source: Path = parser.parse_args().folder
    bundled = BUNDLED_FOLDER / DEFAULT_MODEL
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / DEFAULT_MODEL
        folder = convert(source, made, name=DEFAULT_MODEL, licence=LICENCE, quantization="int8")
        golden = json.dumps(golden_entries(made), indent=1, ensure_ascii=False)
        (made / GOLDEN).write_text(golden + "\n", encoding="utf-8")
        for file in made.iterdir():
            shutil.copyfile(file, bundled / file.name)
    print(f"{bundled}: {folder.fingerprint[:12]}")


if __name__ == "__main__":
    main()
