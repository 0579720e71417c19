"""Documents without a file: added and removed by a program, never by a sync."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import contents, embedded, open_base, write_files

from localrag.errors import LocalragError, ReadError, ReadOnlyError
from localrag.store.documents import metadata_of

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.knowledge_base import KnowledgeBase

TEXT = "# Garden\n\nTulips are planted in October.\n"


def test_a_text_is_added_found_and_removed(kb: KnowledgeBase) -> None:
    assert kb.add(TEXT, uri="note:1.md", metadata={"year": 2024}) == "added"
    [hit] = kb.search("when are tulips planted?", limit=1)
    assert (hit.document, hit.title, hit.heading) == ("note:1.md", "Garden", ("Garden",))
    [row] = kb.documents()
    assert (row.origin, row.media_type, row.read_at) == ("memory", "text/markdown", None)
    assert metadata_of(kb.database.connection, row.id) == {"year": 2024}
    assert kb.remove("note:1.md") == ("note:1.md",)
    assert kb.documents() == []
    assert kb.verify() == []


def test_without_a_suffix_it_is_plain_text(kb: KnowledgeBase) -> None:
    kb.add(TEXT, uri="note:1", title="My garden")
    [row] = kb.documents()
    assert (row.title, row.media_type) == ("My garden", "text/plain")
    assert kb.search("garden", mode="lexical")[0].title == "My garden"


def test_bytes_are_read_as_those_of_a_file(kb: KnowledgeBase) -> None:
    kb.add("鍵は毎月交換します。".encode("euc_jp"), uri="memo.txt")
    assert kb.search("鍵", mode="lexical")[0].text == "鍵は毎月交換します。"


def test_adding_again_changes_only_what_is_other(kb: KnowledgeBase) -> None:
    kb.add(TEXT, uri="a.md", metadata={"year": 2024})
    embedded(kb)
    before = contents(kb)
    assert kb.add(TEXT, uri="a.md", metadata={"year": 2024}) == "unchanged"
    assert contents(kb) == before
    assert kb.add(TEXT, uri="a.md", metadata={"year": 2025}) == "updated"
    assert embedded(kb) == []
    assert kb.add(TEXT, uri="a.md", title="Flowers") == "updated"
    assert kb.add(TEXT + "\nRoses too.\n", uri="a.md", title="Flowers") == "updated"
    assert len(kb.documents()) == 1
    assert kb.search("roses", mode="lexical")[0].title == "Flowers"
    assert kb.verify() == []


def test_metadata_is_added_to_what_stands_in_the_document(kb: KnowledgeBase) -> None:
    kb.add("---\nauthor: Ada\nyear: 1\n---\n\nText.\n", uri="a.md", metadata={"year": 2})
    [row] = kb.documents()
    assert metadata_of(kb.database.connection, row.id) == {"author": "Ada", "year": 2}


def test_half_a_surrogate_pair_is_no_reason_to_fail(kb: KnowledgeBase) -> None:
    assert kb.add("broken \ud800 text", uri="a") == "added"


@pytest.mark.parametrize(
    ("content", "uri", "reason"),
    [("", "a.md", "empty"), (b"\x89PNG\r\n\x1a\n", "a", "unsupported")],
)
def test_what_is_no_document_is_refused(
    kb: KnowledgeBase, content: str | bytes, uri: str, reason: str
) -> None:
    with pytest.raises(ReadError) as caught:
        kb.add(content, uri=uri)
    assert caught.value.reason == reason
    assert kb.documents() == []


def test_no_sync_removes_it_or_replaces_it(kb: KnowledgeBase, folder: Path) -> None:
    uri = str(folder / "memory.md")
    kb.add(TEXT, uri=uri)
    kb.sync(folder)
    assert kb.refresh().removed == ()
    assert uri in [row.uri for row in kb.documents()]
    write_files(folder, {"memory.md": "A file of that name.\n"})
    [skipped] = kb.refresh().skipped
    assert (skipped.uri, skipped.reason) == (uri, "name taken")
    assert kb.search("tulips", mode="lexical")[0].document == uri
    kb.remove(uri)
    assert kb.refresh().added == (uri,)
    assert kb.skipped() == []


def test_a_file_does_not_become_a_document_from_memory(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    with pytest.raises(LocalragError, match="is a file that was indexed"):
        kb.add(TEXT, uri=str(folder / "keys.md"))


def test_a_moved_file_does_not_take_over_a_document_from_memory(
    kb: KnowledgeBase, folder: Path
) -> None:
    kb.sync(folder)
    kb.add((folder / "keys.md").read_bytes(), uri="copy.md")
    (folder / "keys.md").rename(folder / "locks.md")
    assert len(kb.refresh().moved) == 1
    assert "copy.md" in [row.uri for row in kb.documents()]


def test_reading_only_forbids_adding(kb: KnowledgeBase) -> None:
    kb.add(TEXT, uri="a.md")
    with (
        open_base(kb.database.path, kb.settings, read_only=True) as reader,
        pytest.raises(ReadOnlyError),
    ):
        reader.add(TEXT, uri="b.md")
