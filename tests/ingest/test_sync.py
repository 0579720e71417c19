"""What a run of the indexer changes in the file, and what it leaves alone."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import Contents, CountingEmbedder, age, contents, embedded, open_base, write_files

from localrag.config import make_settings
from localrag.errors import BusyError, Cancelled, LocalragError, ModelError, ReadOnlyError
from localrag.formats.spans import stem_of
from localrag.ingest import pipeline, prepare
from localrag.ingest.discover import Root, Source
from localrag.ingest.pipeline import sync
from localrag.ingest.prepare import read_source
from localrag.ingest.sources import scope_of
from localrag.ingest.write import remove_document
from localrag.records import Progress, Skipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from localrag.ingest.prepare import Prepared
    from localrag.knowledge_base import KnowledgeBase
    from localrag.store.documents import DocumentRow

FILES = ("doors.txt", "keys.md", "sub/windows.md")
"""What the folder of conftest.py holds."""


def uris(kb: KnowledgeBase) -> list[str]:
    return [Path(document.uri).name for document in kb.documents()]


def reasons(kb: KnowledgeBase) -> dict[str, str]:
    return {Path(skipped.uri).name: skipped.reason for skipped in kb.skipped()}


def rewrite(path: Path, text: str) -> None:
    """Change a file so that its date is another one, whatever the clock's resolution."""
    before = path.stat().st_mtime_ns
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before + 1_000, before + 1_000))


# Added, updated, unchanged, removed


def test_the_first_run_adds_every_document(kb: KnowledgeBase, folder: Path) -> None:
    report = kb.sync(folder)
    assert report.added == tuple(str(folder / name) for name in sorted(FILES))
    assert (report.updated, report.unchanged, report.removed, report.skipped) == ((), (), (), ())
    status = kb.status()
    assert (status.documents, status.chunks, status.tokens) == (3, report.chunks, report.tokens)
    assert report.seconds > 0
    assert status.sources == (str(folder),)
    assert kb.verify() == []


