"""The stages one by one: what each reads, and what it lets through."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from support import DIMENSIONS, ScriptedReranker, add_document, chunks_of, unit

from localrag.errors import RemoteError
from localrag.records import Candidate, SearchState
from localrag.search import rerank as rerank_module
from localrag.search import retrieve, term_choice
from localrag.search.rerank import Rerank
from localrag.search.retrieve import Lexical, Vector
from localrag.search.run import run_stages
from localrag.search.term_choice import (
    FREQUENT_MINIMUM,
    FREQUENT_SHARE,
    prune_frequent,
    split_frequent,
)
from localrag.search.transform import PassThrough
from localrag.search.weights import SPACED_WEIGHT
from localrag.store.database import Database
from localrag.text.analysis import QueryTerm, analyse_query
from localrag.text.match import MOST_TERMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from localrag.inference.protocols import FloatArray, TokenCounter

TEXTS = ["alpha beta", "beta gamma", "gamma delta", "delta alpha"]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return four chunks, ids 1 to 4, whose vectors turn away from the first axis."""
    opened = Database(tmp_path / "base.db")
    add_document(opened, "/a", chunks_of(TEXTS), [unit(1.0, n) for n in range(4)])
    yield opened
    opened.close()


class FixedEmbedder:
    """Places every query at one point."""

    dimensions = DIMENSIONS
    fingerprint = "fixed"
    counter: TokenCounter

    def __init__(self, vector: FloatArray) -> None:
        self.vector = vector
        self.queries: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return np.stack([self.vector for _ in texts])

    def embed_query(self, text: str) -> FloatArray:
        self.queries.append(text)
        return self.vector

    def close(self) -> None:
        """Hold nothing, release nothing."""


def asked(*queries: str) -> SearchState:
    return SearchState(query="as typed", queries=queries)


def ids(candidates: Sequence[Candidate]) -> list[int]:
    return [candidate.chunk_id for candidate in candidates]


# 1


def test_the_words_the_user_typed_pass_through() -> None:
    state = PassThrough()(SearchState(query="as typed"))
    assert state.queries == ("as typed",)
    assert state.note == "query unchanged"


# 2a


def test_lexical_finds_the_chunks_with_the_words(database: Database) -> None:
    state = Lexical(database.connection, 10)(asked("alpha"))
    assert set(ids(state.survivors)) == {1, 4}
    [ranked] = state.lists
    assert (ranked.method, ranked.query, ranked.weight) == ("bm25", "alpha", SPACED_WEIGHT)
    assert ranked.candidates == state.survivors


def test_lexical_returns_at_most_k(database: Database) -> None:
    assert len(Lexical(database.connection, 1)(asked("alpha")).survivors) == 1


def test_lexical_keeps_earlier_lists_and_adds_one_per_query(database: Database) -> None:
    state = replace(asked("alpha", "gamma"), lists=(), note="old remark")
    before = Vector(database.connection, FixedEmbedder(unit(1.0)), 2)(state)
    after = Lexical(database.connection, 10)(before)
    assert [(ranked.method, ranked.query) for ranked in after.lists] == [
        ("vector", "alpha"),
        ("vector", "gamma"),
        ("bm25", "alpha"),
        ("bm25", "gamma"),
    ]
    assert after.note == ""


@pytest.mark.parametrize("query", ["", "   ", "?!", "unknownword"])
def test_lexical_finds_nothing_for_a_query_without_known_words(
    database: Database, query: str
) -> None:
    assert Lexical(database.connection, 10)(asked(query)).survivors == ()


def test_retrieval_without_queries_finds_nothing(database: Database) -> None:
    assert Lexical(database.connection, 10)(asked()).survivors == ()
    assert Vector(database.connection, FixedEmbedder(unit(1.0)), 10)(asked()).survivors == ()


# 2a: pruning


@dataclass(frozen=True)
class Pruned:
    frequencies: dict[str, int]
    chunks: int
    kept: list[str]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(Pruned({"alpha": 1}, 1_000, ["alpha"]), id="unknown terms go"),
        pytest.param(Pruned({}, 1_000, []), id="nothing is known"),
        pytest.param(
            Pruned({"alpha": 300, "beta": 301}, 1_000, ["alpha"]), id="the limit is a share"
        ),
        pytest.param(
            Pruned({"alpha": 50, "beta": 50}, 60, ["alpha", "beta"]), id="a small base keeps all"
        ),
        pytest.param(
            Pruned({"alpha": 400, "beta": 600, "gamma": 601}, 1_000, ["alpha", "beta"]),
            id="the rarest of frequent terms stay",
        ),
    ],
)
def test_pruning(case: Pruned) -> None:
    terms = [term for word in ("alpha", "beta", "gamma") for term in analyse_query(word)]
    kept = prune_frequent(terms, case.frequencies, case.chunks)
    assert [term.term for term in kept] == case.kept


