from __future__ import annotations

import numpy as np
import pytest

from localrag.errors import ModelError
from localrag.inference.pooling import first_token, mean_of_tokens, require_usable, unit

HIDDEN = np.array([[[1, 2], [3, 4], [100, 100]], [[5, 6], [7, 8], [9, 10]]], np.float32)
MASK = np.array([[1, 1, 0], [1, 1, 1]], np.int64)


def test_mean_leaves_padding_out() -> None:
    np.testing.assert_array_equal(mean_of_tokens(HIDDEN, MASK), [[2, 3], [7, 8]])


def test_mean_of_no_tokens_is_zero_and_not_a_division_error() -> None:
    np.testing.assert_array_equal(mean_of_tokens(HIDDEN, MASK * 0), np.zeros((2, 2)))


def test_first_token() -> None:
    np.testing.assert_array_equal(first_token(HIDDEN), [[1, 2], [5, 6]])


def test_unit_keeps_the_direction() -> None:
    np.testing.assert_allclose(unit(np.array([[3, 4]], np.float32)), [[0.6, 0.8]], rtol=1e-6)


@pytest.mark.parametrize("value", [0, np.nan, np.inf, -np.inf])
def test_unusable_vectors_are_refused(value: float) -> None:
    vectors = np.array([[1, 1], [value, value]], np.float32)
    with pytest.raises(ModelError, match="zero or not finite"):
        unit(vectors)
    with pytest.raises(ModelError, match="zero or not finite"):
        require_usable(vectors)
