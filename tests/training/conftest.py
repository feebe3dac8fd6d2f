"""A toy corpus and a recipe that learns it in seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tertium.training.model.plan import Mixture, Plan, Recipe

ToyPairs = list[tuple[str, str]]


@pytest.fixture(scope="session")
def toy_pairs() -> ToyPairs:
    """English and German, none of it held out; "Wer klopft da?" has two renderings."""
    return [
        ("The cat sleeps on the roof.", "Die Katze schläft auf dem Dach."),
        ("My aunt sells three boats.", "Meine Tante verkauft drei Boote."),
        ("Is there bread left?", "Ist noch Brot da?"),
        ("Who is knocking?", "Wer klopft da?"),
        ("Who knocks there?", "Wer klopft da?"),
        ("Nobody heard the bell.", "Niemand hat die Glocke gehört."),
        ("Snow fell until noon.", "Bis Mittag fiel Schnee."),
        ("We danced in the kitchen.", "Wir haben in der Küche getanzt."),
    ]


@pytest.fixture(scope="session")
def bitext(toy_pairs: ToyPairs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bitext") / "en-de.tsv"
    rows = ["en\tde", *(f"{en}\t{de}" for en, de in toy_pairs)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tiny_plan(bitext: Path) -> Plan:
    return Plan(
        languages=("en", "de"),
        bitext=((str(bitext), 1.0),),
        dev=(("", str(bitext)),),
        recipe=Recipe(
            "tiny",
            d_model=128,
            ffn=256,
            encoder_layers=1,
            decoder_layers=1,
            heads=4,
            vocabulary=340,
            dropout=0.1,
            peak_rate=2e-3,
            warmup_steps=20,
            batch_tokens=200,
            accumulate=2,
            max_positions=64,
        ),
        mixture=Mixture(paraphrases=0.1, copies=0.1, joined=0.1),
    )


@pytest.fixture(scope="session")
def tinier_plan(tiny_plan: Plan) -> Plan:
    """For tests of the procedure, not of the result."""
    return replace(tiny_plan, recipe=replace(tiny_plan.recipe, d_model=32, ffn=64))