def test_a_prefix_is_kept_although_the_index_lacks_it_as_a_word() -> None:
    terms = [QueryTerm("京", prefix=True), QueryTerm("unknown")]
    assert prune_frequent(terms, {}, 1_000) == terms[:1]


def test_the_limits_of_pruning() -> None:
    assert (FREQUENT_MINIMUM, FREQUENT_SHARE) == (50, 0.3)


def test_frequent_terms_only_add_to_scores_once_many_rows_would_be_scored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terms = [QueryTerm("common"), QueryTerm("rare"), QueryTerm("middle"), QueryTerm("x", True)]
    frequencies = {"common": 60, "rare": 10, "middle": 40}
    monkeypatch.setattr(term_choice, "MANY_ROWS", 110)
    assert split_frequent(terms, frequencies, 1_000) == (terms, [])
    monkeypatch.setattr(term_choice, "MANY_ROWS", 109)
    assert split_frequent(terms, frequencies, 1_000) == (terms[1:], terms[:1])
    monkeypatch.setattr(term_choice, "MANY_ROWS", 49)
    # Weights are 7.6, 4.6, 3.2 and 2.8: the first is less than half of them, two are two thirds.
    monkeypatch.setattr(term_choice, "FINDING_WEIGHT", 0.6)
    two = ([terms[1], terms[3]], [terms[2], terms[0]])
    assert split_frequent(terms, frequencies, 1_000) == two
    monkeypatch.setattr(term_choice, "FINDING_WEIGHT", 0.7)
    assert split_frequent(terms, frequencies, 1_000) == (terms[1:], terms[:1])
    monkeypatch.setattr(term_choice, "MOST_ROWS", 49)
    assert split_frequent(terms, frequencies, 1_000) == two
    monkeypatch.setattr(term_choice, "MOST_ADDED", 1)
    assert split_frequent(terms, frequencies, 1_000) == (two[0], two[1][:1])
    only = split_frequent(terms[:1], {"common": 200}, 1_000)
    assert only == (terms[:1], [])  # it finds, whatever it takes


@pytest.mark.parametrize("postings", [50_000, 12, 1])
def test_the_best_are_the_same_when_frequent_terms_only_add(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postings: int
) -> None:
    monkeypatch.setattr(term_choice, "MOST_ROWS", postings)
    database = Database(tmp_path / "base.db")
    texts = [f"common filler{n}" for n in range(15)] + [f"other filler{n}" for n in range(45)]
    texts += ["rare word", "rare amber", "rare common amber", "amber one", "amber two"]
    add_document(database, "/a", chunks_of(texts))
    state = Lexical(database.connection, 3)(asked("common amber rare"))
    assert ids(state.survivors) == [63, 62, 61]
    monkeypatch.setattr(term_choice, "MOST_ROWS", 50_000)
    exhaustive = Lexical(database.connection, 3)(asked("common amber rare")).survivors
    assert [one.score for one in state.survivors] == pytest.approx(
        [one.score for one in exhaustive]
    )
    database.close()


def test_few_frequent_terms_are_added_to_more_chunks_than_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_choice, "MOST_ROWS", 1)
    database = Database(tmp_path / "base.db")
    texts = ["rare"] * 12 + ["rare common"]
    add_document(database, "/a", chunks_of([*texts, *["common"] * 20, *["other"] * 60]))
    search = Lexical(database.connection, 1)
    assert ids(search(asked("rare common")).survivors) == [13]
    monkeypatch.setattr(retrieve, "COUNTED", 0)
    assert ids(search(asked("rare common")).survivors) == [1]  # of four chunks none has both
    database.close()


# 2b


def test_vector_finds_the_nearest_chunks(database: Database) -> None:
    embedder = FixedEmbedder(unit(1.0))
    state = Vector(database.connection, embedder, 3)(asked("the query"))
    assert ids(state.survivors) == [1, 2, 3]
    assert state.survivors[0].score == pytest.approx(1.0)
    assert [(ranked.method, ranked.query) for ranked in state.lists] == [("vector", "the query")]
    assert embedder.queries == ["the query"]


