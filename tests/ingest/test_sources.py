"""What was indexed is remembered with its patterns, repeated, and removed by name only."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import contents, open_base, write_files

from localrag.errors import Cancelled, LocalragError, ReadOnlyError, SettingsError
from localrag.ingest.sources import below
from localrag.store.documents import SourceRow, list_sources

if TYPE_CHECKING:
    from localrag.knowledge_base import KnowledgeBase


def names(kb: KnowledgeBase) -> list[str]:
    return [Path(row.uri).name for row in kb.documents()]


def stored(kb: KnowledgeBase) -> list[SourceRow]:
    return list_sources(kb.database.connection)


def test_a_refresh_repeats_what_was_indexed_with_its_patterns(
    kb: KnowledgeBase, folder: Path, tmp_path: Path
) -> None:
    other = write_files(tmp_path / "other", {"a.md": "A text.\n", "b.md": "x" * 100})
    kb.sync(folder, include=["*.md"], exclude=["sub/"])
    kb.sync(other, max_bytes=50)
    assert names(kb) == ["keys.md", "a.md"]
    assert stored(kb) == [
        SourceRow(str(folder), ("*.md",), ("sub/",)),
        SourceRow(str(other), max_bytes=50),
    ]
    write_files(folder, {"new.md": "New.\n", "new.txt": "New.\n", "sub/new.md": "New.\n"})
    write_files(other, {"c.md": "More.\n"})
    report = kb.refresh()
    assert [Path(uri).name for uri in report.added] == ["new.md", "c.md"]
    assert [Path(one.uri).name for one in report.skipped] == ["b.md"]
    assert "the limit is 50" in report.skipped[0].detail


def test_one_source_can_be_refreshed_by_itself_or_with_all_below_a_folder(
    kb: KnowledgeBase, folder: Path, tmp_path: Path
) -> None:
    other = write_files(tmp_path / "other", {"a.md": "A text.\n"})
    kb.sync(folder)
    kb.sync(other)
    (folder / "keys.md").unlink()
    write_files(other, {"b.md": "B text.\n"})
    assert [Path(uri).name for uri in kb.refresh(other).added] == ["b.md"]
    assert "keys.md" in names(kb)
    assert [Path(uri).name for uri in kb.refresh(tmp_path).removed] == ["keys.md"]


def test_what_was_not_indexed_cannot_be_refreshed(
    kb: KnowledgeBase, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(LocalragError, match="Nothing was indexed from a folder yet"):
        kb.refresh()
    kb.sync(folder)
    with pytest.raises(LocalragError, match=rf"nowhere was not indexed\. .* {folder}"):
        kb.refresh(tmp_path / "nowhere")


def test_the_latest_call_says_how_a_folder_is_indexed(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder, include=["*.md"])
    kb.sync(folder, exclude=["*.md"])
    assert names(kb) == ["doors.txt"]
    assert stored(kb) == [SourceRow(str(folder), (), ("*.md",))]


def test_what_is_ignored_from_now_on_is_removed(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    write_files(folder, {".localragignore": "keys.md\n"})
    assert [Path(uri).name for uri in kb.refresh().removed] == ["keys.md"]


def test_a_pattern_that_is_none_is_refused_before_anything_is_written(
    kb: KnowledgeBase, folder: Path
) -> None:
    with pytest.raises(SettingsError, match="is no pattern"):
        kb.sync(folder, include=["!"])
    assert stored(kb) == []


# Sources within sources


def test_a_file_that_was_asked_for_by_name_stays_when_its_folder_leaves_it_out(
    kb: KnowledgeBase, folder: Path
) -> None:
    kb.sync(folder / "doors.txt")
    assert kb.sync(folder, include=["*.md"]).removed == ()
    assert sorted(names(kb)) == ["doors.txt", "keys.md", "windows.md"]
    (folder / "doors.txt").unlink()
    assert kb.sync(folder, include=["*.md"]).removed == (str(folder / "doors.txt"),)
    assert stored(kb) == [SourceRow(str(folder), ("*.md",))]


def test_a_narrow_source_removes_nothing_that_a_wider_one_holds(
    kb: KnowledgeBase, folder: Path
) -> None:
    write_files(folder / "sub", {"notes.txt": "Notes.\n"})
    kb.sync(folder)
    assert kb.sync(folder / "sub", include=["*.txt"]).removed == ()
    assert "windows.md" in names(kb)
    (folder / "sub" / "windows.md").unlink()
    assert len(kb.refresh(folder / "sub").removed) == 1


# What is gone


def test_the_documents_of_a_folder_that_is_gone_stay_until_they_are_removed(
    kb: KnowledgeBase, folder: Path
) -> None:
    kb.sync(folder)
    before = contents(kb)
    folder.rename(folder.with_name("away"))
    report = kb.refresh()
    [skipped] = report.skipped
    assert (skipped.uri, skipped.reason) == (str(folder), "missing")
    assert "localrag remove" in skipped.detail
    assert not report.changed
    assert contents(kb).documents == before.documents
    folder.with_name("away").rename(folder)
    assert kb.refresh().skipped == ()
    assert contents(kb) == before
    shutil.rmtree(folder)
    kb.refresh()
    assert len(kb.remove(folder)) == 3
    assert (kb.documents(), kb.skipped(), stored(kb)) == ([], [], [])


def test_a_folder_that_is_gone_goes_with_the_folder_around_it(
    kb: KnowledgeBase, folder: Path
) -> None:
    kb.sync(folder)
    kb.sync(folder / "sub")
    shutil.rmtree(folder / "sub")
    report = kb.refresh()
    assert report.removed == (str(folder / "sub" / "windows.md"),)
    assert report.skipped == ()
    assert stored(kb) == [SourceRow(str(folder))]


# Removing by name


def test_documents_are_removed_by_path_and_by_folder(kb: KnowledgeBase, folder: Path) -> None:
    (folder / "sub" / "empty.md").touch()
    kb.sync(folder)
    assert kb.remove(folder / "keys.md") == (str(folder / "keys.md"),)
    assert kb.remove(str(folder / "sub")) == (str(folder / "sub" / "windows.md"),)
    assert kb.skipped() == []
    assert names(kb) == ["doors.txt"]
    assert kb.remove(folder / "nothing") == ()
    assert kb.verify() == []
    assert [Path(uri).name for uri in kb.refresh().added] == ["keys.md", "windows.md"]


def test_a_relative_name_is_taken_from_here(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.sync(folder)
    monkeypatch.chdir(folder.parent)
    assert len(kb.remove("docs")) == 3


# Dry runs


def test_a_dry_run_says_what_a_run_then_does_and_writes_nothing(
    kb: KnowledgeBase, folder: Path
) -> None:
    kb.sync(folder, exclude=["nothing"])
    (folder / "keys.md").rename(folder / "locks.md")
    (folder / "doors.txt").write_text("Doors stand open.\n", encoding="utf-8")
    (folder / "sub" / "windows.md").unlink()
    write_files(folder, {"new.md": "New.\n", "empty.md": ""})
    before, sources = contents(kb), stored(kb)
    dry = kb.sync(folder, dry_run=True)
    assert contents(kb) == before
    assert stored(kb) == sources
    with open_base(kb.database.path, kb.settings, read_only=True) as reader:
        assert reader.refresh(dry_run=True).moved == dry.moved
    real = kb.sync(folder)
    for name in ("added", "updated", "moved", "unchanged", "removed", "skipped", "chunks"):
        assert getattr(dry, name) == getattr(real, name), name
    assert (len(real.added), len(real.updated), len(real.moved), len(real.removed)) == (1, 1, 1, 1)
    assert (dry.dry_run, real.dry_run) == (True, False)
    assert dry.tokens == 0


def test_a_dry_run_needs_no_lock(kb: KnowledgeBase, folder: Path) -> None:
    with kb.database.sole_writer():
        assert len(kb.sync(folder, dry_run=True).added) == 3
    assert kb.documents() == []


def test_a_file_that_became_empty_keeps_its_document_in_a_dry_run(
    kb: KnowledgeBase, folder: Path
) -> None:
    kb.sync(folder)
    (folder / "keys.md").write_text("", encoding="utf-8")
    assert [one.reason for one in kb.refresh(dry_run=True).skipped] == ["empty"]
    assert len(kb.documents()) == 3


def test_a_move_can_be_cancelled(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    (folder / "keys.md").rename(folder / "locks.md")
    with pytest.raises(Cancelled):
        kb.refresh(cancelled=lambda: True)
    assert "keys.md" in names(kb)


def test_reading_only_forbids_removing(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    with (
        open_base(kb.database.path, kb.settings, read_only=True) as reader,
        pytest.raises(ReadOnlyError),
    ):
        reader.remove(folder)


@pytest.mark.parametrize(
    ("uri", "roots", "expected"),
    [
        ("/docs/a.md", {"/docs"}, True),
        ("/docs", {"/docs"}, True),
        ("/docs-old/a.md", {"/docs"}, False),
        ("/docs/sub/deep/a.md", {"/other", "/docs/sub"}, True),
        ("/docs/a.md", {"/"}, True),
        ("note:1", {"/"}, False),
        ("/docs/a.md", frozenset(), False),
    ],
)
def test_below_is_below_a_folder_and_not_a_beginning_of_a_name(
    uri: str, roots: set[str], *, expected: bool
) -> None:
    assert (
        below(uri.replace("/", os.sep), {root.replace("/", os.sep) for root in roots}) is expected
    )
