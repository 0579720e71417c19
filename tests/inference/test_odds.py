"""Two readings of the same text are one probability."""

from __future__ import annotations

import pytest

from localrag.inference.odds import between


def test_the_mean_is_taken_between_log_odds() -> None:
    assert between(0.5, 0.9, 0.5) == pytest.approx(0.75)
    assert between(0.2, 0.8, 0.5) == pytest.approx(0.5)
    assert between(0.2, 0.8, 1) == pytest.approx(0.2)
    assert between(0.2, 0.8, 0) == pytest.approx(0.8)


def test_certainty_and_what_is_no_probability_stay_finite() -> None:
    assert 0 < between(0.0, 1.0, 0.5) < 1
    assert between(-3.0, 0.0, 0.5) == pytest.approx(1e-6)
    assert between(7.0, 1.0, 0.5) == pytest.approx(1 - 1e-6)
