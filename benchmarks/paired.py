"""How sure a difference is between two ways of answering the same questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Difference", "paired_difference"]

RESAMPLES: Final = 10_000
SEED: Final = 20_261


@dataclass(frozen=True, slots=True)
class Difference:
    """What one way gains over another."""

    mean: float
    low: float
    high: float
    """With `low` the interval in which 95 % of the resampled means lie."""
    better: int
    worse: int
    """Questions with a higher and with a lower figure."""


def paired_difference(values: Sequence[float], base: Sequence[float]) -> Difference:
    """Return how far `values` lie above `base`, question by question.

    The interval is that of the paired bootstrap over questions, by percentiles; always the same,
    since the seed is fixed. Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993.

    Raises:
        ValueError: there is no question, or not the same number of both.
    """
    if len(values) != len(base) or not values:
        raise ValueError(f"{len(values)} and {len(base)} figures are not of the same questions")
    gains = np.asarray(values, np.float64) - np.asarray(base, np.float64)
    # How often each question is drawn: (resamples, questions) indices would need gigabytes.
    random = np.random.default_rng(SEED)
    means = np.array(
        [gains[random.integers(len(gains), size=len(gains))].mean() for _ in range(RESAMPLES)]
    )
    low, high = np.percentile(means, (2.5, 97.5))
    better, worse = int((gains > 0).sum()), int((gains < 0).sum())
    return Difference(float(gains.mean()), float(low), float(high), better, worse)
