"""From a query to hits, through all stages, on a small base with the exact fake models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import add_document, chunks_of, open_base, write_files

from localrag.config import Settings, make_settings
from localrag.errors import SettingsError
from localrag.inference.fake import FakeEmbedder, FakeReranker
from localrag.records import Passage, SearchState
from localrag.search.expand import Expand
from localrag.search.pipeline import FARTHEST, hits, search_stages
from localrag.search.plan import Mode, Plan
from localrag.search.rerank import AGAIN, Rerank
from localrag.search.window import Window
from localrag.store.chunks import fetch_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from localrag.knowledge_base import KnowledgeBase
    from localrag.records import SearchResult, StageRecord

ANIMALS = ["cat", "dog", "owl", "fox", "elk", "bee", "ant", "cow"]
LONG = "# Zoo\n\n" + "\n\n".join(
    f"## The {animal}\n\nThe {animal} sleeps in stable {number} and eats at {number} o'clock."
    for number, animal in enumerate(ANIMALS)
)


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    """Return a base with one document of eight sections and sixty short ones."""
    files = {f"note{n:02}.md": f"Note {n} about common things.\n" for n in range(60)}
    write_files(tmp_path / "docs", {"zoo.md": LONG, **files})
    with open_base(
        tmp_path / "base.db", make_settings(chunk_tokens=32, overlap_tokens=0)
    ) as opened:
        opened.sync(tmp_path / "docs")
        yield opened


def stage(result: SearchResult, name: str) -> StageRecord:
    [record] = [record for record in result.trace.stages if record.name == name]
    return record


STAGES: dict[tuple[Mode, bool], list[str]] = {
    ("hybrid", True): [
        "1. transform", "2a. bm25", "2b. vector", "3. fuse", "4. rerank", "5. expand",
    ],
    ("hybrid", False): ["1. transform", "2a. bm25", "2b. vector", "3. fuse", "5. expand"],
    ("lexical", True): ["1. transform", "2a. bm25", "3. fuse", "4. rerank", "5. expand"],
    ("vector", True): ["1. transform", "2b. vector", "3. fuse", "4. rerank", "5. expand"],
    ("vector", False): ["1. transform", "2b. vector", "3. fuse", "5. expand"],
}  # fmt: skip


@pytest.mark.parametrize(("mode", "rerank"), STAGES)
def test_a_stage_that_is_switched_off_is_not_there(
    kb: KnowledgeBase, mode: Mode, *, rerank: bool
) -> None:
    result = kb.search("where does the owl sleep", mode=mode, rerank=rerank)
    assert [record.name for record in result.trace.stages] == STAGES[mode, rerank]
    assert "owl" in result[0].text


def test_every_stage_writes_down_its_time_and_what_it_let_through(kb: KnowledgeBase) -> None:
    result = kb.search("where does the owl sleep", limit=3)
    first, *others = result.trace.stages
    assert (first.survivors, first.note) == ((), "query unchanged")
    for record in others:
        assert record.survivors, record.name
        assert [c.rank for c in record.survivors] == list(range(1, len(record.survivors) + 1))
    assert all(record.milliseconds > 0 for record in result.trace.stages)
    assert len(stage(result, "5. expand").survivors) == 3
    assert stage(result, "3. fuse").note == "2 lists"


def test_both_methods_search_the_same_chunks_with_the_same_k(kb: KnowledgeBase) -> None:
    result = kb.search("note about common things")
    assert len(stage(result, "2a. bm25").survivors) == 50
    assert len(stage(result, "2b. vector").survivors) == 50


def test_the_order_of_the_reranker_is_the_order_of_the_hits(kb: KnowledgeBase) -> None:
    result = kb.search("the fox eats in stable 3", limit=8)
    reranked = [c.chunk_id for c in stage(result, "4. rerank").survivors]
    assert [hit.chunk_id for hit in result] == reranked[:8]
    assert [hit.rank for hit in result] == list(range(1, 9))


def test_the_relevance_is_what_the_cross_encoder_gives_the_matched_chunk(
    kb: KnowledgeBase,
) -> None:
    query = "the fox eats in stable 3"
    for hit in kb.search(query, limit=5, context=1):
        [chunk] = kb.chunks([hit.chunk_id]).values()
        [expected] = FakeReranker().relevance(query, [chunk.passage])
        assert hit.relevance == pytest.approx(float(expected))


def test_without_the_reranker_a_hit_has_no_relevance(kb: KnowledgeBase) -> None:
    assert {hit.relevance for hit in kb.search("owl", rerank=False)} == {None}


@pytest.mark.parametrize("rerank", [True, False])
def test_a_limit_beyond_the_usual_candidates_is_kept(kb: KnowledgeBase, *, rerank: bool) -> None:
    assert len(kb.search("note about common things", limit=60, rerank=rerank)) == 60
    assert len(kb.search("note about common things", limit=1, rerank=rerank)) == 1


def test_a_limit_beyond_what_there_is_gives_what_there_is(kb: KnowledgeBase) -> None:
    assert len(kb.search("note", limit=1_000)) == kb.status().chunks


def test_context_widens_a_hit_inside_its_document(kb: KnowledgeBase) -> None:
    narrow = kb.search("fox", limit=1)[0]
    wide = kb.search("fox", limit=1, context=1)[0]
    assert wide.chunk_id == narrow.chunk_id
    assert wide.start < narrow.start
    assert narrow.end < wide.end
    assert narrow.text in wide.text
    assert "owl" in wide.text
    assert "elk" in wide.text
    assert wide.text == LONG[wide.start : wide.end]


def test_a_hit_says_where_it_stands(kb: KnowledgeBase) -> None:
    hit = kb.search("fox", limit=1)[0]
    assert hit.document.endswith("docs/zoo.md")
    assert hit.title == "Zoo"
    assert hit.heading[-1] == "The fox"
    assert hit.page is None
    assert hit.text == LONG[hit.start : hit.end]
    lines = LONG[: hit.start].count("\n") + 1
    assert hit.line == lines
    assert hit.citation == f"{hit.document}:{lines} > " + " > ".join(hit.heading)


def test_a_result_is_a_sequence(kb: KnowledgeBase) -> None:
    result = kb.search("fox", limit=3)
    assert len(result) == 3
    assert list(result) == [result[0], result[1], result[2]]


def test_a_search_without_words_still_finds_by_meaning(kb: KnowledgeBase) -> None:
    result = kb.search("?!")
    assert stage(result, "2a. bm25").survivors == ()
    assert len(result) == 10


# The plan


def test_the_plan_decides_the_sizes_of_the_stages(kb: KnowledgeBase) -> None:
    settings = make_settings(retrieve_k=7, rerank_top=5, rrf_k=9)
    stages = search_stages(
        kb.database.connection,
        FakeEmbedder(),
        FakeReranker(),
        settings,
        Plan(limit=4, neighbours=2, token_budget=99),
    )
    sizes = {
        one.name: {
            field: getattr(one, field)
            for field in ("k", "rank_constant", "top", "limit", "neighbours", "token_budget")
            if hasattr(one, field)
        }
        for one in stages
    }
    assert sizes == {
        "1. transform": {},
        "2a. bm25": {"k": 7},
        "2b. vector": {"k": 7},
        "3. fuse": {"rank_constant": 9},
        "4. rerank": {"top": 5},
        "5. expand": {"limit": 4, "neighbours": 2, "token_budget": 99},
    }


class Calibrated(FakeReranker):
    """A reranker whose numbers are probabilities."""

    calibrated = True


@pytest.mark.parametrize(
    ("reranker", "plan", "chunking", "expected"),
    [
        (Calibrated(), Plan(), "structural", (15, 0.6)),
        (Calibrated(), Plan(limit=4), "structural", (8, 0.6)),
        (FakeReranker(), Plan(), "structural", (15, None)),
        (Calibrated(), Plan(per_document=2), "structural", (15, None)),
        (Calibrated(), Plan(), "parent-child", (15, None)),
        (Calibrated(), Plan(expand="window"), "structural", (15, None)),
    ],
)
def test_reading_may_stop_early_where_probabilities_are_fitted_and_chunks_are_shown(
    kb: KnowledgeBase,
    reranker: FakeReranker,
    plan: Plan,
    chunking: str,
    expected: tuple[int, float | None],
) -> None:
    settings = make_settings(chunking=chunking, rerank_first=8, rerank_sure=0.6, rerank_again=4)
    stages = search_stages(kb.database.connection, FakeEmbedder(), reranker, settings, plan)
    [rerank] = [one for one in stages if isinstance(one, Rerank)]
    assert (rerank.first, rerank.sure) == expected
    assert rerank.again == 4


@pytest.mark.parametrize(
    ("chunking", "neighbours", "expected"),
    [
        ("structural", 2, (2, None)),
        ("fixed", 0, (0, None)),
        ("sentence-window", 1, (0, Window(4))),
        ("sentence-window", 6, (0, Window(6))),
        ("parent-child", 1, (0, Window(FARTHEST, 77))),
        ("record", 0, (0, None)),
    ],
)
def test_the_way_of_cutting_decides_what_is_returned_with_a_chunk(
    kb: KnowledgeBase, chunking: str, neighbours: int, expected: tuple[int, Window | None]
) -> None:
    settings = make_settings(chunking=chunking, window_sentences=4, section_tokens=77)
    *_, stage = search_stages(
        kb.database.connection,
        FakeEmbedder(),
        FakeReranker(),
        settings,
        Plan(neighbours=neighbours),
    )
    assert isinstance(stage, Expand)
    assert (stage.neighbours, stage.window) == expected


def test_a_plan_finds_by_both_methods_and_reranks_unless_told_otherwise() -> None:
    assert Plan() == Plan("hybrid", rerank=True, limit=10, neighbours=0, token_budget=None)
    assert (Settings().retrieve_k, Settings().rerank_top, Settings().rrf_k) == (50, 30, 60)
    assert (Settings().rerank_first, Settings().rerank_sure) == (10, 0.5)
    assert Settings().rerank_again == AGAIN


def test_an_impossible_plan_is_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(
        SettingsError, match=r"mode cannot be 'magic'\. Use one of lexical, vector, hybrid"
    ):
        kb.search("owl", mode="magic")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="at least"):
        kb.search("owl", limit=0)
    with pytest.raises(SettingsError, match="at least"):
        kb.search("owl", context=-1)
    for budget in (0, -1.0, float("nan")):
        with pytest.raises(SettingsError, match="budget is a number of seconds above 0"):
            kb.search("owl", budget=budget)


def test_a_merged_passage_is_shown_as_its_best_chunk(kb: KnowledgeBase) -> None:
    ids = add_document(
        kb.database,
        "/extra",
        chunks_of(["one", "two"]),
        [FakeEmbedder().embed_query("one"), FakeEmbedder().embed_query("two")],
    )
    first, second = fetch_chunks(kb.database.connection, ids).values()
    passage = Passage((first, second), (second.id, first.id), 0.5, "one\n\ntwo")
    [hit] = hits(SearchState(query="two", passages=(passage,)))
    assert (hit.chunk_id, hit.line, hit.start, hit.end) == (second.id, second.line, 0, 8)
