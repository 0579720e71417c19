"""Another bi-encoder for a file: beside the vectors in use, exchanged at once, resumable."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from support import CountingEmbedder, contents, open_base, write_files

from localrag.config import make_settings
from localrag.errors import (
    BusyError,
    Cancelled,
    FingerprintError,
    KnowledgeBaseError,
    ModelError,
    NotAKnowledgeBaseError,
    ReadOnlyError,
    RemoteError,
)
from localrag.inference.fake import FakeEmbedder, FakeReranker
from localrag.ingest import fingerprint as fingerprint_module
from localrag.ingest import reembed as reembed_module
from localrag.ingest.reembed import reembed_file
from localrag.knowledge_base import KnowledgeBase
from localrag.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from localrag.inference.protocols import FloatArray
    from localrag.records import Progress

SETTINGS = make_settings(chunk_tokens=32, overlap_tokens=4, vectors="float32")
NEW = 32
QUERY = "what is said of number 3?"


def text(number: int, word: str = "word") -> str:
    parts = (f"The {word} number {number}, part {part}, is told at length." for part in range(9))
    return f"# {word} {number}\n\n" + " ".join(parts)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembed_module, "BATCH_TEXTS", 3)
    monkeypatch.setattr(reembed_module, "PAGE_TEXTS", 4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "docs", {f"{n}.md": text(n) for n in range(6)})


@pytest.fixture
def path(tmp_path: Path, folder: Path) -> Path:
    """Return a file that was made with 256 dimensions."""
    with open_base(tmp_path / "base.db", SETTINGS) as kb:
        kb.sync(folder)
    return tmp_path / "base.db"


def open_new(path: Path, *, read_only: bool = False) -> KnowledgeBase:
    return KnowledgeBase(
        path, embedder=FakeEmbedder(NEW), reranker=FakeReranker(), read_only=read_only
    )


def fresh(folder: Path, path: Path) -> KnowledgeBase:
    """Return a file that was made with the new model from the start."""
    kb = KnowledgeBase(path, settings=SETTINGS, embedder=FakeEmbedder(NEW), reranker=FakeReranker())
    kb.sync(folder)
    return kb


def stop_after(batches: int) -> Callable[[], bool]:
    """Return what says yes once as many batches were embedded; the texts are counted first."""
    pages = 6  # 24 texts, four at a time
    asked = iter(range(10**6))
    return lambda: next(asked) >= pages + batches


def stopped_run(path: Path, batches: int, dimensions: int = NEW) -> None:
    with pytest.raises(Cancelled, match="run the same command to go on"):
        reembed_file(path, FakeEmbedder(dimensions), cancelled=stop_after(batches))


def tables(kb: KnowledgeBase) -> set[str]:
    rows = kb.database.connection.execute("SELECT name FROM sqlite_schema")
    return {str(name) for (name,) in rows}


def test_the_file_becomes_one_of_the_new_model(path: Path, folder: Path, tmp_path: Path) -> None:
    with open_base(path) as kb:
        report = kb.reembed(FakeEmbedder(NEW))
        assert (report.model, report.dimensions, report.swapped) == ("fake-embedder", NEW, True)
        assert report.chunks == report.texts == report.embedded == kb.status().chunks
        assert report.reused == 0
        assert report.tokens == kb.status().tokens
        assert report.bytes == report.texts * NEW * 4
        assert kb.verify() == []
        assert kb.embedder.dimensions == NEW
        assert len(kb.search(QUERY, mode="vector", rerank=False)) > 0
        assert "reembedded" not in tables(kb)
        assert "reembedding" not in kb.status().settings
        with fresh(folder, tmp_path / "fresh.db") as expected:
            assert contents(kb) == contents(expected)
            assert kb.status().settings == expected.status().settings
            found = kb.search(QUERY, mode="vector", rerank=False)
            assert [hit.text for hit in found] == [
                hit.text for hit in expected.search(QUERY, mode="vector", rerank=False)
            ]
        assert kb.sync(folder).unchanged == tuple(str(folder / f"{n}.md") for n in range(6))
    with pytest.raises(FingerprintError, match=r"made with fake-embedder; .* localrag reembed"):
        open_base(path)
    open_new(path, read_only=True).close()


def test_vectors_kept_as_bytes_are_exchanged_for_bytes(folder: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, vectors="int8")
    with open_base(tmp_path / "bytes.db", settings) as kb:
        kb.sync(folder)
    with KnowledgeBase(
        tmp_path / "fresh.db",
        settings=settings,
        embedder=FakeEmbedder(NEW),
        reranker=FakeReranker(),
    ) as expected:
        expected.sync(folder)
        with open_base(tmp_path / "bytes.db") as kb:
            report = kb.reembed(FakeEmbedder(NEW))
            assert report.bytes == report.texts * NEW
            assert contents(kb) == contents(expected)
            assert kb.verify() == []
            assert len(kb.search(QUERY, mode="vector", rerank=False)) > 0


def test_searches_use_the_former_vectors_until_the_exchange(path: Path) -> None:
    told: list[Progress] = []
    with open_base(path) as kb, open_base(path, read_only=True) as reader:
        before = reader.search(QUERY, mode="vector", rerank=False).hits

        def progress(now: Progress) -> None:
            told.append(now)
            assert reader.search(QUERY, mode="vector", rerank=False).hits == before
            assert kb.search(QUERY, mode="vector", rerank=False).hits == before
            assert reader.status().settings["reembedding"] == f"fake-embedder-{NEW} {NEW}"
            with pytest.raises(FingerprintError):
                open_new(path, read_only=True)
            assert reader.verify() == []

        report = kb.reembed(FakeEmbedder(NEW), progress=progress)
    assert [now.done for now in told] == list(range(3, report.texts + 1, 3))
    assert {now.total for now in told} == {report.texts}
    assert told[-1].current.endswith("5.md")
    assert (told[-1].chunks, told[-1].tokens) == (report.texts, report.tokens)


def test_an_interrupted_run_goes_on_where_it_stopped(path: Path) -> None:
    stopped_run(path, 4)
    with open_base(path) as kb:  # still the former model's
        assert kb.verify() == []
        texts = kb.status().chunks
    embedder = CountingEmbedder(FakeEmbedder(NEW))
    report = reembed_file(path, embedder)
    assert (report.reused, report.embedded) == (12, texts - 12)
    assert len(embedder.passages) == texts - 12
    with open_new(path) as kb:
        assert kb.verify() == []


def test_what_changed_between_the_runs_is_in_the_file(
    path: Path, folder: Path, tmp_path: Path
) -> None:
    stopped_run(path, 4)
    write_files(folder, {"1.md": text(1, "changed"), "7.md": text(7, "added")})
    (folder / "2.md").unlink()
    with open_base(path) as kb:
        kb.sync(folder)
    report = reembed_file(path, FakeEmbedder(NEW))
    assert 0 < report.reused < 12
    assert report.reused + report.embedded == report.texts
    with open_new(path) as kb, fresh(folder, tmp_path / "fresh.db") as expected:
        assert contents(kb) == contents(expected)
        assert kb.verify() == []


def test_a_document_written_past_the_lock_is_embedded_before_the_exchange(
    path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a program of another version, or of somebody's own, writes meanwhile."""
    write_files(folder, {"late.md": text(8, "late")})
    exchange = reembed_module._Run.exchange
    outcomes: list[bool] = []

    def late_exchange(run: reembed_module._Run, swapping: Any) -> bool:
        if not outcomes:
            with monkeypatch.context() as patched:
                patched.setattr(Database, "sole_writer", lambda _: writer.database.reading())
                writer.sync(folder)
        outcomes.append(exchange(run, swapping))
        return outcomes[-1]

    monkeypatch.setattr(reembed_module._Run, "exchange", late_exchange)
    with open_base(path) as writer:
        report = reembed_file(path, FakeEmbedder(NEW))
    assert outcomes == [False, True]
    assert report.embedded == report.texts == 28
    with open_new(path) as kb:
        assert kb.verify() == []
        assert "late" in kb.search("late number", mode="vector")[0].text


