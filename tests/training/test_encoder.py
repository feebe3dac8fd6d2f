"""``scripts/train_encoder.py`` and its parts, on toy data."""

from __future__ import annotations

import importlib.util
import sys
import zlib
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tertium import load_encoder
from tertium.training.corpora import evaluation_texts, normalized
from tertium.training.encoder.corpus import Row, load_rows, read_rows, save_rows, split
from tertium.training.encoder.network import Recipe
from tertium.training.encoder.sentences import Sentences
from tertium.training.encoder.teacher import choose_sentences, teacher_vectors

SCRIPT = Path(__file__).parents[2] / "scripts" / "train_encoder.py"

WORDS = {
    "en": (("cat", "dog", "horse", "bird"), ("sleeps", "eats", "runs", "sings"), "the"),
    "de": (("Katze", "Hund", "Pferd", "Vogel"), ("schläft", "isst", "rennt", "singt"), "da"),
}
TIMES = (
    ("now", "today", "here", "there", "again", "often"),
    (
        "jetzt",
        "heute",
        "hier",
        "dort",
        "wieder",
        "oft",
    ),
)


def toy_rows() -> list[tuple[str, str]]:
    rows = []
    for noun, verb, time in product(range(4), range(4), range(6)):
        english, german = (
            f"{article} {nouns[noun]} {verbs[verb]} {times[time]}."
            for (nouns, verbs, article), times in zip(WORDS.values(), TIMES, strict=True)
        )
        rows.append((english, german))
    return rows


def test_rows_join_translations_and_leave_out_evaluation_and_held_out_sentences(
    tmp_path: Path,
) -> None:
    one, other = tmp_path / "tatoeba" / "de-en.tsv", tmp_path / "tatoeba" / "en-fr.tsv"
    one.parent.mkdir()
    # zlib.crc32(b"Sentence 654.") is a multiple of 400
    one.write_text(
        "de\ten\nGuten Tag.\tHello.\nHallo.\tHello.\nSatz.\tSentence 654.\n"
        "Das hier ist geheim.\tThis sentence is for evaluation only.\n",
        encoding="utf-8",
    )
    other.write_text("en\tfr\nHello.\tBonjour.\nBye.\t \n", encoding="utf-8")
    test = tmp_path / "test.tsv"
    test.write_text("en\nthis sentence is, for evaluation, only\nhello\n", encoding="utf-8")
    excluded = evaluation_texts({"tatoeba": [one, other], "flores": [test]}, {"tatoeba"})
    assert excluded == {"thissentenceisforevaluationonly"}  # "hello" is too short to tell
    rows = read_rows([one, other], ("en", "de", "fr"), excluded)
    assert rows == [Row("Hello.", (("de", "Guten Tag."), ("de", "Hallo."), ("fr", "Bonjour.")))]
    save_rows(rows, tmp_path / "rows.jsonl")
    assert load_rows(tmp_path / "rows.jsonl") == rows


def test_no_development_sentence_is_trained_on() -> None:
    texts = [f"Sentence {number}" for number in range(400)]
    reserved = {text for text in texts if zlib.crc32(normalized(text).encode()) % 100 == 1}
    assert 0 < len(reserved) < 20
    rows = [Row(text, (("de", f"Satz {number // 2}"),)) for number, text in enumerate(texts)]
    training, development = split(rows)
    assert {row.english for row in development} == reserved
    german = {row.translations[0] for row in development}
    assert len(training) < len(texts) - len(reserved)  # partners of their translations, too
    assert not german & {row.translations[0] for row in training}


def test_bags_are_the_ids_of_the_chosen_sentences() -> None:
    sentences = Sentences(np.array([5, 6, 7, 8, 9], dtype=np.int32), np.array([0, 2, 2, 5]))
    ids, offsets = sentences.bags(np.array([2, 1, 0, 2]))
    assert ids.tolist() == [7, 8, 9, 5, 6, 7, 8, 9]
    assert offsets.tolist() == [0, 3, 3, 5]


def test_sentences_for_the_teacher_are_mixed_and_encoded_once(tmp_path: Path) -> None:
    chosen = choose_sentences(
        {"a": [f"a{n}" for n in range(50)], "b": [f"b{n}" for n in range(50)]}, {"a": 30, "b": 10}
    )
    assert len(chosen) == 40
    assert sum(text.startswith("a") for text in chosen[:20]) in range(14, 17)
    encoder = load_encoder("tertium-mini")
    first = teacher_vectors(encoder, chosen[:5], tmp_path / "vectors")
    assert first.shape == (5, 256)
    [file] = (tmp_path / "vectors").iterdir()
    np.save(file, np.zeros((5, 256), dtype=np.float16))
    assert not teacher_vectors(
        encoder, chosen[:5], tmp_path / "vectors"
    ).any()  # read, not computed


