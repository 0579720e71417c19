"""A cap on the hits of one document starves no search."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import add_document, chunks_of, open_base, write_files

from localrag.config import make_settings
from localrag.errors import SettingsError
from localrag.records import Allowed, Candidate, SearchState
from localrag.search.filling import Groups, Spread
from localrag.search.per_document import PerDocument, share
from localrag.store.allowed import chunks_of_documents
from localrag.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from localrag.knowledge_base import KnowledgeBase


def candidates(ids: Iterable[int]) -> tuple[Candidate, ...]:
    """Return candidates whose scores fall with their position."""
    return tuple(Candidate(id_, 1 / rank, rank) for rank, id_ in enumerate(ids, start=1))


def ranked(ids: Iterable[int]) -> tuple[Candidate, ...]:
    """Return candidates of which the lower id has the higher score, whatever the list."""
    return tuple(Candidate(id_, -id_, rank) for rank, id_ in enumerate(ids, start=1))


def ids_of(found: Sequence[Candidate]) -> list[int]:
    return [one.chunk_id for one in found]


# Filling a list


@settings(max_examples=200)
@given(
    owners=st.lists(st.integers(0, 6), max_size=60),
    most=st.integers(1, 4),
    k=st.integers(1, 12),
)
def test_a_list_is_filled_as_if_all_had_been_ranked(owners: list[int], most: int, k: int) -> None:
    # The chunk's id is its rank; owner 0 stands for no group.
    of = {id_: owner for id_, owner in enumerate(owners, start=1) if owner}
    allowed_now = set(range(1, len(owners) + 1))

    def search(wanted: int, allowed: Allowed | None) -> tuple[Candidate, ...]:
        left = allowed_now if allowed is None else set(map(int, allowed.ids.split()))
        return ranked(sorted(left)[:wanted])

    def groups_of(found: Sequence[Candidate]) -> Mapping[int, int]:
        return {one.chunk_id: of[one.chunk_id] for one in found if one.chunk_id in of}

    def without(allowed: Allowed | None, full: Iterable[int]) -> Allowed:
        left = allowed_now if allowed is None else set(map(int, allowed.ids.split()))
        kept = sorted(id_ for id_ in left if of.get(id_) not in set(full))
        return Allowed(0, len(kept), " ".join(map(str, kept)))

    seen: Counter[int] = Counter()
    expected = []
    for id_, owner in enumerate(owners, start=1):
        seen[owner] += 1
        if not owner or seen[owner] <= most:
            expected.append(id_)
    found = Groups(most, groups_of, without).fill(search, k, None)
    assert ids_of(found) == expected[:k]
    assert [one.rank for one in found] == list(range(1, len(found) + 1))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return documents of twenty, three and one chunks: ids 1 to 20, 21 to 23, and 24."""
    opened = Database(tmp_path / "base.db")
    for name, count in (("/a", 20), ("/b", 3), ("/c", 1)):
        add_document(opened, name, chunks_of([f"{name} {n}" for n in range(count)]))
    yield opened
    opened.close()


def by_id(wanted: int, allowed: Allowed | None) -> tuple[Candidate, ...]:
    """Return the allowed chunks in the order of their ids."""
    ids = range(1, 25) if allowed is None else json.loads(allowed.ids)
    return ranked(ids[:wanted])


def test_a_list_holds_chunks_of_several_documents(database: Database) -> None:
    spread = Spread(database.connection, 2)
    assert ids_of(spread.fill(by_id, 4, None)) == [1, 2, 21, 22]
    assert ids_of(spread.fill(by_id, 9, None)) == [1, 2, 21, 22, 24]


def test_a_list_is_filled_with_what_a_filter_allows(database: Database) -> None:
    allowed = chunks_of_documents(database.connection, 2, "[1, 3]")
    assert ids_of(Spread(database.connection, 2).fill(by_id, 3, allowed)) == [1, 2, 24]


# The cap itself


def capped(database: Database, ids: Iterable[int], most: int, **options: Any) -> SearchState:
    state = SearchState(query="q", survivors=candidates(ids))
    return PerDocument(database.connection, most, **options)(state)