def test_vectors_of_a_third_model_are_dropped(path: Path) -> None:
    stopped_run(path, 4, dimensions=64)
    assert reembed_file(path, FakeEmbedder(NEW)).reused == 0
    with open_new(path) as kb:
        assert kb.verify() == []


def test_the_same_text_is_embedded_once(path: Path, folder: Path) -> None:
    write_files(folder, {"copy.md": text(3)})
    with open_base(path) as kb:
        kb.sync(folder)
        chunks = kb.status().chunks
    embedder = CountingEmbedder(FakeEmbedder(NEW))
    report = reembed_file(path, embedder)
    assert (report.chunks, report.texts, len(embedder.passages)) == (chunks, 24, 24)
    with open_new(path) as kb:
        assert kb.verify() == []


def test_a_file_that_is_the_models_already_is_left_alone(path: Path) -> None:
    stopped_run(path, 2)
    embedder = CountingEmbedder(FakeEmbedder())
    report = reembed_file(path, embedder)
    assert (report.embedded, report.reused, report.swapped) == (0, 0, True)
    assert embedder.passages == []
    with open_base(path) as kb:
        assert "reembedded" not in tables(kb), "the change was given up"
        assert reembed_file(path, embedder).embedded == 0
        assert kb.verify() == []


def test_a_dry_run_counts_and_writes_nothing(path: Path) -> None:
    plan = reembed_file(path, FakeEmbedder(NEW), dry_run=True)
    assert (plan.embedded, plan.reused, plan.swapped) == (24, 0, False)
    with open_base(path, read_only=True) as kb:
        assert plan.tokens == kb.status().tokens
    stopped_run(path, 4)
    before = path.read_bytes()
    plan = reembed_file(path, FakeEmbedder(NEW), dry_run=True)
    assert (plan.embedded, plan.reused, plan.texts) == (12, 12, 24)
    with open_base(path, read_only=True) as kb:
        assert kb.reembed(FakeEmbedder(NEW), dry_run=True).embedded == 12
        assert kb.reembed(FakeEmbedder(), dry_run=True).embedded == 0
        assert kb.embedder.dimensions == 256
    assert path.read_bytes() == before


