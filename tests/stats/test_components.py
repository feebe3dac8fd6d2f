"""The first principal component is scikit-learn's, with its sign and its missing values settled."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from tertium.errors import InputError
from tertium.stats.components import first_component


def test_it_is_scikit_learns() -> None:
    values = np.random.default_rng(1).normal(size=(12, 5)) @ np.diag([3, 1, 1, 0.5, 0.1])
    found = first_component(values)
    pca = PCA(n_components=1).fit(values)
    scores = pca.transform(values)[:, 0]
    sign = np.sign(scores @ found.scores)
    assert found.scores == pytest.approx(sign * scores)
    assert found.loadings == pytest.approx(sign * pca.components_[0])
    assert found.explained == pytest.approx(pca.explained_variance_ratio_[0])


def test_by_hand() -> None:
    """Two features that go against each other: along (1, -1), lengths 0, sqrt 2 from the mean."""
    found = first_component([[0, 2], [1, 1], [2, 0]])
    assert found.scores == pytest.approx([-(2**0.5), 0, 2**0.5])
    assert found.loadings == pytest.approx([2**-0.5, -(2**-0.5)])
    assert found.explained == pytest.approx(1)


def test_the_sign_does_not_depend_on_the_order_of_items_nor_on_a_reflection_of_the_others() -> None:
    values = np.random.default_rng(2).normal(size=(9, 4))
    shuffled = np.random.default_rng(3).permutation(9)
    one, two = first_component(values), first_component(values[shuffled])
    assert two.scores == pytest.approx(one.scores[shuffled])
    largest = np.abs(one.loadings).argmax()
    assert one.loadings[largest] > 0


def test_missing_values_count_as_the_mean_and_are_counted() -> None:
    gap: float = np.nan
    found = first_component(np.array([[0, gap, 5], [1, 4, 5], [2, 8, 5]]))
    filled = first_component([[0, 6, 5], [1, 4, 5], [2, 8, 5]])
    assert found.scores == pytest.approx(filled.scores)
    assert (found.missing, filled.missing) == (1, 0)
    assert found.used.tolist() == [True, True, False]  # the last is the same for all
    assert found.loadings[2] == 0


def test_a_feature_that_nobody_has_says_nothing() -> None:
    found = first_component([[0, float("nan")], [1, float("nan")]])
    assert found.used.tolist() == [True, False]
    assert found.missing == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1, 2]], "at least 2"),
        ([1, 2], "shape"),
        ([[1, 1], [1, 1]], "all features are constant"),
        ([[1, float("inf")], [1, 1]], "infinite"),
    ],
)
def test_what_cannot_be_reduced(values: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        first_component(values)  # type: ignore[arg-type]
