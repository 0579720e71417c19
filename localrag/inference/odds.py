"""Means of probabilities, taken between their log-odds: two readings of the same text as one."""

from __future__ import annotations

from math import exp, log
from typing import Final

__all__ = ["between"]

_SMALLEST: Final = 1e-6
"""Probability whose log-odds are taken for those of anything smaller."""


def between(one: float, other: float, share: float) -> float:
    """Return the probability whose log-odds are `share` times those of `one`, the rest `other`'s.

    Whatever a reranker returns is taken as if it lay between 0 and 1.
    """
    mean = share * _log_odds(one) + (1 - share) * _log_odds(other)
    return 1 / (1 + exp(-mean))


def _log_odds(probability: float) -> float:
    own = min(max(probability, _SMALLEST), 1 - _SMALLEST)
    return log(own / (1 - own))
