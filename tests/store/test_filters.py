"""Paths, labels, hints, and what the user said of a source."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from support import open_base, write_files

from localrag.errors import FilterError, SettingsError
from localrag.records import Filter, Properties
from localrag.store.allowed import chunks_of_documents
from localrag.store.filters import allowed_documents, why_nothing
from localrag.store.properties import keep_properties, list_properties

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from localrag.knowledge_base import KnowledgeBase

FILES = {
    "top.md": "# Top\n\nThe keys of the house.\n",
    "notes/a.md": "---\nyear: 2020\nteam: own\n---\n# A\n\nKeys in the notes.\n",
    "notes/deep/b.md": "# B\n\nMore keys in the notes.\n",
    "clients/acme/2024/c.md": "# C\n\nKeys of a client.\n",
    "clients/鍵屋/2023/d.md": "# 鍵\n\n鍵は毎月交換します。\n",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_files(tmp_path / "work" / "docs", FILES)


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with open_base(tmp_path / "base.db") as opened:
        yield opened


def passing(kb: KnowledgeBase, docs: Path, **wanted: object) -> list[str]:
    """Return the documents that pass, as paths below the folder."""
    _, ids = allowed_documents(kb.database.connection, Filter(**wanted))  # type: ignore[arg-type]
    uris = {row.id: row.uri for row in kb.documents()}
    return sorted(os.path.relpath(uris[id_], docs) for id_ in json.loads(ids))


NOTES = ["notes/a.md", "notes/deep/b.md"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("notes/**", NOTES),
        ("notes", NOTES),
        ("docs/notes/**", NOTES),
        ("work/docs/notes", NOTES),
        ("docs", sorted(FILES)),
        ("work/docs/", sorted(FILES)),
        ("*.md", ["top.md"]),
        ("docs/*.md", ["top.md"]),
        ("**/*.md", sorted(FILES)),
        ("**/2024/**", ["clients/acme/2024/c.md"]),
        ("clients/*/2023", ["clients/鍵屋/2023/d.md"]),
        ("work/notes/**", []),
        ("*/docs/notes/**", []),
        ("a.md", []),
    ],
)
def test_a_relative_pattern_begins_at_a_source(
    kb: KnowledgeBase, docs: Path, pattern: str, expected: list[str]
) -> None:
    kb.sync(docs)
    assert passing(kb, docs, paths=(pattern,)) == expected


def test_an_absolute_pattern_is_a_whole_path(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs)
    assert passing(kb, docs, paths=(f"{docs}/notes/**",)) == NOTES
    assert passing(kb, docs, paths=("/notes/**",)) == []


def test_several_patterns_let_through_what_any_of_them_does(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs)
    assert passing(kb, docs, paths=("notes/*.md", "top.md")) == ["notes/a.md", "top.md"]


def test_of_a_file_that_was_given_the_folder_counts(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs / "notes" / "a.md")
    assert passing(kb, docs, paths=("a.md",)) == ["notes/a.md"]
    assert passing(kb, docs, paths=("notes/*.md",)) == ["notes/a.md"]


def test_the_chunks_of_the_allowed_documents(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs)
    connection = kb.database.connection
    count, ids = allowed_documents(connection, Filter(paths=("notes",)))
    allowed = chunks_of_documents(connection, count, ids)
    chunks = kb.chunks(json.loads(allowed.ids))
    assert (allowed.documents, allowed.chunks) == (2, 2)
    assert {chunk.uri for chunk in chunks.values()} == {str(docs / name) for name in NOTES}


def test_labels_hide_what_has_other_labels(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs)
    kb.sync(docs / "notes", labels=["staff", "board"])
    kb.sync(docs / "clients", labels=["sales"])
    unlabelled = ["top.md"]
    assert passing(kb, docs, labels=()) == unlabelled
    assert passing(kb, docs, labels=("board",)) == [*NOTES, *unlabelled]
    assert passing(kb, docs, labels=("nobody",)) == unlabelled
    assert passing(kb, docs, labels=("staff", "sales")) == sorted(FILES)
    assert passing(kb, docs) == sorted(FILES)


def test_the_innermost_labels_count_alone(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs, labels=["staff"])
    kb.sync(docs / "notes", labels=["board"])
    kb.sync(docs)
    assert passing(kb, docs, labels=("board",)) == NOTES
    assert passing(kb, docs, labels=("staff",)) == sorted(set(FILES) - set(NOTES))


def test_the_parts_of_a_path_become_properties(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs, path_patterns=["clients/{client}/{year}/**", "{kind}/**"])
    assert passing(kb, docs, where='client = "acme" and year = 2024') == ["clients/acme/2024/c.md"]
    assert passing(kb, docs, where="year < 2024") == ["clients/鍵屋/2023/d.md", "notes/a.md"]
    assert passing(kb, docs, where='kind = "notes"') == NOTES


def test_what_the_user_says_wins(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs, metadata={"team": "sales", "year": 1}, path_patterns=["clients/*/{year}/**"])
    assert passing(kb, docs, where='team = "sales" and year = 1') == sorted(FILES)
    kb.sync(docs / "notes", metadata={"team": "inner"})
    assert passing(kb, docs, where='team = "inner" and year = 1') == NOTES


def test_a_later_run_applies_it_again(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs, metadata={"team": "sales"}, labels=["staff"], path_patterns=["{kind}/**"])
    write_files(docs, {"notes/new.md": "# New\n\nNew keys.\n", "top.md": "# Top\n\nChanged.\n"})
    kb.sync(docs)
    assert passing(kb, docs, where='team = "sales"', labels=("staff",)) == sorted(
        [*FILES, "notes/new.md"]
    )
    assert passing(kb, docs, labels=()) == []
    assert passing(kb, docs, where='kind = "notes"') == sorted([*NOTES, "notes/new.md"])


def test_a_later_run_can_say_something_else(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs, metadata={"team": "sales"}, labels=["staff"])
    report = kb.sync(docs, metadata={"floor": 3})
    assert len(report.unchanged) == len(FILES)
    assert report.tokens == 0
    assert passing(kb, docs, where='team is null or team = "own"') == sorted(FILES)
    assert passing(kb, docs, where="floor = 3", labels=()) == []
    kb.sync(docs, metadata={}, labels=[])
    assert passing(kb, docs, where="floor is null", labels=()) == sorted(FILES)


def test_other_sources_are_left_alone(kb: KnowledgeBase, docs: Path, tmp_path: Path) -> None:
    beside = write_files(tmp_path / "work" / "docs2", {"x.md": "# X\n\nKeys.\n"})
    kb.sync(docs, beside)
    kb.sync(docs, labels="staff")
    assert passing(kb, docs, labels=()) == ["../docs2/x.md"]
    assert list_properties(kb.database.connection) == {
        str(docs): Properties(metadata={}, labels=("staff",), patterns=())
    }


def test_a_single_file_may_have_properties(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs / "top.md", metadata={"team": "x"}, path_patterns=["{stem}.md"])
    assert passing(kb, docs, where='team = "x" and stem = "top"') == ["top.md"]


@pytest.mark.parametrize("value", [{"when": object()}, {"much": float("nan")}])
def test_metadata_must_be_json(kb: KnowledgeBase, docs: Path, value: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="values that JSON knows"):
        kb.sync(docs, metadata=value)
    assert kb.documents() == []


def test_metadata_that_is_no_text_is_made_one(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs, metadata={"team": "x\udcff"}, labels=["\ud800"])
    assert passing(kb, docs, where='team = "x?"', labels=("?",)) == sorted(FILES)


def test_a_wrong_path_pattern_is_refused_before_the_run(kb: KnowledgeBase, docs: Path) -> None:
    with pytest.raises(SettingsError, match="is no name"):
        kb.sync(docs, path_patterns=["{no name}/**"])
    assert kb.documents() == []


def test_what_is_kept_stays_when_nothing_is_said(kb: KnowledgeBase) -> None:
    said = Properties(metadata={"a": 1}, labels=("b",), patterns=("{c}/**",))
    with kb.database.atomic() as connection:
        keep_properties(connection, "/x", said)
        keep_properties(connection, "/x", Properties())
        assert list_properties(connection) == {"/x": said}


def test_the_language_of_a_document_is_known(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs)
    assert passing(kb, docs, where='lang = "ja"') == ["clients/鍵屋/2023/d.md"]
    assert {row.language for row in kb.documents()} == {"en", "ja"}


def test_a_hint_names_what_does_not_exist(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs)
    connection = kb.database.connection
    hint = why_nothing(connection, Filter(where="yaer > 1 and team = 'x'", paths=("nots/**",)))
    assert "no document has yaer; fields: indexed, lang" in hint
    assert "team, title" in hint
    assert f"no path matches nots/**; indexed: {docs}" in hint
    assert why_nothing(connection, Filter(where="year > 3000")) == ""
    assert why_nothing(connection, Filter(where="metadata.year > 3000")) == ""


def test_a_wrong_expression_is_an_error_of_the_search(kb: KnowledgeBase, docs: Path) -> None:
    kb.sync(docs)
    with pytest.raises(FilterError, match="put text in quotes"):
        kb.search("keys", where="lang = ja")
    with pytest.raises(FilterError):
        kb.ask("keys", where="lang = ja")
