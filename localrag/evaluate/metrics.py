"""Measures of one ranked list, and their means over the questions of a set.

A ranking is passage ids, best first, each at most once. Judgements map passage ids to grades;
a grade above zero means relevant, and an id that is missing counts as not relevant. Every measure
lies between 0 and 1, and is 0 for a question without relevant passages.

Two different things are called recall at k, so neither has that bare name here:

* `hit`: is any relevant passage among the first k? Its mean is the share of questions that
  retrieval can still answer, the "top-k retrieval accuracy" of Karpukhin et al., "Dense passage
  retrieval for open-domain question answering", EMNLP 2020. Tables print it as ``recall@k``.
* `gold_share`: which part of the relevant passages is among the first k? Its mean is the recall
  of trec_eval and BEIR, and the Pass@k of Anthropic's cookbook on contextual retrieval (2024).

Where every question has one relevant passage the two are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from statistics import fmean

__all__ = [
    "Judgements",
    "Ranking",
    "gold_share",
    "hit",
    "ndcg",
    "reciprocal_rank",
    "summarise",
]

Ranking = Sequence[str]
"""Passage ids, best first, without repetition."""

Judgements = Mapping[str, int]
"""Passage id to grade; above zero is relevant."""


def hit(ranking: Ranking, judgements: Judgements, k: int) -> float:
    """Return 1.0 if a relevant passage is among the first `k`, else 0.0."""
    return float(any(grade > 0 for grade in first_grades(ranking, judgements, k)))


def gold_share(ranking: Ranking, judgements: Judgements, k: int) -> float:
    """Return the share of the relevant passages that is among the first `k`."""
    relevant = sum(grade > 0 for grade in judgements.values())
    if not relevant:
        return 0.0
    return sum(grade > 0 for grade in first_grades(ranking, judgements, k)) / relevant


def reciprocal_rank(ranking: Ranking, judgements: Judgements, k: int) -> float:
    """Return 1 / rank of the first relevant passage among the first `k`, 0.0 if there is none.

    Its mean is MRR@k: Voorhees, "The TREC-8 question answering track report", 1999.
    """
    for rank, grade in enumerate(first_grades(ranking, judgements, k), start=1):
        if grade > 0:
            return 1 / rank
    return 0.0


def ndcg(ranking: Ranking, judgements: Judgements, k: int) -> float:
    """Return the normalised discounted cumulative gain of the first `k`.

    The gain is the grade itself and the discount log2(rank + 1), as in trec_eval's ``ndcg_cut``
    and therefore in BEIR (Thakur et al., 2021), after Järvelin and Kekäläinen, "Cumulated
    gain-based evaluation of IR techniques", ACM TOIS 2002.
    """
    gained = discounted_gain(first_grades(ranking, judgements, k))
    possible = discounted_gain(sorted(judgements.values(), reverse=True)[:k])
    return gained / possible if possible else 0.0


def discounted_gain(grades: Sequence[int]) -> float:
    """Return the sum of grade / log2(rank + 1), rank from 1; grades below zero count as zero."""
    return sum(max(grade, 0) / log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def first_grades(ranking: Ranking, judgements: Judgements, k: int) -> list[int]:
    """Return the grades of the first `k` passages.

    Raises:
        ValueError: a passage is repeated, which would let a ranking score above 1, or `k` < 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}, but a list has no fewer than one first place")
    if len(set(ranking)) < len(ranking):
        raise ValueError("a passage occurs twice in a ranking; keep its best place only")
    return [judgements.get(passage, 0) for passage in ranking[:k]]


def summarise(
    rankings: Mapping[str, Ranking], judgements: Mapping[str, Judgements]
) -> dict[str, float]:
    """Return the means over all judged questions, under the names that tables print.

    A judged question without a ranking counts as a ranking that found nothing.

    Raises:
        ValueError: there is no judged question.
    """
    if not judgements:
        raise ValueError("no question is judged, so there is nothing to measure")
    pairs = [(rankings.get(question, ()), grades) for question, grades in judgements.items()]
    figures = {"hit@1": fmean(hit(*pair, 1) for pair in pairs)}
    figures |= {f"recall@{k}": fmean(hit(*pair, k) for pair in pairs) for k in (5, 20, 50)}
    figures["mrr@10"] = fmean(reciprocal_rank(*pair, 10) for pair in pairs)
    figures["ndcg@10"] = fmean(ndcg(*pair, 10) for pair in pairs)
    figures |= {
        f"gold_share@{k}": fmean(gold_share(*pair, k) for pair in pairs) for k in (5, 10, 20)
    }
    return figures