class Unreachable(FixedEmbedder):
    """A model on a server that is not there."""

    def embed_query(self, text: str) -> FloatArray:
        raise RemoteError(f"No server for {text}.")


def test_without_its_server_vector_keeps_what_was_found_by_words(database: Database) -> None:
    vector = Vector(database.connection, Unreachable(unit(1.0)), 10)
    words = Lexical(database.connection, 10)(asked("alpha"))
    state = vector(words)
    assert (state.lists, state.survivors) == (words.lists, words.survivors)
    assert state.note == "failed: No server for alpha. Searched by words only."
    assert vector(asked("alpha")).lists == words.lists


def test_vectors_of_another_length_than_the_files_are_not_compared(database: Database) -> None:
    longer = FixedEmbedder(np.ones(DIMENSIONS + 1, np.float32))
    state = Vector(database.connection, longer, 10)(asked("alpha"))
    assert f"returns {DIMENSIONS + 1} dimensions" in state.note
    assert set(ids(state.survivors)) == {1, 4}


# 4


def test_without_its_server_reranking_keeps_the_top_as_it_came(database: Database) -> None:
    def unreachable(_: str) -> float:
        raise RemoteError("No server.")

    before = replace(asked("alpha"), survivors=tuple(Candidate(n, 0.01 * n, n) for n in (1, 2, 3)))
    after = Rerank(database.connection, ScriptedReranker(unreachable), 2)(before)
    assert after.survivors == before.survivors[:2]
    assert not after.reranked
    assert after.note == "failed: No server. The order stays as it was."


def fused(*chunk_ids: int) -> SearchState:
    survivors = tuple(Candidate(id_, 1 / (60 + n), n) for n, id_ in enumerate(chunk_ids, 1))
    return SearchState(query="as typed", queries=("rewritten",), survivors=survivors)


def test_the_cross_encoder_reads_against_the_words_the_user_typed(database: Database) -> None:
    reranker = ScriptedReranker(lambda passage: 0.75 if "gamma" in passage else 0.25)
    state = Rerank(database.connection, reranker, 10, fused_weight=0)(fused(1, 2, 3))
    assert ids(state.survivors) == [2, 3, 1]
    assert [candidate.rank for candidate in state.survivors] == [1, 2, 3]
    assert [candidate.score for candidate in state.survivors] == [0.75, 0.75, 0.25]
    assert reranker.asked == [("as typed", [f"Title\n{text}" for text in TEXTS[:3]])]
    assert state.note == "read 3 passages"


def test_equal_probabilities_keep_the_fused_order(database: Database) -> None:
    state = Rerank(database.connection, ScriptedReranker(lambda _: 0.5), 10)(fused(3, 1, 4, 2))
    assert ids(state.survivors) == [3, 1, 4, 2]


def test_the_cross_encoder_moves_what_it_is_sure_of(database: Database) -> None:
    scores = {TEXTS[0]: 0.984375, TEXTS[1]: 0.75, TEXTS[2]: 0.25, TEXTS[3]: 0.25}
    reranker = ScriptedReranker(lambda passage: scores[passage.partition("\n")[2]])
    survivors = tuple(
        Candidate(id_, score, 0) for id_, score in ((4, 0.025), (3, 0.02), (2, 0.005), (1, 0.005))
    )
    state = Rerank(database.connection, reranker, 10, fused_weight=100)(
        replace(fused(), survivors=survivors)
    )
    # Log-odds, doubted: 3.7, 1.1, -1.1, -1.1, and from the fused list 0.5, 0.5, 2, 2.5.
    assert ids(state.survivors) == [1, 2, 4, 3]
    assert [one.score for one in state.survivors] == [0.984375, 0.75, 0.25, 0.25]


def test_only_the_top_is_read_and_kept(database: Database) -> None:
    reranker = ScriptedReranker(lambda _: 0.5)
    state = Rerank(database.connection, reranker, 2)(fused(1, 2, 3, 4))
    assert ids(state.survivors) == [1, 2]
    assert len(reranker.asked[0][1]) == 2


def test_a_chunk_that_is_gone_is_not_read(database: Database) -> None:
    state = Rerank(database.connection, ScriptedReranker(lambda _: 0.5), 10)(fused(99, 2))
    assert ids(state.survivors) == [2]


