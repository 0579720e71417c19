from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.evaluate.metrics import gold_share, hit, ndcg, reciprocal_rank, summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Measure = Callable[[Sequence[str], Mapping[str, int], int], float]

PASSAGES = [f"p{number}" for number in range(12)]
MEASURES = [hit, gold_share, reciprocal_rank, ndcg]

rankings = st.lists(st.sampled_from(PASSAGES), unique=True)
judgements = st.dictionaries(st.sampled_from(PASSAGES), st.integers(0, 3))
cutoffs = st.integers(1, 15)


def test_hit_looks_at_the_first_k_only() -> None:
    assert hit(["a", "b", "c"], {"c": 1}, 2) == 0.0
    assert hit(["a", "b", "c"], {"c": 1}, 3) == 1.0


def test_gold_share_divides_by_all_relevant_passages() -> None:
    grades = {"a": 1, "b": 1, "c": 2, "x": 0}
    assert gold_share(["a", "x", "b"], grades, 3) == pytest.approx(2 / 3)
    assert gold_share(["a"], grades, 3) == pytest.approx(1 / 3)


def test_reciprocal_rank_is_that_of_the_first_relevant_passage() -> None:
    assert reciprocal_rank(["x", "a", "b"], {"a": 1, "b": 1}, 10) == 0.5
    assert reciprocal_rank(["x", "a"], {"a": 1}, 1) == 0.0


def test_ndcg_by_hand() -> None:
    # gains 0, 2, 1 at ranks 1, 2, 3 against the ideal 2, 1
    expected = (2 / log2(3) + 1 / log2(4)) / (2 / log2(2) + 1 / log2(3))
    assert ndcg(["x", "a", "b"], {"a": 2, "b": 1}, 10) == pytest.approx(expected)


def test_ndcg_of_the_worked_example_in_the_literature() -> None:
    # Grades 3 2 3 0 1 2 with linear gain: DCG@6 = 6.861, ideal 3 3 2 2 1 0 = 7.141.
    grades = dict(zip("abcdef", (3, 2, 3, 0, 1, 2), strict=True))
    assert ndcg("abcdef", grades, 6) == pytest.approx(6.861 / 7.141, abs=2e-4)


def test_the_ideal_list_is_cut_at_k_too() -> None:
    assert ndcg(["a"], {"a": 1, "b": 1, "c": 1}, 1) == 1.0


def test_a_grade_of_zero_or_less_is_not_relevant() -> None:
    grades = {"a": 0, "b": -1}
    assert [measure(["a", "b"], grades, 5) for measure in MEASURES] == [0.0] * 4


@pytest.mark.parametrize("measure", MEASURES)
def test_a_repeated_passage_is_refused(measure: Measure) -> None:
    with pytest.raises(ValueError, match="twice"):
        measure(["a", "a"], {"a": 1}, 5)


@pytest.mark.parametrize("measure", MEASURES)
def test_k_is_at_least_one(measure: Measure) -> None:
    with pytest.raises(ValueError, match="k is 0"):
        measure(["a"], {"a": 1}, 0)


@given(rankings, judgements, cutoffs)
def test_every_measure_lies_between_zero_and_one(
    ranking: list[str], grades: dict[str, int], k: int
) -> None:
    for measure in MEASURES:
        assert 0.0 <= measure(ranking, grades, k) <= 1.0 + 1e-12


@given(judgements, cutoffs)
def test_the_ideal_order_scores_one(grades: dict[str, int], k: int) -> None:
    ideal = sorted(grades, key=lambda passage: -grades[passage])
    expected = 1.0 if any(grades.values()) else 0.0
    assert ndcg(ideal, grades, k) == pytest.approx(expected)
    assert reciprocal_rank(ideal, grades, k) == expected


@given(rankings, judgements, cutoffs)
def test_a_longer_look_never_finds_less(ranking: list[str], grades: dict[str, int], k: int) -> None:
    for measure in (hit, gold_share, reciprocal_rank):
        assert measure(ranking, grades, k + 1) >= measure(ranking, grades, k)


@given(rankings, st.sampled_from(PASSAGES), cutoffs)
def test_with_one_relevant_passage_the_two_recalls_agree(
    ranking: list[str], relevant: str, k: int
) -> None:
    assert hit(ranking, {relevant: 1}, k) == gold_share(ranking, {relevant: 1}, k)


@given(st.lists(st.sampled_from(PASSAGES), unique=True, min_size=2), judgements, cutoffs)
def test_moving_a_better_passage_up_never_hurts(
    ranking: list[str], grades: dict[str, int], k: int
) -> None:
    better = [ranking[1], ranking[0], *ranking[2:]]
    if grades.get(better[0], 0) >= grades.get(ranking[0], 0):
        assert ndcg(better, grades, k) >= ndcg(ranking, grades, k) - 1e-12


def test_summary_means_over_all_judged_questions() -> None:
    figures = summarise(
        {"q1": ["a", "b"], "q2": ["x", "y", "z", "w", "v", "c"], "unjudged": ["a"]},
        {"q1": {"a": 1}, "q2": {"c": 1, "d": 1}, "never ranked": {"a": 1}},
    )
    assert figures["hit@1"] == pytest.approx(1 / 3)
    assert figures["recall@5"] == pytest.approx(1 / 3)
    assert figures["recall@20"] == pytest.approx(2 / 3)
    assert figures["recall@50"] == pytest.approx(2 / 3)
    assert figures["gold_share@20"] == pytest.approx((1 + 0.5) / 3)
    assert figures["mrr@10"] == pytest.approx((1 + 1 / 6) / 3)
    assert list(figures)[:6] == ["hit@1", "recall@5", "recall@20", "recall@50", "mrr@10", "ndcg@10"]


def test_nothing_judged_is_an_error() -> None:
    with pytest.raises(ValueError, match="no question is judged"):
        summarise({"q": ["a"]}, {})