# Refused


def test_a_model_that_reads_less_than_the_chunk_size_is_refused(path: Path) -> None:
    small = FakeEmbedder(NEW, max_tokens=31)
    message = r"chunks of up to 32 tokens, and fake-embedder reads 31\. .*--chunk-tokens 23"
    for dry_run in (True, False):
        with pytest.raises(ModelError, match=message):
            reembed_file(path, small, dry_run=dry_run)


def test_a_model_that_cannot_read_a_chunk_with_its_context_is_refused_at_once(
    path: Path, folder: Path
) -> None:
    write_files(folder, {"x.md": "# " + "long " * 12 + "\n\n" + "word " * 90})
    with open_base(path) as kb:
        kb.sync(folder)
    embedder = CountingEmbedder(FakeEmbedder(NEW, max_tokens=33))
    with pytest.raises(ModelError, match=r"a chunk of \d\d tokens in .*x\.md, and .* reads 33"):
        reembed_file(path, embedder)
    assert embedder.passages == []
    with open_base(path) as kb:
        assert "reembedded" not in tables(kb)


def test_a_file_of_another_analysis_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprint_module, "CHUNKER_VERSION", "later")
    with pytest.raises(FingerprintError, match=r"which new vectors do not change.*--db NEW\.db"):
        reembed_file(path, FakeEmbedder(NEW))


def test_files_that_cannot_be_written_are_refused(path: Path, tmp_path: Path) -> None:
    with open_base(path, read_only=True) as kb, pytest.raises(ReadOnlyError):
        kb.reembed(FakeEmbedder(NEW))
    with open_base(path) as kb, kb.database.sole_writer(), pytest.raises(BusyError):
        reembed_file(path, FakeEmbedder(NEW))
    with pytest.raises(KnowledgeBaseError, match=r"does not exist.*localrag index"):
        reembed_file(tmp_path / "none.db", FakeEmbedder(NEW))
    Database(tmp_path / "empty.db").close()
    with pytest.raises(NotAKnowledgeBaseError, match="is empty"):
        reembed_file(tmp_path / "empty.db", FakeEmbedder(NEW))


def test_a_model_that_fails_keeps_what_was_finished(path: Path) -> None:
    class Failing(FakeEmbedder):
        calls = 0

        def embed_passages(self, texts: Sequence[str]) -> FloatArray:
            self.calls += 1
            if self.calls == 3:
                raise RemoteError("the server is gone")
            return super().embed_passages(texts)

    with pytest.raises(RemoteError, match="the server is gone"):
        reembed_file(path, Failing(NEW))
    with open_base(path) as kb:
        assert len(kb.search(QUERY)) > 0
    assert reembed_file(path, FakeEmbedder(NEW)).reused == 6


def test_vectors_that_are_not_of_length_one_are_refused(path: Path) -> None:
    class Wrong(FakeEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> FloatArray:
            return np.full((len(texts), NEW), np.nan, np.float32)

    with pytest.raises(ValueError, match="length one"):
        reembed_file(path, Wrong(NEW))
    with open_base(path) as kb:
        assert kb.verify() == []


# Those who have the file open


def test_who_has_the_file_open_with_the_former_model_is_told(path: Path, folder: Path) -> None:
    with open_base(path) as kb, open_base(path, read_only=True) as reader:
        kb.search(QUERY)
        reembed_file(path, FakeEmbedder(NEW))
        for former in (kb, reader):
            with pytest.raises(FingerprintError, match="was made with fake-embedder"):
                former.search(QUERY)
        write_files(folder, {"9.md": text(9)})
        with pytest.raises(FingerprintError):
            kb.sync(folder)
    with open_new(path) as kb:
        assert kb.verify() == []
        assert kb.status().documents == 6


def test_threads_of_this_process_search_on_without_a_gap(path: Path) -> None:
    failures: list[Exception] = []
    counts: list[int] = []
    done = threading.Event()

    with open_base(path, make_settings(keep_traces=False)) as kb:

        def search() -> None:
            try:
                while not done.is_set():
                    counts.append(len(kb.search(QUERY, mode="vector", rerank=False)))
            except Exception as error:  # noqa: BLE001 - none is expected, any is a failure
                failures.append(error)

        threads = [threading.Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        for dimensions in (32, 64, 32, 48, 256):
            kb.reembed(FakeEmbedder(dimensions))
        done.set()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(counts) > 3
        assert min(counts) > 0
        assert kb.verify() == []


def test_the_former_model_is_closed(path: Path) -> None:
    closed: list[str] = []

    class Former(FakeEmbedder):
        def close(self) -> None:
            closed.append("former")

    with KnowledgeBase(path, embedder=Former(), reranker=FakeReranker()) as kb:
        kb.reembed(FakeEmbedder(NEW))
        assert closed == ["former"]
    assert closed == ["former"]