def test_reranking_nothing_gives_nothing(database: Database) -> None:
    state = Rerank(database.connection, ScriptedReranker(lambda _: 0.5), 10)(fused())
    assert state.survivors == ()


class Ticking:
    """A clock that a reranker winds on by what it reads."""

    def __init__(self, seconds: Sequence[float]) -> None:
        self.seconds = list(seconds)
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def reads(self, _passage: str) -> float:
        self.now += self.seconds.pop(0)
        return 0.5


@pytest.mark.parametrize(
    ("seconds", "budget", "read"),
    [
        ([1.0, 1.0, 1.0, 1.0], 4.0, 4),  # all fit exactly
        ([1.0, 1.0, 1.0, 1.0], 2.5, 2),  # a third would end too late
        ([1.0, 1.0, 1.0, 1.0], 0.1, 1),  # one batch is always read
        ([1.5, 0.5, 0.5, 0.5], 3.0, 4),  # the first one loads the model: no guide for the rest
    ],
)
def test_a_budget_stops_reading_in_time(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    seconds: list[float],
    budget: float,
    read: int,
) -> None:
    monkeypatch.setattr(rerank_module, "BATCH", 1)
    clock = Ticking(seconds)
    reranker = ScriptedReranker(clock.reads)
    stage = Rerank(database.connection, reranker, 10, budget=budget, clock=clock)
    state = stage(fused(1, 2, 3, 4))
    assert len(reranker.asked) == read
    assert ids(state.survivors) == [1, 2, 3, 4]
    assert state.unread == frozenset(range(read + 1, 5))
    allowed = f" of 4 passages in the {1000 * budget:.0f} ms allowed" if read < 4 else " passages"
    assert state.note == f"read {read}{allowed}"


@pytest.mark.parametrize(
    ("probability", "first", "budget", "reads"),
    [
        (0.75, 2, None, [2]),  # one of the first answers
        (0.7, 2, None, [2, 2]),  # as likely as that, and no likelier
        (0.75, 9, None, [4]),  # fewer than are read in any case
        (0.75, 3, 60.0, [2, 2]),  # batches of two, for the clock
        (0.75, 2, 60.0, [2]),
    ],
)
def test_reading_stops_where_one_of_the_first_surely_answers(  # noqa: PLR0913, PLR0917 - a table's
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    probability: float,
    first: int,
    budget: float | None,
    reads: list[int],
) -> None:
    monkeypatch.setattr(rerank_module, "BATCH", 2)
    reranker = ScriptedReranker(lambda passage: probability if "gamma" in passage else 0.25)
    stage = Rerank(database.connection, reranker, 10, sure=0.7, first=first, budget=budget)
    state = stage(fused(1, 2, 4, 3))
    assert [len(passages) for _, passages in reranker.asked] == reads
    read = sum(reads)
    assert state.unread == frozenset((1, 2, 4, 3)[read:])
    rest = f" of 4 passages: one answers with a probability of {probability:.2f}"
    assert state.note == f"read {read}{' passages' if read == 4 else rest}"


def test_what_was_not_read_follows_in_fused_order_with_its_fused_score(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rerank_module, "BATCH", 2)
    reranker = ScriptedReranker(lambda passage: 0.75 if "gamma" in passage else 0.25)
    stage = Rerank(database.connection, reranker, 10, budget=1e-9)
    state = stage(fused(1, 2, 4, 3))
    assert ids(state.survivors) == [2, 1, 4, 3]
    assert [one.score for one in state.survivors] == [0.75, 0.25, 1 / 63, 1 / 64]
    assert state.unread == {4, 3}
    assert reranker.asked == [("as typed", [f"Title\n{text}" for text in TEXTS[:2]])]


class WindowReranker(ScriptedReranker):
    """Reads four tokens of a chunk at once when it looks again."""

    window_tokens = 4


LONG = "One is here. Two is here. Three has gamma. Four is here."