def test_losses_by_hand() -> None:
    """Two rows, of which the teacher has encoded the first."""
    torch = pytest.importorskip("torch")
    from tertium.training.encoder.network import StaticNetwork, losses
    from tertium.training.encoder.sentences import Batch

    network = StaticNetwork(3, 2, 2)
    with torch.no_grad():
        network.vectors.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]]))
        network.output.weight.copy_(torch.eye(2))
    starts = np.array([0, 1])
    batch = Batch(
        (np.array([0, 1]), starts), (np.array([2, 1]), starts), np.array([0, -1], dtype=np.int64)
    )
    teacher = torch.tensor([[1.0, 0.0]])
    # of the first row: a = (1, 0), b = (0.6, 0.8), and the teacher's t = (1, 0)
    cosine = losses(network, batch, teacher, Recipe(cosine=1, similarities=0, contrast=0))
    assert float(cosine.detach()) == pytest.approx((0 + 0.4) / 2)
    # a·a = b·b = 1 as the teacher's; a·b = 0.6 instead of 1
    similar = losses(network, batch, teacher, Recipe(cosine=0, similarities=1, contrast=0))
    assert float(similar.detach()) == pytest.approx(0.4**2 / 3)
    # cosines of first with second: ((0.6, 0), (0.8, 1))
    rows = [np.exp(0.6) / (np.exp(0.6) + 1), np.exp(1) / (np.exp(0.8) + np.exp(1))]
    columns = [np.exp(0.6) / (np.exp(0.6) + np.exp(0.8)), np.exp(1) / (1 + np.exp(1))]
    expected = -np.mean(np.log([*rows, *columns]))
    recipe = Recipe(cosine=0, similarities=0, contrast=1, contrast_scale=1)
    assert float(losses(network, batch, teacher, recipe).detach()) == pytest.approx(expected)


def test_folding_keeps_all_cosines() -> None:
    torch = pytest.importorskip("torch")
    from tertium.training.encoder.network import StaticNetwork

    torch.manual_seed(1)
    network = StaticNetwork(20, 4, 9)
    with torch.no_grad():
        network.log_weights.copy_(torch.randn(20))
    ids, offsets = np.array([3, 4, 5, 6, 7, 3, 19]), np.array([0, 2, 3])
    output = network((ids, offsets)).detach().numpy()
    folded = network.folded()
    sums = np.add.reduceat(folded[ids], offsets)
    sums /= np.linalg.norm(sums, axis=1, keepdims=True)
    assert sums @ sums.T == pytest.approx(output @ output.T, abs=1e-6)


@pytest.fixture
def script() -> ModuleType:
    if not SCRIPT.is_file():
        pytest.skip("the source distribution lacks it")
    spec = importlib.util.spec_from_file_location("train_encoder", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["train_encoder"] = module  # its dataclass looks it up
    spec.loader.exec_module(module)
    return module


def test_the_recipe_learns_translations(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    rows = toy_rows()
    table = "en\tde\n" + "".join(f"{english}\t{german}\n" for english, german in rows[:80])
    names = [name for source in script.CORPORA.values() for name in source.files]
    for name in names:
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / f"{name}.de-en.tsv").write_text(table, encoding="utf-8")

    def train(run: str) -> bytes:
        options = "--teacher tertium-mini --tokens 46 --width 16 --steps 120 --batch 32 --threads 1"
        arguments = ["train_encoder.py", str(tmp_path / "data"), str(tmp_path / run)]
        monkeypatch.setattr(sys, "argv", [*arguments, *options.split()])
        script.main()
        return (tmp_path / run / "export" / "static.npz").read_bytes()

    assert train("one") == train("other")
    encoder = load_encoder(tmp_path / "one" / "export")
    english, german = zip(*rows[80:], strict=True)  # 16 sentences that it did not see
    cosines = encoder.sentence_vectors(english).vectors @ encoder.sentence_vectors(german).vectors.T
    assert (cosines.argmax(axis=1) == np.arange(16)).mean() >= 0.75
