"""The protocol gives what scikit-learn and sacrebleu give, and what can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.chrf import CHRF
from sklearn.metrics import accuracy_score, roc_auc_score, roc_curve

from tertium.data.datasets.base import LabelledPair
from tertium.errors import CutWarning, DataWarning, InputError, SettingError
from tertium.measures.loading import MeasureSpec
from tertium.models.base import TranslationModel
from tertium.studies.paraphrase_id.study import ParaphraseStudy, Results, evaluate, labels
from tertium.studies.paraphrase_id.tables import (
    ablation_table,
    accuracy_table,
    columns,
    correlations,
    disagreements,
    timing_table,
)
from tertium.studies.paraphrase_id.tasks import Task, read_tasks
from tertium.studies.runner import CellFolder, Runner, Scored
from tertium.text import Text

from ..fakes import FakeModel

EXAMPLES = Path(__file__).parents[2] / "examples" / "paraphrases"


def specs(*names: str) -> list[MeasureSpec]:
    return [MeasureSpec.parse(name) for name in names]


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return read_tasks("examples", EXAMPLES)


@pytest.fixture(scope="module")
def results(tasks: list[Task]) -> Results:
    return ParaphraseStudy(tasks, specs("chrf", "bleu", "ter"), samples=50).run()


def symmetric_chrf(pairs: list[LabelledPair]) -> np.ndarray:
    chrf = CHRF()

    def score(a: str, b: str) -> float:
        return float(chrf.sentence_score(a, [b]).score)

    texts = [(pair.a.text, pair.b.text) for pair in pairs]
    return np.array([(score(a, b) + score(b, a)) / 2 for a, b in texts])


def test_accuracy_and_auc_as_scikit_learn_has_them(tasks: list[Task], results: Results) -> None:
    for task in tasks:
        outcome = results.outcomes[task.name, "chrf"]
        scores, truth = symmetric_chrf(list(task.test)), labels(task.test)
        np.testing.assert_allclose(outcome.scores, scores)
        if not task.validation:
            assert outcome.value == pytest.approx(roc_auc_score(truth, scores))
            continue
        validation = symmetric_chrf(list(task.validation))
        known = labels(task.validation)
        _, _, thresholds = roc_curve(known, validation)
        right = [accuracy_score(known, validation > threshold) for threshold in thresholds]
        threshold = thresholds[int(np.argmax(right))]
        assert outcome.threshold == pytest.approx(threshold)
        assert outcome.value == pytest.approx(accuracy_score(truth, scores > threshold))


def pair(number: int, label: bool) -> LabelledPair:
    return LabelledPair(str(number), Text(f"a{number}", "en"), Text(f"b{number}", "en"), label)


def scored(test: list[float], validation: list[float] | None = None) -> Scored:
    return Scored({"validation": validation or [], "test": test})


def test_threshold_by_hand() -> None:
    """Of the corners of the ROC curve, 0.5 comes first with 3 of 4 right; what has 0.5 is below."""
    validation = [pair(n, n >= 2) for n in range(4)]
    test = [pair(n, label) for n, label in enumerate([True, False, True])]
    task = Task("t", "t", ("en", "en"), test, validation)
    outcome = evaluate(task, scored([0.9, 0.5, 0.3], [0.1, 0.4, 0.5, 0.9]), np.ones((1, 3)))
    assert outcome.threshold == 0.5
    assert outcome.value == pytest.approx(2 / 3)
    assert outcome.replicates.tolist() == pytest.approx([2 / 3])


def test_table_with_averages(tasks: list[Task], results: Results) -> None:
    table = accuracy_table(results, tasks, "Title")
    assert table.header == [
        "measure",
        "examples-de Acc.",
        "examples-en Acc.",
        "examples-sv AUC",
        "examples Avg.",
    ]
    values = [cell.value for cell in table.rows[0][1:]]
    assert values[3] == pytest.approx(np.mean(values[:3]))  # type: ignore[arg-type]
    assert any(cell.bold for row in table.rows for cell in row)


def test_macro_average_is_over_groups(results: Results, tasks: list[Task]) -> None:
    """As in the paper: a group of tasks counts as much as a task by itself."""
    grouped = [
        Task(task.name, "one" if task.name == "examples-sv" else "two", task.langs, task.test)
        for task in tasks
    ]
    *_, average, last, macro = columns(results, grouped)
    assert (average.heading, macro.heading) == ("two Avg.", "macro-average")
    assert macro.values["chrf"] == pytest.approx((average.values["chrf"] + last.values["chrf"]) / 2)


def test_the_better_one_is_in_bold() -> None:
    test = [pair(n, n % 2 == 0) for n in range(200)]
    task = Task("t", "t", ("en", "en"), test)
    truth = labels(test).astype(float)
    noise = np.random.default_rng(0).normal(size=200)
    counts = Results([task], [], {}, 200, 0).counts(task)
    outcomes = {
        ("t", name): evaluate(task, scored(list(scores)), counts)
        for name, scores in {
            "good": truth + noise,
            "same": 2 * (truth + noise),
            "bad": noise,
        }.items()
    }
    found = Results([task], ["good", "same", "bad"], outcomes, 200, 0)
    table = accuracy_table(found, [task], "")
    assert [row[1].bold for row in table.rows] == [True, True, False]


def test_correlations(results: Results, tasks: list[Task]) -> None:
    from scipy.stats import kendalltau

    found = correlations(results, tasks)
    expected = np.mean(
        [
            kendalltau(
                results.outcomes[task.name, "chrf"].scores,
                results.outcomes[task.name, "bleu"].scores,
            ).statistic
            for task in tasks
        ]
    )
    assert found.values[0, 1] == pytest.approx(expected)
    table = found.table()
    assert table.header == ["measure", "chrf", "bleu"]
    assert str(table.rows[0][1]).startswith(f"{expected:.2f}±")
    assert table.rows[0][2].value is None


def test_disagreements_by_rank() -> None:
    test = [pair(n, n < 3) for n in range(6)]
    task = Task("t", "t", ("en", "en"), test)
    counts = np.ones((1, 6))
    one = evaluate(task, scored([1.0, 2, 3, 4, 5, 6]), counts)
    two = evaluate(task, scored([600.0, 200, 300, 400, 500, 100]), counts)
    found = Results([task], ["x", "y"], {("t", "x"): one, ("t", "y"): two}, 1, 0)
    table = disagreements(found, task, "x", "y", count=1)
    assert [[cell.value for cell in row] for row in table.rows] == [
        ["a5 / b5", 0, 6.0, 100.0],
        ["a0 / b0", 1, 1.0, 600.0],
    ]
    with pytest.raises(InputError, match="z has no scores on t"):
        disagreements(found, task, "x", "z")


def test_ablation_and_languages_that_a_model_lacks(tasks: list[Task]) -> None:
    model = FakeModel()
    names = ("direct", "chrf", "direct:normalized=no")
    study = ParaphraseStudy(tasks, specs(*names), samples=20, models=lambda *_: model)
    with pytest.warns(DataWarning, match="is left out of examples-sv: .* 'sv'"):
        found = study.run()
    assert ("examples-sv", "direct") not in found.outcomes
    table = ablation_table(found, tasks)
    assert table is not None
    assert [row[0].value for row in table.rows] == ["direct", "direct:normalized=no"]
    assert table.rows[0][3].value is None
    assert table.rows[0][4].value is None
    assert correlations(found, tasks).measures == ["chrf"]


def test_no_ablation_without_both(results: Results, tasks: list[Task]) -> None:
    assert ablation_table(results, tasks) is None


def test_a_stopped_study_goes_on(tmp_path: Path, tasks: list[Task]) -> None:
    models: list[FakeModel] = []

    def load(*_: object) -> TranslationModel:
        models.append(FakeModel())
        return models[-1]

    def study(limit: int | None = None, *names: str) -> ParaphraseStudy:
        chosen = [task.limited(limit) for task in tasks[:2]]
        runner = Runner(CellFolder(tmp_path))
        return ParaphraseStudy(chosen, specs(*names or ("direct",)), load, runner, samples=5)

    first = study()
    before = first.run()
    assert first.runner.reused == 0
    asked = sum(len(model.asked) for model in models)
    again = study()
    after = again.run()
    assert again.runner.reused == 2
    assert sum(len(model.asked) for model in models) == asked
    for key, outcome in before.outcomes.items():
        assert outcome.scores.tolist() == after.outcomes[key].scores.tolist()
    limited = study(2)
    limited.run()
    assert limited.runner.reused == 0
    other = study(None, "direct:base=2")
    other.run()
    assert other.runner.reused == 0


def test_a_missing_tokenizer_is_reported_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrebleu.tokenizers import tokenizer_ja_mecab

    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    texts = [LabelledPair(str(n), Text("a", "ja"), Text("b", "ja"), n > 0) for n in range(2)]
    japanese = Task("mine-ja", "mine", ("ja", "ja"), texts)
    english = read_tasks("examples", EXAMPLES, ["en"])
    done: list[int] = []
    study = ParaphraseStudy([*english, japanese], specs("chrf", "bleu"), samples=2)
    study.runner.advance = done.append
    with pytest.raises(SettingError, match=r"MeCab is missing: pip install 'tertium\[ja\]'"):
        study.run()
    assert done == []


def test_texts_that_are_cut_are_marked(tasks: list[Task]) -> None:
    long = LabelledPair("1", Text("long", "en"), Text("b", "en"), True)
    task = Task("t", "t", ("en", "en"), [pair(0, False), long])
    study = ParaphraseStudy([task], specs("direct"), lambda *_: FakeModel(), samples=2)
    with pytest.warns(CutWarning, match="1 of 2 rows"):
        study.run()
    [row] = study.runner.tables()["partly-scored"].rows
    assert [str(cell) for cell in row] == ["direct, t", "1", "2"]


def test_damaged_cells_are_scored_again(tmp_path: Path) -> None:
    cells = CellFolder(tmp_path)
    content = Scored({"test": [0.5]}, [0])
    cells.put("de/1", "chrf", "s", "d", content)
    assert cells.get("de/1", "chrf", "s", "d") == content
    assert cells.get("de/1", "chrf", "s", "other") is None
    [file] = tmp_path.rglob("*.json")
    for damage in ("{", "[]", json.dumps({"signature": "s", "data": "d", "x": 1})):
        file.write_text(damage)
        assert cells.get("de/1", "chrf", "s", "d") is None


def test_time_per_pair(tasks: list[Task]) -> None:
    study = ParaphraseStudy(tasks, specs("chrf", "direct"))
    seconds = study.time_per_pair(tasks[0].test, lambda: lambda *_: FakeModel())
    assert list(seconds) == ["chrf", "direct"]
    assert all(value > 0 for value in seconds.values())
    table = timing_table({"chrf": 0.0015}, 100)
    assert table.text().splitlines()[-1].split() == ["chrf", "1.50"]


def test_progress_is_told(tasks: list[Task]) -> None:
    told: list[int] = []
    study = ParaphraseStudy(tasks, specs("chrf", "bleu"), samples=2)
    study.runner.advance = told.append
    study.run()
    assert told == sorted(told)
    assert told[-1] == study.size == 2 * sum(task.size for task in tasks)
