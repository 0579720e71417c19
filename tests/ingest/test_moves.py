"""A renamed file keeps its document: the row moves, chunks and vectors stay."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import chunk_ids, contents, embedded, open_base, write_files

from localrag.config import make_settings
from localrag.ingest import moves, write
from localrag.ingest.discover import Source
from localrag.ingest.moves import find_moves
from localrag.ingest.readers import Readers
from localrag.records import Moved
from localrag.store.documents import DocumentRow

if TYPE_CHECKING:
    from localrag.knowledge_base import KnowledgeBase


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no file be parsed."""
    monkeypatch.setattr(Readers, "read", None)


def test_a_renamed_file_keeps_its_chunks_and_is_neither_parsed_nor_embedded(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.sync(folder)
    embedded(kb)
    old, new = folder / "keys.md", folder / "sub" / "locks.md"
    before = chunk_ids(kb, str(old))
    old.rename(new)
    os.utime(new, ns=(5, 5))
    monkeypatch.setattr(Readers, "read", None)
    report = kb.sync(folder)
    assert report.moved == (Moved(str(old), str(new)),)
    assert (report.added, report.updated, report.removed) == ((), (), ())
    assert len(report.unchanged) == 2
    assert (embedded(kb), report.chunks) == ([], 0)
    assert chunk_ids(kb, str(new)) == before
    [row] = [row for row in kb.documents() if row.uri == str(new)]
    assert (row.title, row.modified_at) == ("Keys", 5)
    assert kb.search("keys are rotated every month")[0].document == str(new)
    assert kb.verify() == []
    assert not kb.sync(folder).changed


def test_a_document_named_by_its_file_takes_the_new_name(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.sync(folder)
    embedded(kb)
    before = chunk_ids(kb, str(folder / "doors.txt"))
    (folder / "doors.txt").rename(folder / "gates.txt")
    with monkeypatch.context() as patch:
        patch.setattr(Readers, "read", None)
        assert len(kb.sync(folder).moved) == 1
    assert embedded(kb) == []
    assert chunk_ids(kb, str(folder / "gates.txt")) == before
    assert kb.search("gates", mode="lexical")[0].title == "gates"
    assert kb.chunks(before)[before[0]].context == "gates"
    assert kb.verify() == []
    (folder / "gates.txt").write_text("Gates stay shut at night.\n", encoding="utf-8")
    assert len(kb.sync(folder).updated) == 1
    assert len(embedded(kb)) == 1


@pytest.mark.parametrize(
    "text", ["# doors\n\nDoors stay shut.\n", "---\ntitle: doors\n---\n\nDoors stay shut.\n"]
)
def test_a_title_that_stands_in_the_text_stays_although_the_file_had_the_same_name(
    kb: KnowledgeBase, tmp_path: Path, text: str
) -> None:
    folder = write_files(tmp_path / "titled", {"doors.md": text})
    kb.sync(folder)
    (folder / "doors.md").rename(folder / "gates.md")
    assert len(kb.sync(folder).moved) == 1
    assert [row.title for row in kb.documents()] == ["doors"]


def test_a_folder_that_is_renamed_takes_its_documents_along(
    kb: KnowledgeBase, folder: Path
) -> None:
    shutil.copyfile(folder / "keys.md", folder / "sub" / "keys.md")
    kb.sync(folder)
    before = chunk_ids(kb, str(folder / "sub" / "keys.md"))
    (folder / "sub").rename(folder / "below")
    report = kb.sync(folder)
    assert [Path(move.new).name for move in report.moved] == ["keys.md", "windows.md"]
    assert chunk_ids(kb, str(folder / "below" / "keys.md")) == before


def test_another_suffix_is_another_reader_and_no_move(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    (folder / "keys.md").rename(folder / "keys.txt")
    report = kb.sync(folder)
    assert (len(report.moved), len(report.added), len(report.removed)) == (0, 1, 1)
    assert [row.media_type for row in kb.documents() if row.title == "keys"] == ["text/plain"]


def test_a_file_that_was_copied_is_added(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    embedded(kb)
    shutil.copyfile(folder / "keys.md", folder / "copy.md")
    report = kb.sync(folder)
    assert (len(report.moved), report.added) == (0, (str(folder / "copy.md"),))
    assert embedded(kb) == []


def test_a_file_that_was_renamed_and_changed_is_another(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    (folder / "keys.md").unlink()
    write_files(folder, {"locks.md": "# Keys\n\nOther text.\n"})
    report = kb.sync(folder)
    assert (len(report.moved), len(report.added), len(report.removed)) == (0, 1, 1)


def test_a_title_that_would_not_fit_the_model_makes_it_a_new_document(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.sync(folder)
    monkeypatch.setattr(write, "retitle", lambda *_: None)
    (folder / "doors.txt").rename(folder / "gates.txt")
    report = kb.sync(folder)
    assert (len(report.moved), len(report.added), len(report.removed)) == (0, 1, 1)
    assert kb.verify() == []


def test_a_retitled_chunk_that_is_too_long_is_refused(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.sync(folder)
    chunks = kb.chunks(chunk_ids(kb, str(folder / "doors.txt")))
    assert moves.retitle(chunks, "gates", kb.embedder.counter) is not None
    monkeypatch.setattr(kb.embedder.counter, "max_tokens", 5)
    assert moves.retitle(chunks, "gates", kb.embedder.counter) is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"chunking": "fixed"}, "gates > A, B"),
        ({}, "gates > A"),
        ({"context_line": "title"}, "gates"),
        ({"context_line": "none"}, ""),
    ],
)
def test_the_context_keeps_its_form_under_a_new_name(
    tmp_path: Path, options: dict[str, object], expected: str
) -> None:
    folder = write_files(tmp_path / "docs", {"doors.org": "** A\n\nOne.\n\n** B\n\nTwo.\n"})
    with open_base(tmp_path / "base.db", settings=make_settings(**options)) as kb:
        kb.sync(folder)
        (folder / "doors.org").rename(folder / "gates.org")
        assert len(kb.sync(folder).moved) == 1
        chunks = kb.chunks(chunk_ids(kb, str(folder / "gates.org")))
    assert next(iter(chunks.values())).context == expected


@pytest.mark.usefixtures("unread")
def test_files_of_other_sizes_are_not_read(tmp_path: Path) -> None:
    vanished = DocumentRow(1, "/a.md", "A", "text/markdown", "hash", 7, 1)
    source = Source(tmp_path / "never read.md", "/b.md", 8, 1)
    assert find_moves([source], [vanished]) == {}
    gone = Source(tmp_path / "vanished again.md", "/b.md", 7, 1)
    assert find_moves([gone], [vanished]) == {}


def test_one_vanished_document_moves_once_to_where_it_is_most_alike(tmp_path: Path) -> None:
    data = b"text"
    hash_ = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"

    def row(id_: int, uri: str) -> DocumentRow:
        return DocumentRow(id_, uri, "T", "text/markdown", hash_, len(data), 1)

    def source(uri: str) -> Source:
        path = tmp_path / uri.replace("/", "-")
        path.write_bytes(data)
        return Source(path, uri, len(data), 1)

    new = [source(uri) for uri in ("/x/other.md", "/y/a.md", "/x/b2.md", "/z/spare.md")]
    vanished = [row(1, "/x/a.md"), row(2, "/w/b.md"), row(3, "/x/c.md")]
    found = {uri: moved.id for uri, moved in find_moves(new, vanished).items()}
    assert found == {"/y/a.md": 1, "/x/other.md": 3, "/x/b2.md": 2}


NAMES = [f"{folder}{stem}.md" for folder in ("", "sub/", "sub/deep/") for stem in "abcd"]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=4),
    st.lists(st.sampled_from(NAMES), unique=True, min_size=4, max_size=4),
)
def test_any_renaming_keeps_every_chunk_and_equals_a_fresh_run(
    old: list[str], new: list[str]
) -> None:
    sizes = make_settings(chunk_tokens=32, overlap_tokens=8)
    with tempfile.TemporaryDirectory() as name:
        folder, base = Path(name) / "docs", Path(name) / "base.db"
        texts = [f"# Title {n}\n\n" + f"word{n} " * 60 for n in range(len(old))]
        write_files(folder, dict(zip(old, texts, strict=True)))
        with open_base(base, sizes) as kb:
            kb.sync(folder)
            ids = {
                text: chunk_ids(kb, str(folder / file))
                for file, text in zip(old, texts, strict=True)
            }
            shutil.rmtree(folder)
            # A name that existed before is a changed file and no move: such pairs are left out.
            renamed = {
                file: text for file, text in zip(new, texts, strict=False) if file not in old
            }
            write_files(folder, renamed)
            folder.mkdir(exist_ok=True)
            report = kb.sync(folder)
            assert len(report.moved) == len(renamed)
            assert report.chunks == 0
            for file, text in renamed.items():
                assert chunk_ids(kb, str(folder / file)) == ids[text]
            with open_base(Path(name) / "fresh.db", sizes) as fresh:
                fresh.sync(folder)
                assert contents(kb) == contents(fresh)
            assert kb.verify() == []
