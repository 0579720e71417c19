from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from localrag.errors import ModelError
from localrag.inference.pooling import (
    first_token,
    last_token,
    mean_of_tokens,
    pool,
    require_usable,
    unit,
)

if TYPE_CHECKING:
    from localrag.inference.card import Pooling
    from localrag.inference.protocols import FloatArray

HIDDEN = np.array([[[1, 2], [3, 4], [100, 100]], [[5, 6], [7, 8], [9, 10]]], np.float32)
MASK = np.array([[1, 1, 0], [1, 1, 1]], np.int64)


def test_mean_leaves_padding_out() -> None:
    np.testing.assert_array_equal(mean_of_tokens(HIDDEN, MASK), [[2, 3], [7, 8]])


def test_mean_of_no_tokens_is_zero_and_not_a_division_error() -> None:
    np.testing.assert_array_equal(mean_of_tokens(HIDDEN, MASK * 0), np.zeros((2, 2)))


def test_first_token() -> None:
    np.testing.assert_array_equal(first_token(HIDDEN), [[1, 2], [5, 6]])


def test_last_token_is_the_last_that_is_no_padding() -> None:
    np.testing.assert_array_equal(last_token(HIDDEN, MASK), [[3, 4], [9, 10]])
    np.testing.assert_array_equal(last_token(HIDDEN, MASK * 0), [[1, 2], [5, 6]])


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [("mean", [[2, 3], [7, 8]]), ("first", [[1, 2], [5, 6]]), ("last", [[3, 4], [9, 10]])],
)
def test_token_vectors_are_pooled_as_the_card_says(
    pooling: Pooling, expected: list[list[int]]
) -> None:
    np.testing.assert_array_equal(pool(HIDDEN, MASK, pooling), expected)


def test_vectors_that_the_model_pooled_stay_as_they_are() -> None:
    np.testing.assert_array_equal(pool(HIDDEN[:, 0], MASK, "none"), HIDDEN[:, 0])


def test_half_precision_is_widened_before_it_is_summed() -> None:
    wide = pool(np.full((1, 3, 2), 6e4, np.float16), MASK[1:], "mean")
    assert wide.dtype == np.float32
    np.testing.assert_allclose(wide, [[60_000, 60_000]])


@pytest.mark.parametrize(
    ("output", "pooling"), [(HIDDEN[:, 0], "mean"), (HIDDEN, "none"), (HIDDEN[0, 0], "last")]
)
def test_an_output_that_does_not_fit_the_pooling(output: FloatArray, pooling: Pooling) -> None:
    with pytest.raises(ModelError, match=r"shape .* does not fit the pooling"):
        pool(output, MASK, pooling)


def test_unit_keeps_the_direction() -> None:
    np.testing.assert_allclose(unit(np.array([[3, 4]], np.float32)), [[0.6, 0.8]], rtol=1e-6)


@pytest.mark.parametrize("value", [0, np.nan, np.inf, -np.inf])
def test_unusable_vectors_are_refused(value: float) -> None:
    vectors = np.array([[1, 1], [value, value]], np.float32)
    with pytest.raises(ModelError, match="zero or not finite"):
        unit(vectors)
    with pytest.raises(ModelError, match="zero or not finite"):
        require_usable(vectors)
