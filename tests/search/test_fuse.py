from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localrag.config import Settings
from localrag.records import Candidate, RankedList, SearchState
from localrag.search.fuse import PLACES, RRF_K, Fuse, places, reciprocal_rank_fusion
from localrag.search.weights import SPACED_WEIGHT, UNSPACED_WEIGHT, lexical_weight


def ranked(*ids: int, method: str = "bm25", weight: float = 1.0) -> RankedList:
    candidates = tuple(Candidate(id_, 100.0 - rank, rank) for rank, id_ in enumerate(ids, 1))
    return RankedList(method, "query", candidates, weight)


def scored(**scores: float) -> RankedList:
    ordered = sorted(scores.items(), key=lambda item: -item[1])
    found = [Candidate(int(id_[1:]), score, rank) for rank, (id_, score) in enumerate(ordered, 1)]
    return RankedList("bm25", "query", tuple(found))


def test_a_place_is_told_by_the_distance_from_the_best_score() -> None:
    # The standard deviation of 6, 4 and 2 is the root of 8/3.
    step = PLACES * 2 / (8 / 3) ** 0.5
    found = scored(c1=6, c2=4, c3=2).candidates
    assert places(found) == pytest.approx([1, 1 + step, 1 + 2 * step])


@pytest.mark.parametrize(("unit", "origin"), [(10.0, 0.0), (1.0, 7.0), (0.25, -3.0)])
def test_places_have_no_unit(unit: float, origin: float) -> None:
    scores = {"c1": 6.0, "c2": 5.5, "c3": 2.0}
    other = {name: origin + unit * score for name, score in scores.items()}
    assert places(scored(**other).candidates) == pytest.approx(places(scored(**scores).candidates))


def test_equal_scores_have_one_place() -> None:
    assert places(scored(c1=1, c2=1).candidates) == [1, 1]
    assert places(scored(c1=3).candidates) == [1]
    assert places(()) == []


def test_the_sums_are_those_of_the_paper_over_places() -> None:
    first, second = scored(c1=6, c2=4, c3=2), scored(c3=1, c1=1)
    step = PLACES * 2 / (8 / 3) ** 0.5
    fused = reciprocal_rank_fusion([first, second], rank_constant=60)
    assert [candidate.chunk_id for candidate in fused] == [1, 3, 2]
    assert [candidate.rank for candidate in fused] == [1, 2, 3]
    assert [candidate.score for candidate in fused] == pytest.approx(
        [2 / 61, 1 / 61 + 1 / (61 + 2 * step), 1 / (61 + step)]
    )


def test_who_leads_by_far_in_one_list_is_before_who_leads_by_a_hair_in_the_other() -> None:
    far, hair = scored(c1=10, c2=1, c3=0.9), scored(c2=10, c1=9.9, c3=1)
    assert [one.chunk_id for one in reciprocal_rank_fusion([far, hair])][:2] == [1, 2]


def test_the_measured_constant_is_the_default() -> None:
    assert Settings().rrf_k == RRF_K == 60
    assert reciprocal_rank_fusion([ranked(1)])[0].score == pytest.approx(1 / 61)


def test_a_smaller_constant_favours_first_places() -> None:
    lists = [ranked(1, 2), ranked(3, 2)]
    assert reciprocal_rank_fusion(lists, rank_constant=1_000)[0].chunk_id == 2
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


@pytest.mark.parametrize(
    ("query", "weight"),
    [
        ("how do I rotate keys?", SPACED_WEIGHT),
        ("日本の首都はどこですか", UNSPACED_WEIGHT),
        ("Rust の所有権とは何ですか", UNSPACED_WEIGHT),
        ("max_seq_len の値", SPACED_WEIGHT),
        ("열쇠를 바꾸는 방법", UNSPACED_WEIGHT),
        ("", SPACED_WEIGHT),
        ("?! 42", SPACED_WEIGHT),
    ],
)
def test_words_weigh_more_in_scripts_without_spaces(query: str, weight: float) -> None:
    assert lexical_weight(query) == weight
