"""How much of the candidates is read: the arithmetic, on candidates whose outcome is known."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support import write_files

import localrag
from localrag.evaluate.datasets import EvaluationQuestion
from localrag.inference.fake import FakeEmbedder, FakeReranker

sys.path.append(str(Path(__file__).parents[2]))

# Not by an import statement: its modules of benchmarks/ have two names for a type checker.
depth = importlib.import_module("models.training.depth")

if TYPE_CHECKING:
    from collections.abc import Mapping

AGAIN, DEPTHS, TOP = depth.AGAIN, depth.DEPTHS, depth.TOP

COUNT = 40
RELEVANT = 7
"""The place of the one relevant passage in the fused order."""


def candidates(probability_of_first: float = 0.1) -> Any:
    """Return candidates of which the cross-encoder believes the relevant one most."""
    whole = [probability_of_first, *[0.1] * (TOP - 1)]
    whole[RELEVANT] = 0.95
    return depth.Candidates(
        judgements={f"p{RELEVANT}": 1},
        ids=tuple(f"p{place}" for place in range(COUNT)),
        fused=(0.0,) * TOP,
        whole=tuple(whole),
        lengths=(2000,) * TOP,
        closer={64: (tuple(whole), (2500,) * TOP), 48: ((0.1,) * TOP, (3000,) * TOP)},
        window=64,
    )


def ways(one: Any) -> Mapping[str, tuple[int, int]]:
    return {way: (len(probabilities), read_) for way, probabilities, read_ in one.ways()}


def test_what_is_read_stands_before_the_rest() -> None:
    one = candidates()
    assert one.ranking(one.whole)[:2] == [f"p{RELEVANT}", "p0"]
    assert one.ranking(one.whole[:5]) == list(one.ids)  # equals stay in the fused order
    assert one.ranking([0.1, 0.1, 0.9]) == ["p2", "p0", "p1", *one.ids[3:]]


def test_the_fused_score_counts_in_the_order() -> None:
    one = replace(candidates(), fused=(0.0, 1.0, *[0.0] * (TOP - 2)))
    assert one.ranking([0.5, 0.5])[:2] == ["p1", "p0"]


def test_every_way_says_how_many_characters_it_reads() -> None:
    found = ways(candidates())
    twice = {n: n * 2000 + min(n, AGAIN) * 2500 for n in (*DEPTHS, *depth.AT_AGAIN)}
    assert [found[f"top {depth}"] for depth in DEPTHS] == [(n, twice[n]) for n in DEPTHS]
    assert [found[f"again {n}"][1] - TOP * 2000 for n in depth.AT_AGAIN] == [
        n * 2500 for n in depth.AT_AGAIN
    ]
    assert found["windows of 48"] == (TOP, TOP * 2000 + AGAIN * 3000)
    ways_of_each = (len(DEPTHS), len(depth.FIRST) * len(depth.SURE), len(depth.AT_AGAIN), 2)
    assert len(found) == sum(ways_of_each)


def test_a_second_look_changes_the_best_alone() -> None:
    ranked = {way: probabilities for way, probabilities, _ in candidates().ways()}
    assert ranked["again 0"] == list(candidates().whole)
    # In these windows the relevant one no longer stands out, and it was among the best.
    assert ranked["windows of 48"] == [0.1] * TOP


@pytest.mark.parametrize(("first", "read_"), [(6, TOP), (10, 10)])
def test_reading_stops_once_the_best_of_the_first_is_sure(first: int, read_: int) -> None:
    assert ways(candidates())[f"first {first}, 0.9"] == (read_, read_ * 2000 + AGAIN * 2500)


def test_a_probability_that_is_just_reached_stops() -> None:
    found = ways(candidates(probability_of_first=0.5))
    assert found["first 6, 0.5"][0] == 6
    assert found["first 6, 0.7"][0] == TOP


def test_rows_are_means_over_questions_and_then_over_sets() -> None:
    found = {"a": [candidates(), candidates(0.5)], "b": [candidates()]}
    rows = {row["way"]: row for row in depth.rows_of(found)}
    assert rows["top 30"]["mean"] == 1.0
    assert rows["top 30"]["hit@1"] == 1.0
    assert rows["top 30"]["read"] == pytest.approx(1 + AGAIN / TOP * 1.25)
    assert rows["again 0"]["read"] == 1.0
    shallow = rows["top 5"]  # the relevant one keeps its place, the eighth
    assert shallow["a"] == pytest.approx(0.3155, abs=1e-4)
    assert shallow["hit@1"] == 0.0
    assert shallow["read"] == pytest.approx(5 / TOP * 2.25)
    whole = 1 + AGAIN / TOP * 1.25
    assert rows["first 6, 0.5"]["read"] == pytest.approx((2 * whole + 6 / TOP * 2.25) / 3)


def test_candidates_come_from_the_stages_of_the_product(tmp_path: Path) -> None:
    apples = "# A\n\nred apples grow here. They grow all along the wall.\n"
    texts = {"a.md": apples, "b.md": "# B\n\nblue boats\n"}
    write_files(tmp_path / "docs", texts)
    with localrag.open(
        tmp_path / "base.db", embedder=FakeEmbedder(), reranker=FakeReranker()
    ) as kb:
        kb.sync(tmp_path / "docs")
        question = EvaluationQuestion("q", "red apples")
        found = depth.read(kb, question, {"p": 1}, [4, 400])
    best = found.ids[0]
    assert best.endswith("a.md")
    assert found.judgements == {"p": 1}
    whole, nothing = found.closer[400]
    assert (whole, set(nothing)) == (found.whole, {0})  # no chunk is longer than such a window
    cut, characters = found.closer[4]
    assert len(found.ids) == len(found.whole) == len(found.lengths) == len(cut)
    assert list(found.fused) == sorted(found.fused, reverse=True)
    assert characters[0] > found.lengths[0]  # every window has the context line
    assert cut[0] != found.whole[0]
    assert found.window == 400