def test_the_text_of_the_chunks_comes_from_the_files(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    ids = [id_ for (id_,) in kb.database.connection.execute("SELECT id FROM chunks")]
    texts = "\n".join(chunk.text for chunk in kb.chunks(ids).values())
    assert "Keys are rotated every month." in texts
    assert "Windows are cleaned on Mondays." in texts


def test_a_second_run_changes_nothing_and_embeds_nothing(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    before = contents(kb)
    embedded(kb)
    report = kb.sync(folder)
    assert len(report.unchanged) == 3
    assert (report.added, report.updated, report.removed) == ((), (), ())
    assert (report.chunks, report.tokens) == (0, 0)
    assert embedded(kb) == []
    assert contents(kb) == before


def test_an_edited_document_is_replaced(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    rewrite(folder / "doors.txt", "Doors stand open at noon.\n")
    report = kb.sync(folder)
    assert report.updated == (str(folder / "doors.txt"),)
    assert len(report.unchanged) == 2
    assert kb.search("shut", mode="lexical").hits == ()
    assert kb.search("noon", mode="lexical")[0].text == "Doors stand open at noon."
    assert kb.verify() == []


def test_an_edit_embeds_only_the_chunks_that_changed(kb: KnowledgeBase, folder: Path) -> None:
    sections = [f"## Part {n}\n\n{f'word{n} ' * 20}\n" for n in range(6)]
    rewrite(folder / "keys.md", "\n".join(sections))
    kb.sync(folder)
    assert len(embedded(kb)) == kb.status().chunks
    sections[3] = sections[3].replace("word3", "other")
    rewrite(folder / "keys.md", "\n".join(sections))
    report = kb.sync(folder)
    fresh = embedded(kb)
    assert report.chunks > len(fresh)
    assert fresh
    assert all("other" in passage for passage in fresh)
    assert 0 < report.tokens < kb.status().tokens
    assert kb.verify() == []


def test_a_chunk_keeps_its_own_vector_when_it_is_not_embedded_again(
    kb: KnowledgeBase, folder: Path, tmp_path: Path
) -> None:
    kb.sync(folder)
    rewrite(folder / "doors.txt", "Doors stand open at noon.\n")
    kb.sync(folder)
    with open_base(tmp_path / "fresh.db", kb.settings) as fresh:
        fresh.sync(folder)
        assert contents(fresh) == contents(kb)


def test_the_same_text_in_two_documents_is_embedded_once(kb: KnowledgeBase, folder: Path) -> None:
    shutil.copyfile(folder / "keys.md", folder / "sub" / "keys.md")
    kb.sync(folder)
    passages = embedded(kb)
    assert len(passages) == len(set(passages))
    assert len(passages) < kb.status().chunks


def test_a_touched_file_is_read_but_not_indexed_again(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    embedded(kb)
    os.utime(folder / "keys.md", ns=(1, 1))
    report = kb.sync(folder)
    assert str(folder / "keys.md") in report.unchanged
    assert embedded(kb) == []
    [touched] = [row for row in kb.documents() if row.uri.endswith("keys.md")]
    assert touched.modified_at == 1


def test_a_file_of_the_same_size_and_date_is_not_even_read(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    age(folder)
    kb.sync(folder)

    def unexpected(source: Source) -> bytes:
        raise AssertionError(source.uri)

    monkeypatch.setattr(prepare, "read_source", unexpected)
    assert len(kb.sync(folder).unchanged) == 3


def test_a_file_rewritten_within_one_tick_of_the_clock_is_noticed(
    kb: KnowledgeBase, folder: Path
) -> None:
    path = folder / "doors.txt"
    kb.sync(folder)
    date = path.stat().st_mtime_ns
    path.write_text("Doors stay open at noon.\n".rjust(path.stat().st_size), encoding="utf-8")
    os.utime(path, ns=(date, date))
    assert kb.sync(folder).updated == (str(path),)


def test_a_file_read_long_after_its_date_is_trusted_from_then_on(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.sync(folder)
    age(folder)
    assert len(kb.sync(folder).unchanged) == 3  # read again, and dated anew
    monkeypatch.setattr(prepare, "read_source", None)
    assert len(kb.sync(folder).unchanged) == 3


def test_a_file_from_the_future_is_read_again_each_time(kb: KnowledgeBase, folder: Path) -> None:
    path = folder / "doors.txt"
    age(folder, seconds=-3_600)
    kb.sync(folder)
    date = path.stat().st_mtime_ns
    path.write_text("Doors stay open at noon.\n".rjust(path.stat().st_size), encoding="utf-8")
    os.utime(path, ns=(date, date))
    assert kb.sync(folder).updated == (str(path),)


def test_the_same_bytes_under_two_names_are_found_under_both(
    kb: KnowledgeBase, folder: Path
) -> None:
    shutil.copyfile(folder / "keys.md", folder / "sub" / "copy.md")
    kb.sync(folder)
    [hit, *_] = kb.search("keys are rotated every month")
    found = {hit.document, *(place.document for place in hit.also_in)}
    assert {Path(uri).name for uri in found} == {"keys.md", "copy.md"}


def test_names_that_look_alike_are_different_documents(kb: KnowledgeBase, tmp_path: Path) -> None:
    alike = ["Note.md", "note.md", "note .md", " note.md", "caf\u00e9.md", "cafe\u0301.md"]
    folder = write_files(tmp_path / "alike", {name: f"Text {n}.\n" for n, name in enumerate(alike)})
    if len(list(folder.iterdir())) < len(alike):
        pytest.skip("this file system takes some of these names for the same")
    assert len(kb.sync(folder).added) == len(alike)
    (folder / "note.md").unlink()
    assert kb.sync(folder).removed == (str(folder / "note.md"),)
    assert sorted(uris(kb)) == sorted({*alike} - {"note.md"})


def test_a_document_whose_file_is_gone_is_removed(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    shutil.rmtree(folder / "sub")
    report = kb.sync(folder)
    assert report.removed == (str(folder / "sub" / "windows.md"),)
    assert uris(kb) == ["doors.txt", "keys.md"]
    assert kb.search("windows Mondays", mode="lexical").hits == ()
    assert kb.verify() == []


def test_a_document_is_removed_even_if_nobody_indexed_it() -> None:
    with tempfile.TemporaryDirectory() as name, open_base(Path(name) / "base.db") as kb:
        remove_document(kb.database, "/nowhere")
        assert kb.documents() == []


# Several roots


def test_documents_from_other_places_stay(kb: KnowledgeBase, folder: Path, tmp_path: Path) -> None:
    other = write_files(tmp_path / "docs-more", {"extra.md": "Extra text.\n"})
    kb.sync(folder)
    assert kb.sync(other).removed == ()
    assert len(uris(kb)) == 4
    assert kb.status().sources == (str(folder), str(other))


def test_two_roots_in_one_run_share_nothing_twice(kb: KnowledgeBase, folder: Path) -> None:
    report = kb.sync(folder / "sub", folder, folder / "keys.md")
    assert sorted(report.added) == sorted(str(folder / name) for name in FILES)


def test_a_file_can_be_given_directly(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder / "keys.md")
    assert uris(kb) == ["keys.md"]
    kb.sync(folder / "doors.txt")
    assert uris(kb) == ["doors.txt", "keys.md"]


def test_a_run_below_a_root_removes_only_what_is_gone_there(
    kb: KnowledgeBase, folder: Path
) -> None:
    kb.sync(folder)
    (folder / "keys.md").unlink()
    (folder / "sub" / "windows.md").unlink()
    report = kb.sync(folder / "sub")
    assert report.removed == (str(folder / "sub" / "windows.md"),)
    assert uris(kb) == ["doors.txt", "keys.md"]


def test_a_relative_root_is_the_same_root(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.sync(folder)
    monkeypatch.chdir(folder.parent)
    report = kb.sync("docs")
    assert len(report.unchanged) == 3
    assert kb.status().sources == (str(folder),)


def test_a_root_that_does_not_exist_is_an_error_and_removes_nothing(
    kb: KnowledgeBase, folder: Path
) -> None:
    kb.sync(folder)
    folder.rename(folder.with_name("away"))
    with pytest.raises(LocalragError, match=r"docs does not exist\. Check the path"):
        kb.sync(folder)
    assert len(uris(kb)) == 3


def test_a_sibling_whose_name_begins_alike_is_another_place(
    kb: KnowledgeBase, folder: Path
) -> None:
    siblings = write_files(folder.parent / "docs-old", {"a.md": "Text.\n"})
    strange = write_files(folder.parent / "docs\\old", {"b.md": "Text.\n"})
    kb.sync(folder, siblings, strange)
    shutil.rmtree(siblings)
    shutil.rmtree(strange)
    assert kb.sync(folder).removed == ()


def test_the_knowledge_base_does_not_index_itself(folder: Path) -> None:
    with open_base(folder / "base.db") as kb:
        report = kb.sync(folder)
        assert len(report.added) == 3
        assert report.skipped == ()
        assert kb.skipped() == []


# Skipped


def test_files_without_a_document_are_skipped_with_the_reason(
    kb: KnowledgeBase, folder: Path
) -> None:
    (folder / "empty.md").touch()
    (folder / "picture.bin").write_bytes(b"\x89PNG\x00\x01\x02" * 20)
    (folder / "large.md").write_bytes(b"x" * 10_001)
    (folder / "dangling.md").symlink_to(folder / "gone.md")
    report = kb.sync(folder)
    assert len(report.added) == 3
    assert {Path(skipped.uri).name for skipped in report.skipped} == set(reasons(kb))
    assert reasons(kb)["empty.md"] == "empty"
    assert reasons(kb)["large.md"] == "too large"
    assert reasons(kb)["dangling.md"] == "missing"
    assert "picture.bin" in reasons(kb)
    assert all(skipped.detail for skipped in kb.skipped())
    assert kb.status().skipped == 4


def test_a_skipped_file_that_became_readable_leaves_the_ledger(
    kb: KnowledgeBase, folder: Path
) -> None:
    (folder / "empty.md").touch()
    kb.sync(folder)
    rewrite(folder / "empty.md", "Not empty any more.\n")
    assert kb.sync(folder).added == (str(folder / "empty.md"),)
    assert kb.skipped() == []


def test_a_skipped_file_that_is_gone_leaves_the_ledger(kb: KnowledgeBase, folder: Path) -> None:
    (folder / "empty.md").touch()
    kb.sync(folder)
    (folder / "empty.md").unlink()
    kb.sync(folder)
    assert kb.skipped() == []


def test_the_ledger_of_other_places_stays(kb: KnowledgeBase, folder: Path, tmp_path: Path) -> None:
    (folder / "empty.md").touch()
    kb.sync(folder)
    kb.sync(write_files(tmp_path / "other", {"a.md": "Text.\n"}))
    assert reasons(kb) == {"empty.md": "empty"}


def test_a_document_that_became_empty_is_removed_and_skipped(
    kb: KnowledgeBase, folder: Path
) -> None:
    kb.sync(folder)
    rewrite(folder / "keys.md", "")
    report = kb.sync(folder)
    assert [skipped.reason for skipped in report.skipped] == ["empty"]
    assert uris(kb) == ["doors.txt", "windows.md"]
    assert kb.verify() == []


PIPE = pytest.param(
    "not a file",
    marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes"),
)


@pytest.mark.parametrize("kind", ["too large", "missing", PIPE])
def test_a_document_whose_file_is_replaced_by_something_else_is_removed(
    kb: KnowledgeBase, folder: Path, kind: str
) -> None:
    kb.sync(folder)
    path = folder / "keys.md"
    path.unlink()
    replace_by: dict[str, Callable[[], object]] = {
        "too large": lambda: path.write_bytes(b"x" * 10_001),
        "missing": lambda: path.symlink_to(folder / "nothing"),
        "not a file": lambda: os.mkfifo(path),
    }
    replace_by[kind]()
    kb.sync(folder)
    assert reasons(kb) == {"keys.md": kind}
    assert uris(kb) == ["doors.txt", "windows.md"]


def unreadable(uri: str) -> Callable[[Source], bytes | Skipped]:
    """Return a `read_source` that refuses one file: tests may run as root."""

    def read(source: Source) -> bytes | Skipped:
        if source.uri == uri:
            return Skipped(uri, "unreadable", "Permission denied; check its permissions")
        return read_source(source)

    return read


def test_a_document_that_cannot_be_read_today_stays_until_it_can(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.sync(folder)
    before = contents(kb)
    before_text = (folder / "keys.md").read_text(encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(prepare, "read_source", unreadable(str(folder / "keys.md")))
        rewrite(folder / "keys.md", "# Keys\n\nNew text.\n")
        report = kb.sync(folder)
    assert [skipped.reason for skipped in report.skipped] == ["unreadable"]
    assert (report.removed, report.updated) == ((), ())
    assert contents(kb).documents == before.documents
    rewrite(folder / "keys.md", before_text)  # as it was: only the ledger has to change
    assert len(kb.sync(folder).unchanged) == 3
    assert kb.skipped() == []


def test_bytes_that_cannot_be_had_are_a_reason_to_skip(tmp_path: Path) -> None:
    source = Source(tmp_path / "gone.md", "/gone.md", 1, 1)
    skipped = read_source(source)
    assert isinstance(skipped, Skipped)
    assert (skipped.uri, skipped.reason) == ("/gone.md", "unreadable")
    assert skipped.detail.startswith("No such file")


def test_a_folder_that_cannot_be_opened_keeps_its_documents(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.sync(folder)
    real = os.scandir

    def closed(path: Path) -> object:
        if Path(path) == folder / "sub":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", closed)
        report = kb.sync(folder)
    assert report.removed == ()
    assert reasons(kb) == {"sub": "unreadable"}
    assert len(uris(kb)) == 3
    kb.sync(folder)
    assert kb.skipped() == []


def test_a_root_that_vanishes_while_it_is_walked_keeps_its_documents(
    kb: KnowledgeBase, folder: Path
) -> None:
    """As when a disk is unplugged just after the check that the path exists."""
    kb.sync(folder)
    scope = scope_of([Root(folder, 10_000)], [], 10_000)
    folder.rename(folder.with_name("away"))
    report = sync(kb.database, kb.embedder, kb.settings, scope, version="1")
    assert report.removed == ()
    assert len(uris(kb)) == 3


def test_a_text_that_cannot_be_cut_costs_itself_alone(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = prepare.prepare_document

    def fail(row: DocumentRow, *others: Any) -> Prepared:
        if row.title == "Keys":
            raise IndexError("as a library at its end")
        return real(row, *others)

    monkeypatch.setattr(prepare, "prepare_document", fail)
    report = kb.sync(folder)
    assert len(report.added) == 2
    [skipped] = report.skipped
    assert skipped.reason == "crashed"
    assert skipped.detail == "reading it failed: IndexError: as a library at its end"


def test_a_model_that_cannot_be_used_stops_the_run(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Prepared:
        raise ModelError("the tokenizer is missing")

    monkeypatch.setattr(prepare, "prepare_document", fail)
    with pytest.raises(ModelError):
        kb.sync(folder)


# Progress and cancellation


def test_progress_is_told_after_every_file(kb: KnowledgeBase, folder: Path) -> None:
    (folder / "empty.md").touch()
    kb.sync(folder / "keys.md")
    told: list[Progress] = []
    report = kb.sync(folder, progress=told.append)
    assert [progress.done for progress in told] == [1, 2, 3, 4]
    assert {progress.total for progress in told} == {4}
    assert {Path(progress.current).name for progress in told} == {
        "doors.txt",
        "empty.md",
        "keys.md",
        "windows.md",
    }
    assert (told[-1].chunks, told[-1].tokens) == (report.chunks, report.tokens)


def test_a_cancelled_run_keeps_what_was_finished_and_the_next_goes_on(
    kb: KnowledgeBase, folder: Path, tmp_path: Path
) -> None:
    asked: list[bool] = []

    def cancelled() -> bool:
        asked.append(True)
        return len(asked) > 2

    with pytest.raises(Cancelled, match="run the same command to go on"):
        kb.sync(folder, cancelled=cancelled)
    assert uris(kb) == ["doors.txt", "keys.md"]
    assert kb.verify() == []
    embedded(kb)
    report = kb.sync(folder, cancelled=lambda: False)
    assert (len(report.added), len(report.unchanged)) == (1, 2)
    assert len(embedded(kb)) == report.chunks
    with open_base(tmp_path / "fresh.db", kb.settings) as fresh:
        fresh.sync(folder)
        assert contents(fresh) == contents(kb)


def test_a_cancelled_run_removes_nothing(kb: KnowledgeBase, folder: Path) -> None:
    kb.sync(folder)
    (folder / "keys.md").unlink()
    with pytest.raises(Cancelled):
        kb.sync(folder, cancelled=lambda: True)
    assert len(uris(kb)) == 3


def test_an_error_in_the_progress_callback_loses_nothing_that_was_written(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH_CHUNKS", 1)

    def interrupt(progress: Progress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kb.sync(folder, progress=interrupt)
    assert len(uris(kb)) == 2
    assert kb.verify() == []
    assert len(kb.sync(folder).added) == 1


def test_documents_are_embedded_in_batches_over_documents(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(kb.embedder, CountingEmbedder)
    kb.sync(folder)
    assert kb.embedder.calls == 1
    monkeypatch.setattr(pipeline, "BATCH_CHUNKS", 1)
    for name in FILES:
        rewrite(folder / name, f"New text of {name}.\n")
    kb.sync(folder)
    assert kb.embedder.calls == 4


# Who may write


def test_a_run_waits_for_no_other_run(kb: KnowledgeBase, folder: Path) -> None:
    with kb.database.sole_writer(), pytest.raises(BusyError, match="Another localrag"):
        kb.sync(folder)
    assert uris(kb) == []
    assert kb.status().sources == ()


def test_a_read_only_base_is_not_filled(kb: KnowledgeBase, folder: Path) -> None:
    kb.close()
    with (
        open_base(kb.database.path, read_only=True) as reader,
        pytest.raises(ReadOnlyError, match="open read-only"),
    ):
        reader.sync(folder)


# Any folder to any other folder

PIECES = [
    "# Keys\n\nKeys are rotated every month.\n",
    "Doors stay shut at night. Nobody knocks.\n",
    "# A\n\n" + "alpha beta gamma delta. " * 30 + "\n\n## B\n\nshort\n\n## C\n\n" + "tail " * 50,
    "| a | b |\n|---|---|\n" + "".join(f"| {n} | cell |\n" for n in range(40)),
    "日本語の文書です。鍵は毎月交換します。\n",
    "",
    "\x00\x01 binary",
    "x" * 3_000,
]
NAMES = ["a.md", "b.txt", "sub/c.md", "sub/deep/d.md", "c.md/e.md"]
STATES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(PIECES), max_size=4)


def make_folder(folder: Path, state: dict[str, str], date: int) -> None:
    """Make `folder` hold exactly `state`; files whose text stays keep their date."""
    for path in sorted(folder.rglob("*"), reverse=True):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            path.rmdir() if not any(path.iterdir()) else None
        elif state.get(name) != path.read_text(encoding="utf-8"):
            path.unlink()
    for name, text in state.items():
        path = folder / name
        if not path.exists():
            write_files(folder, {name: text})
            os.utime(path, ns=(date, date))


def without_names(held: Contents) -> Contents:
    """Leave out what a renamed file keeps of its old name: vectors of documents named by files.

    Their title is in what was embedded, and a rename embeds nothing.
    """
    by_file = {uri for uri, title, *_ in held.documents if title == stem_of(str(uri))}
    return replace(
        held,
        chunks=[row if row[0] not in by_file else (*row[:12], *row[13:]) for row in held.chunks],
        vectors=[row for row in held.vectors if row[0] not in by_file],
    )


@settings(max_examples=25, deadline=None)
@example([{"a.md": PIECES[1]}, {"sub/c.md": PIECES[1]}])
@example([{"a.md": PIECES[0], "sub/c.md": PIECES[0]}, {"sub/deep/d.md": PIECES[0]}])
@given(st.lists(STATES, min_size=1, max_size=3))
def test_any_way_to_a_folder_leaves_what_a_fresh_run_over_it_leaves(
    states: list[dict[str, str]],
) -> None:
    sizes = make_settings(chunk_tokens=32, overlap_tokens=8, max_file_bytes=2_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "docs"
        folder.mkdir()
        with open_base(Path(name) / "base.db", sizes) as kb:
            for date, state in enumerate(states, start=1):
                make_folder(folder, state, date)
                kb.sync(folder)
            kb.sync(folder)
            with open_base(Path(name) / "fresh.db", sizes) as fresh:
                fresh.sync(folder)
                assert without_names(contents(kb)) == without_names(contents(fresh))
            assert kb.verify() == []
            before = contents(kb)
            assert not kb.sync(folder).changed
            assert contents(kb) == before
