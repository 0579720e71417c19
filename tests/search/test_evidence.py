"""What retrieval's own scores say for a candidate when it is reranked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.records import Candidate, RankedList
from localrag.search.evidence import FULL, retrieval_evidence, standings


def ranked(method: str, scores: dict[int, float], weight: float = 1.0) -> RankedList:
    best_first = sorted(scores.items(), key=lambda item: -item[1])
    candidates = tuple(
        Candidate(id_, score, rank) for rank, (id_, score) in enumerate(best_first, 1)
    )
    return RankedList(method, "query", candidates, weight)


def test_the_best_of_a_list_has_one_and_the_last_of_a_full_one_zero() -> None:
    many = {id_: 10.0 + id_ for id_ in range(FULL)}
    stands = standings(ranked("bm25", many))
    assert stands[FULL - 1] == 1
    assert stands[0] == 0
    assert stands[(FULL - 1) // 2] == pytest.approx(0.5, abs=0.02)


def test_the_last_of_a_short_list_by_words_still_has_words_of_the_query() -> None:
    assert standings(ranked("bm25", {1: 10.0, 2: 9.0})) == {1: 1.0, 2: 0.9}
    assert standings(ranked("vector", {1: 0.9, 2: 0.8})) == {1: 1.0, 2: 0.0}


def test_all_alike_are_all_the_best() -> None:
    assert standings(ranked("vector", {1: 0.8, 2: 0.8})) == {1: 1.0, 2: 1.0}
    assert standings(ranked("bm25", {7: 3.0})) == {7: 1.0}
    assert standings(ranked("bm25", {})) == {}


def test_both_methods_add_up_and_a_missing_one_says_nothing() -> None:
    lists = [ranked("bm25", {1: 4.0, 2: 2.0}), ranked("vector", {2: 0.9, 3: 0.7})]
    said = retrieval_evidence(lists, {"bm25": 2.0, "vector": 3.0})
    assert said == {1: pytest.approx(2.0), 2: pytest.approx(4.0), 3: pytest.approx(0.0)}


def test_of_several_queries_the_one_that_says_most_counts() -> None:
    own = ranked("bm25", {1: 4.0, 2: 1.0})
    alternative = ranked("bm25", {2: 8.0, 3: 4.0}, weight=0.5)
    said = retrieval_evidence([own, alternative], {"bm25": 1.0})
    assert said == {1: 1.0, 2: 0.5, 3: 0.25}
    assert retrieval_evidence([own, replace(alternative, weight=2.0)], {"bm25": 1.0})[2] == 1.0


@given(st.dictionaries(st.integers(0, 50), st.floats(-1e6, 1e6), max_size=40))
def test_no_scores_are_too_strange(scores: dict[int, float]) -> None:
    for method in ("bm25", "vector"):
        stands = standings(ranked(method, scores))
        assert stands.keys() == scores.keys()
        assert all(0 <= value <= 1 for value in stands.values())
