from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localrag.records import Candidate, RankedList, SearchState
from localrag.search.fuse import RRF_K, Fuse, reciprocal_rank_fusion


def ranked(*ids: int, method: str = "bm25", weight: float = 1.0) -> RankedList:
    candidates = tuple(Candidate(id_, 100.0 / rank, rank) for rank, id_ in enumerate(ids, 1))
    return RankedList(method, "query", candidates, weight)


def test_the_sums_are_those_of_the_paper() -> None:
    fused = reciprocal_rank_fusion([ranked(1, 2, 3), ranked(3, 1, method="vector")])
    assert [candidate.chunk_id for candidate in fused] == [1, 3, 2]
    assert [candidate.rank for candidate in fused] == [1, 2, 3]
    scores = [candidate.score for candidate in fused]
    assert scores == pytest.approx([1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62])


def test_the_constant_of_the_paper_is_the_default() -> None:
    assert RRF_K == 60
    assert reciprocal_rank_fusion([ranked(1)])[0].score == pytest.approx(1 / 61)


def test_a_smaller_constant_favours_first_places() -> None:
    lists = [ranked(1, 2), ranked(3, 2)]
    assert reciprocal_rank_fusion(lists)[0].chunk_id == 2
    assert reciprocal_rank_fusion(lists, rank_constant=0)[0].chunk_id == 1


def test_a_heavier_list_counts_more() -> None:
    lists = [ranked(1), ranked(2, weight=2.0)]
    assert [candidate.chunk_id for candidate in reciprocal_rank_fusion(lists)] == [2, 1]


def test_ties_go_to_the_older_chunk() -> None:
    fused = reciprocal_rank_fusion([ranked(9, 4), ranked(4, 9)])
    assert [candidate.chunk_id for candidate in fused] == [4, 9]


def test_nothing_fuses_to_nothing() -> None:
    assert reciprocal_rank_fusion([]) == ()
    assert reciprocal_rank_fusion([ranked(), ranked()]) == ()


id_lists = st.lists(st.integers(1, 30), unique=True, max_size=12)


@settings(deadline=None)
@given(st.lists(id_lists, max_size=4))
def test_fusion_keeps_every_candidate_once_best_first(lists: list[list[int]]) -> None:
    fused = reciprocal_rank_fusion(ranked(*ids) for ids in lists)
    assert {c.chunk_id for c in fused} == {id_ for ids in lists for id_ in ids}
    assert len({c.chunk_id for c in fused}) == len(fused)
    assert [c.rank for c in fused] == list(range(1, len(fused) + 1))
    assert [c.score for c in fused] == sorted((c.score for c in fused), reverse=True)


@settings(deadline=None)
@given(id_lists)
def test_one_list_keeps_its_order(ids: list[int]) -> None:
    assert [c.chunk_id for c in reciprocal_rank_fusion([ranked(*ids)])] == ids


def test_the_stage_fuses_the_lists_of_the_state() -> None:
    lists = (ranked(1, 2), ranked(2, 3, method="vector"))
    state = SearchState(query="q", queries=("q",), lists=lists)
    after = Fuse(rank_constant=1)(state)
    assert after.survivors == reciprocal_rank_fusion(lists, rank_constant=1)
    assert after.lists == lists
    assert after.note == "2 lists"
    assert state.survivors == ()
