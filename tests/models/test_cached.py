"""Each distinct query is computed once, and a cached result is the result."""

from __future__ import annotations

import multiprocessing
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertium.errors import CacheWarning, ModelError
from tertium.models.base import Candidate, TokenScores, make_queries
from tertium.models.cached import (
    CachedModel,
    pack_candidates,
    pack_scores,
    query_key,
    unpack_candidates,
    unpack_scores,
)
from tertium.models.results import ResultFile, examine

from ..fakes import FakeModel


def test_a_query_is_computed_once_in_a_run() -> None:
    model = FakeModel()
    memo = CachedModel(model)
    memo.log_probs(make_queries(["a", "b", "a"], ["x", "x", "x"], target_lang="en"))
    memo.log_probs(make_queries(["b", "c"], ["x", "x"], target_lang="en"))
    assert [query[0] for query in model.asked] == ["a", "b", "c"]
    assert (memo.tally.queries, memo.tally.distinct, memo.tally.from_cache) == (5, 3, 0)


def test_order_is_kept() -> None:
    model = FakeModel(scores={(t, "x"): (-float(n),) for n, t in enumerate("abcd")})
    scores = CachedModel(model).log_probs(make_queries(list("dabdcb"), ["x"] * 6, target_lang="en"))
    assert [each.G for each in scores] == [-3, 0, -1, -3, -2, -1]


def test_languages_settings_and_operations_are_different_queries() -> None:
    model = FakeModel(needs_source_language=True)
    memo = CachedModel(model)
    memo.log_probs(
        make_queries(
            ["a"] * 3, ["x"] * 3, target_lang=["en", "de", "en"], source_lang=["fr", "fr", "de"]
        )
    )
    assert len(model.asked) == 3
    memo.translate(["x"], target_lang="en", source_lang="fr", beam_size=5)
    memo.translate(["x"], target_lang="en", source_lang="fr", beam_size=4)
    assert len(model.translated) == 2


def test_an_implied_source_language_makes_no_new_query() -> None:
    model = FakeModel()
    memo = CachedModel(model)
    memo.log_probs(make_queries(["a", "a"], ["x", "x"], target_lang="en", source_lang=["de", None]))
    assert len(model.asked) == 1