@pytest.fixture
def long_chunks(database: Database) -> list[int]:
    texts = [LONG, "short", LONG.replace("gamma", "nothing")]
    return [
        add_document(
            database, f"/long{number}", [replace(chunk, tokens=len(chunk.text) // 4)], [unit(1.0)]
        )[0]
        for number, [chunk] in enumerate(chunks_of([text]) for text in texts)
    ]


def test_the_best_are_read_again_in_windows(database: Database, long_chunks: list[int]) -> None:
    first, short, last = long_chunks
    reranker = WindowReranker(
        lambda passage: (
            0.8125 if passage.endswith("gamma. ") else 0.625 if "short" in passage else 0.5
        )
    )
    state = Rerank(database.connection, reranker, 10)(fused(last, short, first))
    assert ids(state.survivors) == [first, short, last]
    # A quarter of the log-odds of .5 and three of .8125's; a short chunk is not read closer.
    assert [one.score for one in state.survivors] == [
        pytest.approx(0.75, abs=1e-3),
        0.625,
        pytest.approx(0.5),
    ]
    [_, (_, windows)] = reranker.asked
    assert "Title\nThree has gamma. " in windows
    assert not any("short" in window for window in windows)
    assert state.note == "read 3 passages; 2 again in windows"


def test_only_the_best_are_read_again(database: Database, long_chunks: list[int]) -> None:
    reranker = WindowReranker(lambda _: 0.5)
    Rerank(database.connection, reranker, 10, again=1)(fused(*long_chunks))
    [_, (_, windows)] = reranker.asked
    assert "".join(window.removeprefix("Title\n") for window in windows) == LONG


@pytest.mark.parametrize(
    ("budget", "note"),
    [
        (5.25, "read 3 passages; 2 again in windows"),  # half a batch took 3 s; again: 2.25
        (5.0, "read 3 passages"),
        (1e-9, "read 3 passages"),
    ],
)
def test_without_time_nothing_is_read_again(
    database: Database, long_chunks: list[int], budget: float, note: str
) -> None:
    clock = Ticking([1.0] * 30)
    reranker = WindowReranker(clock.reads)
    stage = Rerank(database.connection, reranker, 10, budget=budget, clock=clock)
    state = stage(fused(*long_chunks))
    assert state.note == note
    assert len(reranker.asked) == (2 if "again" in note else 1)


def test_nothing_is_read_twice_of_nothing(database: Database) -> None:
    reranker = WindowReranker(lambda _: 0.5)
    assert Rerank(database.connection, reranker, 10)(fused()).survivors == ()
    assert reranker.asked == []


# The loop


@dataclass(frozen=True, slots=True)
class Append:
    """A stage that lets one more chunk through."""

    id_: int
    name: str

    def __call__(self, state: SearchState) -> SearchState:
        survivors = (*state.survivors, Candidate(self.id_, 1.0, len(state.survivors) + 1))
        return replace(state, survivors=survivors, note=f"added {self.id_}")


def test_the_loop_runs_the_stages_in_order_and_writes_down_each() -> None:
    state, trace = run_stages([Append(5, "first"), Append(6, "second")], "query")
    assert ids(state.survivors) == [5, 6]
    assert (trace.id, trace.query) == (None, "query")
    assert trace.created_at.endswith("+00:00")
    assert [(record.name, ids(record.survivors), record.note) for record in trace.stages] == [
        ("first", [5], "added 5"),
        ("second", [5, 6], "added 6"),
    ]
    assert all(record.milliseconds >= 0 for record in trace.stages)


def test_without_stages_the_query_is_all_there_is() -> None:
    state, trace = run_stages([], "query")
    assert state == SearchState(query="query", queries=("query",))
    assert trace.stages == ()


def test_rerank_reads_the_rows_of_a_table_with_the_names_of_their_columns(
    database: Database,
) -> None:
    [chunk] = chunks_of(["| key | default |\n|---|---|\n| limit | 5 |"])
    ids = add_document(database, "/t", [replace(chunk, kind="table")], [unit(1.0)])
    reranker = ScriptedReranker(len)
    state = SearchState("limit", ("limit",), survivors=(Candidate(ids[0], 0.5, 1),))
    Rerank(database.connection, reranker, 5)(state)
    assert reranker.asked == [("limit", ["Title\nkey: limit; default: 5"])]


# 2a: nearness


def searched(database: Database, query: str) -> list[int]:
    return ids(Lexical(database.connection, 10).search(query).candidates)


def test_of_too_many_words_the_rare_ones_are_looked_up(tmp_path: Path) -> None:
    common = [f"w{number}" for number in range(MOST_TERMS)]
    with closing(Database(tmp_path / "many.db")) as opened:
        words = " ".join(common)
        add_document(opened, "/a", chunks_of([words, words, "zebra", *["other"] * 9]))
        assert 3 in searched(opened, " ".join([*common, "zebra"]))
