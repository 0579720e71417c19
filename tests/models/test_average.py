"""The mean of two checkpoints."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors", reason="models are trained with it, and nothing else needs it")
sys.path.append(str(Path(__file__).parents[2]))

average = importlib.import_module("models.training.average").average

FIRST = {"weight": np.array([[0.0, 1.0]], np.float16), "bias": np.array([2.0], np.float16)}
SECOND = {"weight": np.array([[1.0, 3.0]], np.float16), "bias": np.array([-2.0], np.float16)}


def test_the_share_is_that_of_the_second() -> None:
    mean = average(FIRST, SECOND, 0.75)
    np.testing.assert_array_equal(mean["weight"], [[0.75, 2.5]])
    np.testing.assert_array_equal(mean["bias"], [-1.0])
    assert mean["bias"].dtype == np.float16


@pytest.mark.parametrize("other", [{"weight": SECOND["weight"]}, SECOND | {"bias": np.zeros(2)}])
def test_checkpoints_of_two_networks_have_no_mean(other: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="of one network"):
        average(FIRST, other, 0.5)