def test_results_outlive_the_run(tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    first, second = FakeModel(scores={("a", "x"): (-0.1, -0.2)}), FakeModel()
    [before] = CachedModel(first, ResultFile(file)).log_probs(
        make_queries(["a"], ["x"], target_lang="en")
    )
    memo = CachedModel(second, ResultFile(file))
    [after] = memo.log_probs(make_queries(["a"], ["x"], target_lang="en"))
    assert after == before
    assert second.asked == []
    assert memo.tally.from_cache == 1


def test_another_model_has_other_results(tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    for fingerprint in ("1" * 64, "2" * 64):
        model = FakeModel(fingerprint=fingerprint)
        CachedModel(model, ResultFile(file)).log_probs(make_queries(["a"], ["x"], target_lang="en"))
        assert len(model.asked) == 1


def test_a_damaged_result_is_computed_again(tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    model = FakeModel(scores={("a", "x"): (-0.5,)})
    store = ResultFile(file)
    CachedModel(model, store).log_probs(make_queries(["a"], ["x"], target_lang="en"))
    store.close()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE answers SET value = zeroblob(length(value))")
    with pytest.warns(CacheWarning, match="holds damaged results"):
        [scores] = CachedModel(model, ResultFile(file)).log_probs(
            make_queries(["a"], ["x"], target_lang="en")
        )
    assert scores.G == -0.5
    assert len(model.asked) == 2


def test_a_damaged_file_is_moved_aside(tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    file.write_bytes(b"this is no database" * 1000)
    store = ResultFile(file)
    with pytest.warns(CacheWarning, match="was damaged"):
        store.put({b"k": b"v"})
    assert store.get([b"k"]) == {b"k": b"v"}
    assert len(list(tmp_path.glob("*.damaged-*"))) == 1


def test_a_file_that_cannot_be_written_does_not_stop_the_run(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    memo = CachedModel(FakeModel(), ResultFile(blocked / "results.sqlite"))
    with pytest.warns(CacheWarning, match="results are not cached"):
        assert len(memo.log_probs(make_queries(["a"], ["x"], target_lang="en"))) == 1
    assert (
        len(memo.log_probs(make_queries(["b"], ["x"], target_lang="en"))) == 1
    )  # and is reported once


def test_the_file_stays_within_its_bounds(tmp_path: Path) -> None:
    store = ResultFile(tmp_path / "results.sqlite", max_bytes=200_000)
    for number in range(100):
        store.put({b"%d-%d" % (number, k): bytes(1000) for k in range(10)})
    status = examine(store.path)
    assert status.bytes <= 210_000
    assert 50 < status.results < 200
    newest = b"99-9"
    assert store.get([newest, b"0-0"]) == {newest: bytes(1000)}


def test_the_memory_stays_within_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tertium.models.cached.MEMORY_BYTES", 1 << 20)
    memo = CachedModel(FakeModel())
    for start in range(0, 10_000, 100):
        texts = [str(number) for number in range(start, start + 100)]
        memo.log_probs(make_queries(texts, texts, target_lang="en"))
    memory = memo._memory
    # An LRUCache keeps its entries, their sizes and their order in three mappings.
    parts = [*vars(memory).values(), *memory, *memory.values()]
    held = sys.getsizeof(memory) + sum(map(sys.getsizeof, parts))
    assert 1 << 19 < held <= 1 << 20
    memo.log_probs(make_queries(["9999"], ["9999"], target_lang="en"))
    assert memo.tally.distinct == 10_000


def _put_many(path: Path, offset: int) -> None:
    store = ResultFile(path)
    for number in range(offset, offset + 200):
        store.put({number.to_bytes(4, "little"): b"v" * 100})
    store.close()


def test_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_put_many, args=(path, n * 100)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    keys = [number.to_bytes(4, "little") for number in range(400)]
    assert len(ResultFile(path).get(keys)) == 400


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, max_value=0)), st.booleans())
def test_scores_survive_packing(log_probs: list[float], cut: bool) -> None:
    scores = TokenScores(("▁\n'\"🙂",) * len(log_probs), tuple(log_probs), cut, not cut)
    assert unpack_scores(pack_scores(scores)) == scores


@given(st.text(), st.booleans())
def test_translations_survive_packing(text: str, cut: bool) -> None:
    several = [Candidate(text, -1.5, 3, cut), Candidate("", 0.0, 0)]
    assert unpack_candidates(pack_candidates(several)) == several


def test_malformed_values_are_none() -> None:
    for payload in (b"", b"[]", b"{", b'["f",false,["a"]]\n', b'["x",false,false,[]]\n', b"3"):
        assert unpack_scores(payload) is None
        assert unpack_candidates(payload) is None


def test_a_model_that_returns_no_number_is_an_error(tmp_path: Path) -> None:
    model = FakeModel(scores={("a", "x"): (float("nan"),)})
    with pytest.raises(ModelError, match="returns no number for"):
        CachedModel(model, ResultFile(tmp_path / "a.sqlite")).log_probs(
            make_queries(["a"], ["x"], target_lang="en")
        )


def test_a_file_damaged_inside_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    store = ResultFile(path)
    store.put({b"%d" % n: bytes(1000) for n in range(100)})
    store.close()
    path.write_bytes(path.read_bytes()[:8192] + b"\xa5" * 100_000)
    with pytest.warns(CacheWarning):
        ResultFile(path).get([b"%d" % n for n in range(100)])
    again = ResultFile(path)
    again.put({b"k": b"v"})
    assert again.get([b"k"]) == {b"k": b"v"}


def test_what_is_not_a_number_is_not_a_result() -> None:
    assert unpack_scores(pack_scores(TokenScores(("a",), (float("nan"),)))) is None


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_different_queries_have_different_keys(one: list[str], two: list[str]) -> None:
    assert (query_key(one) == query_key(two)) == (one == two)
