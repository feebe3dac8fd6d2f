"""A toy corpus: four subjects, four verbs and four objects, in two languages."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tertium.training.heldout import held_out
from tertium.training.mixture import Mixture
from tertium.training.plan import Plan
from tertium.training.recipes import Recipe

SUBJECTS = [("The cat", "Die Katze"), ("My aunt", "Meine Tante"), ("He", "Er"), ("Anna", "Anna")]
VERBS = [("sees", "sieht"), ("buys", "kauft"), ("draws", "zeichnet"), ("hears", "hört")]
OBJECTS = [("a dog", "einen Hund"), ("a bus", "einen Bus"), ("wine", "Wein"), ("us", "uns")]
SENTENCES = [
    (f"{en_subject} {en_verb} {en_object}.", f"{de_subject} {de_verb} {de_object}.")
    for (en_subject, de_subject), (en_verb, de_verb), (en_object, de_object) in product(
        SUBJECTS, VERBS, OBJECTS
    )
]
TINY = Recipe(
    "tiny",
    d_model=48,
    ffn=96,
    encoder_layers=1,
    decoder_layers=1,
    heads=2,
    vocabulary=310,
    dropout=0.1,
    peak_rate=1e-2,
    warmup_steps=10,
    batch_tokens=200,
    accumulate=2,
    max_positions=64,
)


@pytest.fixture(scope="session")
def toy_pairs() -> list[tuple[str, str]]:
    """English and German, without the sentences that no training sees."""
    return [(en, de) for en, de in SENTENCES if not held_out(en) and not held_out(de)]


@pytest.fixture(scope="session")
def bitext(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bitext") / "en-de.tsv"
    rows = [f"{en}\t{de}" for en, de in SENTENCES]
    path.write_text("\n".join(["en\tde", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tiny_plan(bitext: Path) -> Plan:
    return Plan(
        languages=("en", "de"),
        bitext=((str(bitext), 1.0),),
        dev=str(bitext),
        recipe=TINY,
        mixture=Mixture(paraphrases=0.1, copies=0.1, joined=0.1),
    )