def test_the_best_chunks_of_each_document_stay_in_their_order(database: Database) -> None:
    after = capped(database, [21, 3, 9, 1, 22, 24], 2)
    assert ids_of(after.survivors) == [21, 3, 9, 22, 24]
    assert [one.rank for one in after.survivors] == [1, 2, 3, 4, 5]
    assert after.note == "at most 2 of a document, 1 chunks left out"


def test_chunks_that_become_one_hit_count_once(database: Database) -> None:
    after = capped(database, [5, 9, 6, 4, 24], 1, joined=True)
    assert ids_of(after.survivors) == [5, 6, 4, 24]
    database.connection.execute(
        "UPDATE chunks SET section_id = (SELECT max(id) FROM sections) WHERE id = 6"
    )
    assert ids_of(capped(database, [5, 9, 6, 4, 24], 1, joined=True).survivors) == [5, 4, 24]


def test_a_chunk_that_is_gone_takes_no_place(database: Database) -> None:
    assert ids_of(capped(database, [99, 1, 2], 1).survivors) == [1]


@given(
    owners=st.lists(st.integers(1, 30), min_size=50, max_size=50),
    most=st.integers(1, 8),
    limit=st.integers(1, 50),
)
def test_the_share_of_a_document_leaves_enough_for_all_hits(
    owners: list[int], most: int, limit: int
) -> None:
    allowed = share(most, limit, len(owners))
    counts = Counter(owners)
    if max(counts.values()) <= allowed:
        assert sum(min(count, most) for count in counts.values()) >= limit


# In a search


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    """Return a long document of which every section is about owls, and ten short ones."""
    sections = "\n\n".join(f"## Owl {n}\n\nThe owl owl owl sleeps {n}." for n in range(80))
    others = {
        f"{n}.md": f"# Birds {n}\n\nHere an owl was seen beside {n} ducks.\n" for n in range(10)
    }
    write_files(tmp_path / "docs", {"owls.md": f"# Owls\n\n{sections}\n", **others})
    with open_base(
        tmp_path / "base.db", make_settings(chunk_tokens=32, overlap_tokens=0)
    ) as opened:
        opened.sync(tmp_path / "docs")
        yield opened


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
@pytest.mark.parametrize("rerank", [True, False])
def test_a_capped_search_is_filled_from_other_documents(
    kb: KnowledgeBase, mode: Any, rerank: bool
) -> None:
    plain = Counter(hit.document for hit in kb.search("owl", mode=mode, rerank=rerank))
    assert max(plain.values()) > 2 or mode == "vector"
    for most in (1, 2):
        found = kb.search("owl", mode=mode, rerank=rerank, per_document=most)
        counts = Counter(hit.document for hit in found)
        assert len(found) == 10
        assert max(counts.values()) <= most


def test_the_trace_shows_the_cap(kb: KnowledgeBase) -> None:
    names = [stage.name for stage in kb.search("owl", per_document=1).trace.stages]
    assert [name for name in names if name.endswith("per document")] == [
        "3b. per document",
        "4b. per document",
    ]
    (last,) = [
        stage
        for stage in kb.search("owl", per_document=1, rerank=False).trace.stages
        if stage.name.endswith("per document")
    ]
    assert last.name == "4b. per document"
    assert last.note.startswith("at most 1 of a document, ")


def test_the_cap_and_copies_go_together(kb: KnowledgeBase, tmp_path: Path) -> None:
    text = (tmp_path / "docs" / "3.md").read_text(encoding="utf-8")
    write_files(tmp_path / "docs", {"copy.md": text})
    kb.sync(tmp_path / "docs")
    found = kb.search("owl", mode="lexical", per_document=1, limit=11)
    assert len(found) == 11
    assert sum(hit.also_in_count for hit in found) == 1


def test_a_cap_of_none_is_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(SettingsError, match="per_document is at least 1"):
        kb.search("owl", per_document=0)
    with pytest.raises(SettingsError, match="tokens is at least 1"):
        kb.search("owl", tokens=0)
